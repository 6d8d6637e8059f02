"""The reader: pinned tables and tail as one state, now and at any time before."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from support.changes import EMBEDDER, START, draft, embedding, memory, message, revise, say

from mindmem.core.errors import CorruptStore
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Edge, Entity, Memory, Partition, Scope
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.maintain import maintain
from mindmem.core.tables.reader import Reader, Stored

ANN = Partition("default", "ann")


def day(number: int) -> datetime:
    return datetime(2024, 1, number, tzinfo=UTC)


def contents(memories: list[Memory]) -> set[str]:
    return {one.content for one in memories}


@pytest.fixture(params=["tail", "folded", "both"])
def folds(request: pytest.FixtureRequest) -> str:
    """Where rows lie when they are read: ``both`` folds what is there when ``settle`` is first called."""
    return str(request.param)


def settle(folds: str, ledger: SqlLedger, tables: DeltaTables, *, end: bool = False) -> None:
    if folds == "folded" if end else folds == "both":
        fold(ledger, tables, owner="test")


def test_the_latest_revision_of_each_memory_is_read(
    folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    _, first = say(ledger, "ann", 0, "first")
    _, second = say(ledger, "ann", 1, "second")
    say(ledger, "bob", 0, "of bob")
    settle(folds, ledger, tables)
    changed = revise(ledger, first, content="first, reworded", confidence=0.8)
    settle(folds, ledger, tables, end=True)
    assert contents(reader.memories(ANN)) == {"first, reworded", "second"}
    assert contents(reader.memories("default")) == {"first, reworded", "second", "of bob"}
    assert reader.memories("other") == []
    (found,) = reader.memories(ANN, ids=[first.memory_id, "mem_unknown"])
    assert replace(found, recorded_at=None, change_id="", seq=0) == changed
    assert (found.seq, found.recorded_at is not None) == (4, True)
    assert contents(reader.memories(ANN, ids=[second.memory_id])) == {"second"}
    assert reader.memories(ANN, ids=[]) == []


def test_history_holds_every_revision_oldest_first(
    folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    _, made = say(ledger, "ann", 0, "first")
    following = revise(ledger, made, content="second", content_hash="h2")
    settle(folds, ledger, tables)
    revise(ledger, following, status="archived")
    settle(folds, ledger, tables, end=True)
    found = reader.revisions(made.memory_id, ANN)
    assert [(one.revision, one.content, one.status) for one in found] == [
        (1, "first", "active"),
        (2, "second", "active"),
        (3, "second", "archived"),
    ]
    assert [one.seq for one in found] == [1, 2, 3]
    assert reader.revisions(made.memory_id, Partition("default", "bob")) == []


def test_as_of_shows_what_was_true_then_with_open_and_half_open_ends(ledger: SqlLedger, reader: Reader) -> None:
    _, berlin = say(ledger, "ann", 0, "lives in Berlin")
    revise(ledger, berlin, valid_from=day(2), valid_to=day(10), status="archived")
    _, paris = say(ledger, "ann", 1, "lives in Paris")
    revise(ledger, paris, valid_from=day(10))
    _, said = say(ledger, "ann", 2, "likes tea")
    assert contents(reader.as_of(ANN, day(1))) == set()
    assert contents(reader.as_of(ANN, day(2))) == {"lives in Berlin"}
    assert contents(reader.as_of(ANN, day(10))) == {"lives in Paris"}
    assert said.observed_at == START + timedelta(minutes=2)
    assert contents(reader.as_of(ANN, START)) == {"lives in Paris"}
    assert contents(reader.as_of(ANN, START + timedelta(days=1))) == {"lives in Paris", "likes tea"}


def test_as_of_does_not_show_what_somebody_deleted(ledger: SqlLedger, reader: Reader) -> None:
    _, gone = say(ledger, "ann", 0, "gone")
    revise(ledger, gone, valid_from=day(1), valid_to=day(20), status="archived", flags=("deleted",))
    _, merged = say(ledger, "ann", 1, "merged into another")
    revise(ledger, merged, valid_from=day(1), status="archived")
    _, kept = say(ledger, "ann", 2, "kept")
    revise(ledger, kept, valid_from=day(1), valid_to=day(20), status="archived")
    assert contents(reader.as_of(ANN, day(5))) == {"kept"}


def test_known_at_shows_what_was_known_then(folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader) -> None:
    change, made = say(ledger, "ann", 0, "lives in Berlin")
    settle(folds, ledger, tables)
    later = revise(ledger, made, content="lives in Bern", content_hash="h2")
    corrected = reader.revisions(made.memory_id, ANN)[-1].recorded_at
    assert corrected is not None
    revise(ledger, later, status="archived")
    settle(folds, ledger, tables, end=True)
    assert contents(reader.as_of(ANN, known_at=change.recorded_at - timedelta(microseconds=1))) == set()
    assert contents(reader.as_of(ANN, known_at=change.recorded_at)) == {"lives in Berlin"}
    assert contents(reader.as_of(ANN, known_at=corrected)) == {"lives in Bern"}
    assert contents(reader.as_of(ANN)) == set()
    late = START + timedelta(days=1)
    assert contents(reader.as_of(ANN, late, known_at=change.recorded_at)) == {"lives in Berlin"}
    assert contents(reader.as_of(ANN, late)) == set()


def test_messages_are_read_by_id_and_only_of_their_owner(
    folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    scope = Scope(user_id="ann", session_id="s")
    said = message(scope, 3, "hello")
    ledger.commit(draft(scope, messages=[said]))
    settle(folds, ledger, tables)
    settle(folds, ledger, tables, end=True)
    assert reader.messages(ANN, [said.message_id, "msg_unknown"]) == {said.message_id: said}
    assert reader.messages(Partition("default", "bob"), [said.message_id]) == {}
    assert reader.messages(ANN, []) == {}


def test_messages_around_one_come_from_its_session_in_order(ledger: SqlLedger, reader: Reader) -> None:
    scope = Scope(user_id="ann", session_id="s")
    said = [message(scope, place, f"words {place}") for place in range(6)]
    elsewhere = [message(Scope(user_id="ann", session_id="t"), 2, "other session"), message(
        Scope(user_id="ann", session_id="s", agent_id="a"), 2, "other agent")]  # fmt: skip
    ledger.commit(draft(scope, messages=[*reversed(said), *elsewhere]))
    assert reader.around(said[2], before=1, after=2) == said[1:5]
    assert reader.around(said[0]) == said[:3]


def test_edges_are_read_from_either_end_until_they_are_retracted(
    folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    scope = Scope(user_id="ann")
    one = Edge("m1", "MENTIONS", "e1", scope)
    two = Edge("m2", "RELATED_TO", "m1", scope, kind="supersedes", valid_from=day(1))
    first = ledger.commit(draft(scope, edges=[one, two]))
    settle(folds, ledger, tables)
    assert set(reader.edges(ANN)) == {one, two}
    assert reader.edges(ANN, dst=["m1", "m9"]) == [two]
    assert reader.edges(ANN, relation="MENTIONS") == [one]
    gone = replace(one, active=False)
    ledger.commit(draft(scope, edges=[gone]))
    settle(folds, ledger, tables, end=True)
    assert reader.edges(ANN, src=["m1"]) == []
    assert reader.edges(ANN) == [two]
    assert set(reader.edges_written_by(first.change_id, ANN)) == {one, two}


def test_the_latest_revision_of_each_entity_is_read(
    folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    scope = Scope(user_id="ann")
    entity = Entity("ent_1", 1, scope, "person", "Ann")
    ledger.commit(draft(scope, entities=[entity]))
    settle(folds, ledger, tables)
    newer = replace(entity, revision=2, aliases=("Annie", "安"))
    ledger.commit(draft(scope, entities=[newer]))
    settle(folds, ledger, tables, end=True)
    assert reader.entities(ANN) == [newer]
    assert reader.entities(ANN, ["ent_2"]) == []


def test_what_a_change_wrote_is_read_by_its_id(ledger: SqlLedger, reader: Reader) -> None:
    change, made = say(ledger, "ann", 0, "first")
    revise(ledger, made, status="archived")
    (found,) = reader.written_by(change.change_id, ANN)
    assert (found.memory_id, found.revision) == (made.memory_id, 1)
    assert len(reader.edges_written_by(change.change_id, ANN)) == 1


def test_vectors_are_read_by_key_and_embedder(
    folds: str, ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    _, made = say(ledger, "ann", 0, "first")
    settle(folds, ledger, tables)
    _, other = say(ledger, "ann", 1, "second")
    settle(folds, ledger, tables, end=True)
    found = reader.vectors(ANN, [made.content_hash, other.content_hash, "none"], EMBEDDER)
    assert set(found) == {made.content_hash, other.content_hash}
    for one in (made, other):
        expected = embedding(one.content)
        assert expected.tokens is not None
        tokens = found[one.content_hash].tokens
        assert tokens is not None
        np.testing.assert_array_equal(found[one.content_hash].vector, expected.vector)
        np.testing.assert_array_equal(tokens.ids, expected.tokens.ids)
        np.testing.assert_array_equal(tokens.vectors, expected.tokens.vectors)
    assert reader.vectors(ANN, [made.content_hash], "another embedder") == {}


def test_documents_bring_every_memory_once_with_its_first_recorded_time_and_its_vector(
    ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    made = {}
    for place in range(7):
        change, one = say(ledger, f"u{place % 3}", place, f"thing {place}")
        made[one.memory_id] = (change.recorded_at, one)
    fold(ledger, tables, owner="test")
    _, last = made[min(made)]
    revise(ledger, last, status="archived")
    say(ledger, "u1", 99, "of another project", project_id="other")

    def key(one: Memory) -> str:
        return one.content_hash

    parts = list(reader.documents("default", vector_key=key, embedder=EMBEDDER, chunk=2))
    assert max(map(len, parts)) == 2
    found: list[Stored] = [one for part in parts for one in part]
    assert sorted(one.memory_id for one, _, _ in found) == sorted(made)
    for one, created, vector in found:
        assert created == made[one.memory_id][0]
        assert vector is not None
        np.testing.assert_array_equal(vector.vector, embedding(one.content).vector)
    assert {one.memory_id: one.revision for one, _, _ in found}[last.memory_id] == 2
    assert sum(map(len, reader.documents(vector_key=key))) == 8
    assert all(vector is None for part in reader.documents(vector_key=key) for _, _, vector in part)


def test_memories_are_counted_by_status(ledger: SqlLedger, tables: DeltaTables, reader: Reader) -> None:
    _, made = say(ledger, "ann", 0, "first")
    say(ledger, "ann", 1, "second")
    fold(ledger, tables, owner="test")
    revise(ledger, made, status="archived")
    assert reader.counts(ANN) == {"active": 1, "archived": 1}
    assert reader.counts(Partition("default", "bob")) == {}


def test_a_view_stays_as_it_is_while_others_write_and_fold(
    ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    say(ledger, "ann", 0, "first")
    view = reader.view()
    say(ledger, "ann", 1, "second")
    fold(ledger, tables, owner="test")
    maintain(ledger, tables, owner="test")
    assert contents(reader.memories(ANN, view=view)) == {"first"}
    assert contents(reader.memories(ANN)) == {"first", "second"}


def test_a_reader_follows_folds_and_prunes_of_other_processes(
    ledger: SqlLedger, tables: DeltaTables, reader: Reader, tmp_path: Path
) -> None:
    say(ledger, "ann", 0, "first")
    assert contents(reader.memories(ANN)) == {"first"}
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as other:
        for place in range(1, 4):
            say(other, "ann", place, f"thing {place}")
            fold(other, DeltaTables(tables.uri), owner="other")
            assert len(reader.memories(ANN)) == place + 1
        say(other, "ann", 9, "in the tail")
        assert len(reader.memories(ANN)) == 5
        assert reader.view().tail["memories"].height == 1


def test_a_missing_file_is_a_typed_error_that_says_what_to_do(
    ledger: SqlLedger, tables: DeltaTables, reader: Reader
) -> None:
    say(ledger, "ann", 0, "first")
    fold(ledger, tables, owner="test")
    for path in Path(tables.location("memories")).glob("*.parquet"):
        path.write_bytes(b"not parquet at all")
    with pytest.raises(CorruptStore, match="copy of the store"):
        reader.memories(ANN)


def test_the_same_words_of_two_users_and_of_joined_ids_stay_apart(ledger: SqlLedger, reader: Reader) -> None:
    for user in ("a:b", "a", "a/b", "🧠"):
        scope = Scope("p", user, session_id="s")
        said = message(scope, 0, "same words")
        ledger.commit(draft(scope, memories=[memory(scope, said, "same words")], messages=[said]))
    for user in ("a:b", "a", "a/b", "🧠"):
        (found,) = reader.memories(Partition("p", user))
        assert found.scope.user_id == user

"""Verify: agreement is an empty list, and each kind of disagreement is named."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from support.changes import draft, memory, message, revise, say

from mindmem.core.index.documents import document, vector_key
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.ledger.port import Head
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Change, Scope
from mindmem.core.tables.contracts import CONTRACTS, conform
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.reader import Reader
from mindmem.core.tables.restore import restore_ledger
from mindmem.core.tables.verify import verify


def again(tables: DeltaTables, table: str) -> None:
    rows = conform(tables.scan(table).collect().to_arrow(), CONTRACTS[table])
    tables.append(table, rows, app_id="intruder", seq=10**6)


def lose(tables: DeltaTables, ledger: SqlLedger, table: str, keep: int = 0) -> None:
    """Take rows out of the pinned version, as no crash would."""
    tables.discard_after(table, keep)
    versions, seq = ledger.pinned()
    lease = ledger.acquire("fold", "test", 60)
    ledger.pin({**versions, table: tables.version(table)}, seq, lease.fence)
    ledger.release(lease)


def problems(ledger: SqlLedger, tables: DeltaTables) -> set[tuple[str, str]]:
    return {(finding.area, finding.subject) for finding in verify(ledger, tables)}


@pytest.fixture
def filled(ledger: SqlLedger, tables: DeltaTables) -> SqlLedger:
    _, made = say(ledger, "ann", 0, "first")
    say(ledger, "bob", 1, "second")
    revise(ledger, made, status="archived")
    fold(ledger, tables, owner="test")
    say(ledger, "ann", 2, "third")
    return ledger


def test_a_store_that_agrees_has_no_findings(filled: SqlLedger, tables: DeltaTables) -> None:
    assert verify(filled, tables) == []
    fold(filled, tables, owner="test")
    assert verify(filled, tables) == []


def test_an_empty_store_agrees(ledger: SqlLedger, tables: DeltaTables) -> None:
    assert verify(ledger, tables) == []


def test_a_missing_file_is_named(filled: SqlLedger, tables: DeltaTables) -> None:
    [file, *_] = sorted(Path(tables.uri, "memories").glob("*.parquet"))
    file.unlink()
    [finding] = verify(filled, tables)
    assert finding.area == "tables"
    assert file.name in finding.problem
    assert "copy of the store" in finding.problem


def test_rows_that_stand_twice_are_named(filled: SqlLedger, tables: DeltaTables) -> None:
    again(tables, "changes")
    again(tables, "memories")
    lease = filled.acquire("fold", "test", 60)
    filled.pin({name: tables.version(name) for name in tables.existing()}, 3, lease.fence)
    found = verify(filled, tables)
    assert {str(one.subject) for one in found if one.subject.startswith("seq")} == {"seq 1", "seq 2", "seq 3"}
    assert sum("rows of" in one.problem for one in found) == 2


def test_a_change_that_the_tables_lost_is_named(filled: SqlLedger, tables: DeltaTables) -> None:
    lose(tables, filled, "changes", keep=2)
    assert problems(filled, tables) == {("tables", "seq 3")}


def test_a_lost_revision_is_named_with_its_head_and_count(filled: SqlLedger, tables: DeltaTables) -> None:
    lose(tables, filled, "memories", keep=2)
    found = problems(filled, tables)
    assert ("ledger", "user 'ann' of project 'default'") in found
    assert len(found) == 2


def test_a_lost_message_leaves_a_memory_without_its_source(filled: SqlLedger, tables: DeltaTables) -> None:
    lose(tables, filled, "messages", keep=1)
    (finding,) = verify(filled, tables)
    assert "is no message of that user" in finding.problem
    assert finding.area == "tables"


def test_a_memory_without_a_head_is_named(ledger: SqlLedger, tables: DeltaTables, tmp_path: Path) -> None:
    scope = Scope(user_id="ann", session_id="s")
    said = message(scope, 0, "first")
    made = draft(scope, memories=[memory(scope, said, "first")], messages=[said])
    ledger.commit(made)
    fold(ledger, tables, owner="test")

    class Forgetful:
        """A ledger to fill that forgets the heads."""

        def __init__(self, ledger: SqlLedger) -> None:
            self.ledger = ledger

        def restore(self, *, changes: list[Change], heads: list[Head], **rest: object) -> None:
            assert len(list(heads)) == 2
            self.ledger.restore(changes=changes, heads=[], **rest)  # type: ignore[arg-type]

    with open_ledger(f"sqlite:///{tmp_path}/other.db") as other:
        restore_ledger(tables, Forgetful(other))  # type: ignore[arg-type]
        found = verify(other, tables)
    assert [one.problem for one in found] == ["is in the tables, but has no head"] * 2


def test_many_findings_of_one_kind_are_cut_and_counted(ledger: SqlLedger, tables: DeltaTables) -> None:
    for place in range(25):
        say(ledger, "ann", place, f"thing {place}")
    fold(ledger, tables, owner="test")
    lose(tables, ledger, "messages")
    found = verify(ledger, tables)
    assert len(found) == 21
    assert str(found[-1]) == "tables: 5 more: of the same kind"


def test_tables_that_are_gone_are_one_finding(filled: SqlLedger, tables: DeltaTables, tmp_path: Path) -> None:
    Path(tables.uri).rename(tmp_path / "elsewhere")
    (finding,) = verify(filled, tables)
    assert "is gone" in finding.problem


def test_findings_hold_no_content(ledger: SqlLedger, tables: DeltaTables) -> None:
    say(ledger, "ann", 0, "a secret thing")
    fold(ledger, tables, owner="test")
    lose(tables, ledger, "messages")
    again(tables, "memories")
    assert not any("secret" in str(finding) for finding in verify(ledger, tables))
    assert pa.types.is_string(CONTRACTS["memories"].field("content").type)


@pytest.fixture
def index(filled: SqlLedger, tables: DeltaTables, tmp_path: Path) -> Iterator[EmbeddedIndex]:
    """An index that holds what the store holds."""
    opened = EmbeddedIndex(tmp_path / "index.db", "g1", create=True)
    for batch in Reader(filled, tables).documents(vector_key=vector_key):
        opened.apply([document(made, created) for made, created, _ in batch], watermark=filled.last_seq())
    yield opened
    opened.close()


def test_an_index_that_holds_the_same_agrees(filled: SqlLedger, tables: DeltaTables, index: EmbeddedIndex) -> None:
    assert verify(filled, tables, index) == []


def test_an_index_that_lags_is_compared_up_to_its_watermark(
    filled: SqlLedger, tables: DeltaTables, index: EmbeddedIndex
) -> None:
    say(filled, "ann", 9, "not projected yet")
    revise(filled, Reader(filled, tables).memories("default")[0], confidence=0.5)
    assert verify(filled, tables, index) == []


def test_a_memory_that_the_index_lost_or_holds_at_another_revision_is_named(
    filled: SqlLedger, tables: DeltaTables, index: EmbeddedIndex
) -> None:
    change, lost = say(filled, "ann", 9, "lost")
    old = Reader(filled, tables).memories("default", ids=[lost.memory_id])[0]
    revise(filled, lost, status="archived")
    index.apply([], watermark=change.seq + 1)
    found = verify(filled, tables, index)
    assert [str(one) for one in found] == [
        f"index: {lost.memory_id}: is missing",
        "index: user 'ann' of project 'default': counts 2 memories, the tables hold 3",
    ]
    index.apply([document(old, change.recorded_at)], watermark=change.seq + 1)
    assert [str(one) for one in verify(filled, tables, index)] == [
        f"index: {lost.memory_id}: holds revision 1 (active)"
    ]


def test_an_index_that_is_ahead_of_the_log_is_named(
    filled: SqlLedger, tables: DeltaTables, index: EmbeddedIndex
) -> None:
    index.apply([], watermark=99)
    (finding,) = verify(filled, tables, index)
    assert (finding.area, finding.subject) == ("index", "watermark 99")

"""A commit is checked against the state that it was decided on, and is written whole or not at all."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pyarrow as pa
import pytest
from support.ledgers import ANN, BOB, adding, claim, revising

from mindmem.core import failpoints, ids
from mindmem.core.errors import Conflict, InvalidInput, LeaseLost, ScopeChanged
from mindmem.core.ledger.port import Draft, Fence, HeadMove, ScopeState
from mindmem.core.ledger.sql import SqlLedger
from mindmem.core.records import Partition, Scope
from mindmem.core.tables.contracts import CONTRACTS
from mindmem.core.tables.rows import entities_table, memories_table, memory_of


def test_the_first_change_gets_seq_1_and_the_databases_time(ledger: SqlLedger) -> None:
    before = datetime.now(UTC)
    change = ledger.commit(adding("Ann lives in Berlin.", reason="said so", run_id="r1", counts={"add": 1}))
    assert change.seq == 1
    assert abs((change.recorded_at - before).total_seconds()) < 60
    assert change.recorded_at.utcoffset() is not None
    assert ledger.change(change.change_id) == change
    assert (change.reason, change.run_id, change.counts) == ("said so", "r1", {"add": 1})


def test_seq_is_gapless_and_time_grows_strictly_within_one_millisecond_too(ledger: SqlLedger) -> None:
    changes = [ledger.commit(Draft(change_id=f"c{n}", kind="add", scope=ANN, actor="t")) for n in range(20)]
    assert [change.seq for change in changes] == list(range(1, 21))
    times = [change.recorded_at for change in changes]
    assert times == sorted(set(times))


def test_rows_come_back_with_the_stamp_of_their_change(ledger: SqlLedger) -> None:
    memory = claim("Ann lives in Berlin.")
    change = ledger.commit(revising([memory]))
    (entry,) = ledger.read_log(0)
    assert entry.batches["memories"].schema == CONTRACTS["memories"]
    (row,) = entry.batches["memories"].to_pylist()
    stamp = {"change_id": change.change_id, "seq": 1, "recorded_at": change.recorded_at}
    assert memory_of(row) == replace(memory, **stamp)


def test_a_large_batch_comes_back_whole(ledger: SqlLedger) -> None:
    memories = [claim(f"Reading {number} was {number * 7}.") for number in range(500)]
    ledger.commit(revising(memories))
    (entry,) = ledger.read_log(0)
    assert entry.batches["memories"].column("content").to_pylist() == [memory.content for memory in memories]
    assert entry.batches["memories"].column("seq").to_pylist() == [1] * 500
    assert len(ledger.heads("memory", [memory.memory_id for memory in memories])) == 500


def test_every_commit_moves_its_partitions_by_one_and_no_other(ledger: SqlLedger) -> None:
    ledger.commit(adding("one", "two"))
    ledger.commit(adding("one", scope=BOB))
    ledger.commit(adding("three", base=1))
    assert ledger.scope_state(ANN.partition) == ScopeState(version=2, last_seq=3, active=3)
    assert ledger.scope_state(BOB.partition) == ScopeState(version=1, last_seq=2, active=1)
    assert ledger.scope_state(Partition("default", "nobody")) == ScopeState()


def test_one_change_may_touch_several_partitions(ledger: SqlLedger) -> None:
    draft = revising([claim("one"), claim("two", scope=BOB)], base=0)
    ledger.commit(draft)
    assert ledger.partitions() == [
        (ANN.partition, ScopeState(version=1, last_seq=1, active=1)),
        (BOB.partition, ScopeState(version=1, last_seq=1, active=1)),
    ]
    assert ledger.partitions("another") == []


def test_a_change_decided_on_an_older_version_is_refused_and_writes_nothing(ledger: SqlLedger) -> None:
    ledger.commit(adding("one", base=0))
    with pytest.raises(ScopeChanged, match="at version 1, this change was decided on version 0"):
        ledger.commit(adding("two", base=0, key="k"))
    assert ledger.last_seq() == 1
    assert ledger.by_key("default", "k") is None
    assert ledger.scope_state(ANN.partition) == ScopeState(version=1, last_seq=1, active=1)
    assert ledger.commit(adding("two", base=1, key="k")).seq == 2


def test_a_head_that_stands_elsewhere_refuses_the_change(ledger: SqlLedger) -> None:
    ledger.commit(revising([claim("one")]))
    with pytest.raises(ScopeChanged, match="is at revision 1, this change was decided on revision 0"):
        ledger.commit(revising([claim("one")]))
    with pytest.raises(ScopeChanged, match="is at revision 1, this change was decided on revision 2"):
        ledger.commit(revising([claim("one", revision=3)]))
    with pytest.raises(ScopeChanged, match="is at revision 0"):
        ledger.commit(revising([claim("never seen", revision=2)]))
    assert ledger.commit(revising([claim("one", revision=2)])).seq == 2


def test_an_active_claim_is_unique_within_its_scope(ledger: SqlLedger) -> None:
    ledger.commit(revising([claim("Ann lives in Berlin.", name="first")]))
    with pytest.raises(ScopeChanged, match="already held by another active memory"):
        ledger.commit(revising([claim("ann lives in berlin", name="second")]))
    assert ledger.last_seq() == 1
    assert ledger.scope_state(ANN.partition).active == 1
    ledger.commit(revising([claim("Ann lives in Berlin.", name="hers", scope=BOB)], scope=BOB))
    assert ledger.active_claims(ANN.key, [ids.content_hash("Ann lives in Berlin"), "other"]) == {
        ids.content_hash("Ann lives in Berlin."): "mem_first"
    }


def test_a_claim_can_return_once_the_earlier_one_is_archived(ledger: SqlLedger) -> None:
    ledger.commit(revising([claim("Berlin", name="old")]))
    ledger.commit(revising([claim("Berlin", name="old", revision=2, status="archived")]))
    assert ledger.active_claims(ANN.key, [ids.content_hash("Berlin")]) == {}
    assert ledger.scope_state(ANN.partition).active == 0
    ledger.commit(revising([claim("Berlin", name="new")]))
    assert ledger.active_claims(ANN.key, [ids.content_hash("Berlin")]) == {ids.content_hash("Berlin"): "mem_new"}
    assert ledger.scope_state(ANN.partition).active == 1


def test_two_memories_may_exchange_their_claims_in_one_change(ledger: SqlLedger) -> None:
    ledger.commit(revising([claim("x", name="a"), claim("y", name="b")]))
    ledger.commit(revising([claim("y", name="a", revision=2), claim("x", name="b", revision=2)]))
    hashes = [ids.content_hash("x"), ids.content_hash("y")]
    assert ledger.active_claims(ANN.key, hashes) == {hashes[0]: "mem_b", hashes[1]: "mem_a"}


def test_entities_are_heads_too_but_no_claims(ledger: SqlLedger) -> None:
    moves = [HeadMove("entity", f"ent_{name}", ANN.partition, ANN.key, 0, 1) for name in ("ann", "berlin")]
    ledger.commit(replace(adding(), heads=moves, batches={"entities": entities_table([])}))
    assert set(ledger.heads("entity", ["ent_ann", "ent_berlin", "ent_none"])) == {"ent_ann", "ent_berlin"}
    assert ledger.heads("memory", ["ent_ann"]) == {}
    assert ledger.scope_state(ANN.partition).active == 0


def test_a_key_is_answered_with_the_change_that_it_made(ledger: SqlLedger) -> None:
    first = ledger.commit(adding("one", key="k", digest="d", result='{"ok": true}', base=0))
    again = ledger.commit(adding("one", key="k", digest="d", result="ignored", base=0))
    assert again == first
    assert ledger.last_seq() == 1
    record = ledger.by_key("default", "k")
    assert record is not None
    assert (record.digest, record.change_id, record.result) == ("d", first.change_id, '{"ok": true}')


def test_a_key_that_was_used_for_another_request_is_a_conflict(ledger: SqlLedger) -> None:
    ledger.commit(adding("one", key="k", digest="d"))
    with pytest.raises(Conflict, match="'k' was used for another request"):
        ledger.commit(adding("two", key="k", digest="e"))
    elsewhere = Scope.of("ann", project_id="other")
    assert ledger.commit(adding("two", scope=elsewhere, key="k", digest="e")).seq == 2


def test_the_same_draft_is_written_once_without_a_key_too(ledger: SqlLedger) -> None:
    draft = adding("one", base=0)
    assert ledger.commit(draft) == ledger.commit(draft)
    assert ledger.last_seq() == 1


def test_a_commit_with_a_held_lease_goes_through(ledger: SqlLedger) -> None:
    lease = ledger.acquire("dream", "me", 60)
    assert ledger.commit(adding("one", fence=lease.fence)).seq == 1


def released(ledger: SqlLedger) -> Fence:
    lease = ledger.acquire("dream", "me", 60)
    ledger.release(lease)
    return lease.fence


def taken_over(ledger: SqlLedger) -> Fence:
    lease = ledger.acquire("dream", "me", 0)
    ledger.acquire("dream", "other", 60)
    return lease.fence


def expired(ledger: SqlLedger) -> Fence:
    return ledger.acquire("dream", "me", 0).fence


def never_taken(ledger: SqlLedger) -> Fence:
    return Fence("dream", 1)


@pytest.mark.parametrize("lost", [released, taken_over, expired, never_taken])
def test_a_commit_without_its_lease_is_refused_and_writes_nothing(
    ledger: SqlLedger, lost: Callable[[SqlLedger], Fence]
) -> None:
    with pytest.raises(LeaseLost, match="'dream' with token 1 ran out or was taken over"):
        ledger.commit(adding("one", fence=lost(ledger), key="k"))
    assert ledger.last_seq() == 0
    assert ledger.by_key("default", "k") is None
    assert ledger.heads("memory", [claim("one").memory_id]) == {}


def test_a_commit_takes_the_add_that_it_completes_out_of_the_queue(ledger: SqlLedger) -> None:
    ledger.enqueue("add_1", ANN, "{}")
    ledger.claim("default", 1, "me", 60)
    ledger.commit(adding("one", done="add_1"))
    assert ledger.pending() == 0


def test_an_add_that_another_worker_completed_is_not_committed_again(ledger: SqlLedger) -> None:
    ledger.enqueue("add_1", ANN, "{}")
    ledger.commit(adding("one", done="add_1"))
    with pytest.raises(LeaseLost, match="'add_1' was completed or dropped"):
        ledger.commit(adding("two", done="add_1"))
    assert ledger.last_seq() == 1


@pytest.mark.parametrize("table", ["changes", "secrets"])
def test_rows_for_a_table_that_no_change_writes_are_refused(ledger: SqlLedger, table: str) -> None:
    with pytest.raises(InvalidInput, match=f"can't write a table '{table}'"):
        ledger.commit(replace(adding(), batches={table: memories_table([])}))


def test_rows_that_do_not_fit_the_contract_are_refused(ledger: SqlLedger) -> None:
    with pytest.raises(InvalidInput, match="'memories' don't fit its contract"):
        ledger.commit(replace(adding(), batches={"memories": pa.table({"memory_id": ["m"]})}))


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ([HeadMove("memory", "m", ANN.partition, ANN.key, 1, 1, "active", "h")], "can't move from revision 1 to 1"),
        ([HeadMove("memory", "m", ANN.partition, ANN.key, 0, 1, "active", "h")] * 2, "each head once"),
        ([HeadMove("memory", "m", ANN.partition, ANN.key, 0, 1)], "has no content hash"),
    ],
)
def test_moves_that_contradict_themselves_are_refused(ledger: SqlLedger, moves: list[HeadMove], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ledger.commit(replace(adding(), heads=moves))


STRANGE = [
    "a:b", "a/b", "🦊🍄", "it's", '"quoted"', "x'; DROP TABLE ledger_heads --", "  padded ", "Ünïcödé", "%s", ":id",
]  # fmt: skip


def test_ids_may_hold_any_characters_and_never_collide(ledger: SqlLedger) -> None:
    scopes = [Scope(first, second, first, second, first) for first, second in pairwise(STRANGE)]
    scopes += [Scope("a", "b/c"), Scope("a/b", "c"), Scope("a:b", "c"), Scope("a", "b:c")]
    for scope in scopes:
        ledger.commit(
            adding("same claim", scope=scope, base=0, key=f"🗝{scope.user_id}", actor=scope.user_id, run_id="a/b:c")
        )
    assert ledger.last_seq() == len(scopes)
    found = ledger.partitions()
    assert [partition for partition, _ in found] == sorted(scope.partition for scope in scopes)
    assert {state.active for _, state in found} == {1}
    assert [change.scope for change in ledger.changes()] == scopes
    for scope in scopes:
        assert [change.scope for change in ledger.changes(partition=scope.partition)] == [scope]


def test_words_may_hold_what_no_table_stores(ledger: SqlLedger) -> None:
    change = ledger.commit(adding("one", reason="NUL \x00 and \ud800 alone", key="k\x00\ud800", result="\x00"))
    assert ledger.change(change.change_id) == change
    record = ledger.by_key("default", "k\x00\ud800")
    assert record is not None
    assert record.result == "\x00"


def test_the_points_of_a_commit_are_reached_in_order(ledger: SqlLedger) -> None:
    passed: list[str] = []
    failpoints.arm(passed.append)
    try:
        ledger.commit(adding("one", key="k"))
    finally:
        failpoints.arm(None)
    assert passed == [name for name in failpoints.FAILPOINTS if name.startswith("commit.")]

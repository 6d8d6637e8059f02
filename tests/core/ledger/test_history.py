"""The log is read in order and without gaps; what was folded can be pinned and pruned."""

from dataclasses import replace
from threading import Thread

import pytest
from sqlalchemy import delete, update
from support.ledgers import ANN, BOB, adding, beside

from mindmem.core.errors import Conflict, CorruptStore, LeaseLost, StaleGeneration
from mindmem.core.ledger import history, schema
from mindmem.core.ledger.port import Draft, Fence
from mindmem.core.ledger.sql import SqlLedger
from mindmem.core.records import Scope
from mindmem.core.tables.contracts import CONTRACTS

TABLES = ("memories", "messages", "changes")


def filled(ledger: SqlLedger, count: int) -> SqlLedger:
    for number in range(1, count + 1):
        ledger.commit(adding(f"claim {number}"))
    return ledger


def fence(ledger: SqlLedger) -> Fence:
    return ledger.acquire("fold", "me", 60).fence


def test_entries_come_in_order_with_the_rows_of_the_tables_asked_for(ledger: SqlLedger) -> None:
    filled(ledger, 4)
    entries = list(ledger.read_log(1, 3))
    assert [entry.change.seq for entry in entries] == [2, 3]
    assert [entry.batches["memories"].column("content").to_pylist() for entry in entries] == [["claim 2"], ["claim 3"]]
    assert [dict(entry.batches) for entry in ledger.read_log(3, tables=["messages"])] == [{}]
    assert list(ledger.read_log(4)) == []
    assert [entry.change.seq for entry in ledger.read_log(3, 99)] == [4]


def test_a_change_without_rows_is_an_entry_too(ledger: SqlLedger) -> None:
    ledger.commit(Draft(change_id="c", kind="undo", scope=ANN, actor="t", undoes="b"))
    (entry,) = ledger.read_log(0)
    assert (entry.change.change_id, entry.change.undoes, dict(entry.batches)) == ("c", "b", {})


@pytest.mark.parametrize(("page_changes", "page_bytes"), [(3, 10**9), (256, 1), (1, 1), (256, 12_000)])
def test_pages_of_any_size_give_every_entry_once(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch, page_changes: int, page_bytes: int
) -> None:
    monkeypatch.setattr(history, "PAGE_CHANGES", page_changes)
    monkeypatch.setattr(history, "PAGE_BYTES", page_bytes)
    filled(ledger, 7)
    assert [entry.change.seq for entry in ledger.read_log(0)] == [1, 2, 3, 4, 5, 6, 7]


def test_reading_ends_where_the_log_ended_when_it_began(ledger: SqlLedger) -> None:
    filled(ledger, 2)
    reading = ledger.read_log(0)
    assert next(reading).change.seq == 1
    ledger.commit(adding("later"))
    assert [entry.change.seq for entry in reading] == [2]


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_gap_is_a_corrupt_store_and_names_the_change(ledger: SqlLedger, ledger_url: str, missing: int) -> None:
    filled(ledger, 3)
    with beside(ledger_url) as connection:
        connection.execute(delete(schema.changes).where(schema.changes.c.seq == missing))
    with pytest.raises(CorruptStore, match=f"lacks change {missing} "):
        list(ledger.read_log(0))
    with pytest.raises(CorruptStore, match=f"lacks change {missing} "):
        ledger.snapshot(TABLES)


def test_bytes_that_are_no_rows_are_a_corrupt_store(ledger: SqlLedger, ledger_url: str) -> None:
    filled(ledger, 1)
    with beside(ledger_url) as connection:
        connection.execute(update(schema.log).values(rows=b"torn"))
    with pytest.raises(CorruptStore, match="no Arrow stream"):
        list(ledger.read_log(0))


def test_changes_are_listed_by_seq_from_either_end(ledger: SqlLedger) -> None:
    ledger.commit(adding("one"))
    ledger.commit(adding("two", scope=BOB))
    ledger.commit(adding("three", scope=Scope.of("ann", project_id="other")))
    ledger.commit(adding("four", scope=replace(ANN, session_id="s")))

    def seqs(**query: object) -> list[int]:
        return [change.seq for change in ledger.changes(**query)]  # type: ignore[arg-type]

    assert seqs() == [1, 2, 3, 4]
    assert seqs(newest_first=True, limit=2) == [4, 3]
    assert seqs(after=2) == [3, 4]
    assert seqs(partition=ANN.partition) == [1, 4]
    assert seqs(project_id="default") == [1, 2, 4]
    assert seqs(project_id="none") == []
    assert ledger.change("unknown") is None


def test_a_snapshot_of_an_empty_ledger_has_empty_tables_by_contract(ledger: SqlLedger) -> None:
    snapshot = ledger.snapshot(TABLES)
    assert (snapshot.versions, snapshot.pinned_seq, snapshot.last_seq) == ({}, 0, 0)
    assert {name: rows.schema for name, rows in snapshot.tail.items()} == {name: CONTRACTS[name] for name in TABLES}
    assert {rows.num_rows for rows in snapshot.tail.values()} == {0}


def test_a_snapshot_is_the_pin_and_everything_after_it(ledger: SqlLedger) -> None:
    filled(ledger, 5)
    ledger.pin({"memories": 7, "changes": 3, "edges": 1}, 3, fence(ledger))
    snapshot = ledger.snapshot(TABLES)
    assert (snapshot.versions, snapshot.pinned_seq, snapshot.last_seq) == ({"memories": 7, "changes": 3}, 3, 5)
    assert snapshot.tail["memories"].column("content").to_pylist() == ["claim 4", "claim 5"]
    assert snapshot.tail["memories"].column("seq").to_pylist() == [4, 5]
    assert snapshot.tail["changes"].column("change_id").to_pylist() == [
        change.change_id for change in ledger.changes(after=3)
    ]
    assert snapshot.tail["changes"].schema == CONTRACTS["changes"]


def test_pin_and_tail_agree_while_others_write_and_fold(ledger: SqlLedger) -> None:
    def work() -> None:
        held = fence(ledger)
        for number in range(1, 31):
            ledger.commit(adding(f"claim {number}"))
            if number % 3 == 0:
                ledger.pin({"memories": number}, number, held)
                ledger.prune(number)

    writer = Thread(target=work)
    writer.start()
    seen = 0
    while writer.is_alive() or not seen:
        snapshot = ledger.snapshot(["memories"])
        seqs = snapshot.tail["memories"].column("seq").to_pylist()
        assert seqs == list(range(snapshot.pinned_seq + 1, snapshot.last_seq + 1))
        assert snapshot.versions.get("memories", 0) == snapshot.pinned_seq
        seen += 1
    writer.join()
    assert ledger.last_seq() == 30


def test_the_pin_moves_forward_only_and_under_its_lease(ledger: SqlLedger) -> None:
    filled(ledger, 3)
    held = fence(ledger)
    assert ledger.pinned() == ({}, 0)
    ledger.pin({"memories": 1}, 2, held)
    for seq in (1, 4):
        with pytest.raises(Conflict, match=f"can't move to seq {seq}"):
            ledger.pin({"memories": 9}, seq, held)
    with pytest.raises(LeaseLost):
        ledger.pin({"memories": 9}, 3, Fence("fold", held.token + 1))
    assert ledger.pinned() == ({"memories": 1}, 2)


def test_pruning_stops_at_the_pin_and_keeps_the_changes(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PRUNE_CHANGES", 2)
    filled(ledger, 6)
    assert ledger.prune(6) == 0
    ledger.pin({"memories": 1}, 5, fence(ledger))
    assert ledger.prune(3) == 3
    assert ledger.pruned_to() == 3
    assert ledger.prune(2) == 0
    assert ledger.prune(6) == 2
    assert ledger.pruned_to() == 5
    assert [change.seq for change in ledger.changes()] == [1, 2, 3, 4, 5, 6]


def test_a_reader_below_what_was_pruned_must_rebuild(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE_CHANGES", 1)
    filled(ledger, 4)
    slow = ledger.read_log(0)
    next(slow)
    ledger.pin({"memories": 1}, 3, fence(ledger))
    ledger.prune(3)
    for reading in (ledger.read_log(2), slow):
        with pytest.raises(StaleGeneration, match="up to seq 3 were folded and pruned"):
            next(reading)
    assert [entry.change.seq for entry in ledger.read_log(3)] == [4]

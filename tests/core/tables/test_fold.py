"""Fold: the log's rows arrive in the tables once, whatever happened before, and the log is pruned with care."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from support.changes import draft, memory, message, say

from mindmem.core.errors import CorruptStore, LeaseLost, LeaseTaken, StaleGeneration
from mindmem.core.failpoints import arm
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Scope
from mindmem.core.tables.contracts import CONTRACTS, conform
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import FOLD_LEASE, FOLD_ORDER, fold
from mindmem.core.tables.reader import Reader
from mindmem.core.tables.verify import verify

Interrupt = Callable[..., None]


def seqs(tables: DeltaTables, table: str) -> list[int]:
    return sorted(tables.scan(table).select("seq").collect()["seq"].to_list())


@pytest.fixture
def interrupt() -> Iterator[Callable[..., None]]:
    """Act when the named point is reached for the given time."""

    def arm_at(point: str, act: Callable[[], None], times: int = 1) -> None:
        left = [times]

        def hook(name: str) -> None:
            left[0] -= name == point
            if name == point and left[0] == 0:
                act()

        arm(hook)

    yield arm_at
    arm(None)


class Killed(BaseException):
    """Stands for the end of the process."""


def kill() -> None:
    raise Killed


def test_a_fold_writes_every_row_pins_it_and_prunes_the_log(ledger: SqlLedger, tables: DeltaTables) -> None:
    for place in range(5):
        say(ledger, f"u{place % 2}", place, f"thing {place}")
    report = fold(ledger, tables, owner="test")
    assert (report.after, report.upto, report.rounds) == (0, 5, 1)
    assert dict(report.rows) == {"messages": 5, "memories": 5, "vectors": 5, "edges": 5, "changes": 5}
    versions, pinned = ledger.pinned()
    assert pinned == 5
    assert versions == {name: tables.version(name) for name in tables.existing()}
    assert ledger.pruned_to() == 5
    assert seqs(tables, "changes") == [1, 2, 3, 4, 5]
    assert verify(ledger, tables) == []


def test_tables_without_rows_are_not_made(ledger: SqlLedger, tables: DeltaTables) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    assert tables.existing() == ["messages", "memories", "edges", "vectors", "changes"]


def test_a_fold_with_nothing_new_writes_nothing(ledger: SqlLedger, tables: DeltaTables) -> None:
    assert fold(ledger, tables, owner="test").rounds == 0
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    pin = ledger.pinned()
    assert fold(ledger, tables, owner="test").rounds == 0
    assert ledger.pinned() == pin


def test_a_change_without_rows_is_folded_too(ledger: SqlLedger, tables: DeltaTables) -> None:
    ledger.commit(draft(Scope(user_id="ann")))
    assert dict(fold(ledger, tables, owner="test").rows) == {"changes": 1}


def test_a_long_log_is_folded_in_rounds_of_whole_changes(ledger: SqlLedger, tables: DeltaTables) -> None:
    for place in range(10):
        say(ledger, "ann", place, f"thing {place}")
    report = fold(ledger, tables, owner="test", max_rows=12)
    assert (report.upto, report.rounds) == (10, 4)
    assert seqs(tables, "memories") == list(range(1, 11))


def test_changes_come_last_so_that_a_seq_there_is_complete_everywhere(
    ledger: SqlLedger, tables: DeltaTables, interrupt: Interrupt
) -> None:
    say(ledger, "ann", 0, "one thing")
    interrupt("fold.appended", kill, times=4)
    with pytest.raises(Killed):
        fold(ledger, tables, owner="test")
    assert tables.existing() == ["messages", "memories", "edges", "vectors"]
    assert set(FOLD_ORDER) == set(CONTRACTS)


def test_a_fold_that_was_killed_between_tables_is_completed_by_a_later_one(
    ledger: SqlLedger, tables: DeltaTables, reader: Reader, interrupt: Interrupt
) -> None:
    for place in range(5):
        say(ledger, "ann", place, f"thing {place}")
    fold(ledger, tables, owner="test")
    for place in range(5, 8):
        say(ledger, "ann", place, f"thing {place}")
    interrupt("fold.appended", kill, times=3)
    with pytest.raises(Killed):
        fold(ledger, tables, owner="test")
    arm(None)
    assert seqs(tables, "memories") == list(range(1, 9))
    assert seqs(tables, "changes") == list(range(1, 6))
    assert len(reader.memories("default")) == len(Reader(ledger, tables).memories("default")) == 8
    for place in range(8, 10):
        say(ledger, "ann", place, f"thing {place}")
    fold(ledger, tables, owner="test")
    for table in ("messages", "memories", "vectors", "edges", "changes"):
        assert seqs(tables, table) == list(range(1, 11))
    assert verify(ledger, tables) == []


def test_rows_above_the_pin_are_not_seen_twice_when_the_next_fold_takes_smaller_rounds(
    ledger: SqlLedger, tables: DeltaTables, interrupt: Interrupt
) -> None:
    for place in range(6):
        say(ledger, "ann", place, f"thing {place}")
    interrupt("fold.all_appended", kill)
    with pytest.raises(Killed):
        fold(ledger, tables, owner="test")
    arm(None)
    interrupt("fold.pinned", kill)
    with pytest.raises(Killed):
        fold(ledger, tables, owner="test", max_rows=10)
    arm(None)
    assert ledger.pinned()[1] == 2
    assert [one.revision for one in Reader(ledger, tables).memories("default")] == [1] * 6
    assert Reader(ledger, tables).view().rows("memories").collect().height == 6
    assert verify(ledger, tables) == []
    fold(ledger, tables, owner="test")
    assert seqs(tables, "memories") == list(range(1, 7))


def test_what_power_loss_tore_from_an_unpinned_fold_is_written_again(
    ledger: SqlLedger, tables: DeltaTables, interrupt: Interrupt
) -> None:
    say(ledger, "ann", 0, "one thing")
    interrupt("fold.appended", kill, times=3)
    with pytest.raises(Killed):
        fold(ledger, tables, owner="test")
    arm(None)
    (data,) = Path(tables.location("memories")).glob("*.parquet")
    data.write_bytes(b"")
    fold(ledger, tables, owner="test")
    assert seqs(tables, "memories") == [1]
    assert verify(ledger, tables) == []


def test_only_one_fold_runs_at_a_time(ledger: SqlLedger, tables: DeltaTables) -> None:
    lease = ledger.acquire(FOLD_LEASE, "other", 60)
    with pytest.raises(LeaseTaken):
        fold(ledger, tables, owner="test")
    ledger.release(lease)
    fold(ledger, tables, owner="test")


def test_a_fold_whose_lease_was_taken_over_pins_nothing(
    ledger: SqlLedger, tables: DeltaTables, interrupt: Interrupt
) -> None:
    say(ledger, "ann", 0, "one thing")
    held = ledger.acquire(FOLD_LEASE, "slow", 60)
    ledger.release(held)

    def take_over() -> None:
        ledger.release(replace(held, owner="slow", token=held.token + 1))
        ledger.acquire(FOLD_LEASE, "quick", 60)

    interrupt("fold.all_appended", take_over)
    with pytest.raises(LeaseLost):
        fold(ledger, tables, owner="slow")
    arm(None)
    assert ledger.pinned() == ({}, 0)


def test_the_log_is_kept_for_the_projection_that_lags_most(ledger: SqlLedger, tables: DeltaTables) -> None:
    for place in range(6):
        say(ledger, "ann", place, f"thing {place}")
    ledger.set_watermark("index", 4)
    ledger.set_watermark("other", 5)
    fold(ledger, tables, owner="test", projections=["index", "other"])
    assert ledger.pruned_to() == 4
    assert [entry.change.seq for entry in ledger.read_log(4)] == [5, 6]
    ledger.set_watermark("index", 6)
    assert fold(ledger, tables, owner="test", projections=["index", "other"]).pruned
    assert ledger.pruned_to() == 5


def test_a_projection_that_never_read_holds_the_whole_log(ledger: SqlLedger, tables: DeltaTables) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test", projections=["index"])
    assert ledger.pruned_to() == 0


def test_a_projection_that_lags_longer_than_the_days_kept_has_to_be_rebuilt(
    ledger: SqlLedger, tables: DeltaTables
) -> None:
    for place in range(6):
        say(ledger, "ann", place, f"thing {place}")
    fold(ledger, tables, owner="test", projections=["index"], keep_days=0)
    # Only the newest change is not older than itself.
    assert ledger.pruned_to() == 5
    with pytest.raises(StaleGeneration):
        next(ledger.read_log(0))


def test_an_older_copy_of_the_ledger_is_refused(ledger: SqlLedger, tables: DeltaTables, tmp_path: Path) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    copy = f"{tmp_path}/copy.db"
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as now, closing(sqlite3.connect(copy)) as then:
        now.backup(then)
    say(ledger, "ann", 1, "another thing")
    fold(ledger, tables, owner="test")
    with open_ledger(f"sqlite:///{copy}") as older, pytest.raises(CorruptStore, match="older copy of the ledger"):
        fold(older, tables, owner="test")


def test_the_tables_of_another_ledger_are_refused(ledger: SqlLedger, tables: DeltaTables, tmp_path: Path) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    with open_ledger(f"sqlite:///{tmp_path}/other.db") as other:
        for place in range(3):
            say(other, "bob", place, f"thing {place}")
        with pytest.raises(CorruptStore, match="another ledger"):
            fold(other, tables, owner="test")


def test_tables_that_vanished_are_not_silently_started_anew(
    ledger: SqlLedger, tables: DeltaTables, tmp_path: Path
) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    Path(tables.uri).rename(tmp_path / "elsewhere")
    with pytest.raises(CorruptStore, match="is gone"):
        fold(ledger, tables, owner="test")


def test_folded_rows_are_those_of_the_log_in_every_column(ledger: SqlLedger, tables: DeltaTables) -> None:
    who = Scope("p'; --", "a:b/🧠", "app", "agent", "s")
    said = message(who, 0, "Ünïcode 中文")
    made = memory(who, said, "Ünïcode 中文", valid_from=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))
    change = ledger.commit(draft(who, memories=[made], messages=[said], key="k"))
    (entry,) = ledger.read_log(0)
    fold(ledger, tables, owner="test")
    for table, rows in entry.batches.items():
        found = conform(tables.scan(table).collect().to_arrow(), CONTRACTS[table])
        assert found.to_pylist() == conform(rows, CONTRACTS[table]).to_pylist()
    (row,) = tables.scan("changes").collect().iter_rows(named=True)
    assert (row["change_id"], row["seq"], row["recorded_at"]) == (change.change_id, 1, change.recorded_at)
    assert json.loads(row["counts"]) == {}
    assert isinstance(entry.batches["memories"], pa.Table)

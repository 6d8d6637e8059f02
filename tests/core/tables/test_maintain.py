"""Maintenance: fewer files, the same rows, and nothing deleted that a pinned version needs."""

from pathlib import Path

import pytest
from support.changes import revise, say

from mindmem.core.errors import LeaseTaken
from mindmem.core.ledger.sql import SqlLedger
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import FOLD_LEASE, fold
from mindmem.core.tables.maintain import maintain
from mindmem.core.tables.reader import Reader
from mindmem.core.tables.verify import verify


def write(ledger: SqlLedger, tables: DeltaTables, folds: int) -> None:
    for place in range(folds):
        _, made = say(ledger, f"u{place % 3}", place, f"thing {place}")
        if place % 4 == 0:
            revise(ledger, made, status="archived")
        fold(ledger, tables, owner="test")


def files(tables: DeltaTables, table: str) -> int:
    return len(list(Path(tables.location(table)).glob("*.parquet")))


def test_maintenance_keeps_every_row_and_pins_the_compacted_version(ledger: SqlLedger, tables: DeltaTables) -> None:
    write(ledger, tables, 9)
    before = {name: tables.scan(name).collect().sort("seq") for name in tables.existing()}
    seq = ledger.pinned()[1]
    report = maintain(ledger, tables, owner="test", keep_days=0)
    assert report.merged["memories"] == 8
    assert report.deleted["memories"] == 9
    assert files(tables, "memories") == 1
    versions, pinned = ledger.pinned()
    assert pinned == seq
    for name, rows in before.items():
        assert versions[name] == tables.version(name)
        assert tables.scan(name, versions[name]).collect().sort("seq").equals(rows)
    assert verify(ledger, tables) == []


def test_folding_goes_on_after_maintenance(ledger: SqlLedger, tables: DeltaTables) -> None:
    write(ledger, tables, 8)
    maintain(ledger, tables, owner="test", keep_days=0)
    say(ledger, "ann", 100, "after")
    fold(ledger, tables, owner="test")
    maintain(ledger, tables, owner="test", keep_days=0)
    assert len(Reader(ledger, tables).memories("default")) == 9
    assert verify(ledger, tables) == []


def test_files_are_kept_for_the_days_asked_for(ledger: SqlLedger, tables: DeltaTables) -> None:
    write(ledger, tables, 8)
    report = maintain(ledger, tables, owner="test", keep_days=7)
    assert dict(report.deleted) == {}
    assert files(tables, "memories") == 9


def test_nothing_to_do_reports_nothing(ledger: SqlLedger, tables: DeltaTables) -> None:
    assert maintain(ledger, tables, owner="test").merged == {}
    write(ledger, tables, 2)
    report = maintain(ledger, tables, owner="test")
    assert (dict(report.merged), dict(report.deleted)) == ({}, {})


def test_maintenance_waits_for_no_fold(ledger: SqlLedger, tables: DeltaTables) -> None:
    ledger.acquire(FOLD_LEASE, "a fold", 60)
    with pytest.raises(LeaseTaken):
        maintain(ledger, tables, owner="test")


def test_a_compaction_that_was_never_pinned_costs_no_file_that_the_pin_needs(
    ledger: SqlLedger, tables: DeltaTables
) -> None:
    write(ledger, tables, 8)
    versions, _ = ledger.pinned()
    tables.compact("memories")  # killed before its pin
    assert len(tables.scan("memories", versions["memories"]).collect()) == 10
    maintain(ledger, tables, owner="test", keep_days=0)
    assert len(Reader(ledger, tables).memories("default")) == 8
    assert verify(ledger, tables) == []


def test_rows_of_a_killed_fold_survive_maintenance_and_stay_unseen_until_pinned(
    ledger: SqlLedger, tables: DeltaTables
) -> None:
    write(ledger, tables, 8)
    change, _ = say(ledger, "ann", 50, "appended, never pinned")
    (entry,) = ledger.read_log(change.seq - 1)
    tables.append("memories", entry.batches["memories"], app_id=ledger.uuid, seq=change.seq)
    maintain(ledger, tables, owner="test", keep_days=0)
    assert Reader(ledger, tables).view().rows("memories").collect().height == 11
    fold(ledger, tables, owner="test")
    assert tables.scan("memories").collect().height == 11
    assert verify(ledger, tables) == []

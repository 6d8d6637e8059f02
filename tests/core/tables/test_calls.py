"""The record of model calls arrives in its open table once, and comes back with a restored ledger."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.builders import llm_call
from support.changes import say

from mindmem.core.errors import CorruptStore
from mindmem.core.failpoints import arm
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.tables.contracts import CONTRACTS
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.maintain import maintain
from mindmem.core.tables.restore import restore_ledger
from mindmem.core.tables.rows import call_of
from mindmem.core.tables.verify import verify


def record(ledger: SqlLedger, *numbers: int) -> None:
    for number in numbers:
        free, cached = number % 2 == 1, number % 3 == 0
        ledger.record_call(llm_call(f"c{number}", cost=None if free else 0.5, cached=cached, estimated=free))


def folded(tables: DeltaTables) -> list[tuple[int, str]]:
    rows = tables.scan("llm_calls").sort("seq").collect()
    return [(number, call.call_id) for number, call in map(call_of, rows.iter_rows(named=True))]


@pytest.fixture
def die_at() -> Iterator[Callable[[str], None]]:
    """End the work, as if the process ended, at the next passage of a point."""

    def arm_at(point: str) -> None:
        def hook(name: str) -> None:
            if name == point:
                arm(None)
                raise KeyboardInterrupt

        arm(hook)

    yield arm_at
    arm(None)


def test_calls_are_folded_as_they_were_recorded(ledger: SqlLedger, tables: DeltaTables) -> None:
    record(ledger, 1, 2, 3)
    report = fold(ledger, tables, owner="test")
    assert dict(report.rows) == {"llm_calls": 3}
    rows = tables.scan("llm_calls").sort("seq").collect()
    assert [call_of(row) for row in rows.iter_rows(named=True)] == ledger.calls_after(0, 10)
    assert verify(ledger, tables) == []


def test_calls_of_a_table_made_before_a_column_was_known_are_read(ledger: SqlLedger, tables: DeltaTables) -> None:
    record(ledger, 1)
    fold(ledger, tables, owner="test")
    [row] = tables.scan("llm_calls").drop("estimated").collect().iter_rows(named=True)
    assert call_of(row) == (1, replace(ledger.calls("default")[0], estimated=False))


def test_each_fold_takes_the_new_calls_only_beside_the_changes(ledger: SqlLedger, tables: DeltaTables) -> None:
    record(ledger, 1, 2)
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    assert fold(ledger, tables, owner="test").rows == {}
    record(ledger, 3)
    assert dict(fold(ledger, tables, owner="test").rows) == {"llm_calls": 1}
    assert folded(tables) == [(1, "c1"), (2, "c2"), (3, "c3")]
    assert ledger.pinned()[0]["llm_calls"] == tables.version("llm_calls")


def test_many_calls_are_folded_in_rounds(ledger: SqlLedger, tables: DeltaTables) -> None:
    record(ledger, *range(1, 8))
    fold(ledger, tables, owner="test", max_rows=3)
    assert [number for number, _ in folded(tables)] == list(range(1, 8))
    assert tables.version("llm_calls") == 3


@pytest.mark.parametrize("point", ["fold.appended", "fold.synced", "fold.pinned", "fold.pruned"])
def test_a_fold_that_ends_anywhere_loses_and_doubles_no_call(
    ledger: SqlLedger, tables: DeltaTables, die_at: Callable[[str], None], point: str
) -> None:
    record(ledger, 1, 2)
    fold(ledger, tables, owner="test")
    record(ledger, 3, 4)
    die_at(point)
    with pytest.raises(KeyboardInterrupt):
        fold(ledger, tables, owner="test")
    assert verify(ledger, tables) == []
    record(ledger, 5)
    fold(ledger, tables, owner="test")
    assert folded(tables) == [(number, f"c{number}") for number in range(1, 6)]


def test_the_lost_ledgers_calls_come_back_and_are_not_folded_again(
    ledger: SqlLedger, tables: DeltaTables, tmp_path: Path
) -> None:
    say(ledger, "ann", 0, "one thing")
    record(ledger, 1, 2)
    fold(ledger, tables, owner="test")
    with open_ledger(f"sqlite:///{tmp_path}/other.db") as other:
        restore_ledger(tables, other)
        assert other.calls_after(0, 10) == ledger.calls_after(0, 10)
        assert other.spent("default") == ledger.spent("default")
        record(other, 3)
        fold(other, tables, owner="test")
        assert folded(tables) == [(1, "c1"), (2, "c2"), (3, "c3")]
        assert verify(other, tables) == []


def test_an_older_copy_of_the_ledger_is_refused_by_its_calls(
    ledger: SqlLedger, tables: DeltaTables, tmp_path: Path
) -> None:
    record(ledger, 1, 2)
    fold(ledger, tables, owner="test")
    with open_ledger(f"sqlite:///{tmp_path}/other.db") as other:
        record(other, 1)
        with pytest.raises(CorruptStore, match=r"'llm_calls' .* up to 2, the ledger ends at 1"):
            fold(other, tables, owner="test")


def test_maintenance_keeps_the_calls(ledger: SqlLedger, tables: DeltaTables) -> None:
    for number in range(1, 10):
        record(ledger, number)
        fold(ledger, tables, owner="test")
    report = maintain(ledger, tables, owner="test")
    assert report.merged["llm_calls"] > 0
    assert [number for number, _ in folded(tables)] == list(range(1, 10))
    assert verify(ledger, tables) == []


def test_the_open_table_has_no_column_for_contents() -> None:
    assert not {"content", "text", "messages", "reply", "raw"} & set(CONTRACTS["llm_calls"].names)

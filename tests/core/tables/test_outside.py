"""Readers without MindMem: the two lines for Polars and DuckDB, also while a fold runs."""

import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable
from support.changes import revise, say

from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.tables import DUCKDB_QUERY, POLARS_QUERY
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.maintain import maintain
from mindmem.core.tables.reader import Reader


def polars_rows(tables: str) -> list[dict[str, object]]:
    names: dict[str, object] = {"pl": pl}
    exec(POLARS_QUERY.format(tables=tables), names)
    found = names["memories"]
    assert isinstance(found, pl.DataFrame)
    return found.to_dicts()


def duckdb_rows(tables: str) -> list[dict[str, object]]:
    names: dict[str, object] = {"duckdb": duckdb, "DeltaTable": DeltaTable}
    exec(DUCKDB_QUERY.format(tables=tables), names)
    found = names["memories"]
    assert isinstance(found, duckdb.DuckDBPyRelation)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


Query = Callable[[str], list[dict[str, object]]]
QUERIES = pytest.mark.parametrize("query", [polars_rows, duckdb_rows])


@QUERIES
def test_two_lines_read_the_current_memories(query: Query, ledger: SqlLedger, tables: DeltaTables) -> None:
    made = [say(ledger, f"u{place}", place, f"thing {place}")[1] for place in range(4)]
    fold(ledger, tables, owner="test")
    revise(ledger, made[0], status="archived")
    revise(ledger, made[1], content="thing 1, reworded")
    fold(ledger, tables, owner="test")
    found = query(tables.uri)
    assert {row["content"] for row in found} == {"thing 1, reworded", "thing 2", "thing 3"}
    assert {row["memory_id"] for row in found} == {
        one.memory_id for one in Reader(ledger, tables).memories("default") if one.status == "active"
    }


@QUERIES
def test_each_query_is_two_lines(query: Query) -> None:
    text = POLARS_QUERY if query is polars_rows else DUCKDB_QUERY
    assert len(text.strip().splitlines()) == 2


@QUERIES
def test_a_row_that_was_appended_twice_is_read_once(query: Query, ledger: SqlLedger, tables: DeltaTables) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    tables.append("memories", tables.scan("memories").collect().to_arrow(), app_id="somebody else", seq=1)
    assert [row["content"] for row in query(tables.uri)] == ["one thing"]


@QUERIES
def test_an_outside_reader_never_sees_a_part_of_a_change(query: Query, tmp_path: Path) -> None:
    """A writer folds and compacts in a loop; each change writes one message, one memory and one revision of it."""
    stop, failures = threading.Event(), []
    folder = str(tmp_path / "tables")
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        revise(ledger, say(ledger, "ann", 0, "thing 0")[1], confidence=0.5)
        fold(ledger, DeltaTables(folder), owner="test")

        def write() -> None:
            try:
                for place in range(1, 12):
                    revise(ledger, say(ledger, "ann", place, f"thing {place}")[1], confidence=0.5)
                    fold(ledger, DeltaTables(folder), owner="test")
                maintain(ledger, DeltaTables(folder), owner="test")
            except BaseException as error:
                failures.append(error)
            finally:
                stop.set()

        writer = threading.Thread(target=write)
        writer.start()
        seen: list[int] = []
        while not stop.is_set() or len(seen) < 2:
            found = query(folder)
            said = set(pl.scan_delta(f"{folder}/messages").collect()["message_id"])
            # Both revisions of a memory were folded together, its message before it, and none is there twice.
            assert {row["revision"] for row in found} == {2}
            assert len({row["memory_id"] for row in found}) == len(found)
            assert {source["message_id"] for row in found for source in row["sources"]} <= said  # type: ignore[attr-defined]
            seen.append(len(found))
        writer.join()
    assert not failures
    assert seen == sorted(seen)
    assert len(query(folder)) == 12

"""How a table's rows lie in its Parquet files: sorted for point reads, with statistics on ids, times and seq only."""

import json
from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mindmem.core.tables.contracts import CONTRACTS, conform

__all__ = ["KEYS", "arrange", "order", "statistics", "statistics_columns", "write_parquet"]

_ROW_GROUP: Final = 16_384
"""Rows of a row group, the least that a point read decodes: a user's memories lie in one or two."""
_ROW_GROUPS: Final = {"vectors": 1_024}
"""A row of vectors is some kilobytes wide."""

KEYS: Final = {
    "messages": "message_id",
    "memories": "memory_id",
    "entities": "entity_id",
    "edges": "src",
    "schemas": "schema_id",
    "vectors": "vector_key",
    "changes": "change_id",
    "adds": "add_id",
    "quarantine": "quarantine_id",
    "consolidations": "add_id",
    "proposals": "proposal_id",
    "dreams": "run_id",
    "llm_calls": "call_id",
}
"""The id column of each table."""

_IDS: Final = frozenset(
    {"project_id", "user_id", "app_id", "agent_id", "session_id", "change_id", "dst", *KEYS.values()}
)  # fmt: skip

_LATEST: Final = datetime.max.replace(microsecond=999_000, tzinfo=UTC)


def order(table: str) -> list[str]:
    """Return the columns by which the rows of a file are sorted."""
    return ["project_id", "user_id", KEYS[table], "seq"]


def statistics_columns(table: str) -> list[str]:
    """Return the columns that carry statistics: never one with content, so that erasing rows erases their traces."""
    return [
        column.name
        for column in CONTRACTS[table]
        if column.name in _IDS or column.name == "seq" or pa.types.is_timestamp(column.type)
    ]


def arrange(table: str, rows: pa.Table) -> pa.Table:
    """Return the rows by the table's contract, sorted."""
    return conform(rows, CONTRACTS[table]).sort_by([(name, "ascending") for name in order(table)])


def statistics(table: str, rows: pa.Table) -> str:
    """Return the file statistics of ``rows`` as Delta's JSON; times are widened to whole milliseconds."""
    low: dict[str, object] = {}
    high: dict[str, object] = {}
    nulls: dict[str, int] = {}
    for name in statistics_columns(table):
        column = rows.column(name)
        nulls[name] = column.null_count
        if column.null_count < len(column):
            bounds = pc.min_max(column).as_py()
            low[name], high[name] = _plain(bounds["min"], up=False), _plain(bounds["max"], up=True)
    return json.dumps(
        {"numRecords": rows.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls}, ensure_ascii=False
    )


def write_parquet(table: str, rows: pa.Table, sink: object) -> None:
    """Write arranged rows to a path or an open stream."""
    pq.write_table(
        rows, sink, compression="zstd", row_group_size=_ROW_GROUPS.get(table, _ROW_GROUP),
        write_statistics=statistics_columns(table), store_schema=False,
    )  # fmt: skip


def _plain(value: object, *, up: bool) -> object:
    if not isinstance(value, datetime):
        return value
    whole = value.astimezone(UTC).replace(microsecond=value.microsecond // 1000 * 1000)
    if up and whole < value and whole < _LATEST:
        whole += timedelta(milliseconds=1)
    return whole.isoformat(timespec="milliseconds").replace("+00:00", "Z")

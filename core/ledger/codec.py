"""Log rows as Arrow IPC streams, and the stamp that readers put on them."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from mindmem.core.errors import CorruptStore, InvalidInput, bounded
from mindmem.core.tables.contracts import CONTRACTS, body, conform

__all__ = ["DERIVED", "Block", "decode", "encode", "stamped"]

_body = functools.cache(body)

COMPRESS_FROM: Final = 16_384
"""Bytes of a batch from which lz4 pays; below it the frames only add to the size."""

DERIVED: Final = "changes"
"""The table whose rows are the log's own ``changes`` rows; no change writes it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One log row: the rows that a change wrote to one table, with that change's stamp (``at`` in microseconds)."""

    change_id: str
    seq: int
    at: int
    rows: bytes


def encode(batches: Mapping[str, pa.Table]) -> dict[str, tuple[int, bytes]]:
    """Return row count and Arrow IPC stream of each table that has rows.

    Raises:
        InvalidInput: a table is unknown, or its rows don't fit the contract (without the stamp).
    """
    encoded: dict[str, tuple[int, bytes]] = {}
    for table, rows in batches.items():
        if table not in CONTRACTS or table == DERIVED:
            allowed = ", ".join(sorted(set(CONTRACTS) - {DERIVED}))
            raise InvalidInput(f"A change can't write a table {bounded(table)}; it may write {allowed}.", field=table)
        try:
            # Only rows of an older MindMem may lack a column; what is written has them all.
            fitting = _fitting(rows.select(_body(table).names), table)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError) as error:
            raise InvalidInput(f"Rows for table {table!r} don't fit its contract: {error}", field=table) from error
        if fitting.num_rows:
            encoded[table] = (fitting.num_rows, _stream(fitting))
    return encoded


def _fitting(rows: pa.Table, table: str) -> pa.Table:
    # Rows of an older MindMem may differ in a detail; the cast costs ten times the decoding.
    plain = _body(table)
    return rows if rows.schema.equals(plain) else conform(rows, plain)


def _stream(rows: pa.Table) -> bytes:
    compression = "lz4" if rows.nbytes >= COMPRESS_FROM else None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue())


def decode(rows: bytes) -> pa.Table:
    """Return the rows of an Arrow IPC stream.

    Raises:
        CorruptStore: the bytes are no such stream.
    """
    try:
        with pa.ipc.open_stream(rows) as reader:
            return reader.read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise CorruptStore(
            f"A log row of {len(rows)} bytes is no Arrow stream ({error}): run `mindmem doctor --rebuild-ledger`."
        ) from error


def stamped(table: str, blocks: Iterable[Block]) -> pa.Table:
    """Return the rows of these blocks in order, with ``change_id``, ``seq`` and ``recorded_at``, by the contract."""
    schema = CONTRACTS[table]
    parts: list[pa.Table] = []
    stamps: list[Block] = []
    for block in blocks:
        rows = _fitting(decode(block.rows), table)
        parts.append(rows)
        stamps.extend([block] * rows.num_rows)
    if not parts:
        return schema.empty_table()
    whole = parts[0] if len(parts) == 1 else pa.concat_tables(parts).combine_chunks()
    columns = {
        "change_id": [block.change_id for block in stamps],
        "seq": [block.seq for block in stamps],
        "recorded_at": [block.at for block in stamps],
    }
    stamp = [pa.array(values, type=schema.field(name).type) for name, values in columns.items()]
    return pa.Table.from_arrays([*whole.columns, *stamp], schema=schema)

"""Log rows as Arrow IPC streams, and the stamp that readers put on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from mindmem.core.errors import CorruptStore, InvalidInput, bounded
from mindmem.core.ledger.schema import instant
from mindmem.core.tables.contracts import CONTRACTS, body, conform

__all__ = ["DERIVED", "Block", "decode", "encode", "stamped"]

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
            fitting = conform(rows, body(table))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError) as error:
            raise InvalidInput(f"Rows for table {table!r} don't fit its contract: {error}", field=table) from error
        if fitting.num_rows:
            encoded[table] = (fitting.num_rows, _stream(fitting))
    return encoded


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
    plain = body(table)
    parts: list[pa.Table] = []
    stamps: list[Block] = []
    counts: list[int] = []
    for block in blocks:
        rows = conform(decode(block.rows), plain)
        parts.append(rows)
        stamps.append(block)
        counts.append(rows.num_rows)
    if not parts:
        return schema.empty_table()
    whole = pa.concat_tables(parts)
    columns = {
        "change_id": _repeated([block.change_id for block in stamps], counts, schema.field("change_id").type),
        "seq": _repeated([block.seq for block in stamps], counts, schema.field("seq").type),
        "recorded_at": _repeated([instant(block.at) for block in stamps], counts, schema.field("recorded_at").type),
    }
    for name, values in columns.items():
        whole = whole.append_column(name, values)
    return conform(whole, schema)


def _repeated(values: Sequence[object], counts: Sequence[int], kind: pa.DataType) -> pa.Array:
    places = [place for place, count in enumerate(counts) for _ in range(count)]
    return pa.array(values, type=kind).take(pa.array(places, type=pa.int64()))

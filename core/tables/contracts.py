"""The Arrow contract of each table. A change of one is a migration.

A batch in the ledger's log holds all columns but ``STAMP``; the ledger knows those, and readers add them.
"""

from typing import Final

import pyarrow as pa

__all__ = ["CONTRACTS", "STAMP", "TABLES", "body", "conform"]

TIME: Final = pa.timestamp("us", tz="UTC")
_TEXTS: Final = pa.list_(pa.field("element", pa.string()))
_SCOPE: Final = [
    ("project_id", pa.string()),
    ("user_id", pa.string()),
    ("app_id", pa.string()),
    ("agent_id", pa.string()),
    ("session_id", pa.string()),
]
_STAMP: Final = [("change_id", pa.string()), ("seq", pa.int64()), ("recorded_at", TIME)]
STAMP: Final = tuple(name for name, _ in _STAMP)
"""Columns known at commit only: which change wrote the row, its place in the log, and when."""

SOURCE: Final = pa.struct([("message_id", pa.string()), ("start", pa.int32()), ("end", pa.int32())])

CONTRACTS: Final[dict[str, pa.Schema]] = {
    "messages": pa.schema(
        [
            ("message_id", pa.string()),
            *_SCOPE,
            ("position", pa.int64()),
            ("role", pa.string()),
            ("name", pa.string()),
            ("content", pa.string()),
            ("caption", pa.string()),
            ("timestamp", TIME),
            ("timezone", pa.string()),
            ("add_id", pa.string()),
            *_STAMP,
        ]
    ),
    "memories": pa.schema(
        [
            ("memory_id", pa.string()),
            ("revision", pa.int32()),
            *_SCOPE,
            ("mem_type", pa.string()),
            ("content", pa.string()),
            ("content_hash", pa.string()),
            ("entity_id", pa.string()),
            ("entity_name", pa.string()),
            ("entity_type", pa.string()),
            ("property_name", pa.string()),
            ("order", pa.int8()),
            ("value", pa.string()),
            ("valid_from", TIME),
            ("valid_to", TIME),
            ("observed_at", TIME),
            ("time_precision", pa.string()),
            ("status", pa.string()),
            ("confidence", pa.float32()),
            ("reinforcement_count", pa.int32()),
            ("sources", pa.list_(pa.field("element", SOURCE))),
            ("parents", _TEXTS),
            ("mentions", _TEXTS),
            ("speaker", pa.string()),
            ("context", pa.string()),
            ("flags", _TEXTS),
            ("metadata", pa.string()),
            ("episode", pa.string()),
            *_STAMP,
        ]
    ),
    "entities": pa.schema(
        [
            ("entity_id", pa.string()),
            ("revision", pa.int32()),
            *_SCOPE,
            ("entity_type", pa.string()),
            ("name", pa.string()),
            ("aliases", _TEXTS),
            ("description", pa.string()),
            ("search_fields", _TEXTS),
            ("merged_into", pa.string()),
            ("status", pa.string()),
            *_STAMP,
        ]
    ),
    "edges": pa.schema(
        [
            ("src", pa.string()),
            ("relation", pa.string()),
            ("dst", pa.string()),
            *_SCOPE,
            ("kind", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("valid_from", TIME),
            ("valid_to", TIME),
            ("active", pa.bool_()),
            ("source", pa.string()),
            *_STAMP,
        ]
    ),
    "schemas": pa.schema(
        [
            ("schema_id", pa.string()),
            *_SCOPE,
            ("name", pa.string()),
            ("version", pa.int32()),
            ("digest", pa.string()),
            ("document", pa.string()),
            ("origin", pa.string()),
            ("active", pa.bool_()),
            *_STAMP,
        ]
    ),
    "vectors": pa.schema(
        [
            ("vector_key", pa.string()),
            ("embedder", pa.string()),
            ("project_id", pa.string()),
            ("user_id", pa.string()),
            ("vector", pa.list_(pa.field("element", pa.float32()))),
            ("token_ids", pa.binary()),
            ("token_vectors", pa.binary()),
            *_STAMP,
        ]
    ),
    "changes": pa.schema(
        [
            ("kind", pa.string()),
            *_SCOPE,
            ("actor", pa.string()),
            ("reason", pa.string()),
            ("run_id", pa.string()),
            ("undoes", pa.string()),
            ("counts", pa.string()),
            *_STAMP,
        ]
    ),
    "adds": pa.schema(
        [
            ("add_id", pa.string()),
            *_SCOPE,
            ("idempotency_key", pa.string()),
            ("request_digest", pa.string()),
            ("receipt", pa.string()),
            *_STAMP,
        ]
    ),
    "quarantine": pa.schema(
        [
            ("quarantine_id", pa.string()),
            *_SCOPE,
            ("origin", pa.string()),
            ("line", pa.int64()),
            ("reason", pa.string()),
            ("raw", pa.string()),
            *_STAMP,
        ]
    ),
    "consolidations": pa.schema(
        [
            ("add_id", pa.string()),
            *_SCOPE,
            ("run_id", pa.string()),
            *_STAMP,
        ]
    ),
    "proposals": pa.schema(
        [
            ("proposal_id", pa.string()),
            *_SCOPE,
            ("run_id", pa.string()),
            ("state", pa.string()),
            ("cause", pa.string()),
            ("document", pa.string()),
            *_STAMP,
        ]
    ),
    "dreams": pa.schema(
        [
            ("run_id", pa.string()),
            *_SCOPE,
            ("state", pa.string()),
            ("active_before", pa.int64()),
            ("archived", pa.int64()),
            ("amcr", pa.float64()),
            ("actions", pa.string()),
            ("issues", pa.string()),
            ("clusters", pa.int32()),
            ("pending", _TEXTS),
            ("adds", pa.int64()),
            ("probes", pa.int32()),
            ("retained", pa.int32()),
            ("input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("cost", pa.float64()),
            ("seconds", pa.float64()),
            ("guards", pa.string()),
            ("dreamt_at", TIME),
            *_STAMP,
        ]
    ),
    # No rows of a change: their seq is their place in the ledger's record of calls.
    "llm_calls": pa.schema(
        [
            ("call_id", pa.string()),
            *_SCOPE,
            ("run_id", pa.string()),
            ("purpose", pa.string()),
            ("prompt", pa.string()),
            ("version", pa.string()),
            ("digest", pa.string()),
            ("model", pa.string()),
            ("input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("cost", pa.float64()),
            ("latency_ms", pa.float64()),
            ("retries", pa.int32()),
            ("cached", pa.bool_()),
            ("outcome", pa.string()),
            ("error", pa.string()),
            ("called_at", TIME),
            ("seq", pa.int64()),
            ("estimated", pa.bool_()),
        ]
    ),
}
TABLES: Final = tuple(CONTRACTS)


def body(table: str) -> pa.Schema:
    """Return the contract of ``table`` without the columns that only the commit knows."""
    schema = CONTRACTS[table]
    return pa.schema([column for column in schema if column.name not in STAMP])


def conform(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return ``rows`` with exactly the schema's columns, order and types (Parquet readers rename list children).

    A column that is not there was added to the contract after the rows were written: it is null.

    Raises:
        pyarrow.ArrowInvalid: a value doesn't fit.
    """
    for name in set(schema.names).difference(rows.column_names):
        rows = rows.append_column(name, pa.nulls(rows.num_rows, schema.field(name).type))
    # A cast that changes nothing still costs as much as reading the rows.
    return rows if rows.schema.equals(schema) else rows.select(schema.names).cast(schema)

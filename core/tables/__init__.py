"""The open record: append-only Delta tables in Parquet that anybody can read, without MindMem.

Every row is one revision, complete in itself, so the current memories are the last revision of each id. Both queries
stand on that alone and need no network. ``{tables}`` is the folder or object-store URI of the tables, by default
``~/.mindmem/tables`` written out in full. Polars' ``scan_delta`` does not open a folder whose path holds a space or a
character beyond ASCII; DuckDB's way does. Where DuckDB may download extensions, ``delta_scan('{tables}/memories')`` is
the same table without ``deltalake``.
"""

from typing import Final

__all__ = ["DUCKDB_QUERY", "POLARS_QUERY"]

POLARS_QUERY: Final = """\
latest = pl.scan_delta("{tables}/memories").sort("revision").unique("memory_id", keep="last")
memories = latest.filter(pl.col("status") == "active").collect()
"""
"""Two lines of Python that read the current memories; ``import polars as pl`` (with ``deltalake`` installed)."""

DUCKDB_QUERY: Final = """\
rows = DeltaTable("{tables}/memories").to_pyarrow_dataset()
memories = duckdb.sql("from (from rows qualify row_number() over (partition by memory_id order by revision desc) = 1) where status = 'active'")
"""  # noqa: E501 - one of two lines
"""Two lines of Python that read the current memories; ``import duckdb; from deltalake import DeltaTable``."""

"""The Tables port: append-only tables that hold each row of the log once, in a form that anybody can read."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Tables", "Where"]

Where = Mapping[str, Sequence[str]]
"""Allowed values by id column; a row must fit in every column named."""


class Tables(Protocol):
    """The tables below one folder or object-store prefix. Writers hold the ledger's lease ``fold``; readers need none.

    Every method raises StoreUnavailable when the storage can't be read or written, CorruptStore when it holds something
    that no crash explains.
    """

    @property
    def uri(self) -> str:
        """Return the folder or object-store URI of the tables."""
        ...

    def location(self, table: str) -> str:
        """Return the folder or URI of one table."""
        ...

    def exists(self, table: str) -> bool:
        """Return whether the table was ever written."""
        ...

    def existing(self) -> list[str]:
        """Return the names of the tables that exist, in the order of the contracts."""
        ...

    def version(self, table: str) -> int:
        """Return the newest version, -1 if the table doesn't exist."""
        ...

    def transaction_version(self, table: str, app_id: str) -> int:
        """Return the highest seq that was appended under ``app_id`` (the ledger's uuid), 0 if none."""
        ...

    def last_seq(self, table: str) -> int:
        """Return the highest seq that the newest version holds, whoever appended it, 0 if none."""
        ...

    def append(self, table: str, rows: pa.Table, *, app_id: str, seq: int) -> int:
        """Append the stamped rows up to ``seq`` exactly once and return the version that holds them.

        Rows with a seq that ``app_id`` appended before are left out, so a killed or repeated append is safe.
        """
        ...

    def sync(self, table: str, after: int) -> None:
        """Make everything written by the versions above ``after`` survive a loss of power."""
        ...

    def heal(self, table: str, above: int) -> int:
        """Drop what a loss of power left torn in versions above ``above``; return how many versions were dropped."""
        ...

    def scan(self, table: str, version: int | None = None, where: Where | None = None) -> "pl.LazyFrame":
        """Return the rows of a version (None: the newest) that fit ``where``, by the table's contract; files that can't
        hold any are not opened."""
        ...

    def compact(self, table: str) -> int:
        """Merge small files of like size into larger sorted ones; return how many files went away."""
        ...

    def vacuum(self, table: str, *, keep_hours: float, keep_versions: Sequence[int]) -> int:
        """Delete files that no version younger than ``keep_hours`` and none of ``keep_versions`` needs; return how
        many."""
        ...

    def discard_after(self, table: str, seq: int) -> int:
        """Take out the rows with a higher seq, left by a fold that never ended; return how many. For rebuilding a
        ledger only."""
        ...

"""Keep the tables small and quick to read: merge small files, delete what no reader needs any more."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mindmem.core.ledger.port import Ledger
from mindmem.core.tables.fold import FOLD_LEASE, FOLD_ORDER, refuse_older_ledger
from mindmem.core.tables.port import Tables

__all__ = ["MaintainReport", "maintain"]

_HOURS: Final = 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainReport:
    """By table, where there were any: small files merged away, and old files deleted."""

    merged: Mapping[str, int] = field(default_factory=dict)
    deleted: Mapping[str, int] = field(default_factory=dict)


def maintain(
    ledger: Ledger, tables: Tables, *, owner: str, lease_seconds: float = 120.0, keep_days: float = 7.0
) -> MaintainReport:
    """Compact each table in tiers, pin the result, then delete files that only versions older than ``keep_days`` need.

    No row changes: every pinned version stays readable, and killed anywhere the next run completes it. With
    ``keep_days`` 0 an outside reader in the middle of a query may lose its files.

    Raises:
        LeaseTaken, LeaseLost, StoreUnavailable, CorruptStore: as :func:`mindmem.core.tables.fold.fold`.
    """
    lease = ledger.acquire(FOLD_LEASE, owner, lease_seconds)
    merged: dict[str, int] = {}
    deleted: dict[str, int] = {}
    try:
        versions, seq = ledger.pinned()
        for table in FOLD_ORDER:
            tables.heal(table, above=versions.get(table, -1))
        refuse_older_ledger(ledger, tables)
        for table in versions:
            merged[table] = tables.compact(table)
            lease = ledger.renew(lease, lease_seconds)
        # The pin moves before anything is deleted, so that it never names a version whose files are gone.
        ledger.pin(_newest(tables, versions), seq, lease.fence)
        for table in versions:
            deleted[table] = tables.vacuum(table, keep_hours=keep_days * _HOURS, keep_versions=())
            lease = ledger.renew(lease, lease_seconds)
        # Deleting is logged in versions of its own; old log entries go at the next run.
        ledger.pin(_newest(tables, versions), seq, lease.fence)
    finally:
        ledger.release(lease)
    return MaintainReport(merged=_some(merged), deleted=_some(deleted))


def _newest(tables: Tables, versions: Mapping[str, int]) -> dict[str, int]:
    """Return the newest version of each table, made durable."""
    for table, version in versions.items():
        tables.sync(table, after=version)
    return {table: tables.version(table) for table in versions}


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {table: count for table, count in counts.items() if count}

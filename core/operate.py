"""Operating a store: maintain, rebuild the index, status, verify."""

from collections.abc import Mapping
from dataclasses import dataclass

from mindmem.core import ids
from mindmem.core.ingest.flush import left_in_queue
from mindmem.core.lifecycle import archive_expired
from mindmem.core.services import Services
from mindmem.core.tables.fold import FoldReport
from mindmem.core.tables.maintain import MaintainReport as TablesReport
from mindmem.core.tables.maintain import maintain as maintain_tables
from mindmem.core.tables.verify import Finding
from mindmem.core.tables.verify import verify as verify_store
from mindmem.core.upkeep import caught_up, fold_now

__all__ = ["MaintainReport", "Status", "maintain", "status", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainReport:
    """What a maintenance did: memories archived because their time was over, the fold, files merged and deleted, and
    where ledger, tables and index disagree (empty when all is well)."""

    expired: int
    fold: FoldReport
    tables: TablesReport
    findings: tuple[Finding, ...]


def maintain(services: Services) -> MaintainReport:
    """Sweep what has expired, fold, compact, vacuum, and verify.

    Raises:
        LeaseTaken: a fold or a maintenance runs elsewhere; try again later.
    """
    store = services.settings.store
    expired = archive_expired(services)
    folded = fold_now(services)
    tables = maintain_tables(
        services.ledger,
        services.tables,
        owner=ids.random_id("maintain"),
        lease_seconds=store.lease_seconds,
        keep_days=store.keep_days,
    )
    return MaintainReport(expired=expired, fold=folded, tables=tables, findings=tuple(verify(services)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a store holds and how far its projections are."""

    home: str
    project_id: str
    ledger: str
    embedder: str
    last_seq: int
    folded_seq: int
    indexed_seq: int
    pruned_seq: int
    partitions: int
    active: int
    pending: int
    """Queued adds, those that wait for the end of their episode among them; none of it is found by search yet."""
    buffered: int
    """Messages of queued adds that wait for the end of their episode (schema mode)."""
    quarantined: int
    table_versions: Mapping[str, int]
    notes: tuple[str, ...] = ()


def status(services: Services) -> Status:
    """Return counts and watermarks."""
    ledger = services.ledger
    versions, folded = ledger.pinned()
    partitions = ledger.partitions(services.settings.project_id)
    queue = left_in_queue(services)
    notes = list(services.notes)
    if queue.waiting:
        notes.append(
            f"{queue.messages} messages of {queue.waiting} queued adds wait for the end of their episode; search "
            "doesn't find them yet. They are taken once it is over, or now by Memory.flush."
        )
    return Status(
        home=str(services.settings.home),
        project_id=services.settings.project_id,
        ledger=ledger.uuid,
        embedder="none" if services.embedder is None else str(services.embedder.identity),
        last_seq=ledger.last_seq(),
        folded_seq=folded,
        indexed_seq=services.projector.index.watermark(),
        pruned_seq=ledger.pruned_to(),
        partitions=len(partitions),
        active=sum(state.active for _, state in partitions),
        pending=queue.pending + queue.waiting,
        buffered=queue.messages,
        quarantined=ledger.in_quarantine(services.settings.project_id),
        table_versions=versions,
        notes=tuple(notes),
    )


def verify(services: Services) -> list[Finding]:
    """Return where ledger, tables and index disagree."""
    caught_up(services)
    return verify_store(services.ledger, services.tables, services.projector.index)

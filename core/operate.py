"""Operating a store: maintain, rebuild the index, status, verify."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from mindmem.core.lifecycle import fold_now
from mindmem.core.services import PROJECTIONS, Services
from mindmem.core.tables.verify import Finding
from mindmem.core.tables.verify import verify as verify_store

__all__ = ["Status", "rebuild_index", "status", "verify"]


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
    quarantined: int
    table_versions: Mapping[str, int]
    notes: tuple[str, ...] = ()


def status(services: Services) -> Status:
    """Return counts and watermarks."""
    ledger = services.ledger
    versions, folded = ledger.pinned()
    partitions = ledger.partitions(services.settings.project_id)
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
        pending=ledger.pending(),
        quarantined=len(ledger.quarantined(services.settings.project_id, limit=100_000)),
        table_versions=versions,
        notes=services.notes,
    )


def verify(services: Services) -> list[Finding]:
    """Return where ledger, tables and index disagree."""
    services.projector.catch_up(None)
    return verify_store(services.ledger, services.tables, services.projector.index)

"""Operating a store: maintain, rebuild the index, status, verify."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mindmem.core import ids
from mindmem.core.errors import InvalidInput
from mindmem.core.index.documents import vector_key
from mindmem.core.index.rebuild import rebuild
from mindmem.core.ledger.port import Draft
from mindmem.core.lifecycle import archive_expired, fold_if_free, fold_now
from mindmem.core.records import Scope
from mindmem.core.services import Services
from mindmem.core.tables.fold import FoldReport
from mindmem.core.tables.maintain import MaintainReport as TablesReport
from mindmem.core.tables.maintain import maintain as maintain_tables
from mindmem.core.tables.reader import Stored
from mindmem.core.tables.rows import vectors_table
from mindmem.core.tables.verify import Finding
from mindmem.core.tables.verify import verify as verify_store

__all__ = ["MaintainReport", "Status", "maintain", "rebuild_index", "status", "verify"]


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


def rebuild_index(services: Services, *, re_embed: bool = False) -> str:
    """Build a new index generation from the tables and swap it in; return its name.

    Memories whose vectors by the embedder in use are not on record are embedded, and the vectors kept in the tables;
    with ``re_embed`` an index of another embedder is replaced, too.

    Raises:
        LeaseTaken: another rebuild is at work.
        InvalidInput: ``re_embed`` without an embedder.
    """
    embedder = services.embedder
    if re_embed and embedder is None:
        raise InvalidInput("There is no embedder to embed with: " + " ".join(services.notes), field="re_embed")
    fold_if_free(services)
    upto = services.ledger.last_seq()
    identity = None if embedder is None else embedder.identity
    stored = services.reader.documents(vector_key=vector_key, embedder=None if identity is None else str(identity))
    return rebuild(services.projector, _embedded(services, stored), upto, embedder=identity)


def _embedded(services: Services, batches: Iterator[list[Stored]]) -> Iterator[list[Stored]]:
    """Fill in the vectors that are not on record, and put them there."""
    for batch in batches:
        missing = [memory for memory, _, embedding in batch if embedding is None]
        if services.embedder is None or not missing:
            yield batch
            continue
        made = services.applier.embed(missing)
        for owner in sorted({memory.scope.partition for memory in missing}):
            keys = sorted({vector_key(memory) for memory in missing if memory.scope.partition == owner})
            rows = vectors_table(Scope(*owner), str(services.embedder.identity), keys, [made[key] for key in keys])
            services.ledger.commit(
                Draft(
                    change_id=ids.change_id(),
                    kind="evolve",
                    scope=Scope(*owner),
                    actor="rebuild_index",
                    reason="vectors of the embedder in use",
                    counts={"vectors": len(keys)},
                    batches={"vectors": rows},
                )
            )
        yield [(memory, created, embedding or made[vector_key(memory)]) for memory, created, embedding in batch]

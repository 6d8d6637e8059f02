"""Keeping tables and index up with the ledger: fold, project, rebuild."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress

from mindmem.core import ids
from mindmem.core.embed.port import Embedding
from mindmem.core.errors import BudgetReached, EmbedderMismatch, LeaseTaken, ModelUnavailable, StaleGeneration
from mindmem.core.index.documents import vector_key
from mindmem.core.index.projector import WATERMARK
from mindmem.core.index.rebuild import rebuild
from mindmem.core.ledger.port import Draft
from mindmem.core.records import Memory, Scope
from mindmem.core.services import Services
from mindmem.core.tables.fold import FoldReport, fold
from mindmem.core.tables.reader import Stored
from mindmem.core.tables.rows import vectors_table

__all__ = [
    "build_index",
    "caught_up",
    "fold_if_free",
    "fold_now",
    "fold_unless_busy",
    "keep_vectors",
    "rebuild_index",
]

log = logging.getLogger(__name__)


def caught_up(services: Services) -> None:
    """Bring the index up to the ledger's newest change; one that was lost or lags too far is built anew."""
    try:
        services.projector.catch_up(None)
    except StaleGeneration:
        log.warning("the log no longer reaches back to the index: building it anew from the tables")
        rebuild_index(services)


def fold_now(services: Services) -> FoldReport:
    """Write the ledger's tail into the tables, and prune what tables and index both have."""
    caught_up(services)
    services.projector.publish()
    return _fold(services)


def _fold(services: Services) -> FoldReport:
    return fold(
        services.ledger,
        services.tables,
        owner=ids.random_id("fold"),
        lease_seconds=services.settings.store.lease_seconds,
        projections=tuple(services.ledger.watermarks(WATERMARK)),
        keep_days=services.settings.store.keep_days,
    )


def fold_if_free(services: Services) -> FoldReport | None:
    """Fold unless the tables have everything already or another process folds just now."""
    if services.ledger.pinned()[1] == services.ledger.last_seq():
        return None
    try:
        return fold_now(services)
    except LeaseTaken:
        return None


def rebuild_index(services: Services) -> str:
    """Build a new index generation from the tables and swap it in; return its name.

    Memories whose vectors by the embedder in use are not on record are embedded, and the vectors kept in the tables.
    What an embedder that gives no answer leaves out is found by its words until ``reembed`` makes up for it.

    Raises:
        StoreBusy: writers of the present index held it for too long.
        EmbedderMismatch: the index is another embedder's: see ``core.reembed``.
    """
    embedder = services.embedder
    held = services.projector.index.embedder
    if embedder is not None and held not in (None, embedder.identity):
        raise EmbedderMismatch(
            f"The index holds vectors of {held}, but the embedder is {embedder.identity}; "
            "embed again with: mindmem reembed"
        )
    return build_index(services)


def build_index(services: Services, *, complete: bool = False) -> str:
    """As ``rebuild_index``, for the vectors of the embedder in use, whoever's the present index holds; with
    ``complete``, an embedder that gives no answer ends it, and the present index stays."""
    identity = None if services.embedder is None else services.embedder.identity
    fold_unless_busy(services)
    upto = services.ledger.last_seq()
    stored = services.reader.documents(vector_key=vector_key, embedder=None if identity is None else str(identity))
    return rebuild(
        services.projector,
        _embedded(services, stored, complete=complete),
        upto,
        entities=services.reader.every_entity(),
        embedder=identity,
    )


def fold_unless_busy(services: Services) -> None:
    """Write the ledger's tail into the tables, whatever the index has read; another process may be at it already."""
    with suppress(LeaseTaken):
        _fold(services)


def _embedded(services: Services, batches: Iterator[list[Stored]], *, complete: bool) -> Iterator[list[Stored]]:
    """Fill in the vectors that are not on record, and put them there."""
    reachable = services.embedder is not None
    for batch in batches:
        missing = [memory for memory, _, embedding in batch if embedding is None]
        made: dict[str, Embedding] = {}
        if missing and reachable:
            try:
                made = keep_vectors(services, missing)
            except (ModelUnavailable, BudgetReached) as error:
                if complete:
                    raise
                log.warning("memories without a vector stay so: %s", error)
                reachable = False
        yield [(memory, created, embedding or made.get(vector_key(memory))) for memory, created, embedding in batch]


def keep_vectors(services: Services, memories: Sequence[Memory]) -> dict[str, Embedding]:
    """Embed memories by the embedder in use and put their vectors on record, by vector key; return these.

    Raises:
        ModelUnavailable, BudgetReached: the embedder is an endpoint that gives no vectors; nothing was written.
    """
    if services.embedder is None:
        return {}
    made = services.applier.embed(memories)
    for owner in sorted({memory.scope.partition for memory in memories}):
        keys = sorted({vector_key(memory) for memory in memories if memory.scope.partition == owner})
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
    return made

"""Keeping tables and index up with the ledger: fold, project, rebuild."""

import logging
from collections.abc import Iterator
from contextlib import suppress

from mindmem.core import ids
from mindmem.core.errors import EmbedderMismatch, InvalidInput, LeaseTaken, StaleGeneration
from mindmem.core.index.documents import vector_key
from mindmem.core.index.projector import WATERMARK
from mindmem.core.index.rebuild import rebuild
from mindmem.core.ledger.port import Draft
from mindmem.core.records import Scope
from mindmem.core.services import Services
from mindmem.core.tables.fold import FoldReport, fold
from mindmem.core.tables.reader import Stored
from mindmem.core.tables.rows import vectors_table

__all__ = ["caught_up", "fold_if_free", "fold_now", "rebuild_index"]

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


def rebuild_index(services: Services, *, re_embed: bool = False) -> str:
    """Build a new index generation from the tables and swap it in; return its name.

    Memories whose vectors by the embedder in use are not on record are embedded, and the vectors kept in the tables;
    with ``re_embed`` an index of another embedder is replaced, too.

    Raises:
        StoreBusy: writers of the present index held it for too long.
        InvalidInput: ``re_embed`` without an embedder.
        EmbedderMismatch: the index is another embedder's, and ``re_embed`` is off.
    """
    embedder = services.embedder
    if re_embed and embedder is None:
        raise InvalidInput("There is no embedder to embed with: " + " ".join(services.notes), field="re_embed")
    held = services.projector.index.embedder
    if embedder is not None and not re_embed and held not in (None, embedder.identity):
        raise EmbedderMismatch(
            f"The index holds vectors of {held}, but the embedder is {embedder.identity}; "
            "embed again with: mindmem rebuild-index --re-embed"
        )
    with suppress(LeaseTaken):  # what another process folds just now needs no folding
        _fold(services)
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

"""Rebuilding the index: a new generation beside the one in use, filled, caught up, then named by the ledger."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from mindmem.core import failpoints
from mindmem.core.embed.port import EmbedderIdentity, Embedding
from mindmem.core.errors import Conflict
from mindmem.core.ids import random_id
from mindmem.core.index.current import GENERATION, index_lease
from mindmem.core.index.documents import document
from mindmem.core.index.projector import WATERMARK, Projector, project
from mindmem.core.records import Memory

__all__ = ["Built", "rebuild"]

Built = tuple[Memory, datetime, Embedding | None]
"""A memory at its newest revision, when its first one was recorded, and its embedding."""


def rebuild(
    projector: Projector,
    documents: Iterable[Sequence[Built]],
    upto_seq: int,
    *,
    embedder: EmbedderIdentity | None = None,
    lease_seconds: float = 120.0,
) -> str:
    """Build a new generation from all memories as of ``upto_seq`` (or later), put it in the place of the one in use,
    and return its name.

    ``embedder`` is whose embeddings the documents bring; None keeps that of the generation in use. The projector may
    have been opened without one, so that an index that no longer fits its embedder can be rebuilt.

    Searches and adds go on meanwhile. At the end the old generation's writers are kept out while the last changes are
    read and the ledger is made to name the new one, so that no change is missed; whoever still uses the old one is
    sent on. A rebuild that dies leaves the old generation in use, and a file that the next opening deletes.

    Raises:
        LeaseTaken: another rebuild is at work.
        LeaseLost: a batch took longer than ``lease_seconds``.
        StaleGeneration: the log was pruned beyond ``upto_seq`` meanwhile; start again from a newer snapshot.
    """
    ledger, generations = projector.ledger, projector.generations
    with index_lease(ledger, seconds=lease_seconds) as lease:
        old = ledger.get_meta(GENERATION) or ""
        name = random_id("gen")
        index = generations.create(name, embedder or projector.index.embedder)
        try:
            failpoints.reach("rebuild.begun")
            for batch in documents:
                index.apply([document(*built) for built in batch], watermark=0)
                lease = ledger.renew(lease, lease_seconds)
            index.apply([], watermark=upto_seq)
            failpoints.reach("rebuild.filled")
            project(ledger, index)
            failpoints.reach("rebuild.caught_up")
            lease = ledger.renew(lease, lease_seconds)
            with generations.hand_over(old, name):
                reached = project(ledger, index)
                if not ledger.set_meta(GENERATION, name, expected=old, fence=lease.fence):
                    raise Conflict("Another generation of the index was named meanwhile; rebuild again.")
                failpoints.reach("rebuild.swapped")
            ledger.set_watermark(WATERMARK, reached)
        finally:
            index.close()
        generations.sweep(name)
        failpoints.reach("rebuild.cleaned")
    return name

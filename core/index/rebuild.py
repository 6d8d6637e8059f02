"""Rebuilding the index: a new generation beside the one in use, filled, caught up, then named by the ledger."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from mindmem.core import failpoints
from mindmem.core.embed.port import EmbedderIdentity, Embedding
from mindmem.core.errors import Conflict, InvalidInput
from mindmem.core.ids import random_id
from mindmem.core.index.current import generation_key
from mindmem.core.index.documents import document, entity_document
from mindmem.core.index.port import SearchIndex
from mindmem.core.index.projector import Projector, project
from mindmem.core.records import Entity, Memory

__all__ = ["Built", "rebuild"]

_ATTEMPTS: Final = 5

Built = tuple[Memory, datetime, Embedding | None]
"""A memory at its newest revision, when its first one was recorded, and its embedding."""


def rebuild(
    projector: Projector,
    documents: Iterable[Sequence[Built]],
    upto_seq: int,
    *,
    entities: Iterable[Sequence[Entity]] = (),
    embedder: EmbedderIdentity | None = None,
) -> str:
    """Build a new generation from all memories and entities as of ``upto_seq`` or later, put it in the place of the
    one in use, and return its name.

    ``embedder`` is whose embeddings the documents bring; None keeps that of the generation in use. The projector may
    have been opened without one, so that an index that no longer fits its embedder can be rebuilt.

    Searches and adds go on meanwhile. At the end the old generation's writers are kept out while the last changes are
    read and the ledger is made to name the new one, so that no change is missed; whoever still uses the old one is
    sent on. A rebuild that dies leaves the old generation in use, and a file that the next
    opening deletes. Of two rebuilds at once the later swap stays.

    Raises:
        InvalidInput: the projector was opened with another embedder than ``embedder``.
        StoreBusy: the old generation's writers held it for longer than the lock's timeout.
        StaleGeneration: the log was pruned beyond ``upto_seq`` meanwhile; start again from a newer snapshot.
    """
    ledger, generations = projector.ledger, projector.generations
    identity = embedder or projector.index.embedder
    if generations.embedder not in (None, identity):
        raise InvalidInput(
            f"The documents bring vectors of {identity}, but the projector was opened for {generations.embedder}.",
            field="embedder",
        )
    name = random_id("gen")
    index = generations.create(name, identity)
    try:
        failpoints.reach("rebuild.begun")
        for batch in documents:
            index.apply([document(*built) for built in batch], watermark=0)
        for known in entities:
            index.apply([], entities=[entity_document(one) for one in known], watermark=0)
        failpoints.reach("rebuild.entities")
        index.apply([], watermark=upto_seq)
        failpoints.reach("rebuild.filled")
        project(ledger, index)
        failpoints.reach("rebuild.caught_up")
        _swap(projector, index)
    finally:
        index.close()
    projector.index.follow()
    projector.publish()
    generations.sweep(name)
    failpoints.reach("rebuild.cleaned")
    return name


def _swap(projector: Projector, index: SearchIndex) -> None:
    """Bring this generation up to the log's end, and make the ledger name it."""
    ledger, generations = projector.ledger, projector.generations
    key = generation_key(generations)
    for _ in range(_ATTEMPTS):
        old = ledger.get_meta(key) or ""
        with generations.hand_over(old, index.generation):
            project(ledger, index)
            if ledger.set_meta(key, index.generation, expected=old):
                failpoints.reach("rebuild.swapped")
                return
    raise Conflict(f"Other rebuilds replaced the index {_ATTEMPTS} times at the moment of the swap; try again later.")

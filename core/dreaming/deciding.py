"""Deciding: what is done about each cluster of a scope, or why nothing is. One that fails is no other's trouble."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Final, TypeVar

from mindmem.core.dream.clusters import Cluster
from mindmem.core.dream.judging import Wishes, wishes_of
from mindmem.core.dream.plan import Decided, Limits, decide, edge_key
from mindmem.core.dreaming.consequences import with_consequences
from mindmem.core.dreaming.seen import Seen
from mindmem.core.errors import MindMemError
from mindmem.core.ingest.failure import reply_aside
from mindmem.core.ledger.port import Lease
from mindmem.core.reason.dream_port import DreamReasoner
from mindmem.core.reason.port import Failed
from mindmem.core.records import Scope
from mindmem.core.running import run
from mindmem.core.services import Services

__all__ = ["Held", "Outcome", "code_of", "outcomes"]

log = logging.getLogger(__name__)

T = TypeVar("T")

_AT_ONCE: Final = 64
"""Clusters that a reasoner is asked about at once; how many calls of a model are in flight is the model's matter."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A cluster with its plan, or with why there is none."""

    cluster: Cluster
    decided: Decided | None
    failure: str = ""


class Held:
    """A run's lease over a scope; a run that changes nothing has none."""

    def __init__(self, services: Services, lease: Lease | None) -> None:
        self._ledger = services.ledger
        self._lease = lease
        self._seconds = services.settings.store.lease_seconds

    def renew(self) -> None:
        """Hold it as long again.

        Raises:
            LeaseLost: another run has taken over.
        """
        if self._lease is not None:
            self._lease = self._ledger.renew(self._lease, self._seconds)

    async def while_(self, work: Coroutine[object, object, T]) -> T:
        """Return what some work comes to; the lease is held meanwhile."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await asyncio.wait({task}, timeout=self._seconds / 3)
            self.renew()
        return task.result()


def outcomes(
    services: Services, reasoner: DreamReasoner, state: Seen, limits: Limits, *, window: int, held: Held
) -> list[Outcome]:
    """Decide about every cluster, in order, on what was seen; a run's lease is held meanwhile."""
    decided: list[Outcome] = []
    for start in range(0, len(state.clusters), _AT_ONCE):
        some = state.clusters[start : start + _AT_ONCE]
        wanted = run(held.while_(wishes_of(reasoner, some, state.survey, state.sayings, window)))
        decided += [_decide(services, one, wishes, state, limits) for one, wishes in zip(some, wanted, strict=True)]
    return decided


def _decide(
    services: Services, cluster: Cluster, wishes: Wishes | Failed | BaseException, state: Seen, limits: Limits
) -> Outcome:
    try:
        if isinstance(wishes, BaseException):
            raise wishes
        if isinstance(wishes, Failed):
            _set_aside(services, cluster, state, wishes)
            return Outcome(cluster, None, wishes.reason)
        ends = {name for _, actions in wishes for action in actions for name in (action.target, action.by) if name}
        edges = services.reader.edges(state.partition, src=sorted(ends)) if ends else []
        standing = {edge_key(edge) for edge in edges if edge.relation in ("NEXT", "RELATED_TO", "MENTIONS")}
        decided = decide(
            wishes, cluster.memories, scope=Scope(*state.partition), sayings=state.sayings, limits=limits,
            standing=standing,
        )  # fmt: skip
        decided = with_consequences(services, decided)
    except Exception as error:  # a reasoner may fail in any way; the other clusters go on
        log.warning("cluster %s stays pending: %s", cluster.name, code_of(error))
        return Outcome(cluster, None, code_of(error))
    return Outcome(cluster, decided)


def _set_aside(services: Services, cluster: Cluster, state: Seen, failed: Failed) -> None:
    """Keep a reply that can't be used where people look for such."""
    if failed.raw and not failed.transient:
        scope = Scope(*state.partition)
        item = reply_aside(scope, cluster.name, "dream", failed.reason, failed.raw)
        services.ledger.quarantine([item])


def code_of(error: Exception) -> str:
    """Return what may be said of an error everywhere: its words may quote a memory."""
    return error.code if isinstance(error, MindMemError) else type(error).__name__

"""Applying: each cluster's plan becomes a change under the run's id; adds are marked where nothing is left to do."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.dream.plan import Decided
from mindmem.core.dreaming.deciding import Held, Outcome
from mindmem.core.dreaming.seen import Seen
from mindmem.core.errors import MindMemError, ScopeChanged
from mindmem.core.failpoints import reach
from mindmem.core.records import Change, Partition
from mindmem.core.records.dream import Pending
from mindmem.core.services import Services

__all__ = ["apply_all", "begin", "consolidated", "end"]

log = logging.getLogger(__name__)

_TRIES: Final = 8
_UNFINISHED: Final = "dream:unfinished:"
"""Named values that hold the id of a run that was begun in a scope and not ended."""


def begin(services: Services, partition: Partition, run_id: str) -> str:
    """Return the id to work under: that of a run which was killed here, else the new one."""
    name = _unfinished(partition)
    earlier = services.ledger.get_meta(name)
    if earlier:
        return earlier
    services.ledger.set_meta(name, run_id)
    return run_id


def end(services: Services, partition: Partition, run_id: str) -> None:
    """Note that a run has ended in a scope."""
    services.ledger.set_meta(_unfinished(partition), "", expected=run_id)


def apply_all(
    services: Services, decided: Sequence[Outcome], run_id: str, actor: str, held: Held
) -> tuple[list[Outcome], list[Change], list[Pending]]:
    """Apply what was decided, cluster by cluster; return what was applied, its changes, and what stays pending."""
    applied: list[Outcome] = []
    changes: list[Change] = []
    pending: list[Pending] = []
    for one in decided:
        if one.decided is None:
            pending.append(Pending(one.cluster.name, one.failure))
            continue
        try:
            change = _commit(services, one.decided, run_id, actor)
        except MindMemError as error:
            log.warning("cluster %s stays pending: %s", one.cluster.name, error.code)
            pending.append(Pending(one.cluster.name, error.code))
            continue
        applied.append(one)
        if change is not None:
            changes.append(change)
        held.renew()
        reach("dream.cluster")
    return applied, changes, pending


def consolidated(state: Seen, decided: Sequence[Outcome], applied: Sequence[Outcome]) -> list[str]:
    """Return the adds of which nothing is left to do: every cluster that holds a memory of theirs succeeded whole."""
    good = {id(one) for one in applied}
    blocked: set[str] = set()
    for one in decided:
        if id(one) in good and one.decided is not None and not one.decided.young:
            continue
        for memory_id in one.cluster.seeds:
            blocked |= state.writers.get(memory_id, set())
    return sorted(add_id for add_id, change_id in state.adds.items() if change_id not in blocked)


def _commit(services: Services, decided: Decided, run_id: str, actor: str) -> Change | None:
    """Commit a cluster's plan, if the memories that it speaks of are still as they were seen."""
    plan = decided.plan
    if not plan.actions and not plan.edges:
        return None
    for attempt in range(_TRIES):
        version = services.ledger.scope_state(plan.scope.partition).version
        heads = services.ledger.heads("memory", sorted(decided.relied))
        for name, revision in decided.relied.items():
            head = heads.get(name)
            if head is None or head.revision != revision:
                raise ScopeChanged(f"Memory {name!r} was changed while a run looked at it; the next run decides anew.")
        try:
            return services.applier.apply(replace(plan, base_version=version), Request(actor=actor, run_id=run_id))
        except ScopeChanged:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _unfinished(partition: Partition) -> str:
    return _UNFINISHED + ids.digest(*partition)

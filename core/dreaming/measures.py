"""Measures of a run in one scope: counts, what models cost, and whether what was said is still found."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from mindmem.core.dream.measure import Probe, found, probes
from mindmem.core.dreaming.deciding import Outcome
from mindmem.core.dreaming.seen import Seen
from mindmem.core.records import Memory, Partition, Scope, Spent
from mindmem.core.records.dream import DiffLine, Pending, ScopeDream
from mindmem.core.retrieve import Request as SearchFor
from mindmem.core.retrieve import search
from mindmem.core.services import Services

__all__ = ["Costs", "answered", "retention", "since", "spent", "summed"]


class Costs(TypedDict):
    """What models took for a run: tokens, and money in the currency of the prices."""

    input_tokens: int
    output_tokens: int
    cost: float


def summed(
    state: Seen, decided: Sequence[Outcome], came_to: Literal["applied", "proposed"]
) -> ScopeDream:  # fmt: skip
    """Return the report of a scope: counts, the diff, and clusters without a plan as pending."""
    actions: Counter[str] = Counter()
    issues: Counter[str] = Counter()
    archived = withheld = 0
    lines: list[DiffLine] = []
    for one in decided:
        if one.decided is not None:
            actions.update(one.decided.actions)
            issues.update(one.decided.issues)
            archived += one.decided.archived
            withheld += one.decided.withheld
            lines.extend(one.decided.lines)
    return ScopeDream(
        scope=state.scope,
        state=came_to,
        active_before=len(state.active),
        archived=archived,
        actions=dict(sorted(actions.items())),
        issues=dict(sorted(issues.items())),
        clusters=len(decided),
        pending=tuple(Pending(one.cluster.name, one.failure) for one in decided if one.decided is None),
        withheld=withheld,
        diff=tuple(lines),
    )


def spent(services: Services, partition: Partition, run_id: str) -> Spent:
    """Return what models took for a run in a scope so far."""
    return services.ledger.spent(partition.project_id, run_id=run_id, user_id=partition.user_id)


def since(before: Spent, now: Spent) -> Costs:
    """Return what was spent meanwhile, as fields of a scope's report."""
    return {
        "input_tokens": now.input_tokens - before.input_tokens,
        "output_tokens": now.output_tokens - before.output_tokens,
        "cost": now.cost - before.cost,
    }  # fmt: skip


def answered(services: Services, state: Seen, number: int) -> list[Probe]:
    """Return the probes, of ``number`` drawn, that find their source before anything is changed."""
    touched = [memory for one in state.clusters for memory in one.memories]
    asked = probes(touched, state.texts, number)
    return found(asked, _asker(services, state.partition))


def retention(
    services: Services, partition: Partition, asked: Sequence[Probe], applied: Sequence[Outcome]
) -> tuple[int, int]:
    """Return how many probes count, and how many of them still find their source after what was applied: those of
    memories that no longer hold are meant to be found no more."""
    retired = {
        action.memory.memory_id for one in applied if one.decided for action in one.decided.plan.actions
        if action.memory.status == "archived" and action.memory.valid_to is not None
    }  # fmt: skip
    kept = [probe for probe in asked if probe.memory_id not in retired]
    changed = any(one.decided and (one.decided.plan.actions or one.decided.plan.edges) for one in applied)
    still = found(kept, _asker(services, partition)) if changed else kept
    return len(kept), len(still)


def _asker(services: Services, partition: Partition) -> Callable[[str, int], Sequence[Memory]]:
    def ask(query: str, top: int) -> list[Memory]:
        request = SearchFor(query=query, scope=Scope(*partition), top_k=top)
        return [hit.memory for hit in search(services, request).hits]

    return ask

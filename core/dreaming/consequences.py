"""What rests on memories that a dream retires: derived text never outlives what it was drawn from.

In schema mode it is synthesised anew. Else nobody can renew its words: it is retired with a parent that no longer
holds, and rests on the survivor where a parent was only folded into another memory that says the same.
"""

from collections.abc import Iterator
from dataclasses import replace

from mindmem.core.apply import next_revision
from mindmem.core.dream.plan import Decided
from mindmem.core.records import Action, Edge, Memory, Plan
from mindmem.core.records.dream import DiffLine
from mindmem.core.running import run
from mindmem.core.services import Services

__all__ = ["with_consequences"]


def with_consequences(services: Services, decided: Decided) -> Decided:
    """Return what was decided with what follows from it for memories of order 2, shown as lines of its own."""
    if not decided.archived:
        return decided
    if services.settings.ingest.mode == "schema":
        from mindmem.core.schema import adding

        plan = run(adding.derived(services, decided.plan))
    else:
        plan = _carried(services, decided.plan)
    known = {action.memory.memory_id for action in decided.plan.actions}
    further = [action for action in plan.actions if action.memory.memory_id not in known]
    stored = _stored(services, plan, further)
    counts = dict(decided.actions)
    for action in further:
        counts[action.op] = counts.get(action.op, 0) + 1
    retired = sum(action.memory.status == "archived" for action in further)
    return replace(
        decided,
        plan=plan,
        lines=(*decided.lines, *(_line(action, stored) for action in further)),
        archived=decided.archived + retired,
        actions=dict(sorted(counts.items())),
        relied={**decided.relied, **{name: memory.revision for name, memory in stored.items()}},
    )


def _carried(services: Services, plan: Plan) -> Plan:
    """Return a plan in which what rested on folded memories rests on the survivors, and the rest is retired."""
    gone = {action.memory.memory_id for action in plan.actions if action.memory.status == "archived"}
    into = {edge.dst: edge.src for edge in plan.edges if edge.kind == "derived_from" and edge.dst in gone}
    actions: list[Action] = []
    edges: list[Edge] = []
    for memory in services.reader.resting_on(plan.scope.partition, gone):
        if set(memory.parents) & gone <= into.keys():
            parents = tuple(dict.fromkeys(_survivor(name, into) for name in memory.parents))
            moved = "a memory that it rests on was folded into another one"
            actions.append(Action("update", next_revision(memory, parents=parents), moved, parents))
            edges.extend(_resting(memory, parents))
        else:
            actions.append(
                Action("archive", next_revision(memory, status="archived"), "a memory that it rests on no longer holds")
            )
    return replace(plan, actions=(*plan.actions, *actions), edges=(*plan.edges, *edges))


def _survivor(name: str, into: dict[str, str]) -> str:
    while name in into:
        name = into[name]
    return name


def _resting(memory: Memory, parents: tuple[str, ...]) -> Iterator[Edge]:
    for parent in parents:
        if parent not in memory.parents:
            yield Edge(memory.memory_id, "RELATED_TO", parent, memory.scope.without_session(), "derived_from")


def _stored(services: Services, plan: Plan, further: list[Action]) -> dict[str, Memory]:
    names = sorted({action.memory.memory_id for action in further})
    return {one.memory_id: one for one in services.reader.memories(plan.scope.partition, ids=names)} if names else {}


def _line(action: Action, stored: dict[str, Memory]) -> DiffLine:
    memory = action.memory
    before = stored[memory.memory_id].content if memory.memory_id in stored else ""
    after = memory.content if memory.status == "active" else ""
    return DiffLine(action.op, memory.memory_id, before, after, action.reason, tuple(action.related[:1]))

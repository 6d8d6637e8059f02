"""What rests on memories and is derived anew with each plan that changes them: properties of order 2, retrieval keys.

Derived text never outlives what it was drawn from: an entity whose memories a plan touches is looked at as it will be
after the plan, and what has lost its evidence is renewed or retired in the same change.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mindmem.core import ids
from mindmem.core.ingest.memories import MAX_SOURCES
from mindmem.core.reason.port import Judged
from mindmem.core.reason.schema_port import KeyRequest, SchemaReasoner, Synthesis, SynthesisRequest
from mindmem.core.records import Action, Edge, Entity, Memory, Plan
from mindmem.core.records.schema import EPISODE, Schema

__all__ = ["SYNTHESISED", "State", "derive", "touched"]

log = logging.getLogger(__name__)

SYNTHESISED = "synthesised"
"""Flag of memories of order 2."""
_LEAST = 2


@dataclass(frozen=True, slots=True)
class State:
    """What is stored: the active memories of entities and the entities' rows, by entity id, and the revision of a
    memory by its id (0 where there is none)."""

    memories: Mapping[str, Sequence[Memory]]
    entities: Mapping[str, Entity]
    revisions: Callable[[Sequence[str]], Mapping[str, int]]


def touched(plan: Plan) -> tuple[str, ...]:
    """Return the entities whose memories a plan changes, episodes apart."""
    return tuple(
        dict.fromkeys(
            action.memory.entity_id
            for action in plan.actions
            if action.memory.entity_id and action.memory.entity_type != EPISODE and action.memory.order == 1
        )
    )


async def derive(reasoner: SchemaReasoner, schema: Schema, plan: Plan, state: State) -> Plan:
    """Return the plan with what follows from it: order 2 made, renewed or retired, and search fields written anew."""
    coming = {one.entity_id: one for one in plan.entities}
    after = {entity_id: _after(entity_id, plan, state.memories.get(entity_id, ())) for entity_id in touched(plan)}
    entities = {name: entity for name in after if (entity := coming.get(name) or state.entities.get(name)) is not None}
    actions = await _synthesised(reasoner, schema, entities, after, state)
    described = await _described(reasoner, entities, after, plan, state)
    written = tuple(action for action in actions if action.memory.status == "active")
    edges = [edge for action in written for edge in _edges(action.memory, plan)]
    rows = {**coming, **described}
    retired = tuple(action for action in actions if action.memory.status != "active")
    own = {action.memory.memory_id for action in actions}
    kept = tuple(action for action in plan.actions if action.memory.memory_id not in own)
    return replace(
        plan,
        actions=(*retired, *kept, *written),
        entities=tuple(rows.values()),
        edges=tuple({_key(edge): edge for edge in (*plan.edges, *edges)}.values()),
    )


def _key(edge: Edge) -> tuple[object, ...]:
    return edge.src, edge.relation, edge.dst, edge.kind, edge.start, edge.end


def _after(entity_id: str, plan: Plan, stored: Iterable[Memory]) -> list[Memory]:
    found = {one.memory_id: one for one in stored}
    for action in plan.actions:
        memory = action.memory
        if memory.entity_id == entity_id and memory.status == "active":
            found[memory.memory_id] = memory
        else:
            found.pop(memory.memory_id, None)
    return list(found.values())


async def _synthesised(
    reasoner: SchemaReasoner, schema: Schema, entities: Mapping[str, Entity],
    after: Mapping[str, Sequence[Memory]], state: State,
) -> list[Action]:  # fmt: skip
    requests = []
    for name, entity in entities.items():
        first = tuple(one for one in after[name] if one.order == 1)
        second = tuple(one for one in after[name] if one.order == 2)
        if len(first) >= _LEAST or second:
            kind = next((one.entity_type for one in first if one.entity_type in schema.by_name), entity.entity_type)
            requests.append(SynthesisRequest(entity, schema.by_name.get(kind), first, second))
    verdicts = await reasoner.synthesise.synthesise(requests) if requests else []
    wanted: dict[str, tuple[Synthesis, SynthesisRequest]] = {}
    retired: dict[str, tuple[str, Memory]] = {}
    for request, verdict in zip(requests, verdicts, strict=True):
        if not isinstance(verdict, Judged):
            log.warning("nothing was synthesised of %s: %s", request.entity.entity_id, verdict.reason)
        renewed = verdict.value if isinstance(verdict, Judged) else ()
        known = {one.memory_id for one in request.memories}
        current = {one.memory_id: one for one in request.current}
        for one in renewed:
            enough = len(set(one.parents) & known) >= _LEAST and set(one.parents) <= known
            if one.content and enough:
                wanted[_id(one, request.entity)] = (one, request)
            elif one.replaces in current:
                retired[one.replaces] = ("fewer than two memories are left to rest on", current[one.replaces])
        replaced = {one.replaces for one in renewed}
        for memory in request.current:  # its evidence is gone, and nobody renewed it
            if memory.memory_id not in replaced and not set(memory.parents) <= known:
                retired[memory.memory_id] = ("a memory that it rests on is gone", memory)
    revisions = state.revisions(list(wanted)) if wanted else {}
    made = [_action(name, one, request, revisions.get(name, 0)) for name, (one, request) in wanted.items()]
    lost = [
        Action("archive", _next(memory, status="archived"), why)
        for name, (why, memory) in retired.items()
        if name not in wanted
    ]
    return [*lost, *made]


def _id(one: Synthesis, entity: Entity) -> str:
    """One memory for each key: what is renewed or comes back after a while is the next revision of the same."""
    if one.replaces:
        return one.replaces
    return ids.memory_id(entity.scope.key, entity.entity_id, one.property_name, one.key or one.content, "order 2")


def _action(memory_id: str, one: Synthesis, request: SynthesisRequest, revision: int) -> Action:
    by_id = {memory.memory_id: memory for memory in request.memories}
    parents = [by_id[name] for name in one.parents]
    times = [parent.event_time for parent in parents if parent.event_time is not None]
    sources = tuple(dict.fromkeys(source for parent in parents for source in parent.sources))
    memory = Memory(
        memory_id=memory_id,
        revision=revision + 1,
        scope=request.entity.scope.without_session(),
        mem_type="fact",
        content=one.content,
        content_hash=ids.content_hash(one.content),
        entity_id=request.entity.entity_id,
        entity_name=request.entity.name,
        entity_type=request.entity_type.name if request.entity_type else request.entity.entity_type,
        property_name=one.property_name,
        order=2,
        value=one.key,
        observed_at=max(times, default=None),
        confidence=one.confidence,
        sources=sources[:MAX_SOURCES],
        parents=one.parents,
        mentions=tuple(dict.fromkeys(name for parent in parents for name in parent.mentions))[:12],
        flags=(SYNTHESISED, *one.flags),
    )
    reason = f"{one.kind} over {len(parents)} memories"
    return Action("update" if revision else "add", memory, reason, one.parents)


def _next(memory: Memory, **changes: object) -> Memory:
    return replace(memory, revision=memory.revision + 1, recorded_at=None, change_id="", seq=0, **changes)  # type: ignore[arg-type]  # replace() checks the names


def _edges(memory: Memory, plan: Plan) -> Iterable[Edge]:
    scope = plan.scope.without_session()
    yield Edge(memory.entity_id, "HAS_PROPERTY", memory.memory_id, scope, memory.property_name)
    for parent in memory.parents:
        yield Edge(memory.memory_id, "RELATED_TO", parent, scope, "derived_from")
    for source in memory.sources:
        yield Edge(memory.memory_id, "EXTRACTED_FROM", source.message_id, scope, start=source.start, end=source.end)


async def _described(
    reasoner: SchemaReasoner, entities: Mapping[str, Entity], after: Mapping[str, Sequence[Memory]], plan: Plan,
    state: State,
) -> dict[str, Entity]:  # fmt: skip
    """Return the entities whose keys are written anew: new and renamed ones, those that lost a memory, and those whose
    memories have doubled since."""
    lost = {action.memory.entity_id for action in plan.actions if action.memory.status != "active"}
    coming = {one.entity_id: one for one in plan.entities}
    asked = {**coming, **entities}
    requests = [
        KeyRequest(entity, tuple(after.get(name, ())))
        for name, entity in asked.items()
        if entity.status == "active"
        if name in coming
        or name in lost
        or len(after[name]).bit_length() != len(state.memories.get(name, ())).bit_length()
    ]
    verdicts = await reasoner.describe.describe(requests) if requests else []
    made = {}
    for request, verdict in zip(requests, verdicts, strict=True):
        entity = request.entity
        fields = verdict.value.search_fields if isinstance(verdict, Judged) else entity.search_fields
        if fields != entity.search_fields or entity.entity_id in coming:
            fresh = entity.revision if entity.entity_id in coming else entity.revision + 1
            made[entity.entity_id] = replace(entity, search_fields=fields, revision=fresh)
    return made

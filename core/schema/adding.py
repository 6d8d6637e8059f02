"""An add in schema mode: the parts of a run that MindSchema's steps need, and the steps themselves.

``ingest/prepare.py`` calls ``parted`` before extraction and ``bound`` after it, ``ingest/pipeline.py`` calls ``fused``
before recall and ``completed`` after the decision; in vanilla mode none of this is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mindmem.core.entities import merge
from mindmem.core.entities import revised as turned
from mindmem.core.graph import memories_of
from mindmem.core.index.filters import All, Filter, Negation, Test, all_of
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.ingest.gate import Gated
from mindmem.core.ingest.turns import group_turns
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Entity, Memory, Message, Plan, Scope
from mindmem.core.schema.derive import State, derive, touched
from mindmem.core.schema.fuse import Fused
from mindmem.core.schema.known import Indexed, KnownEntities
from mindmem.core.schema.segment import Episode, segmented
from mindmem.core.schema.steps import Schematic, Subgraph, TryAgain, complete, fuse, prepare
from mindmem.core.services import Services

__all__ = ["bound", "completed", "derived", "fused", "parted"]

_LOOKED_AT = 400
"""Active memories of an entity, the newest, that properties of order 2 and keys are drawn from."""


def _by(services: Services, timezone: str | None = None) -> Schematic:
    settings = services.settings
    return Schematic(
        reasoner=services.schema_reasoner,
        schema=services.schemas.active().schema,
        timezone=timezone or settings.timezone,
        episodes=settings.ingest.episode_memories,
    )


async def parted(services: Services, messages: Sequence[Message]) -> tuple[Episode, ...]:
    """Return the episodes of an add."""
    settings = services.settings.ingest
    turns = group_turns(messages, settings.turn_gap_seconds)
    return await segmented(services.schema_reasoner.segment, turns, most_turns=settings.episode_turns)


async def bound(
    services: Services,
    scope: Scope,
    timezone: str | None,
    candidates: Sequence[Candidate],
    episodes: Sequence[tuple[Message, ...]],
) -> Subgraph:
    """Return what ``steps.prepare`` makes of an add's candidates and the messages of its episodes.

    Raises:
        ExtractionFailed: the reasoner failed; nothing was written.
    """
    try:
        return await prepare(_by(services, timezone), candidates, episodes, scope)
    except TryAgain as error:
        raise ExtractionFailed(f"Binding failed: {error}", transient=True) from error


async def fused(services: Services, scope: Scope, subgraph: Subgraph) -> Fused:
    """Return which entities an add's names denote on the scope's present state.

    Raises:
        ExtractionFailed: the reasoner failed; nothing was written.
    """
    known = KnownEntities(Indexed(services.projector.index, scope))
    try:
        return await fuse(subgraph, known, scope)
    except TryAgain as error:
        raise ExtractionFailed(f"Matching entities failed: {error}", transient=True) from error


async def completed(services: Services, plan: Plan, subgraph: Subgraph, found: Fused, gated: Sequence[Gated]) -> Plan:
    """Return the plan with what the graph learns of it, and what follows for properties of order 2 and keys."""
    owners = {message.message_id: message for message in plan.messages}
    whole = complete(plan, subgraph, found, gated, owners)
    for gone, kept in found.same:
        one, other = found.known.get(gone), found.known.get(kept)
        if one is not None and other is not None:
            whole = _one(services, whole, one, other)
    rows = {name: one for name in touched(whole) if (one := found.known.get(name)) is not None}
    return await _derived(services, subgraph.by, whole, rows)


def _one(services: Services, plan: Plan, gone: Entity, kept: Entity) -> Plan:
    """Return the plan with two known entities made one that an add states to be so."""
    owner, name = gone.scope.partition, gone.entity_id
    either = All((Test("entity_id", "eq", name), Test("mentions", "eq", name)), any_=True)
    edges = [*services.reader.edges(owner, src=[name]), *services.reader.edges(owner, dst=[name])]
    made = merge(kept, gone, memories_of(services, gone.scope, either, deleted=True), edges, base_version=None)
    coming = {one.entity_id: one for one in plan.entities}
    survivor = coming.get(kept.entity_id, kept)
    names = dict.fromkeys((*survivor.aliases, gone.name, *gone.aliases))
    survivor = replace(
        survivor,
        revision=kept.revision + 1,
        aliases=tuple(alias for alias in names if alias != survivor.name),
    )
    written = {action.memory.memory_id: action for action in plan.actions}
    revised = tuple(action for action in made.actions if action.memory.memory_id not in written)
    own = [
        replace(action, memory=replace(turned(action.memory, name, survivor), revision=action.memory.revision))
        if name in (action.memory.entity_id, *action.memory.mentions)
        else action
        for action in plan.actions
    ]
    left = next(one for one in made.entities if one.entity_id == name)
    return replace(
        plan,
        actions=(*revised, *own),
        entities=(*(one for key, one in coming.items() if key not in (name, kept.entity_id)), survivor, left),
        edges=(*plan.edges, *made.edges),
    )


async def derived(services: Services, plan: Plan) -> Plan:
    """Return a plan of any kind with what is derived of the memories that it changes."""
    return await _derived(services, _by(services), plan, services.projector.index.entities(touched(plan)))


async def _derived(services: Services, by: Schematic, plan: Plan, rows: Mapping[str, Entity]) -> Plan:
    names = touched(plan)
    if not names:
        return plan
    index, partition = services.projector.index, plan.scope.partition
    scope = plan.scope.without_session()
    active = all_of(_is("app_id", scope.app_id), _is("agent_id", scope.agent_id), Test("status", "eq", "active"))
    memories = {
        name: _owned(
            index.scan(partition, all_of(active, Test("entity_id", "eq", name)), limit=_LOOKED_AT).memories, scope
        )
        for name in names
    }

    def revisions(memory_ids: Sequence[str]) -> Mapping[str, int]:
        return {name: head.revision for name, head in services.ledger.heads("memory", memory_ids).items()}

    return await derive(by.reasoner, by.schema, plan, State(memories, rows, revisions))


def _owned(memories: Sequence[Memory], scope: Scope) -> tuple[Memory, ...]:
    return tuple(one for one in memories if one.scope.without_session() == scope)


def _is(name: str, value: str) -> Filter:
    return Test(name, "eq", value) if value else Negation((Test(name, "present"),))

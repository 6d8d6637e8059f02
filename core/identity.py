"""Who is who: merging two entities, splitting one, giving a memory another subject. Each is one undoable change."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mindmem.core import ids
from mindmem.core.apply import Request, next_revision
from mindmem.core.entities import loose_edges, merge, new_entity_id, split
from mindmem.core.errors import Conflict, InvalidInput, NotFound, ScopeChanged, bounded
from mindmem.core.graph import memories_of, resolve_entity
from mindmem.core.index.filters import All, Filter, Test
from mindmem.core.index.names import name_key
from mindmem.core.records import Change, Edge, Entity, Memory, Partition, Plan, Scope
from mindmem.core.services import Services

__all__ = ["about", "merge_entities", "orphans", "split_entity", "traces"]

_TRIES = 8


def merge_entities(services: Services, scope: Scope, keep: str, gone: str, *, actor: str) -> Change:
    """Let two entities be one (see ``Memory.merge_entities``)."""

    def plan() -> Plan:
        base = services.ledger.scope_state(scope.partition).version
        kept, left = resolve_entity(services, scope, keep), resolve_entity(services, scope, gone)
        return merge(kept, left, _having(services, left), _edges(services, left), base_version=base)

    return _commit(services, plan, actor)


def split_entity(
    services: Services, scope: Scope, entity: str, memory_ids: Sequence[str], name: str, *, actor: str
) -> Change:
    """Let some memories be about another entity (see ``Memory.split_entity``)."""
    if not isinstance(name, str) or not any(map(str.isalnum, name)):
        raise InvalidInput(f"name must have a letter or a digit, got {bounded(name)}.", field="name")
    wanted = set(memory_ids)

    def plan() -> Plan:
        base = services.ledger.scope_state(scope.partition).version
        whole = resolve_entity(services, scope, entity)
        chosen = [one for one in _having(services, whole) if one.memory_id in wanted]
        missing = wanted - {one.memory_id for one in chosen}
        if missing or not chosen:
            named = bounded(min(missing, default=""))
            raise NotFound(f"No memory {named} is about {bounded(whole.name)} or mentions it: give ids of such ones.")
        new = _split_off(services, whole, name.strip(), chosen)
        return split(whole, new, chosen, _edges(services, whole), base_version=base)

    return _commit(services, plan, actor)


def traces(
    services: Services, owner: Partition, memories: Sequence[Memory]
) -> tuple[tuple[Edge, ...], tuple[Entity, ...]]:
    """Return what has to go with memories that are taken out: their edges, and the entities that nothing else is
    about or mentions (as next revisions)."""
    gone = sorted({one.memory_id for one in memories})
    reader = services.reader
    edges = reader.edges_touching(owner, gone)
    named = {name for one in memories for name in (one.entity_id, *one.mentions)}
    named |= {end for edge in edges if edge.source for end in (edge.src, edge.dst)}
    return loose_edges(edges, set(gone)), orphans(services, owner, sorted(named - {""}), gone)


def about(services: Services, memory: Memory, name: str) -> tuple[Memory, Entity | None]:
    """Return the memory's next revision about the entity of that name, alias or id, and the entity where it is new."""
    scope = memory.scope.without_session()
    try:
        entity, fresh = resolve_entity(services, scope, name), None
    except NotFound:
        if not any(map(str.isalnum, name)):
            raise InvalidInput(f"entity must have a letter or a digit, got {bounded(name)}.", field="entity") from None
        entity = fresh = _named_anew(services, scope, name.strip())
    changed = next_revision(
        memory,
        entity_id=entity.entity_id,
        entity_name=entity.name,
        entity_type=entity.entity_type,
        mentions=tuple(one for one in memory.mentions if one != entity.entity_id),
    )
    return changed, fresh


def orphans(services: Services, owner: Partition, entity_ids: Sequence[str], gone: Sequence[str]) -> tuple[Entity, ...]:
    """Return the archived next revisions of those entities that only memories in ``gone`` have to do with."""
    used = services.reader.entities_in_use(owner, entity_ids, but=gone)
    known = services.projector.index.entities([one for one in entity_ids if one not in used])
    return tuple(
        replace(one, revision=one.revision + 1, status="archived")
        for one in known.values()
        if one.status == "active" and not one.merged_into
    )


def _split_off(services: Services, whole: Entity, name: str, chosen: Sequence[Memory]) -> Entity:
    """Return the entity to write: a new one, or one that was merged into ``whole`` before and comes back."""
    entity_id = new_entity_id(whole, name, chosen)
    there = services.projector.index.entities([entity_id]).get(entity_id)
    if there is None:
        return Entity(entity_id, 1, whole.scope, whole.entity_type, name)
    if there.status == "active" and there.merged_into != whole.entity_id:
        raise Conflict(f"There is an entity called {bounded(name)} already ({entity_id}): choose another name.")
    return replace(there, revision=there.revision + 1, merged_into="", status="active", name=name)


def _named_anew(services: Services, scope: Scope, name: str) -> Entity:
    """Return an entity of that name, which nobody bears: a new one, or one that was archived and comes back."""
    entity_id = ids.entity_id(scope.key, name_key(name))
    there = services.projector.index.entities([entity_id]).get(entity_id)
    if there is None:
        return Entity(entity_id, 1, scope, "thing", name)
    return replace(there, revision=there.revision + 1, status="active", merged_into="", name=name)


def _having(services: Services, entity: Entity) -> list[Memory]:
    either: Filter = All(
        (Test("entity_id", "eq", entity.entity_id), Test("mentions", "eq", entity.entity_id)), any_=True
    )
    return memories_of(services, Scope(*entity.scope.partition), either, deleted=True)


def _edges(services: Services, entity: Entity) -> list[Edge]:
    reader, owner, name = services.reader, entity.scope.partition, entity.entity_id
    return list(dict.fromkeys((*reader.edges(owner, src=[name]), *reader.edges(owner, dst=[name]))))


def _commit(services: Services, plan: Callable[[], Plan], actor: str) -> Change:
    for attempt in range(_TRIES):
        try:
            return services.applier.apply(plan(), Request(actor=actor))
        except ScopeChanged:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")

"""Reading the graph: entities by their names, the timeline of a property, the neighbourhood of an entity.

Entities are related by what memories say: the subject of a memory to each entity that it mentions, by the memory's
property; and by RELATED_TO edges between them. What was superseded is left out, unless a time is asked for.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final

from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.index.filters import All, Filter, Test, all_of, scope_filter
from mindmem.core.index.names import name_key
from mindmem.core.records import Edge, Entity, Memory, Partition, Scope
from mindmem.core.records.graph import EntityPage, EntityView, GraphEdge, GraphNode, GraphView, Property, Related
from mindmem.core.retrieve import by_event, check_count, check_time, was_true
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

__all__ = ["all_entities", "entities", "entity_view", "graph", "memories_of", "resolve_entity", "timeline"]

MAX_HOPS: Final = 3
MAX_NODES: Final = 500
_PAGE: Final = 1_000
_EACH: Final = 60
"""Memories that one entity of a neighbourhood is followed over, the newest."""
_NEAR: Final = 5
_BEGUN: Final = datetime.min.replace(tzinfo=UTC)


def resolve_entity(services: Services, scope: Scope, name: str) -> Entity:
    """Return the entity of a name, alias or id, over merges; the index is caught up.

    Raises:
        InvalidInput: several entities bear the name; the message tells their ids and types.
        NotFound: nobody does; the message tells names that are near.
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"entity must be a name or an id, got {bounded(name)}.", field="entity")
    caught_up(services)
    index, owner = services.projector.index, scope.partition
    given = index.entities([name]).get(name)
    seen: set[str] = set()
    while given is not None and given.merged_into and given.entity_id not in seen:
        seen.add(given.entity_id)
        given = index.entities([given.merged_into]).get(given.merged_into)
    if given is not None and _visible(given, scope):
        return given
    ids = [one for bearers in index.named(owner, [name]).values() for one in bearers]
    found = [one for one in index.entities(ids).values() if _visible(one, scope)]
    if not found:
        near = _near(services, owner, name)
        hint = f" Near it are: {', '.join(near)}." if near else " List them with `mindmem entities`."
        raise NotFound(f"No entity is called {bounded(name)} here.{hint}")
    if len(found) > 1:
        bearers = "; ".join(f"{one.entity_id} ({one.entity_type})" for one in found)
        raise InvalidInput(f"Several entities are called {bounded(name)}; give one's id: {bearers}.", field="entity")
    return found[0]


def entities(services: Services, scope: Scope, *, cursor: str | None, limit: int) -> EntityPage:
    """Return one page of entities (see ``Memory.entities``)."""
    check_count("limit", limit, _PAGE)
    caught_up(services)
    page = services.projector.index.scan_entities(scope.partition, cursor=cursor, limit=limit)
    return EntityPage(tuple(one for one in page.entities if _visible(one, scope)), page.cursor)


def all_entities(services: Services, owner: Partition) -> list[Entity]:
    """Return every entity of a user that stands for itself, by id."""
    found: list[Entity] = []
    cursor: str | None = None
    while True:
        page = services.projector.index.scan_entities(owner, cursor=cursor, limit=_PAGE)
        found.extend(page.entities)
        cursor = page.cursor
        if cursor is None:
            return found


def entity_view(services: Services, scope: Scope, name: str) -> EntityView:
    """Return an entity with what is known of it (see ``Memory.entity``)."""
    entity = resolve_entity(services, scope, name)
    about = memories_of(services, scope, Test("entity_id", "eq", entity.entity_id))
    naming = memories_of(services, scope, Test("mentions", "eq", entity.entity_id))
    grouped: dict[str, list[Memory]] = {}
    for memory in sorted(about, key=by_event):
        grouped.setdefault(memory.property_name, []).append(memory)
    properties = [
        Property(name, tuple(one for one in found if one.status == "active"), len(found))
        for name, found in grouped.items()
    ]
    times = [at for memory in (*about, *naming) if (at := memory.event_time) is not None]
    return EntityView(
        entity=entity,
        properties=tuple(sorted(properties, key=lambda one: (-len(one.memories), -one.total, one.name))),
        related=_related(services, scope, entity, about, naming),
        active=sum(one.status == "active" for one in about),
        mentioned=sum(one.status == "active" for one in naming),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
    )


def timeline(
    services: Services, scope: Scope, name: str, property_name: str, *, as_of: datetime | None
) -> tuple[Memory, ...]:
    """Return the memories of one property of an entity (see ``Memory.timeline``)."""
    check_time("as_of", as_of)
    if not isinstance(property_name, str):
        raise InvalidInput(f"property_name must be a text, got {bounded(property_name)}.", field="property_name")
    entity = resolve_entity(services, scope, name)
    about = memories_of(services, scope, Test("entity_id", "eq", entity.entity_id))
    wanted = _property(property_name)
    found = [one for one in about if _property(one.property_name) == wanted]
    if not found:
        known = ", ".join(sorted({one.property_name for one in about if one.property_name}))
        raise NotFound(f"{entity.name} has no property {bounded(property_name)}; known are: {known or 'none'}.")
    return tuple(sorted((one for one in found if as_of is None or was_true(one, as_of)), key=by_event))


def graph(
    services: Services, scope: Scope, name: str, *, hops: int, as_of: datetime | None, limit: int, memories: bool
) -> GraphView:
    """Return the neighbourhood of an entity (see ``Memory.graph``)."""
    check_count("hops", hops, MAX_HOPS)
    check_count("limit", limit, MAX_NODES)
    check_time("as_of", as_of)
    walk = _Walk(services, scope, resolve_entity(services, scope, name), as_of, limit, memories=memories)
    for hop in range(1, hops + 1):
        walk.step(hop)
    return walk.view()


class _Walk:
    """A neighbourhood that grows by one hop at a time, until it is full."""

    def __init__(
        self, services: Services, scope: Scope, root: Entity, as_of: datetime | None, limit: int, *, memories: bool
    ) -> None:
        self._services = services
        self._scope = scope
        self._as_of = as_of
        self._limit = limit
        self._with_memories = memories
        self._root = root.entity_id
        self._nodes = {root.entity_id: _entity_node(root, 0)}
        self._edges: dict[tuple[str, str, str, str], GraphEdge] = {}
        self._frontier = [root.entity_id]
        self._cut = False

    def step(self, hop: int) -> None:
        """Follow all that leads from and to the entities that were reached last."""
        links: list[GraphEdge] = []
        told: dict[str, Memory] = {}
        for node in self._frontier:
            for memory in self._around(node):
                told[memory.memory_id] = memory
                links += [_said(memory, other) for other in memory.mentions if node in (memory.entity_id, other)]
        links += [_stated(edge) for edge in self._stated() if _holds(edge.valid_from, edge.valid_to, self._as_of)]
        ends = dict.fromkeys(end for link in links for end in (link.source, link.target))
        known = self._services.projector.index.entities([end for end in ends if end and end not in self._nodes])
        self._frontier = []
        for entity_id, entity in known.items():
            if _visible(entity, self._scope) and self._room():
                self._nodes[entity_id] = _entity_node(entity, hop)
                self._frontier.append(entity_id)
        for link in links:
            if link.source in self._nodes and link.target in self._nodes:
                self._edges.setdefault((link.source, link.target, link.kind, link.memory_id), link)
        if self._with_memories:
            self._hang(told.values(), hop)

    def view(self) -> GraphView:
        """Return what was reached."""
        return GraphView(self._root, tuple(self._nodes.values()), tuple(self._edges.values()), self._cut)

    def _around(self, node: str) -> list[Memory]:
        either = All((Test("entity_id", "eq", node), Test("mentions", "eq", node)), any_=True)
        wanted = all_of(either, scope_filter(self._scope, status=None if self._as_of else "active"))
        page = self._services.projector.index.scan(self._scope.partition, wanted, limit=_EACH)
        self._cut |= page.cursor is not None
        return [one for one in page.memories if self._as_of is None or was_true(one, self._as_of)]

    def _stated(self) -> list[Edge]:
        """Return the relations between entities that touch the frontier."""
        reader, owner = self._services.reader, self._scope.partition
        ends = self._frontier
        found = [] if not ends else [
            *reader.edges(owner, src=ends, relation="RELATED_TO"), *reader.edges(owner, dst=ends, relation="RELATED_TO")
        ]  # fmt: skip
        return list(dict.fromkeys(found))

    def _hang(self, told: Iterable[Memory], hop: int) -> None:
        for memory in told:
            if memory.memory_id in self._nodes or not self._room():
                continue
            self._nodes[memory.memory_id] = GraphNode(
                memory.memory_id, memory.content, "memory", memory.property_name, hop
            )
            for end, kind in ((memory.entity_id, "HAS_PROPERTY"), *((one, "MENTIONS") for one in memory.mentions)):
                if end in self._nodes:
                    source, target = (end, memory.memory_id) if kind == "HAS_PROPERTY" else (memory.memory_id, end)
                    self._edges[source, target, kind, memory.memory_id] = GraphEdge(
                        source, target, kind, memory.memory_id, memory.valid_from, memory.valid_to
                    )

    def _room(self) -> bool:
        self._cut |= len(self._nodes) >= self._limit
        return len(self._nodes) < self._limit


def memories_of(services: Services, scope: Scope, wanted: Filter, *, deleted: bool = False) -> list[Memory]:
    """Return all memories of a scope that pass, of any status; ``deleted``: also those that somebody took out."""
    found: list[Memory] = []
    cursor: str | None = None
    narrowed = all_of(wanted, scope_filter(scope, status=None))
    while True:
        page = services.projector.index.scan(scope.partition, narrowed, order="id", cursor=cursor, limit=_PAGE)
        found.extend(one for one in page.memories if one.status != "erased" and (deleted or "deleted" not in one.flags))
        cursor = page.cursor
        if cursor is None:
            return found


def _related(
    services: Services, scope: Scope, entity: Entity, about: Sequence[Memory], naming: Sequence[Memory]
) -> tuple[Related, ...]:
    owner, name = scope.partition, entity.entity_id
    edges = [*services.reader.edges(owner, src=[name], relation="RELATED_TO"),
             *services.reader.edges(owner, dst=[name], relation="RELATED_TO")]  # fmt: skip
    links = [_stated(edge) for edge in edges if _holds(edge.valid_from, edge.valid_to, None)]
    links += [_said(one, other) for one in about if one.status == "active" for other in one.mentions]
    links += [_said(one, name) for one in naming if one.status == "active" and one.entity_id]
    others = {link.target if link.source == name else link.source for link in links}
    known = services.projector.index.entities(sorted(others))
    found: dict[tuple[str, str, bool], Related] = {}
    for link in links:
        outward = link.source == name
        other = known.get(link.target if outward else link.source)
        if other is not None and _visible(other, scope):
            related = Related(other, link.kind, outward, link.memory_id, link.valid_from, link.valid_to)
            found.setdefault((other.entity_id, link.kind, outward), related)
    return tuple(sorted(found.values(), key=lambda one: (one.entity.name.casefold(), one.kind, one.outward)))


def _entity_node(entity: Entity, hops: int) -> GraphNode:
    return GraphNode(entity.entity_id, entity.name, "entity", entity.entity_type, hops)


def _said(memory: Memory, other: str) -> GraphEdge:
    kind = memory.property_name or "mentions"
    return GraphEdge(memory.entity_id, other, kind, memory.memory_id, memory.valid_from, memory.valid_to)


def _stated(edge: Edge) -> GraphEdge:
    return GraphEdge(edge.src, edge.dst, edge.kind, edge.source, edge.valid_from, edge.valid_to)


def _holds(begins: datetime | None, ends: datetime | None, at: datetime | None) -> bool:
    """Return whether an interval holds at a time; without one, whether nothing has ended it."""
    if at is None:
        return ends is None
    return (begins or _BEGUN) <= at and (ends is None or at < ends)


def _visible(entity: Entity, scope: Scope) -> bool:
    """Return whether an entity stands for itself in the scope; ids of app and agent count where they are given."""
    own = entity.scope
    return (
        entity.status == "active"
        and not entity.merged_into
        and own.project_id == scope.project_id
        and (not scope.user_id or own.user_id == scope.user_id)
        and (not scope.app_id or own.app_id == scope.app_id)
        and (not scope.agent_id or own.agent_id == scope.agent_id)
    )


def _near(services: Services, owner: Partition, name: str) -> list[str]:
    """Return names that look like one, then those that share a word with it."""
    index = services.projector.index
    known = {name_key(one.name): one.name for one in index.scan_entities(owner, limit=_PAGE).entities}
    alike = [known[key] for key in get_close_matches(name_key(name), known, _NEAR)]
    near = index.similar_entities(owner, name, k=_NEAR)
    sharing = [one.name for one in index.entities([one.entity_id for one in near]).values()]
    return list(dict.fromkeys((*alike, *sharing)))[:_NEAR]


def _property(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())

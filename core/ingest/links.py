"""The entities and edges of a plan."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from mindmem.core.ingest.memories import entity_of_name
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Edge, Entity, Memory, Relation, Scope, Source

__all__ = ["Links"]


class Links:
    """Collects the edges that an add wants; one that is wanted and taken back again is not written at all."""

    def __init__(
        self, scope: Scope, known_entities: frozenset[str], said: Mapping[str, datetime | None] | None = None
    ) -> None:
        self._scope = scope.without_session()
        self._known = known_entities
        self._said = said or {}
        self._entities: dict[str, Entity] = {}
        self._edges: dict[tuple[str, str, str, str, int, int], Edge] = {}

    def entities(self) -> tuple[Entity, ...]:
        """Return the entities that are new."""
        return tuple(self._entities.values())

    def edges(self) -> tuple[Edge, ...]:
        """Return the edges to write, retractions included."""
        return tuple(self._edges.values())

    def memory(self, memory: Memory, candidate: Candidate) -> None:
        """Link a new memory to its entity, its sources and whom it mentions."""
        self._entity(memory.entity_name, memory.entity_type, memory.entity_id)
        self.belongs(memory)
        self.sources(memory.memory_id, candidate.sources)
        self.mentions(memory.memory_id, candidate)

    def copied(self, memory: Memory, origin: str) -> None:
        """Link a memory that holds what was said later of another one."""
        self.belongs(memory)
        self.sources(memory.memory_id, memory.sources)
        for entity in memory.mentions:
            self._put(memory.memory_id, "MENTIONS", entity)
        self.related(memory.memory_id, origin)

    def belongs(self, memory: Memory) -> None:
        """Link the entity to its memory, for as long as it holds."""
        if memory.entity_id:
            self._put(
                memory.entity_id, "HAS_PROPERTY", memory.memory_id,
                kind=memory.property_name, valid_from=memory.valid_from, valid_to=memory.valid_to,
            )  # fmt: skip

    def sources(self, memory_id: str, sources: Iterable[Source]) -> None:
        """Link a memory to the spans that support it, each from when it was said: first to last is what it spans."""
        for source in sources:
            self._put(
                memory_id, "EXTRACTED_FROM", source.message_id,
                start=source.start, end=source.end, valid_from=self._said.get(source.message_id),
            )  # fmt: skip

    def mentions(self, memory_id: str, candidate: Candidate) -> None:
        """Link a memory to the entities that it names besides its own."""
        subject = candidate.entity_id or entity_of_name(self._scope, candidate.entity_name)
        for mention in candidate.mentions:
            entity = self._entity(mention.name, mention.entity_type, mention.entity_id)
            if entity and entity != subject:
                self._put(memory_id, "MENTIONS", entity)

    def names(self, memory: Memory) -> None:
        """Link a memory to the entities that its record says it mentions."""
        for entity in memory.mentions:
            self._put(memory.memory_id, "MENTIONS", entity)

    def related(self, memory_id: str, other: str, kind: str = "related") -> None:
        """Link two memories that have to do with each other, in the way that ``kind`` says."""
        if memory_id != other:
            self._put(memory_id, "RELATED_TO", other, kind=kind)

    def supersedes(self, newer: str, older: str, *, active: bool = True) -> None:
        """Link a memory to the one that it replaced, or take that link back."""
        self._put(newer, "RELATED_TO", older, kind="supersedes", active=active)

    def between(self, before: str, memory_id: str, after: str, *, active: bool = True) -> None:
        """Put a memory between its neighbours on the timeline, or take it out; an empty id is no neighbour."""
        if before:
            self._put(before, "NEXT", memory_id, active=active)
        if after:
            self._put(memory_id, "NEXT", after, active=active)
        if before and after:
            self._put(before, "NEXT", after, active=not active)

    def _entity(self, name: str, entity_type: str, entity_id: str = "") -> str:
        entity = entity_id or entity_of_name(self._scope, name)
        if not entity or entity in self._known:
            return entity
        earlier = self._entities.get(entity)
        if earlier is None:
            self._entities[entity] = Entity(entity, 1, self._scope, entity_type or "thing", name.strip())
        elif earlier.entity_type == "thing" and entity_type:
            self._entities[entity] = replace(earlier, entity_type=entity_type)
        return entity

    def _put(self, src: str, relation: Relation, dst: str, **fields: object) -> None:
        edge = Edge(src, relation, dst, self._scope, **fields)  # type: ignore[arg-type]  # Edge checks the names
        key = (src, relation, dst, edge.kind, edge.start, edge.end)
        earlier = self._edges.get(key)
        if earlier is not None and earlier.active != edge.active:
            del self._edges[key]
        else:
            self._edges[key] = edge

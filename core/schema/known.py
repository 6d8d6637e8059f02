"""The entities of a scope by their names: what a new name may denote."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from mindmem.core.index.filters import All, Test
from mindmem.core.index.port import SearchIndex
from mindmem.core.records import Entity, Memory, Scope
from mindmem.core.schema.names import Fit, family, fits, incompatible, name_key
from mindmem.core.schema.parts import near_parts, part, parts_of
from mindmem.core.schema.whose import Told, told

__all__ = ["Indexed", "KnownEntities", "Listed", "Lookup", "fit"]

_LOOKED_AT: Final = 200
"""Memories of an entity, the newest, that are asked whose it is."""


class Lookup(Protocol):
    """Where entities are looked up, whatever their status."""

    def bearing(self, parts: Sequence[str]) -> Iterable[str]:
        """Return the ids of the entities that are listed under any of these parts (``parts.parts_of``)."""
        ...

    def read(self, entity_ids: Sequence[str]) -> Mapping[str, Entity]:
        """Return the entities of the scope that exist, by id."""
        ...

    def memories(self, entity_id: str, /) -> Iterable[Memory]:
        """Return active memories that are about an entity or mention it, of many the newest."""
        ...


class Listed:
    """Entities at hand."""

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self._entities = {one.entity_id: one for one in entities}
        self._bearers: dict[str, list[str]] = defaultdict(list)
        for one in self._entities.values():
            for key in parts_of((one.name, *one.aliases)):
                self._bearers[key].append(one.entity_id)

    def bearing(self, parts: Sequence[str]) -> Iterable[str]:
        """Return the ids of those listed under any of these parts."""
        return [entity_id for key in parts for entity_id in self._bearers.get(key, ())]

    def read(self, entity_ids: Sequence[str]) -> Mapping[str, Entity]:
        """Return those that there are."""
        return {name: self._entities[name] for name in entity_ids if name in self._entities}

    def memories(self, _entity_id: str) -> Iterable[Memory]:
        """Return none: nothing is remembered of what is at hand."""
        return ()


class Indexed:
    """The entities of one scope in an index that is up to date: what is read doesn't grow with their number."""

    def __init__(self, index: SearchIndex, scope: Scope) -> None:
        self._index = index
        self._scope = scope.without_session()

    def bearing(self, parts: Sequence[str]) -> Iterable[str]:
        """Return the ids of the partition's entities under any of these parts; ``read`` leaves other scopes out."""
        return self._index.bearing(self._scope.partition, parts)

    def read(self, entity_ids: Sequence[str]) -> Mapping[str, Entity]:
        """Return those of the scope."""
        found = self._index.entities(entity_ids)
        return {name: one for name, one in found.items() if one.scope.key == self._scope.key}

    def memories(self, entity_id: str) -> Iterable[Memory]:
        """Return the newest of those of the scope."""
        either = All((Test("entity_id", "eq", entity_id), Test("mentions", "eq", entity_id)), any_=True)
        active = All((either, Test("status", "eq", "active")))
        found = self._index.scan(self._scope.partition, active, limit=_LOOKED_AT).memories
        return [one for one in found if one.scope.without_session().key == self._scope.key]


class KnownEntities:
    """A look at entities: by id, by name or alias, and those that a name may be a part of. Each is read once.

    Entities that were merged are looked up like any other and lead to the one that they became.
    """

    def __init__(self, lookup: Lookup | None = None) -> None:
        self._lookup = lookup or Listed()
        self._read: dict[str, Entity | None] = {}
        self._bearers: dict[tuple[str, ...], tuple[Entity, ...]] = {}
        self._told: dict[str, frozenset[Told]] = {}

    def told(self, entity: Entity) -> frozenset[Told]:
        """Return whose an entity is told to be, by what is remembered of it."""
        if entity.entity_id not in self._told:
            keys = {name_key(name) for name in (entity.name, *entity.aliases)}
            memories = self._lookup.memories(entity.entity_id)
            self._told[entity.entity_id] = frozenset(
                one for memory in memories for one in self._of(entity.entity_id, memory) if one.name in keys
            )
        return self._told[entity.entity_id]

    def _of(self, entity_id: str, memory: Memory) -> tuple[Told, ...]:
        """Return what a memory tells of whose an entity is; where it speaks of several of one name, each in turn."""
        found = told(memory.content, memory.speaker)
        name = found[0].name if found else ""
        bearers = [one for one in memory.mentions if name and self._bears(one, name)]
        if len(bearers) > 1 and len(bearers) == len(found) and entity_id in bearers:
            return (found[bearers.index(entity_id)],)
        return found

    def _bears(self, entity_id: str, key: str) -> bool:
        one = self.get(entity_id)
        return one is not None and key in {name_key(name) for name in (one.name, *one.aliases)}

    def get(self, entity_id: str) -> Entity | None:
        """Return the entity of an id, merged or not; None for an unknown one."""
        self._take([entity_id])
        return self._read[entity_id]

    def stands_for(self, entity_id: str) -> Entity | None:
        """Return the entity that an id leads to, over any merges; None for an unknown one."""
        found, seen = self.get(entity_id), {entity_id}
        while found is not None and found.merged_into and found.merged_into not in seen:
            seen.add(found.merged_into)
            found = self.get(found.merged_into)
        return found

    def named(self, name: str) -> tuple[Entity, ...]:
        """Return the entities that bear a name or alias, whatever its case, accents, title or possessive."""
        return self._bearing((part(name),))

    def near(self, name: str, entity_type: str) -> tuple[Entity, ...]:
        """Return the entities that the name may stand for, or that may have been called by a part of it: first names,
        nicknames, initials, places with and without their region. Whether it does, the others of that name decide."""
        return tuple(
            one
            for one in self._bearing(near_parts(name))
            if not incompatible(one.entity_type, entity_type) and fit(name, entity_type, one)[0]
        )

    def _bearing(self, parts: tuple[str, ...]) -> tuple[Entity, ...]:
        """Return the entities under any of these parts, in the order of the ids that lead to them."""
        if parts not in self._bearers:
            ids = sorted(set(self._lookup.bearing(parts)))
            self._take(ids)
            found = (self.stands_for(entity_id) for entity_id in ids)
            self._bearers[parts] = tuple({one.entity_id: one for one in found if one is not None}.values())
        return self._bearers[parts]

    def _take(self, entity_ids: Iterable[str]) -> None:
        missing = [one for one in entity_ids if one not in self._read]
        if missing:
            found = self._lookup.read(missing)
            self._read.update((one, found.get(one)) for one in missing)


def fit(name: str, entity_type: str, entity: Entity) -> tuple[Fit, bool]:
    """Return how a name may stand for an entity, or the entity's for it: the second says that the name is the fuller.

    An entity that has a full name of its own is known by less than another full name no more.
    """
    person = "person" in (family(entity_type), family(entity.entity_type))
    names = (entity.name, *entity.aliases)
    for known in names:
        if found := fits(name, known, person=person):
            return found, False
    if person and any(_another(known, name) for known in names):
        return "", False
    for known in names:
        if found := fits(known, name, person=person):
            return found, True
    return "", False


def _another(known: str, name: str) -> bool:
    """Whether two are full names of which neither may stand for the other."""
    one, other = name_key(known).split(), name_key(name).split()
    return len(one) > 1 and len(other) > 1 and not (fits(known, name) or fits(name, known))

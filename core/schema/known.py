"""The entities of a scope by their names: what a new name may denote."""

from collections import defaultdict
from collections.abc import Iterable

from mindmem.core.records import Entity
from mindmem.core.schema.names import Fit, family, first_names, fits, incompatible, name_key, short_forms

__all__ = ["KnownEntities", "fit"]


class KnownEntities:
    """A frozen look at entities: by id, by name or alias, and those that a name may be a part of.

    Entities that were merged are looked up like any other and lead to the one that they became.
    """

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self.by_id = {one.entity_id: one for one in entities}
        self._named: dict[str, dict[str, None]] = defaultdict(dict)
        self._words: dict[str, dict[str, None]] = defaultdict(dict)
        self._first: dict[str, dict[str, None]] = defaultdict(dict)
        for one in self.by_id.values():
            for name in (one.name, *one.aliases):
                key = name_key(name)
                self._named[key][one.entity_id] = None
                for word in key.split():
                    self._words[word][one.entity_id] = None
                self._first[key[:1]][one.entity_id] = None

    def stands_for(self, entity_id: str) -> Entity | None:
        """Return the entity that an id leads to, over any merges; None for an unknown one."""
        found, seen = self.by_id.get(entity_id), {entity_id}
        while found is not None and found.merged_into and found.merged_into not in seen:
            seen.add(found.merged_into)
            found = self.by_id.get(found.merged_into)
        return found

    def named(self, name: str) -> tuple[Entity, ...]:
        """Return the entities that bear a name or alias, whatever its case, accents, title or possessive."""
        return self._all(self._named.get(name_key(name), {}))

    def near(self, name: str, entity_type: str) -> tuple[Entity, ...]:
        """Return the entities that the name may stand for, or that may have been called by a part of it: first names,
        nicknames, initials, places with and without their region. Whether it does, the others of that name decide."""
        key = name_key(name)
        words = key.split()
        ids = dict(self._words.get(words[-1], {})) if words else {}
        for word in (*first_names(words[0]), *short_forms(words[0])) if words else ():
            ids |= self._words.get(word, {})
        if len(name.replace(".", "")) <= 8:
            ids |= self._first.get(key[:1], {})
        elif len(words) > 1:
            ids |= self._named.get("".join(word[0] for word in words), {})
        return tuple(
            one
            for one in self._all(ids)
            if not incompatible(one.entity_type, entity_type) and fit(name, entity_type, one)[0]
        )

    def _all(self, ids: Iterable[str]) -> tuple[Entity, ...]:
        found = (self.stands_for(entity_id) for entity_id in ids)
        return tuple({one.entity_id: one for one in found if one is not None}.values())


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

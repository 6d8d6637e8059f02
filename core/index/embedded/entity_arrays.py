"""A partition's entities in memory: who bears which name, which names stand in a text, whom a text may be about."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.embedded.codec import term_hash
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.scoring import idf
from mindmem.core.index.names import Names, name_key
from mindmem.core.index.port import Linked, ScoredEntity
from mindmem.core.text import analyse, query_terms

__all__ = ["EntityArrays"]

_BYTES: Final = 1_500
"""What an entity takes in memory, about."""

Form = tuple[str, ...]


@dataclass(slots=True)
class _Held:
    """What is known of one entity: its place, its keys and forms, and the rows of its fields."""

    place: int
    status: str
    merged_into: str
    keys: tuple[str, ...]
    forms: dict[Form, bool]
    fields: range


class EntityArrays:
    """Filled and brought up to date by ``put``."""

    def __init__(self) -> None:
        self._entities: dict[str, _Held] = {}
        self._ids: list[str] = []
        self._keys: dict[str, dict[str, None]] = {}
        self._names = Names()
        self._holders: dict[int, list[int]] = {}
        self._owners = Growing(np.empty(0, dtype=np.int64))
        self._lengths = Growing(np.empty(0, dtype=np.float64))
        self._stands = Growing(np.empty(0, dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        """Return what is held in memory, in bytes, Python objects estimated."""
        return _BYTES * len(self._ids)

    def put(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take up rows as ``entity_rows.READ`` gives them: new entities, or new states of known ones."""
        known = len(self._ids)
        owners: list[int] = []
        lengths: list[int] = []
        states: list[tuple[int, bool]] = []
        for entity_id, status, merged_into, names, sizes, terms in rows:
            keys, forms = json.loads(names)
            place = self._forget(entity_id)
            first = len(self._owners) + len(owners)
            counts = np.frombuffer(sizes, dtype="<u2").tolist()
            self._put_terms(first, counts, np.frombuffer(terms, dtype="<u8").tolist())
            owners += [place] * len(counts)
            lengths += counts
            held = _Held(
                place, status, merged_into, tuple(keys), {tuple(form.split(" ")): bool(small) for form, small in forms},
                range(first, first + len(counts)),
            )  # fmt: skip
            self._entities[entity_id] = held
            states.append((place, status == "active" and not merged_into))
            if status == "active":
                self._names.put(entity_id, held.forms)
                for key in held.keys:
                    self._keys.setdefault(key, {})[entity_id] = None
        self._owners.append(np.array(owners, dtype=np.int64))
        self._lengths.append(np.array(lengths, dtype=np.float64))
        self._stands.extend(len(self._ids) - known)
        for place, stands in states:
            self._stands.view[place] = stands

    def stands_for(self, entity_id: str) -> str:
        """Return the id of the entity that an id leads to over merges; empty where that is archived or unknown."""
        seen: set[str] = set()
        while entity_id not in seen:
            seen.add(entity_id)
            held = self._entities.get(entity_id)
            if held is None or held.status != "active":
                return ""
            if not held.merged_into:
                return entity_id
            entity_id = held.merged_into
        return ""

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return who bears each name, by its key."""
        found = {}
        for key in dict.fromkeys(map(name_key, names)):
            bearers = self._leading(self._keys.get(key, ()))
            if bearers:
                found[key] = bearers
        return found

    def linked(self, text: str, limit: int, often: Callable[[str], bool]) -> list[Linked]:
        """Return the names that stand in a text, the longest first; ``often`` tells of whom there are many memories."""
        found = []
        for start, end, bearers in self._names.find(text, often):
            leading = self._leading(bearers)
            if leading:
                found.append(Linked(start, end, leading))
        return found[:limit]

    def similar(self, text: str, k: int) -> list[ScoredEntity]:
        """Return the entities whose best field shares most with a text."""
        scores = np.where(self._stands.view, self._lexical(text), 0.0)
        best = np.argsort(-scores, kind="stable")[:k]
        found = [ScoredEntity(self._ids[place], float(scores[place])) for place in best[scores[best] > 0.0].tolist()]
        return sorted(found, key=lambda one: (-one.score, one.entity_id))

    def ids(self, after: str, limit: int) -> list[str]:
        """Return the first ids beyond ``after`` of entities that stand for themselves, in order."""
        standing = (self._ids[place] for place in np.flatnonzero(self._stands.view))
        return sorted(entity_id for entity_id in standing if entity_id > after)[:limit]

    def _leading(self, bearers: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted({found for found in map(self.stands_for, bearers) if found}))

    def _forget(self, entity_id: str) -> int:
        """Take a known entity's names and fields out; return its place, a new one for a new entity."""
        held = self._entities.get(entity_id)
        if held is None:
            self._ids.append(entity_id)
            return len(self._ids) - 1
        self._names.drop(entity_id, held.forms)
        for key in held.keys:
            self._keys.get(key, {}).pop(entity_id, None)
        self._lengths.view[held.fields.start : held.fields.stop] = np.inf  # a field of infinite length is never met
        return held.place

    def _put_terms(self, first: int, sizes: Sequence[int], terms: Sequence[int]) -> None:
        """List the fields from ``first`` on under the terms that they hold."""
        at = 0
        for field, size in enumerate(sizes, first):
            for term in terms[at : at + size]:
                self._holders.setdefault(term, []).append(field)
            at += size

    def _lexical(self, text: str) -> npt.NDArray[np.float64]:
        """Return for each entity how much of the query its best field holds, and how much of that field it is."""
        scores = np.zeros(len(self), dtype=np.float64)
        primary = frozenset(analyse(text))  # what fields are known by
        query = {term: weight for term, weight in query_terms(text).items() if term in primary}
        held = [np.array(self._holders.get(term_hash(term), ()), dtype=np.intp) for term in query]
        sizes = np.array([len(fields) for fields in held], dtype=np.int64)
        if not sizes.sum():
            return scores
        weights = np.array(list(query.values()))
        rare = idf(len(self._owners), sizes) * weights
        fields = np.concatenate(held)
        met, at = np.unique(fields, return_inverse=True)
        of_query = np.bincount(at, np.repeat(rare, sizes)) / rare.sum()
        of_field = np.bincount(at, np.repeat(weights, sizes)) / self._lengths.view[met]
        np.maximum.at(scores, self._owners.view[met], np.sqrt(np.clip(of_query, 0, 1) * np.clip(of_field, 0, 1)))
        return scores

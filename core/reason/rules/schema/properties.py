"""Which property of a schema a claim falls under: by its name, by the words that the property covers, by what it says.

What nothing of that places goes to the catch-all property, with its own name kept behind the dot (see
``schema/questions.py``): nothing is lost.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mindmem.core.language.words import stem, words
from mindmem.core.records.schema import CATCH_ALL, EPISODE, EntityType, Property, Schema
from mindmem.core.schema.names import family
from mindmem.core.schema.questions import bound_name, same_question
from mindmem.core.text import STOP_WORDS

__all__ = ["Binding", "Lexicon", "placed"]

THRESHOLD: Final = 1.0
"""Least evidence of content words for a property: the weight of one word that a single property of the type has and
names in its ``covers``, or of two rare ones of its description or example."""
_WEIGHTS: Final = {"name": 1.2, "covers": 1.0, "description": 0.5, "example": 0.25}
_ABOUT: Final = "about"
"""Fine name of what is told around a property that holds one value: it is no value of it."""
_LIGHT: Final = frozenset(
    stem(word)
    for word in (
        "in at on for to with from as by of is was the a what who how when which person thing something"
        " long short new old many several other many part kind said told memory memories value"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Binding:
    """The type of the schema (empty: none fits), the property's bound name, and whether it takes one value at a time
    (None: the words decide)."""

    entity_type: str
    property_name: str
    single_valued: bool | None = None


class Lexicon:
    """What the words of a schema tell of its properties; built once for a schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._named: dict[str, dict[str, list[Property]]] = {}
        self._words: dict[str, dict[str, dict[str, float]]] = {}
        for kind in schema.types:
            first = kind.of_order(1)
            self._named[kind.name] = _names(first)
            self._words[kind.name] = _evidence(first)

    def bind(
        self, entity_type: str, name: str, content: str, *, catch_all: bool = True, narrated: bool = False,
        single_valued: bool | None = None,
    ) -> Binding:  # fmt: skip
        """Return where a claim belongs.

        Args:
            entity_type: the extractor's, or one of the schema.
            name: the extractor's property, empty where it has none.
            content: the claim.
            catch_all: whether what fits nowhere goes to the catch-all property; else it keeps its own name.
            narrated: whether the claim is a story in its own words rather than one value.
            single_valued: what the extractor says.
        """
        kind = self._type(entity_type, name)
        if kind is None:
            return Binding("", name, single_valued)
        found = self._by_name(kind, name, content) or self._by_words(kind, name, content)
        if found is None:
            fallback = kind.property(CATCH_ALL) if catch_all else None
            return Binding(kind.name, bound_name(CATCH_ALL, name) if fallback else name, single_valued)
        return placed(kind, found, name, narrated=narrated, single_valued=single_valued)

    def _type(self, entity_type: str, name: str) -> EntityType | None:
        named = self._schema.by_name.get(entity_type)
        if named is not None:
            return named
        kin = family(entity_type)
        if kin:
            return next((one for one in self._schema.types if family(one.name) == kin), None)
        # Nothing tells the type: the property's name may, where one type alone has it.
        having = [
            one for one in self._schema.types if name and one.name != EPISODE and _key(name) in self._named[one.name]
        ]
        return having[0] if len(having) == 1 else None

    def _by_name(self, kind: EntityType, name: str, content: str) -> Property | None:
        if not name:
            return None
        named = self._named[kind.name]
        asking = Counter(prop for word in same_question(name) for prop in named.get(_key(word), ()))
        same = [prop for prop, count in asking.items() if count == max(asking.values())]
        if not same:
            parts = set(_key(name).split()) - _LIGHT
            within = [(len(key.split()), key) for key in named if key and set(key.split()) <= parts]
            same = named[max(within)[1]] if within else []
        if not same:
            return None
        if len(same) == 1:
            return same[0]
        scores = self._scores(kind, content)
        return max(same, key=lambda one: scores.get(one.name, 0.0))

    def _by_words(self, kind: EntityType, name: str, content: str) -> Property | None:
        scores = self._scores(kind, f"{name.replace('_', ' ')} {content}")
        best = max(scores.items(), key=lambda item: (item[1], item[0]), default=("", 0.0))
        return kind.property(best[0]) if best[1] >= THRESHOLD else None

    def _scores(self, kind: EntityType, text: str) -> Mapping[str, float]:
        evidence = self._words[kind.name]
        scores: dict[str, float] = defaultdict(float)
        for word in dict.fromkeys(_stems(text[:2000])):
            for name, weight in evidence.get(word, {}).items():
                scores[name] += weight
        return scores


def placed(
    kind: EntityType, found: Property, name: str, *, narrated: bool = False, single_valued: bool | None = None
) -> Binding:
    """Return the binding to a property that was found to fit; the arguments are those of ``Lexicon.bind``."""
    if narrated:
        return Binding(kind.name, bound_name(found.name, _ABOUT) if found.single_valued else found.name, None)
    bound = bound_name(found.name, name)
    whole = bound == found.name
    return Binding(kind.name, bound, found.single_valued if whole and single_valued is None else single_valued)


def _names(properties: Iterable[Property]) -> dict[str, list[Property]]:
    named: dict[str, list[Property]] = defaultdict(list)
    for prop in properties:
        if prop.name != CATCH_ALL:
            for word in dict.fromkeys(_key(word) for word in (prop.name, *prop.covers)):
                named[word].append(prop)
    return dict(named)


def _evidence(properties: Iterable[Property]) -> dict[str, dict[str, float]]:
    """Return stem to property to weight: what few properties have in common says more."""
    told: dict[str, dict[str, float]] = defaultdict(dict)
    for prop in properties:
        if prop.name == CATCH_ALL:
            continue
        parts = {
            "name": prop.name,
            "covers": " ".join(prop.covers),
            "description": prop.description,
            "example": prop.example,
        }
        for part, text in parts.items():
            for word in _stems(text.replace("_", " ")):
                told[word][prop.name] = max(told[word].get(prop.name, 0.0), _WEIGHTS[part])
    count = Counter({word: len(names) for word, names in told.items()})
    return {
        word: {name: weight / math.sqrt(count[word]) for name, weight in names.items()} for word, names in told.items()
    }


def _key(name: str) -> str:
    return " ".join(_stem(word) for word in name.casefold().replace("_", " ").split())


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in words(text) if word not in STOP_WORDS["english"] and _stem(word) not in _LIGHT]


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    return stem(word)

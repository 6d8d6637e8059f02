"""A schema as a model is shown it: types with their properties, as much of a large one as its claims can need."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.language.words import content_words, estimate_tokens
from mindmem.core.reason.llm.memories import one_line
from mindmem.core.reason.port import Candidate
from mindmem.core.records.schema import CATCH_ALL, EPISODE, EntityType, Property, Schema

__all__ = ["SCHEMA_TOKENS", "bindable", "by_name", "fitted", "property_of", "render", "render_types"]

SCHEMA_TOKENS: Final = 3_000
"""Bound of a schema that is shown; of a larger one, types are chosen first, then properties."""
_DESCRIBED: Final = 160  # characters of a description
_LEAST: Final = 40


def bindable(schema: Schema) -> tuple[EntityType, ...]:
    """Return the types that a claim can be about, each with its properties of order 1."""
    return tuple(replace(one, properties=one.of_order(1)) for one in schema.types if one.name != EPISODE)


def by_name(types: Sequence[EntityType], name: str) -> EntityType | None:
    """Return the type of a name as a model may spell it, None for a name that was not offered."""
    return next((one for one in types if _key(one.name) == _key(name)), None) if name.strip() else None


def property_of(kind: EntityType, name: str) -> Property | None:
    """Return the property of a name as a model may spell it; None for the catch-all and for one that is not offered."""
    found = next((one for one in kind.properties if _key(one.name) == _key(name)), None)
    return None if found is None or found.name == CATCH_ALL else found


def render(types: Sequence[EntityType]) -> str:
    """Return the types, each with a line for each property."""
    return "\n".join(line for one in types for line in (_type_line(one), *map(_property_line, one.properties)))


def render_types(types: Sequence[EntityType]) -> str:
    """Return the types alone, one a line, within the bound of a schema."""
    long = max(_LEAST, 4 * SCHEMA_TOKENS // max(1, len(types)))
    return "\n".join(one_line(_type_line(one), long) for one in types)


def fitted(types: Sequence[EntityType], candidates: Sequence[Candidate]) -> tuple[EntityType, ...]:
    """Return the types, with the properties that share most words with the candidates where all would be too many."""
    if estimate_tokens(render(types)) <= SCHEMA_TOKENS:
        return tuple(types)
    claimed = {
        word
        for one in candidates
        for word in content_words(f"{one.property_name.replace('_', ' ')} {one.content} {one.value}")
    }
    ranked = sorted(
        ((len(claimed & set(_words(prop))), kind.name, prop) for kind in types for prop in kind.properties),
        key=lambda one: -one[0],
    )
    left = SCHEMA_TOKENS - estimate_tokens("\n".join(map(_type_line, types)))
    kept = {(kind.name, CATCH_ALL) for kind in types}
    for _, name, prop in ranked:
        left -= estimate_tokens(_property_line(prop))
        if left < 0:
            break
        kept.add((name, prop.name))
    return tuple(
        replace(kind, properties=tuple(prop for prop in kind.properties if (kind.name, prop.name) in kept))
        for kind in types
    )


def _type_line(one: EntityType) -> str:
    return f"{one.name}: {one_line(one.description, _DESCRIBED)}".rstrip(": ")


def _property_line(one: Property) -> str:
    told = one.description or ", ".join(word.replace("_", " ") for word in one.covers)
    return f"- {one.name}: {one_line(told, _DESCRIBED)}".rstrip(": ")


def _words(one: Property) -> tuple[str, ...]:
    return content_words(f"{one.name} {' '.join(one.covers)}".replace("_", " ") + f" {one.description}")


def _key(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())

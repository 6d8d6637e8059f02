"""Schema: which kinds of things to look for in what is said, and which properties of them to keep."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

__all__ = ["CATCH_ALL", "EPISODE", "EntityType", "Property", "Schema"]

EPISODE: Final = "episodes"
"""The entity type that stands for a stretch of dialogue."""
CATCH_ALL: Final = "default_property"
"""The property for what fits no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property of an entity type.

    ``order`` 1 is taken from what was said, 2 is synthesised from several memories of order 1. ``covers`` are other
    names and words of the same thing ("home" for a residence). ``single_valued`` says whether a new value replaces the
    old one (True), joins it (False), or the words decide (None).
    """

    name: str
    description: str = ""
    value_type: str = "string"
    order: int = 1
    example: str = ""
    covers: tuple[str, ...] = ()
    single_valued: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """One kind of entity. ``static`` are the properties that don't change with time, by name with their description;
    ``search_weight`` scales the scores of its memories."""

    name: str
    description: str = ""
    instruction: str = ""
    search_weight: float = 1.0
    static: Mapping[str, str] = field(default_factory=dict)
    properties: tuple[Property, ...] = ()

    def of_order(self, order: int) -> tuple[Property, ...]:
        """Return the properties of that order."""
        return tuple(one for one in self.properties if one.order == order)

    def property(self, name: str) -> Property | None:
        """Return the property of that name."""
        return next((one for one in self.properties if one.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Schema:
    """A named set of entity types, unique by name."""

    name: str
    types: tuple[EntityType, ...]

    @cached_property
    def by_name(self) -> Mapping[str, EntityType]:
        """Return the entity types by name."""
        return {one.name: one for one in self.types}

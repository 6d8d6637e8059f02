"""Recipes: named presets of what a search does beyond asking the index once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.search.traversal import Walk

__all__ = ["AGENTIC", "FAST", "RECIPES", "STRATEGIES", "Recipe", "Relations", "Strategy", "recipe_of"]

Strategy = Literal["fast", "balanced", "deep", "agentic"]
"""``agentic`` plans, searches and judges in rounds; the others are recipes of a single search."""
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Relational expansion: from how many of the best hits, how many memories each and in all, and what is left of a
    hit's score for what is related to it."""

    seeds: int = 5
    per_seed: int = 3
    most: int = 10
    decay: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What one search does.

    ``walk`` follows paths of entities and memories from those that the question names, or, where it names none, from
    the ``seeds`` best hits; ``gain`` is how much a path that matches the question better than any single memory is
    worth, per share of the question. ``timeline`` adds, for the
    best hits, so many neighbours before and after on their timelines. ``diversity`` sets back what says again, in the
    share of its words, what a better hit says. ``latest`` puts the later of claims on the same first.
    """

    name: str
    walk: Walk | None = None
    seeds: int = 3
    gain: float = 8.0
    timeline: int = 0
    relations: Relations | None = None
    diversity: float = 0.0
    latest: bool = False


FAST: Final = Recipe(name="fast")
AGENTIC: Final = Recipe(name="agentic", walk=Walk(), latest=True)
"""What each round of an agentic search does: relational expansion stays off, since the plan says what is missing."""
RECIPES: Final[Mapping[str, Recipe]] = {
    recipe.name: recipe
    for recipe in (
        FAST,
        Recipe(name="balanced", walk=Walk(), latest=True),
        Recipe(name="deep", walk=Walk(beam=16), timeline=3, relations=Relations(), diversity=0.1, latest=True),
    )
}


def recipe_of(strategy: str) -> Recipe:
    """Return the recipe that a strategy stands for; that of a round of ``agentic``.

    Raises:
        InvalidInput: there is none of that name.
    """
    if strategy == AGENTIC.name:
        return AGENTIC
    recipe = RECIPES.get(strategy) if isinstance(strategy, str) else None
    if recipe is None:
        raise InvalidInput(
            f"strategy must be one of {', '.join(STRATEGIES)}, got {bounded(strategy)}.", field="strategy"
        )
    return recipe

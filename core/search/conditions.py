"""How memories that hold under a condition are ranked: before others only where the question fits the condition."""

from typing import Final

from mindmem.core.language.words import content_words
from mindmem.core.records import Memory

__all__ = ["condition_factor"]

_ELSEWHERE: Final = 0.8
"""Share of its score that such a memory keeps for a question which says nothing of its condition: it may still be the
best there is, but what holds always goes first."""
_PLAIN: Final = frozenset(
    "i my me you your we our it the a an when whenev while if unless in at on for with to dure am is are be"
    " 我 的 在 时 候 跟 和 对 给 当".split()
)
"""Stems of the words that only join a condition to the rest."""


def condition_factor(memory: Memory, query: str) -> float:
    """Return the share of its score that a memory keeps for a question: all of it where it holds always, or where the
    question names its condition."""
    if not memory.condition:
        return 1.0
    named = set(content_words(memory.condition)) - _PLAIN
    return _ELSEWHERE if named.isdisjoint(content_words(query)) else 1.0

"""Query results: hits with their evidence and the parts of their score."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mindmem.core.records.memory import Memory
from mindmem.core.records.message import Message

__all__ = ["Explanation", "Hit", "Page", "SearchResult"]

Explanation = Mapping[str, float]
"""The parts of a score by name (lexical, dense, late, subject, time, …); they and the score are in 0..1."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found by search; ``score`` is in 0..1 and monotone with relevance. ``via`` names the entities that led
    to it, where it wasn't found by its own words alone."""

    memory: Memory
    score: float
    explanation: Explanation = field(default_factory=dict)
    evidence: tuple[Message, ...] = ()
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. ``notes`` are for people: what was not available (lexical only), how times were read."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of memories; ``next_cursor`` is None on the last, ``total`` None unless asked for."""

    memories: tuple[Memory, ...]
    next_cursor: str | None = None
    total: int | None = None

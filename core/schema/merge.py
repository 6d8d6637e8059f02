"""Edges that a subgraph brings into the graph: how entities are related, and which memories an episode holds.

What memories are about, mention, follow and rest on is linked by ``ingest/links.py``, in either mode.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mindmem.core.records import Action, Edge, Memory, Scope
from mindmem.core.schema.questions import fine_name

__all__ = ["RELATING", "Related", "ended", "part_of", "related"]

RELATING: Final = {
    "lives_in": "location", "located_in": "location", "from": "location", "works_at": "works_for",
    "married_to": "family", "engaged_to": "family", "related_to": "family", "member_of": "membership",
    "belongs_to": "membership", "owned_by": "ownership", "owns": "ownership",
}  # fmt: skip
"""Fine properties whose value is another entity, and how the two are related."""


@dataclass(frozen=True, slots=True)
class Related:
    """A relation between two entity ids, for as long as it holds; ``memory_id`` says so, empty for the episode."""

    source: str
    target: str
    kind: str
    memory_id: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def related(found: Iterable[Related], scope: Scope) -> tuple[Edge, ...]:
    """Return RELATED_TO edges between entities, each pair and kind once; nothing is related to itself."""
    edges: dict[tuple[str, str, str], Edge] = {}
    for one in found:
        if one.source and one.target and one.source != one.target:
            edges.setdefault(
                (one.source, one.target, one.kind),
                Edge(
                    one.source, "RELATED_TO", one.target, scope.without_session(), one.kind,
                    valid_from=one.valid_from, valid_to=one.valid_to, source=one.memory_id,
                ),
            )  # fmt: skip
    return tuple(edges.values())


def ended(actions: Sequence[Action], fresh: Mapping[tuple[str, str], object]) -> tuple[Related, ...]:
    """Return the relations that end because the memory that says so was superseded.

    Args:
        actions: the plan's.
        fresh: (source, target) pairs that the same plan relates: what is said anew doesn't end.
    """
    found = []
    for memory in (action.memory for action in actions):
        kind = RELATING.get(fine_name(memory.property_name), "")
        if memory.status == "archived" and memory.valid_to is not None and kind and memory.entity_id:
            found += [
                Related(memory.entity_id, other, kind, memory.memory_id, memory.valid_from, memory.valid_to)
                for other in memory.mentions
                if (memory.entity_id, other) not in fresh
            ]
    return tuple(found)


def part_of(memory_ids: Iterable[str], episode: Memory) -> tuple[Edge, ...]:
    """Return the edges from memories to the one that sums up their episode."""
    return tuple(
        Edge(memory_id, "RELATED_TO", episode.memory_id, episode.scope.without_session(), "part_of")
        for memory_id in dict.fromkeys(memory_ids)
        if memory_id != episode.memory_id
    )

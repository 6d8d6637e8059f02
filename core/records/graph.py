"""Views of the graph: one entity with what is known of it, and the neighbourhood of an entity."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mindmem.core.records.entity import Entity
from mindmem.core.records.memory import Memory

__all__ = ["EntityPage", "EntityView", "GraphEdge", "GraphNode", "GraphView", "Property", "Related"]


@dataclass(frozen=True, slots=True)
class Property:
    """One property of an entity: its active memories in event time, and how many there are with the superseded ones."""

    name: str
    memories: tuple[Memory, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Related:
    """How an entity is related to another one; ``outward`` when this one is the subject. ``memory_id`` says so, empty
    where only an edge does; the interval is when it holds, as far as it is known."""

    entity: Entity
    kind: str
    outward: bool
    memory_id: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity with what is remembered of it.

    ``active`` counts the active memories about it, ``mentioned`` those that name it besides. ``first_seen`` and
    ``last_seen`` span the event times of all these (None: none has a time).
    """

    entity: Entity
    properties: tuple[Property, ...]
    related: tuple[Related, ...]
    active: int
    mentioned: int
    first_seen: datetime | None = None
    last_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class EntityPage:
    """One page of entities, ordered by id; ``next_cursor`` is None on the last."""

    entities: tuple[Entity, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity or a memory, ``hops`` away from where its neighbourhood begins; ``label`` is its name or content."""

    node_id: str
    label: str
    kind: Literal["entity", "memory"]
    type: str
    hops: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation between two nodes: ``kind`` is a property's name or that of a relation. ``memory_id`` says so."""

    source: str
    target: str
    kind: str
    memory_id: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class GraphView:
    """The neighbourhood of ``root``, nearest nodes first; ``cut`` when there is more than fits."""

    root: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    cut: bool = False

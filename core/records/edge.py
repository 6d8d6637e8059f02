"""Edge: a typed relation between two records."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mindmem.core.records.scope import Scope

__all__ = ["Edge", "Relation"]

Relation = Literal["HAS_PROPERTY", "NEXT", "MENTIONS", "RELATED_TO", "EXTRACTED_FROM"]


@dataclass(frozen=True, slots=True)
class Edge:
    """``src`` relation ``dst``.

    HAS_PROPERTY: entity to memory. NEXT: timeline predecessor to successor. MENTIONS: memory to entity. RELATED_TO:
    memory to memory or entity to entity, with ``kind`` (supersedes, derived_from, contradicts, part_of, …).
    EXTRACTED_FROM: memory to message, with the character span in ``start`` and ``end``. ``active`` False retracts it.
    ``source`` is the memory that says so, of relations between entities.
    """

    src: str
    relation: Relation
    dst: str
    scope: Scope
    kind: str = ""
    start: int = -1
    end: int = -1
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    active: bool = True
    source: str = ""

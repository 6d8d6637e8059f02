"""Memory: one claim with a stable id; a row is one revision, complete in itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from mindmem.core.records.scope import Scope

__all__ = [
    "CONDITION", "CONDITIONAL", "MEM_TYPES", "SCHEDULED", "MemType", "Memory", "Source", "Status", "TimePrecision",
]  # fmt: skip

MemType = Literal["profile", "fact", "episodic", "tool_trace", "experience", "skill_candidate", "file_knowledge"]
Status = Literal["active", "archived", "erased"]
TimePrecision = Literal["instant", "day", "month", "year", "unknown"]
MEM_TYPES: tuple[MemType, ...] = (
    "profile", "fact", "episodic", "tool_trace", "experience", "skill_candidate", "file_knowledge",
)  # fmt: skip
CONDITIONAL: Final = "conditional"
"""Flag of a memory that holds under a condition only."""
CONDITION: Final = "condition"
"""Key of that condition's words in the metadata."""
SCHEDULED: Final = "scheduled"
"""Flag of an appointment: ``valid_from`` is when it takes place; it is arranged from when it was said on."""


@dataclass(frozen=True, slots=True)
class Source:
    """Characters ``start`` to ``end`` (half-open) of a message's content that support a memory."""

    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One revision of a memory.

    ``content`` is one self-contained sentence in the source's language, or the source's own words. Times are aware
    UTC: ``valid_from``/``valid_to`` (half-open) when it is true in the world, ``observed_at`` when it was said,
    ``recorded_at`` when the ledger learned it (None before the commit). ``order`` is 1 for what was said and 2 for what
    was synthesised. ``mentions`` are the entities named besides its own. ``sources`` holds the first eight; all are
    EXTRACTED_FROM edges. ``speaker`` and ``context`` (the words around the source: neighbouring turns, captions) serve
    search only, as does ``episode``, the id of the stretch of talk that it was said in (empty where none is known):
    what was said beside it tells what it is about. ``metadata`` is the caller's.
    """

    memory_id: str
    revision: int
    scope: Scope
    mem_type: MemType
    content: str
    content_hash: str
    entity_id: str = ""
    entity_name: str = ""
    entity_type: str = ""
    property_name: str = ""
    order: int = 1
    value: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    observed_at: datetime | None = None
    recorded_at: datetime | None = None
    time_precision: TimePrecision = "unknown"
    status: Status = "active"
    confidence: float = 1.0
    reinforcement_count: int = 1
    sources: tuple[Source, ...] = ()
    parents: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    speaker: str = ""
    context: str = ""
    episode: str = ""
    flags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    change_id: str = ""
    seq: int = 0

    @property
    def event_time(self) -> datetime | None:
        """Return when it happened: ``valid_from``, else ``observed_at``."""
        return self.valid_from or self.observed_at

    @property
    def condition(self) -> str:
        """Return the words that say when it holds ("when I'm at work"), empty for always."""
        return str(self.metadata.get(CONDITION) or "") if CONDITIONAL in self.flags else ""

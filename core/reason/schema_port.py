"""The judgements of MindSchema and of consolidation over entities: one small async, batched protocol each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from mindmem.core.reason.port import Candidate, Verdict
from mindmem.core.records import Entity, Memory, Message, Scope, Turn
from mindmem.core.records.schema import EntityType, Schema

__all__ = [
    "Boundary",
    "Described",
    "EntityMatch",
    "EntityMatcher",
    "KeyDescriber",
    "KeyRequest",
    "MatchRequest",
    "Relation",
    "SchemaBinder",
    "SchemaBound",
    "SchemaReasoner",
    "SchemaRequest",
    "SegmentRequest",
    "Segmenter",
    "Synthesis",
    "SynthesisRequest",
    "Synthesiser",
]


@dataclass(frozen=True, slots=True)
class SegmentRequest:
    """Turns of one session, in order, to be cut into episodes; ``before`` are the last turns of the open episode."""

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Boundary:
    """An episode begins with ``turns[at]`` (0: a new topic right after ``before``). ``reason`` is for people."""

    at: int
    reason: str


class Segmenter(Protocol):
    """Finds where one sub-topic ends and the next begins."""

    async def segment(self, requests: Sequence[SegmentRequest]) -> list[Verdict[tuple[Boundary, ...]]]:
        """Return one verdict per request, its boundaries ascending; none where all is one topic."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRequest:
    """One episode with the candidates that were extracted of it, to be bound to the types of a schema."""

    scope: Scope
    schema: Schema
    messages: tuple[Message, ...]
    candidates: tuple[Candidate, ...]
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Relation:
    """``source`` and ``target`` are entity names; ``kind`` is what joins them, such as participation, ownership,
    location, social; ``candidate`` is the place of the candidate that says so, -1 for the episode as a whole."""

    source: str
    target: str
    kind: str
    candidate: int = -1
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class SchemaBound:
    """The candidates with entity type and property of the schema (same number, same order), what the episode is called
    and comes to (one self-contained sentence), and how entities are related."""

    candidates: tuple[Candidate, ...]
    title: str
    summary: str
    relations: tuple[Relation, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    """(alias, name) pairs that the episode states: 'everybody calls me Bob'."""
    rejected: tuple[tuple[str, str], ...] = ()
    """What could not be stood by, each with its reason and raw text; its candidate is kept as the rules bind it."""


class SchemaBinder(Protocol):
    """Selects the types of a schema and generates the subgraph of an episode."""

    async def bind(self, requests: Sequence[SchemaRequest]) -> list[Verdict[SchemaBound]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """A named entity with what is said of it, and known entities that it might be (best first, with what is known)."""

    name: str
    entity_type: str
    said: tuple[str, ...]
    candidates: tuple[Entity, ...]
    known: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """The known entity that a name denotes (empty: a new one), and a description that covers what is known now."""

    entity_id: str
    confidence: float = 1.0
    reason: str = ""
    description: str = ""


class EntityMatcher(Protocol):
    """Tells whether a name denotes an entity that is known; ``Unsure`` keeps them apart."""

    async def match(self, requests: Sequence[MatchRequest]) -> list[Verdict[EntityMatch]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """An entity, its type, the active memories of order 1 (by event time) and the active ones of order 2."""

    entity: Entity
    entity_type: EntityType | None
    memories: tuple[Memory, ...]
    current: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A property of order 2: a sentence that claims no more than its parents (at least two memory_ids). ``replaces`` is
    the memory of order 2 that it renews, empty for a new one; ``content`` empty retires that one."""

    property_name: str
    content: str
    parents: tuple[str, ...]
    kind: Literal["frequency", "trend", "contrast", "collection", "summary"]
    replaces: str = ""
    confidence: float = 1.0
    key: str = ""
    """What tells it from its siblings of the same property, kept as the memory's value; empty: its content does."""
    flags: tuple[str, ...] = ()
    """What readers should know of how it was drawn."""


class Synthesiser(Protocol):
    """Draws properties of order 2 from at least two pieces of evidence."""

    async def synthesise(self, requests: Sequence[SynthesisRequest]) -> list[Verdict[tuple[Synthesis, ...]]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """An entity with its active memories, to be described by retrieval keys."""

    entity: Entity
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """Up to ten short search fields of an entity, up to four of them in words that its memories don't use."""

    search_fields: tuple[str, ...]


class KeyDescriber(Protocol):
    """Writes the retrieval keys of entities."""

    async def describe(self, requests: Sequence[KeyRequest]) -> list[Verdict[Described]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class SchemaReasoner:
    """A frozen bundle of MindSchema's judgements; families can be mixed."""

    name: str
    version: str
    segment: Segmenter
    bind: SchemaBinder
    match: EntityMatcher
    synthesise: Synthesiser
    describe: KeyDescriber

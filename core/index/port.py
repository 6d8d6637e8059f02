"""The SearchIndex port: what any index, embedded or a server, must do, with the same filter semantics everywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import EmbedderIdentity, Embedding, TokenVectors
from mindmem.core.index.filters import Filter
from mindmem.core.records import Entity, Memory, Partition

__all__ = [
    "FIELD_WEIGHTS", "Alignment", "Document", "EntityDocument", "EntityScan", "Linked", "People", "Query", "Scan",
    "Scored", "ScoredEntity", "SearchIndex",
]  # fmt: skip

FIELD_WEIGHTS: Mapping[str, float] = {"content": 1.0, "subject": 1.0, "keys": 1.0, "context": 0.3}
"""Searchable text fields and their lexical weight: the memory's words; who and what it is about (speaker, entity,
property); retrieval keys; the words around its source (neighbouring turns, captions)."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One memory as the index keeps it: the record, its text by field, its vectors, when revision 1 was recorded."""

    memory: Memory
    fields: Mapping[str, str]
    created_at: datetime
    embedding: Embedding | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EntityDocument:
    """One entity as the index keeps it: the record, the keys of its name and aliases (``names.name_key``, the name's
    first), the parts of its names (``schema.parts``), the texts that it is found by (each is scored by itself)."""

    entity: Entity
    keys: tuple[str, ...]
    parts: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Query:
    """One search within a project; ``partition.user_id`` empty means all users of it.

    ``text`` may be empty for a purely dense query, ``vector`` None for a purely lexical one. ``late`` holds the
    query's token vectors; an index without them ignores it. ``subject`` is the normalised name of the one person
    asked about, empty if none, and ``subject_ids`` are its tokens: a name alone is no evidence that a memory answers
    what is asked about its bearer, so the floor leaves it out. ``filter`` is applied before the top k. ``weights``
    are those of lexical, dense and late (missing: the index's defaults); a leg that is not available gives its weight
    to the others. ``hybrid`` may let what was said in the same episode (``Memory.episode``) count for a memory, if it
    passes the filter, too: nothing hidden shows in a score. With ``exact`` False, ``lexical`` and ``dense`` may miss a
    few of the best, for the sake of a cost that hardly grows with the partition; what they return obeys the filter, and
    ``hybrid`` is exact all the same.
    """

    partition: Partition
    text: str = ""
    vector: npt.NDArray[np.float32] | None = None
    late: TokenVectors | None = None
    subject: str = ""
    subject_ids: frozenset[int] = frozenset()
    filter: Filter | None = None
    k: int = 10
    candidates: int = 200
    weights: Mapping[str, float] = field(default_factory=dict)
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory_id with its score in 0..1 and the score's parts (lexical, dense, late, subject, and echo where what was
    said beside it counts), each in 0..1."""

    memory_id: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoredEntity:
    """An entity_id with its score in 0..1."""

    entity_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Linked:
    """A known name in a text: the characters ``start`` to ``end`` (half-open), and the entities that bear it, by id;
    several bear one name where homonyms are told apart."""

    start: int
    end: int
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """How well each of some memories matches each part of a query, so that memories can be judged together.

    Parts are the query's tokens where there are token vectors, else its terms. ``scores`` has the shape (memories,
    parts), 0..1; ``weights`` (parts) sum to 1, so that ``scores @ weights`` is how much of the query a memory matches.
    """

    memory_ids: tuple[str, ...]
    scores: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scan:
    """A page of memories; ``cursor`` continues after the last one, None at the end."""

    memories: tuple[Memory, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class EntityScan:
    """A page of entities; ``cursor`` continues after the last one, None at the end."""

    entities: tuple[Entity, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class People:
    """The normalised names of the persons that a partition knows: who speaks, and who else is spoken of."""

    speakers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()


class SearchIndex(Protocol):
    """A projection of the ledger that can be searched. Readers see whole changes only."""

    @property
    def generation(self) -> str:
        """Return the generation that this instance serves (the ledger names the current one)."""
        ...

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Return whose vectors it holds, None for a lexical index."""
        ...

    def apply(self, documents: Sequence[Document], *, entities: Sequence[EntityDocument] = (), watermark: int) -> None:
        """Write documents and entities and move the watermark, in one transaction. The newest revision wins; a memory
        that is there keeps its ``created_at``, and one without an embedding the embedding that is there for the same
        text. An older watermark than the index's is ignored whole."""
        ...

    def watermark(self) -> int:
        """Return the seq up to which the index holds every change."""
        ...

    def lexical(self, query: Query) -> list[Scored]:
        """Return the best by BM25 over the text fields, best first; only documents sharing a term."""
        ...

    def dense(self, query: Query) -> list[Scored]:
        """Return the best by cosine similarity (exact), best first."""
        ...

    def hybrid(self, query: Query) -> list[Scored]:
        """Return the best by all legs that are available, fused, best first, above the built-in floor."""
        ...

    def align(self, query: Query, memory_ids: Sequence[str]) -> Alignment:
        """Return how those of the memories that exist in the partition and pass the filter match the query part by
        part, in the given order; ``k`` and the weights don't count. A partition without user_id holds none."""
        ...

    def get(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories that exist, by id, at their newest projected revision."""
        ...

    def scan(
        self, partition: Partition, filter_: Filter | None, *, order: Literal["newest", "id"] = "newest",
        cursor: str | None = None, limit: int = 100,
    ) -> Scan:  # fmt: skip
        """Return one page; ``newest`` is by recorded_at then id, descending. Cursors stay valid while rows are
        added."""
        ...

    def count(self, partition: Partition, filter_: Filter | None) -> int:
        """Return how many memories match."""
        ...

    def people(self, partition: Partition) -> People:
        """Return the persons that this user's memories name, archived ones included; nobody for a partition without
        user_id."""
        ...

    def entities(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        """Return the entities that exist, by id, at their newest projected revision: archived and merged ones, too."""
        ...

    def named(self, partition: Partition, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return who bears each of these names, as name or alias, by the name's key (``names.name_key``), ids in order.

        A merged entity's names lead to the one that it became; archived entities bear none. Names that nobody bears are
        left out."""
        ...

    def bearing(self, partition: Partition, parts: Sequence[str]) -> list[str]:
        """Return the ids of the entities that have any of these parts, in order: archived and merged ones, too. What it
        costs depends on how many have one, not on how many there are."""
        ...

    def linked(self, partition: Partition, text: str, *, limit: int = 20) -> list[Linked]:
        """Return the known names that stand in a text as whole words, or as runs of characters where no spaces part
        words: the longest first, none within another. Whom they denote is as ``named`` says.

        A word that is also an everyday word counts where its capital tells, where the entity is itself written small,
        or where many memories are about it."""
        ...

    def similar_entities(self, partition: Partition, text: str, *, k: int = 10) -> list[ScoredEntity]:
        """Return up to ``k`` entities that share words with a text, best first; the best field of an entity scores it.
        Merged and archived ones are left out."""
        ...

    def scan_entities(self, partition: Partition, *, cursor: str | None = None, limit: int = 100) -> EntityScan:
        """Return one page of entities that stand for themselves and are active, by id; without user_id: all users'."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...

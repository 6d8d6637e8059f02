"""EmbeddedIndex: the SearchIndex port over one file and the arrays built from it."""

import base64
import heapq
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeVar

import numpy as np

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.errors import EmbedderMismatch, InvalidInput, StaleGeneration, bounded
from mindmem.core.index.embedded.cache import Cache
from mindmem.core.index.embedded.codec import decode
from mindmem.core.index.embedded.columns import NEVER
from mindmem.core.index.embedded.entity_rows import BEARING, decode_entity
from mindmem.core.index.embedded.partition import Arrays, Piece
from mindmem.core.index.embedded.ranking import Way, align, prepare, rank
from mindmem.core.index.embedded.store import Store
from mindmem.core.index.filters import Filter
from mindmem.core.index.port import (
    Alignment,
    Document,
    EntityDocument,
    EntityScan,
    Linked,
    People,
    Query,
    Scan,
    Scored,
    ScoredEntity,
)
from mindmem.core.records import Entity, Memory, Partition

__all__ = ["CACHE_BYTES", "EmbeddedIndex"]

CACHE_BYTES: Final = 1_500_000_000
_AT_ONCE: Final = 500
Result = TypeVar("Result")

_COLUMNS: Final[tuple[Piece, ...]] = ("columns",)
_ENTITIES: Final[tuple[Piece, ...]] = ("entities",)
_OFTEN: Final = 3
"""Memories about an entity from which on its name is taken for one where it may be another word."""


class EmbeddedIndex:
    """One generation of the embedded index. Safe to use from several threads and, on one file, from several
    processes."""

    def __init__(
        self,
        path: Path,
        generation: str,
        *,
        create: bool = False,
        embedder: EmbedderIdentity | None = None,
        cache_bytes: int = CACHE_BYTES,
        lock_timeout: float = 60.0,
        is_current: Callable[[], bool] = lambda: True,
    ) -> None:
        """Open the file of a generation, or make it with ``create``, for the vectors of ``embedder``.

        ``cache_bytes`` bounds the arrays of all partitions together; the one in use is kept even if it is larger alone.
        ``is_current`` is asked, once a successor is being built up, whether this generation is still the one to use.

        Raises:
            StoreUnavailable: the file is missing or of another format.
            CorruptStore: the file is damaged.
        """
        self._store = Store(path, create=create, lock_timeout=lock_timeout)
        self._generation = generation
        self._cache = Cache(self._store, cache_bytes)
        self._is_current = is_current
        if create:
            self._store.set_meta("embedder", _identity_json(embedder), only_new=True)
        self._embedder = _identity(self._store.meta("embedder") or "null")

    @property
    def generation(self) -> str:
        """Return the generation that this instance serves."""
        return self._generation

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Return whose vectors it holds, None for a lexical index."""
        return self._embedder

    @property
    def cached_bytes(self) -> int:
        """Return the size of the arrays held in memory, in bytes."""
        return self._cache.nbytes

    def expect(self, embedder: EmbedderIdentity | None) -> None:
        """Check that ``embedder`` may be used with this index; an index that is still empty takes it over. None (no
        embedder at hand) is always allowed: the search is lexical then.

        Raises:
            EmbedderMismatch: the vectors are another embedder's.
        """
        if embedder is None or embedder == self._embedder:
            return
        with self._store.writing() as connection:
            empty = connection.execute("select not exists (select 1 from documents)").fetchone()[0]
            if empty:
                self._store.set_meta("embedder", _identity_json(embedder))
        if not empty:
            held = str(self._embedder) if self._embedder else "none (lexical only)"
            raise EmbedderMismatch(
                f"The index holds vectors of {held}, but the embedder is {embedder}; embed again with: mindmem reembed"
            )
        self._embedder = embedder

    def apply(self, documents: Sequence[Document], *, entities: Sequence[EntityDocument] = (), watermark: int) -> None:
        """Write documents and entities (newest revision wins) and move the watermark, in one transaction.

        Raises:
            InvalidInput: a vector hasn't the embedder's dimension; nothing was written.
            StaleGeneration: the ledger names another generation by now; nothing was written.
        """
        for document in documents:
            self._check_vectors(document)
        self._store.apply(documents, entities, watermark, self._check)

    def watermark(self) -> int:
        """Return the seq up to which the index holds every change."""
        return self._store.watermark()

    def lexical(self, query: Query) -> list[Scored]:
        """Return the best by BM25F, best first; only documents sharing a term."""
        return self._ranked(query, "lexical")

    def dense(self, query: Query) -> list[Scored]:
        """Return the best by cosine similarity (exact), best first; nothing without a vector."""
        return self._ranked(query, "dense")

    def hybrid(self, query: Query) -> list[Scored]:
        """Return the best by all legs that are available, fused, best first, above the built-in floor."""
        return self._ranked(query, "hybrid")

    def align(self, query: Query, memory_ids: Sequence[str]) -> Alignment:
        """Return how memories of one user match a query part by part."""
        prepared = prepare(query, "hybrid", self._embedder)
        found: list[Alignment] = []
        if query.partition.user_id:
            found = self._over(query.partition, prepared.pieces, lambda arrays: align(arrays, prepared, memory_ids))
        return found[0] if found else Alignment((), np.zeros((0, 0), np.float32), np.zeros(0, np.float32))

    def get(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories that exist, by id, at their newest projected revision."""
        self._check()
        found: dict[str, Memory] = {}
        wanted = list(dict.fromkeys(memory_ids))
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            rows = self._store.rows(
                "select d.memory_id, r.record from documents d join records r on r.doc = d.doc "
                f"where d.memory_id in ({', '.join('?' * len(some))})",
                some,
            )
            found.update({memory_id: decode(record) for memory_id, record in rows})
        return {memory_id: found[memory_id] for memory_id in wanted if memory_id in found}

    def scan(
        self, partition: Partition, filter_: Filter | None, *, order: Literal["newest", "id"] = "newest",
        cursor: str | None = None, limit: int = 100,
    ) -> Scan:  # fmt: skip
        """Return one page; ``newest`` is by recorded_at then id, descending. A partition without user_id: all users.

        Raises:
            InvalidInput: the cursor is not one of this order's.
        """
        after = _read_cursor(cursor, order)

        def first(keys: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
            if order == "newest":
                return heapq.nlargest(limit + 1, (key for key in keys if after is None or key < after))
            return heapq.nsmallest(limit + 1, (key for key in keys if after is None or key > after))

        def page_of(arrays: Arrays) -> list[tuple[int, str]]:
            columns = arrays.columns
            if order == "id":
                return first((0, columns.memory_ids[at]) for at in columns.places(filter_))
            times = columns.times("recorded_at")
            places = columns.newest(filter_, limit + 1, None if after is None else after[0])
            return first((int(times[at]), columns.memory_ids[at]) for at in places)

        best = first(key for keys in self._over(partition, _COLUMNS, page_of) for key in keys)
        page = best[:limit]
        records = self.get([memory_id for _, memory_id in page])
        more = _write_cursor(page[-1], order) if len(best) > limit and page else None
        return Scan(tuple(records[memory_id] for _, memory_id in page if memory_id in records), more)

    def count(self, partition: Partition, filter_: Filter | None) -> int:
        """Return how many memories match."""

        def passing(arrays: Arrays) -> int:
            mask = arrays.columns.mask(filter_)
            return len(arrays.columns) if mask is None else int(mask.sum())

        return sum(self._over(partition, _COLUMNS, passing))

    def people(self, partition: Partition) -> People:
        """Return the persons that this user's memories name; nobody for a partition without user_id."""
        if not partition.user_id:
            return People()
        # Who asks for people goes on to search: columns and words are read in one pass.
        found = self._over(partition, ("columns", "postings"), lambda arrays: arrays.columns.people())
        return found[0] if found else People()

    def entities(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        """Return the entities that exist, by id, at their newest projected revision."""
        self._check()
        found: dict[str, Entity] = {}
        wanted = list(dict.fromkeys(entity_ids))
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._store.rows(f"select entity_id, record from entities where entity_id in ({marks})", some)
            found.update({entity_id: decode_entity(record) for entity_id, record in rows})
        return {entity_id: found[entity_id] for entity_id in wanted if entity_id in found}

    def named(self, partition: Partition, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return who bears each name, by the name's key."""
        found: dict[str, tuple[str, ...]] = {}
        for some in self._over(partition, _ENTITIES, lambda arrays: arrays.entities.named(names)):
            for key, bearers in some.items():
                found[key] = tuple(sorted((*found.get(key, ()), *bearers)))
        return found

    def bearing(self, partition: Partition, parts: Sequence[str]) -> list[str]:
        """Return the ids of the entities that have any of these parts, in order."""
        self._check()
        found: set[str] = set()
        wanted = list(dict.fromkeys(parts))
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            query = BEARING.format(marks=", ".join("?" * len(some)))
            found.update(row[0] for row in self._store.rows(query, (*partition, partition.user_id, *some)))
        return sorted(found)

    def linked(self, partition: Partition, text: str, *, limit: int = 20) -> list[Linked]:
        """Return the known names that stand in a text, the longest first; of each user's, for a whole project."""

        def read(arrays: Arrays) -> list[Linked]:
            def often(entity_id: str) -> bool:  # rarely asked, so that the columns aren't read for every text
                arrays.refresh(_COLUMNS)
                return arrays.columns.about(entity_id) >= _OFTEN

            return arrays.entities.linked(text, limit, often)

        found = [link for some in self._over(partition, _ENTITIES, read) for link in some]
        return sorted(found, key=lambda link: (link.start - link.end, link.start, link.entity_ids))[:limit]

    def similar_entities(self, partition: Partition, text: str, *, k: int = 10) -> list[ScoredEntity]:
        """Return the entities that share words with a text, best first."""
        ranked = self._over(partition, _ENTITIES, lambda arrays: arrays.entities.similar(text, k))
        found = [scored for some in ranked for scored in some]
        return heapq.nsmallest(k, found, key=lambda scored: (-scored.score, scored.entity_id))

    def scan_entities(self, partition: Partition, *, cursor: str | None = None, limit: int = 100) -> EntityScan:
        """Return one page of entities that stand for themselves and are active, by id.

        Raises:
            InvalidInput: the cursor is not one of this order's.
        """
        after = _read_cursor(cursor, "entity")
        beyond = after[1] if after else ""
        pages = self._over(partition, _ENTITIES, lambda arrays: arrays.entities.ids(beyond, limit + 1))
        ids = heapq.nsmallest(limit + 1, (entity_id for page in pages for entity_id in page))
        more = _write_cursor((0, ids[limit - 1]), "entity") if len(ids) > limit else None
        return EntityScan(tuple(self.entities(ids[:limit]).values()), more)

    def close(self) -> None:
        """Release the file and the arrays."""
        self._cache.clear()
        self._store.close()

    @contextmanager
    def hand_over(self, successor: str) -> Iterator[None]:
        """Announce a successor and keep every writer of this generation out for the block, in which the ledger is
        made to name the successor. From the announcement on, each use of this generation asks ``is_current``
        first."""
        self._store.set_meta("successor", successor)
        with self._store.writing():
            yield

    @property
    def successor(self) -> str:
        """Return the successor that was announced, empty if none was."""
        return self._store.meta("successor") or ""

    def forget_successor(self) -> None:
        """Take back an announcement whose rebuild died."""
        self._store.set_meta("successor", "")

    def _ranked(self, query: Query, way: Way) -> list[Scored]:
        prepared = prepare(query, way, self._embedder)
        if not prepared.weights or query.k < 1:
            self._check()
            return []
        ranked = self._over(query.partition, prepared.pieces, lambda arrays: rank(arrays, prepared))
        found = [scored for some in ranked for scored in some]
        return heapq.nsmallest(query.k, found, key=lambda scored: (-scored.score, scored.memory_id))

    def _over(self, partition: Partition, pieces: Collection[Piece], read: Callable[[Arrays], Result]) -> list[Result]:
        """Return what ``read`` makes of the partition's arrays (without user_id: of each of the project's), which are
        fresh and locked."""
        self._check()
        return self._cache.read(partition, self._embedder, pieces, read)

    def _check(self) -> None:
        if self._store.meta("successor") and not self._is_current():
            raise StaleGeneration(f"Generation {self._generation} of the index was replaced; open the current one.")

    def _check_vectors(self, document: Document) -> None:
        embedding, identity = document.embedding, self._embedder
        if embedding is not None and (identity is None or embedding.vector.shape != (identity.dimension,)):
            raise InvalidInput(
                f"The vector of {document.memory.memory_id!r} has shape {embedding.vector.shape}; "
                f"the index holds vectors of {identity or 'no embedder'}."
            )
        if embedding is None or identity is None:
            return
        tokens = embedding.tokens
        if tokens is not None and tokens.vectors.shape != (len(tokens.ids), identity.token_dimension):
            raise InvalidInput(
                f"The token vectors of {document.memory.memory_id!r} have shape {tokens.vectors.shape}; "
                f"expected ({len(tokens.ids)}, {identity.token_dimension})."
            )


def _identity_json(embedder: EmbedderIdentity | None) -> str:
    if embedder is None:
        return "null"
    return json.dumps([embedder.name, embedder.version, embedder.dimension, embedder.token_dimension])


def _identity(stored: str) -> EmbedderIdentity | None:
    fields = json.loads(stored)
    return None if fields is None else EmbedderIdentity(*fields)


def _write_cursor(key: tuple[int, str], order: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([order, *key]).encode()).decode()


def _read_cursor(cursor: str | None, order: str) -> tuple[int, str] | None:
    if cursor is None:
        return None
    try:
        found, at, memory_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if found == order and isinstance(at, int) and isinstance(memory_id, str) and at >= NEVER:
            return at, memory_id
    except (ValueError, TypeError, AttributeError):
        pass
    raise InvalidInput(
        f"The cursor {bounded(cursor)} is not one that this scan gave; begin without one.", field="cursor"
    )

"""The arrays of one partition, filled from the file and kept up with it.

Each piece (columns, postings, sentence vectors, tokens) is loaded when a query first needs it and remembers the stamp
up to which it has seen the file; afterwards only the rows written since are read. Token vectors are read one document
at a time, when it is a candidate."""

import threading
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.index.embedded.columns import CODED, NEVER, TIMES, Columns
from mindmem.core.index.embedded.entity_arrays import EntityArrays
from mindmem.core.index.embedded.entity_rows import READ as READ_ENTITIES
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.postings import Postings
from mindmem.core.index.embedded.store import ROOM, Store
from mindmem.core.index.embedded.vectors import Matrix, Tokens
from mindmem.core.records import Partition

__all__ = ["Arrays", "Piece"]

_OfDocuments = Literal["columns", "postings", "matrix", "tokens"]
Piece = _OfDocuments | Literal["entities"]
_PAGE: Final = 4_000
"""Rows read at once, which bounds the memory that loading takes beside the arrays."""
_AT_ONCE: Final = 500
"""Documents whose token vectors are read by one statement."""
_READ: Final[dict[_OfDocuments, tuple[str, ...]]] = {
    "columns": (
        "d.memory_id",
        "d.metadata",
        "d.mentions",
        f"json_array({', '.join(f'd.{name}' for name in CODED)})",
        *(f"coalesce(d.{name}, {NEVER})" for name in TIMES.values()),
    ),
    "postings": ("d.terms", "d.lengths"),
    "matrix": ("d.text_key", "v.vector"),
    "tokens": ("d.text_key", "t.ids"),
}
_COLUMNS: Final = ("memory_id", "metadata", "mentions", "coded", *TIMES.values())
_JOINS: Final[dict[_OfDocuments, str]] = {
    "columns": "",
    "postings": "",
    "matrix": "left join vectors v on v.doc = d.doc",
    "tokens": "left join tokens t on t.doc = d.doc",
}


class Arrays:
    """One partition's arrays. Hold ``lock`` and a snapshot of the store while refreshing and reading them."""

    def __init__(self, store: Store, partition: Partition, part: int, embedder: EmbedderIdentity | None) -> None:
        self.lock = threading.Lock()
        self.partition = partition
        self._store = store
        self._first = part * ROOM
        self._part = part
        self._seen: dict[Piece, int] = {}
        self.columns = Columns(partition.user_id, self._contents)
        self.postings = Postings()
        self.matrix = Matrix(embedder.dimension if embedder else 0)
        self.tokens = Tokens(embedder.token_dimension if embedder else 0, self._token_vectors)
        self.entities = EntityArrays()
        self._words = Growing(np.empty(0, dtype=np.int64))
        self._texts = {name: Growing(np.empty(0, dtype=np.int64)) for name in ("matrix", "tokens")}

    @property
    def nbytes(self) -> int:
        """Return what the arrays hold in memory, in bytes."""
        scored = self.columns.nbytes + self.postings.nbytes + self.matrix.nbytes + self.tokens.nbytes
        scored += self.entities.nbytes
        return scored + self._words.nbytes + sum(texts.nbytes for texts in self._texts.values())

    def refresh(self, pieces: Collection[Piece]) -> None:
        """Read what was written since into these pieces."""
        found = self._store.part(self.partition)
        if found is None:
            return
        _, size, stamp = found
        behind: dict[int, list[_OfDocuments]] = {}
        for piece in pieces:
            if piece == "entities":
                self._read_entities(stamp)
            elif self._seen.get(piece) != stamp:
                behind.setdefault(self._seen.get(piece, 0), []).append(piece)
        for seen, some in behind.items():  # what was read up to the same stamp is read in one pass
            self._read(some, seen, size)
            self._seen.update(dict.fromkeys(some, stamp))

    def _read_entities(self, stamp: int) -> None:
        seen = self._seen.get("entities", 0)
        if seen != stamp:
            self.entities.put(self._store.rows(READ_ENTITIES, (self._part, seen)))
            self._seen["entities"] = stamp

    def _read(self, pieces: Sequence[_OfDocuments], seen: int, size: int) -> None:
        after = self._first - 1
        while True:
            docs, *values = self._page(pieces, seen, after, size)
            if not docs:
                break
            after = docs[-1]
            places = np.array(docs, dtype=np.int64) - self._first
            for piece in pieces:
                given = [values.pop(0) for _ in _READ[piece]]
                if piece == "columns":
                    self.columns.put(places, dict(zip(_COLUMNS, given, strict=True)))
                elif piece == "postings":
                    self._put_words(places, *given)
                else:
                    self._put_vectors(piece, size, places, *given)

    def _page(self, pieces: Sequence[_OfDocuments], seen: int, after: int, size: int) -> list[list[Any]]:
        names = ", ".join(name for piece in pieces for name in _READ[piece])
        joined = " ".join(_JOINS[piece] for piece in pieces)
        # A first reading follows the table's own order; a later one the index on stamps.
        where = "d.part + 0 = ? and d.stamp > ?" if seen == 0 else "d.part = ? and d.stamp > ?"
        return self._store.columns(
            f"select d.doc, {names} from documents d {joined} where {where} and d.doc > ? and d.doc < ? "
            f"order by d.doc limit {_PAGE}",
            (self._part, seen, after, self._first + size),
        )

    def _put_words(self, places: npt.NDArray[np.int64], terms: Sequence[bytes], lengths: Sequence[bytes]) -> None:
        chosen = self._changed(self._words, places, zip(terms, lengths, strict=True))
        if len(chosen):
            self.postings.put(places[chosen], [terms[at] for at in chosen], b"".join(lengths[at] for at in chosen))

    def _put_vectors(
        self,
        piece: Literal["matrix", "tokens"],
        size: int,
        places: npt.NDArray[np.int64],
        keys: Sequence[str],
        blobs: Sequence[bytes | None],
    ) -> None:
        held: Matrix | Tokens = self.matrix if piece == "matrix" else self.tokens
        held.grow(size)
        # A text that has no vector yet may get one.
        chosen = self._changed(self._texts[piece], places, zip(keys, (blob is None for blob in blobs), strict=True))
        given = {at: blob for at in chosen.tolist() if (blob := blobs[at]) is not None}
        gone = [at for at in chosen.tolist() if at not in given]
        if gone:
            held.drop(places[gone])
        if given and isinstance(held, Matrix):
            held.put(places[list(given)], b"".join(given.values()))
        elif given and isinstance(held, Tokens):
            held.put(places[list(given)], list(given.values()))

    @staticmethod
    def _changed(
        held: Growing[np.int64], places: npt.NDArray[np.int64], values: Iterable[Hashable]
    ) -> npt.NDArray[np.intp]:
        """Return which of the rows differ from what ``held`` has seen of them, and remember them."""
        digests = np.fromiter(map(hash, values), dtype=np.int64, count=len(places))
        known = int(np.searchsorted(places, len(held)))
        differs = np.ones(len(places), dtype=np.bool_)
        differs[:known] = held.view[places[:known]] != digests[:known]
        held.view[places[:known]] = digests[:known]
        held.append(digests[known:])
        return np.flatnonzero(differs)

    def _token_vectors(self, places: npt.NDArray[np.int64]) -> list[bytes]:
        found: dict[int, bytes] = {}
        docs = (places + self._first).tolist()
        for start in range(0, len(docs), _AT_ONCE):
            some = docs[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            found.update(self._store.rows(f"select doc, vectors from tokens where doc in ({marks})", some))
        return [found[doc] for doc in docs]

    def _contents(self) -> list[str]:
        rows = self._store.rows(
            "select json_extract(record, '$.content') from records where doc >= ? and doc < ? order by doc",
            (self._first, self._first + len(self.columns)),
        )
        return [row[0] for row in rows]

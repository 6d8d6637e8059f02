"""The arrays of one partition, filled from the file and kept up with it.

Each piece (columns, postings, sentence vectors, token vectors) is loaded when a query first needs it and remembers
the stamp up to which it has seen the file; afterwards only the rows written since are read."""

import threading
from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.index.embedded.columns import CODED, TIMES, Columns
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.postings import Postings
from mindmem.core.index.embedded.store import ROOM, Store
from mindmem.core.index.embedded.vectors import Matrix, Tokens
from mindmem.core.records import Partition

__all__ = ["Arrays", "Piece"]

Piece = Literal["columns", "postings", "matrix", "tokens"]
_COLUMNS = ("doc", "memory_id", "metadata", *CODED, *TIMES.values())
_PAGE = 20_000
"""Rows read at once, which bounds the memory that loading takes beside the arrays."""


class Arrays:
    """One partition's arrays. Hold ``lock`` while refreshing and reading them."""

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
        self.tokens = Tokens(embedder.token_dimension if embedder else 0)
        self._words = Growing(np.empty(0, dtype=np.int64))
        self._texts = {name: Growing(np.empty(0, dtype=np.int64)) for name in ("matrix", "tokens")}

    @property
    def nbytes(self) -> int:
        """Return what the arrays hold in memory, in bytes."""
        scored = self.columns.nbytes + self.postings.nbytes + self.matrix.nbytes + self.tokens.nbytes
        return scored + self._words.nbytes + sum(texts.nbytes for texts in self._texts.values())

    def fresh(self, stamp: int, pieces: Collection[Piece]) -> bool:
        """Return whether these pieces have seen the file up to ``stamp``."""
        return all(self._seen.get(piece) == stamp for piece in pieces)

    def refresh(self, pieces: Collection[Piece]) -> None:
        """Read what was written since into these pieces, from one snapshot of the file."""
        with self._store.snapshot():
            found = self._store.part(self.partition)
            if found is None:
                return
            _, size, stamp = found
            for piece in pieces:
                seen = self._seen.get(piece, 0)
                if seen != stamp:
                    self._read(piece, seen, size)
                    self._seen[piece] = stamp

    def _read(self, piece: Piece, seen: int, size: int) -> None:
        after = self._first - 1
        while rows := self._page(piece, seen, after, size):
            after = rows[-1][0]
            places = np.fromiter((row[0] - self._first for row in rows), dtype=np.int64, count=len(rows))
            if piece == "columns":
                columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True))
                self.columns.put(places.tolist(), columns)
            elif piece == "postings":
                self._put_words(places, rows)
            else:
                self._put_vectors(piece, places, rows, size)

    def _page(self, piece: Piece, seen: int, after: int, size: int) -> list[tuple[Any, ...]]:
        names, joined = {
            "columns": (", ".join(f"d.{name}" for name in _COLUMNS), ""),
            "postings": ("d.doc, d.terms, d.lengths", ""),
            "matrix": ("d.doc, d.text_key, v.vector", "left join vectors v on v.doc = d.doc"),
            "tokens": ("d.doc, d.text_key, v.ids, v.vectors", "left join tokens v on v.doc = d.doc"),
        }[piece]
        # A first reading follows the table's own order; a later one the index on stamps.
        where = "d.part + 0 = ? and d.stamp > ?" if seen == 0 else "d.part = ? and d.stamp > ?"
        return self._store.rows(
            f"select {names} from documents d {joined} where {where} and d.doc > ? and d.doc < ? "
            f"order by d.doc limit {_PAGE}",
            (self._part, seen, after, self._first + size),
        )

    def _put_words(self, places: npt.NDArray[np.int64], rows: Sequence[tuple[Any, ...]]) -> None:
        digests = np.fromiter((hash((row[1], row[2])) for row in rows), dtype=np.int64, count=len(rows))
        chosen = self._changed(self._words, places, digests)
        if len(chosen):
            self.postings.put(places[chosen], [rows[at][1] for at in chosen], b"".join(rows[at][2] for at in chosen))

    def _put_vectors(
        self,
        piece: Literal["matrix", "tokens"],
        places: npt.NDArray[np.int64],
        rows: Sequence[tuple[Any, ...]],
        size: int,
    ) -> None:
        held: Matrix | Tokens = self.matrix if piece == "matrix" else self.tokens
        held.grow(size)
        digests = np.fromiter((hash((row[1], row[2] is None)) for row in rows), dtype=np.int64, count=len(rows))
        chosen = self._changed(self._texts[piece], places, digests)
        given = [at for at in chosen if rows[at][2] is not None]
        gone = [at for at in chosen if rows[at][2] is None]
        if gone:
            held.drop(places[gone])
        if given and isinstance(held, Matrix):
            held.put(places[given], b"".join(rows[at][2] for at in given))
        elif given and isinstance(held, Tokens):
            held.put(places[given], [rows[at][2] for at in given], [rows[at][3] for at in given])

    @staticmethod
    def _changed(
        held: Growing[np.int64], places: npt.NDArray[np.int64], digests: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.intp]:
        """Return which of the rows differ from what ``held`` has seen of them, and remember them."""
        known = int(np.searchsorted(places, len(held)))
        differs = np.ones(len(places), dtype=np.bool_)
        differs[:known] = held.view[places[:known]] != digests[:known]
        held.view[places[:known]] = digests[:known]
        held.append(digests[known:])
        return np.flatnonzero(differs)

    def _contents(self) -> list[str]:
        rows = self._store.rows(
            "select json_extract(record, '$.content') from records where doc >= ? and doc < ? order by doc",
            (self._first, self._first + len(self.columns)),
        )
        return [row[0] for row in rows]

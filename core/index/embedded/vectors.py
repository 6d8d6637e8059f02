"""The vectors of a partition: sentence vectors as one exact matrix, token vectors as far as queries needed them."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import TokenVectors
from mindmem.core.index.embedded.blas import one_thread
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.scoring import Floats, idf
from mindmem.core.index.embedded.signs import Signs

__all__ = ["Matrix", "Tokens"]

_GATHER_BELOW: Final = 0.3
"""Share of rows below which copying the wanted ones out is cheaper than multiplying them all."""
_SCALE: Final = np.float32(127.0 * 127.0)
_BLOCK: Final = 512
"""Token vectors turned to float32 and multiplied at once: so many stay in the processor's cache, three times faster."""
_TELLING: Final = 0.15
"""Tokens of the query with less than this share of the largest idf are left out: they cost time and say nothing."""
_SMALL: Final = 10_000
"""Documents of a partition whose token vectors are all read as soon as those of one are needed."""
_ID: Final = np.dtype("<u2")
_IDS: Final = 1 << 16


class Matrix:
    """Unit sentence vectors, float32 of shape (documents, dimension); rows of documents without one are zero."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows = Growing(np.empty((0, dimension), dtype=np.float32))
        self._held = Growing(np.empty(0, dtype=np.bool_))
        self._signs: Signs | None = None

    def __len__(self) -> int:
        return len(self._held)

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays in bytes."""
        return self._rows.nbytes + self._held.nbytes + (self._signs.nbytes if self._signs else 0)

    def grow(self, size: int) -> None:
        """Make room for documents up to ``size``."""
        more = size - len(self)
        if more > 0:
            self._rows.extend(more)
            self._held.extend(more)

    def put(self, places: npt.NDArray[np.int64], vectors: bytes) -> None:
        """Set the vectors of documents, given end to end as little-endian float32."""
        self._set(places, np.frombuffer(vectors, dtype="<f4").reshape(-1, self._dimension), held=True)

    def drop(self, places: npt.NDArray[np.int64]) -> None:
        """Forget the vectors of documents whose text changed."""
        self._set(places, np.zeros((len(places), self._dimension), dtype=np.float32), held=False)

    def score(self, vector: Floats, mask: npt.NDArray[np.bool_] | None) -> Floats:
        """Return the cosine of each document that ``mask`` keeps, negative ones and others as 0."""
        unit = _unit(vector)
        with one_thread():
            if mask is not None:
                kept = np.flatnonzero(mask)
                scores = np.zeros(len(self), dtype=np.float32)
                if len(kept) < len(self) * _GATHER_BELOW:
                    scores[kept] = self._rows.view[kept] @ unit
                else:
                    scores = np.where(mask, self._rows.view @ unit, np.float32(0.0))
            else:
                scores = self._rows.view @ unit
        return np.clip(scores, 0.0, 1.0)

    def nearby(
        self, vector: Floats, mask: npt.NDArray[np.bool_] | None, count: int
    ) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return some ``count`` documents near the vector and their cosines. All are compared by the signs of their
        numbers, a 32nd of the bytes, and those that differ least by the numbers themselves."""
        if self._signs is None:
            self._signs = Signs(self._dimension)
        if len(self._signs) < len(self):
            begun = len(self._signs)
            self._signs.put(np.arange(begun, len(self)), self._rows.view[begun:])
        places = self._signs.nearest(vector, self._held.view if mask is None else self._held.view & mask, count)
        with one_thread():
            cosines: Floats = self._rows.view[places] @ _unit(vector)
        return places, np.clip(cosines, 0.0, 1.0)

    def _set(self, places: npt.NDArray[np.int64], vectors: Floats, *, held: bool) -> None:
        rows = _run(places)
        self._rows.view[rows] = vectors
        self._held.view[rows] = held
        if self._signs is not None:
            known = places < len(self._signs)
            self._signs.put(places[known], vectors[known])


def _run(places: npt.NDArray[np.int64]) -> slice | npt.NDArray[np.int64]:
    """Return ascending places that follow each other as a slice, by which rows are copied several times faster."""
    if len(places) and places[-1] - places[0] == len(places) - 1:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _unit(vector: Floats) -> Floats:
    norm = float(np.linalg.norm(vector))
    return vector.astype(np.float32) / np.float32(norm if norm > 0.0 else 1.0)


class Tokens:
    """Token vectors of documents: whose ids there are and where, and the vectors (int8) of those that were asked for.

    The ids of all documents are held, since they weigh a query's tokens. Vectors are ten times the bytes of all else,
    and a query compares those of a few hundred candidates: ``fetch`` reads what is missing, the raw
    rows of each place in order."""

    def __init__(self, dimension: int, fetch: Callable[[npt.NDArray[np.int64]], Sequence[bytes]]) -> None:
        self._dimension = dimension
        self._fetch = fetch
        self._ids = Growing(np.empty(0, dtype=np.uint16))
        self._id_starts = Growing(np.empty(0, dtype=np.int64))
        self._sizes = Growing(np.empty(0, dtype=np.int32))
        self._vectors = Growing(np.empty((0, dimension), dtype=np.int8))
        self._starts = Growing(np.empty(0, dtype=np.int64))
        """Where a document's vectors begin, plus one: 0 where they weren't read yet."""
        self._wasted = 0
        self._held: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._known: npt.NDArray[np.uint16] = np.zeros(0, dtype=np.uint16)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays in bytes."""
        grown = (self._ids, self._id_starts, self._sizes, self._vectors, self._starts)
        return sum(array.nbytes for array in grown) + self._held.nbytes + self._known.nbytes

    def grow(self, size: int) -> None:
        """Make room for documents up to ``size``."""
        more = max(0, size - len(self))
        for array in (self._id_starts, self._sizes, self._starts):
            array.extend(more)

    def put(self, places: npt.NDArray[np.int64], ids: Sequence[bytes]) -> None:
        """Set the token ids of documents (raw, little-endian); their vectors are read when they are asked for."""
        self.drop(places)
        sizes = np.fromiter(map(len, ids), dtype=np.int32, count=len(ids)) // _ID.itemsize
        self._id_starts.view[places] = len(self._ids) + np.cumsum(sizes) - sizes
        self._sizes.view[places] = sizes
        new = np.frombuffer(b"".join(ids), dtype=_ID)
        self._ids.append(new)
        self._count(new, sizes, +1)
        if self._wasted > 4096 and self._wasted > len(self._ids) // 2:
            self._compact()

    def drop(self, places: npt.NDArray[np.int64]) -> None:
        """Forget the tokens of documents whose text changed."""
        had = places[self._sizes.view[places] > 0]
        if len(had):
            rows, sizes = _rows_of(self._id_starts.view[had], self._sizes.view[had])
            self._count(self._ids.view[rows], sizes, -1)
            self._wasted += int(sizes.sum())
            self._sizes.view[had] = 0
            self._starts.view[had] = 0

    def compare(
        self, query: TokenVectors, places: npt.NDArray[np.int64]
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Return the best cosine (0..1) of each of the query's tokens among those of each document, shape (documents,
        tokens that tell something), those tokens' idf, and which of the query's tokens they are. Documents without
        token vectors have zeros."""
        having = np.flatnonzero(self._sizes.view[places] > 0)
        if not len(having) or not len(query.ids):
            telling = np.zeros(len(query.ids), dtype=np.bool_)
            return np.zeros((len(places), 0), dtype=np.float32), np.zeros(0, dtype=np.float32), telling
        self._read(places[having])
        rows, sizes = _rows_of(self._starts.view[places[having]] - 1, self._sizes.view[places[having]])
        rare = idf(int(np.count_nonzero(self._sizes.view)), self._holding(query.ids)).astype(np.float32)
        telling = rare >= _TELLING * rare.max()
        cosines = self._cosines(query.vectors[telling], rows)
        best = np.zeros((len(places), int(telling.sum())), dtype=np.float32)
        best[having] = np.maximum.reduceat(cosines, np.cumsum(sizes) - sizes, axis=0) / _SCALE
        return np.clip(best, 0.0, 1.0), rare[telling], telling

    def _read(self, places: npt.NDArray[np.int64]) -> None:
        missing = places[self._starts.view[places] == 0]
        if len(missing) and len(self) <= _SMALL:
            missing = np.flatnonzero((self._starts.view == 0) & (self._sizes.view > 0))
        if len(missing):
            sizes = self._sizes.view[missing]
            self._starts.view[missing] = len(self._vectors) + np.cumsum(sizes) - sizes + 1
            rows = np.frombuffer(b"".join(self._fetch(missing)), dtype=np.int8)
            self._vectors.append(rows.reshape(-1, self._dimension))

    def _cosines(self, query: npt.NDArray[np.int8], rows: npt.NDArray[np.int64]) -> Floats:
        """Return the products of these token vectors with the query's, shape (rows, query's tokens), times 127²."""
        wanted = np.ascontiguousarray(query.astype(np.float32).T)
        cosines = np.empty((len(rows), wanted.shape[1]), dtype=np.float32)
        vectors = self._vectors.view
        block = np.empty((_BLOCK, self._dimension), dtype=np.float32)
        with one_thread():
            for start in range(0, len(rows), _BLOCK):
                some = vectors.take(rows[start : start + _BLOCK], axis=0)
                block[: len(some)] = some
                np.matmul(block[: len(some)], wanted, out=cosines[start : start + len(some)])
        return cosines

    def _holding(self, ids: npt.NDArray[np.uint16]) -> npt.NDArray[np.int64]:
        if not len(self._known):
            return np.zeros(len(ids), dtype=np.int64)
        at = np.minimum(np.searchsorted(self._known, ids), len(self._known) - 1)
        return np.where(self._known[at] == ids, self._held[at], 0).astype(np.int64)

    def _count(self, ids: npt.NDArray[np.uint16], sizes: npt.NDArray[np.int32], step: int) -> None:
        """Add to (or take from) the number of documents that hold each token id, once a document."""
        owners = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        pairs = np.sort(owners * _IDS + ids)  # sorting is several times faster than np.unique's hashing
        once = pairs[np.diff(pairs, prepend=-1) != 0] % _IDS
        tally = np.bincount(once, minlength=_IDS)
        changed = np.flatnonzero(tally).astype(np.uint16)
        counts = tally[changed]
        missing = np.setdiff1d(changed, self._known, assume_unique=True)
        if len(missing):
            known = np.concatenate([self._known, missing])
            held = np.concatenate([self._held, np.zeros(len(missing), dtype=np.int32)])
            order = np.argsort(known)
            self._known, self._held = known[order], held[order]
        self._held[np.searchsorted(self._known, changed)] += step * counts.astype(np.int32)

    def _compact(self) -> None:
        having = np.flatnonzero(self._sizes.view)
        sizes = self._sizes.view[having]
        self._ids = Growing(self._ids.view[_rows_of(self._id_starts.view[having], sizes)[0]])
        self._id_starts.view[having] = np.cumsum(sizes) - sizes
        having = np.flatnonzero(self._starts.view)
        sizes = self._sizes.view[having]
        self._vectors = Growing(self._vectors.view[_rows_of(self._starts.view[having] - 1, sizes)[0]])
        self._starts.view[having] = np.cumsum(sizes) - sizes + 1
        self._wasted = 0


def _rows_of(starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int32]) -> tuple[Any, npt.NDArray[np.int32]]:
    """Return the rows of documents one after the other, and the documents' sizes."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0), sizes

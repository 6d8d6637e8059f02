"""The vectors of a partition: sentence vectors as one exact matrix, token vectors end to end with offsets."""

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import TokenVectors
from mindmem.core.index.embedded.blas import one_thread
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.scoring import Floats, idf

__all__ = ["Matrix", "Tokens"]

_GATHER_BELOW: Final = 0.3
"""Share of rows below which copying the wanted ones out is cheaper than multiplying them all."""
_SCALE: Final = np.float32(127.0 * 127.0)
_BLOCK: Final = 512
"""Token vectors turned to float32 and multiplied at once: so many stay in the processor's cache, three times faster."""
_TELLING: Final = 0.15
"""Tokens of the query with less than this share of the largest idf are left out: they cost time and say nothing."""
_ID: Final = np.dtype("<u2")
_IDS: Final = 1 << 16


class Matrix:
    """Unit sentence vectors, float32 of shape (documents, dimension); rows of documents without one are zero."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows = Growing(np.empty((0, dimension), dtype=np.float32))
        self._held = Growing(np.empty(0, dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._held)

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays in bytes."""
        return self._rows.nbytes + self._held.nbytes

    def grow(self, size: int) -> None:
        """Make room for documents up to ``size``."""
        more = size - len(self)
        if more > 0:
            self._rows.append(np.zeros((more, self._dimension), dtype=np.float32))
            self._held.append(np.zeros(more, dtype=np.bool_))

    def put(self, places: npt.NDArray[np.int64], vectors: bytes) -> None:
        """Set the vectors of documents, given end to end as little-endian float32."""
        self._rows.view[places] = np.frombuffer(vectors, dtype="<f4").reshape(-1, self._dimension)
        self._held.view[places] = True

    def drop(self, places: npt.NDArray[np.int64]) -> None:
        """Forget the vectors of documents whose text changed."""
        self._rows.view[places] = 0.0
        self._held.view[places] = False

    def score(self, vector: Floats, mask: npt.NDArray[np.bool_] | None) -> Floats:
        """Return the cosine of each document that ``mask`` keeps, negative ones and others as 0."""
        norm = float(np.linalg.norm(vector))
        unit = vector.astype(np.float32) / np.float32(norm if norm > 0.0 else 1.0)
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


class Tokens:
    """Token vectors of all documents end to end: ids uint16, vectors int8, and where each document's begin."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._ids = Growing(np.empty(0, dtype=np.uint16))
        self._vectors = Growing(np.empty((0, dimension), dtype=np.int8))
        self._starts = Growing(np.empty(0, dtype=np.int64))
        self._sizes = Growing(np.empty(0, dtype=np.int32))
        self._wasted = 0
        self._held: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._known: npt.NDArray[np.uint16] = np.zeros(0, dtype=np.uint16)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays in bytes."""
        grown = (self._ids, self._vectors, self._starts, self._sizes)
        return sum(array.nbytes for array in grown) + self._held.nbytes + self._known.nbytes

    def grow(self, size: int) -> None:
        """Make room for documents up to ``size``."""
        more = max(0, size - len(self))
        self._starts.append(np.zeros(more, dtype=np.int64))
        self._sizes.append(np.zeros(more, dtype=np.int32))

    def put(self, places: npt.NDArray[np.int64], ids: list[bytes], vectors: list[bytes]) -> None:
        """Set the token vectors of documents, as raw little-endian ids and int8 rows."""
        self.drop(places)
        sizes = np.fromiter((len(blob) // _ID.itemsize for blob in ids), dtype=np.int32, count=len(ids))
        self._starts.view[places] = len(self._ids) + np.cumsum(sizes) - sizes
        self._sizes.view[places] = sizes
        new = np.frombuffer(b"".join(ids), dtype=_ID)
        self._ids.append(new)
        self._vectors.append(np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(-1, self._dimension))
        self._count(new, sizes, +1)
        if self._wasted > 4096 and self._wasted > len(self._ids) // 2:
            self._compact()

    def drop(self, places: npt.NDArray[np.int64]) -> None:
        """Forget the token vectors of documents whose text changed."""
        had = places[self._sizes.view[places] > 0]
        if len(had):
            rows, sizes = self._rows_of(had)
            self._count(self._ids.view[rows], sizes, -1)
            self._wasted += int(sizes.sum())
            self._sizes.view[had] = 0

    def score(
        self, query: TokenVectors, places: npt.NDArray[np.int64], named: Collection[int] = ()
    ) -> tuple[Floats, Floats]:
        """Return, for each document of ``places``, the mean over the query's tokens of the best cosine among its own,
        weighted by the tokens' idf in this partition; 0..1, 0 for a document without token vectors. The second array
        is the same over the tokens that are not ``named``, unless there are no others."""
        scores = np.zeros((2, len(places)), dtype=np.float32)
        having = np.flatnonzero(self._sizes.view[places] > 0)
        if not len(having) or not len(query.ids):
            return scores[0], scores[1]
        rows, sizes = self._rows_of(places[having])
        rare = idf(int(np.count_nonzero(self._sizes.view)), self._holding(query.ids)).astype(np.float32)
        telling = rare >= _TELLING * rare.max()
        rare = rare[telling]
        topic = rare * ~np.isin(query.ids[telling], list(named))
        cosines = self._cosines(query.vectors[telling], rows)
        best = np.maximum.reduceat(cosines, np.cumsum(sizes) - sizes, axis=0)
        best = np.maximum(best, 0.0)
        for at, weights in enumerate((rare, topic if topic.any() else rare)):
            scores[at, having] = np.clip(best @ weights / (_SCALE * weights.sum()), 0.0, 1.0)
        return scores[0], scores[1]

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

    def _rows_of(self, places: npt.NDArray[np.int64]) -> tuple[Any, Any]:
        starts, sizes = self._starts.view[places], self._sizes.view[places]
        ends = np.cumsum(sizes)
        return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0), sizes

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
        places = np.arange(len(self), dtype=np.int64)
        rows, sizes = self._rows_of(places)
        self._ids, self._vectors = Growing(self._ids.view[rows]), Growing(self._vectors.view[rows])
        self._starts.view[:] = np.cumsum(sizes) - sizes
        self._wasted = 0

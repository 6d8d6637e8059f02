"""The signs of vectors as bits: a coarse and cheap measure of how near two of them are."""

from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.embedded.growing import Growing

__all__ = ["Signs"]

_BITS: Final = 64


class Signs:
    """One bit a number, packed in columns of 64: the number of differing bits falls with the cosine."""

    def __init__(self, dimension: int) -> None:
        self._columns = [Growing(np.empty(0, dtype=np.uint64)) for _ in range(-(-dimension // _BITS))]

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def nbytes(self) -> int:
        """Return the size of the columns in bytes."""
        return sum(column.nbytes for column in self._columns)

    def put(self, places: npt.NDArray[np.int64], vectors: npt.NDArray[np.float32]) -> None:
        """Set the signs of documents (those beyond the end are new and contiguous)."""
        known = int(np.searchsorted(places, len(self)))
        for column, bits in zip(self._columns, self._packed(vectors).T, strict=True):
            column.view[places[:known]] = bits[:known]
            column.append(bits[known:])

    def nearest(self, vector: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.intp]:
        """Return where the ``count`` documents of the mask are that differ in the fewest signs, with all that differ in
        as many as the last of them, in no order."""
        differing = np.zeros(len(self), dtype=np.uint16)
        for column, bits in zip(self._columns, self._packed(vector[np.newaxis])[0], strict=True):
            differing += np.bitwise_count(column.view ^ bits)
        beyond = len(self._columns) * _BITS + 1
        differing[~mask] = beyond
        reached = np.cumsum(np.bincount(differing, minlength=beyond)[:beyond])
        most = int(np.searchsorted(reached, count))
        return np.flatnonzero(differing <= min(most, beyond - 1))

    def _packed(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
        packed = np.zeros((len(vectors), len(self._columns) * _BITS // 8), dtype=np.uint8)
        bits = np.packbits(vectors > 0.0, axis=1)
        packed[:, : bits.shape[1]] = bits
        return packed.view(np.uint64)

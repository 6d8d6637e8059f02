"""Which documents hold each value of a column: what a filter on one entity or property starts from."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mindmem.core.index.embedded.growing import Growing

__all__ = ["Holders"]


class Holders:
    """Places by code, sorted once, with lists of what came since.

    A place stays listed under a code that its document no longer has, and may be listed twice: a caller tests again.
    """

    def __init__(self, codes: npt.NDArray[np.int32]) -> None:
        """List what a column holds so far: ``codes``, by place."""
        self._base: npt.NDArray[np.int32] = np.argsort(codes, kind="stable").astype(np.int32)
        self._starts: list[int] = [0, *np.cumsum(np.bincount(codes)).tolist()]
        self._since: dict[int, Growing[np.int32]] = {}
        self._since_bytes = 0

    @property
    def nbytes(self) -> int:
        """Return the size of the lists in bytes."""
        return self._base.nbytes + 8 * len(self._starts) + self._since_bytes

    def put(self, places: npt.NDArray[np.int64], codes: npt.NDArray[np.int32]) -> None:
        """List each of these places under its code."""
        order = np.argsort(codes, kind="stable")
        ordered, owners = codes[order], places[order].astype(np.int32)
        begins = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
        for begin, end in pairwise([*begins, len(ordered)]):
            since = self._since.setdefault(int(ordered[begin]), Growing(np.empty(0, dtype=np.int32)))
            self._since_bytes -= since.nbytes
            since.append(owners[begin:end])
            self._since_bytes += since.nbytes

    def most(self, code: int) -> int:
        """Return how many places are listed under a code."""
        begin, end = self._bounds(code)
        return end - begin + len(self._since.get(code, ()))

    def of(self, code: int) -> npt.NDArray[np.int32]:
        """Return the places that may hold a code, each once."""
        begin, end = self._bounds(code)
        listed = self._base[begin:end]
        if code in self._since:
            listed = np.sort(np.concatenate([listed, self._since[code].view]))
            listed = listed[np.diff(listed, prepend=-1) != 0]
        return listed

    def _bounds(self, code: int) -> tuple[int, int]:
        """Return where the code's places lie that were sorted at first."""
        return (self._starts[code], self._starts[code + 1]) if code + 1 < len(self._starts) else (0, 0)

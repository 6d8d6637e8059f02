"""Arrays that grow at the end in amortised constant time."""

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Growing"]

Scalar = TypeVar("Scalar", bound=np.generic)


class Growing(Generic[Scalar]):
    """A numpy array of ``len(self)`` rows in a buffer with room for more; the room is all zeros."""

    __slots__ = ("_buffer", "_length")

    def __init__(self, rows: npt.NDArray[Scalar]) -> None:
        self._buffer = rows
        self._length = len(rows)

    def __len__(self) -> int:
        return self._length

    @property
    def view(self) -> npt.NDArray[Scalar]:
        """Return the rows, without copying; writing to it writes to the array."""
        return self._buffer[: self._length]

    @property
    def nbytes(self) -> int:
        """Return the size of the buffer in bytes."""
        return int(self._buffer.nbytes)

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Add rows of the same width and kind at the end."""
        before = self._length
        self.extend(len(rows))
        self._buffer[before : self._length] = rows

    def extend(self, count: int) -> None:
        """Add ``count`` rows of zeros at the end."""
        needed = self._length + count
        if needed > len(self._buffer):
            room = np.zeros((max(needed, needed + needed // 4, 16), *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            room[: self._length] = self.view
            self._buffer = room
        self._length = needed

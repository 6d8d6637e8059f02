"""Which documents mention which entities, both ways round: what the filter on ``mentions`` reads."""

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["Mentions"]


class Mentions:
    """The mentions of a partition's documents, by place and by entity; both are exact at any time."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[str, ...]] = {}
        self._in: dict[str, dict[int, None]] = {}

    @property
    def nbytes(self) -> int:
        """Return what is held in memory, in bytes, estimated."""
        return 250 * len(self._of) + 150 * len(self._in)

    def put(self, places: npt.NDArray[np.int64], rows: Sequence[str | None]) -> None:
        """Set the mentions of the documents at ``places``; a row is a JSON array, None for none."""
        for place, row in zip(places.tolist(), rows, strict=True):
            for gone in self._of.pop(place, ()):
                self._in[gone].pop(place, None)
            if row is not None:
                self._of[place] = tuple(json.loads(row))
                for entity_id in self._of[place]:
                    self._in.setdefault(entity_id, {})[place] = None

    def places(self, entity_id: object) -> npt.NDArray[np.int32]:
        """Return where an entity is mentioned, in order."""
        found = self._in.get(entity_id, {}) if isinstance(entity_id, str) else {}
        return np.sort(np.fromiter(found, dtype=np.int32, count=len(found)))

    def any(self) -> npt.NDArray[np.int32]:
        """Return which documents mention anybody, in order."""
        return np.sort(np.fromiter(self._of, dtype=np.int32, count=len(self._of)))

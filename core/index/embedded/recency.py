"""The newest documents of a partition without a look at all of them."""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.embedded.growing import Growing

__all__ = ["Recency", "newest"]

_BLOCK: Final = 2_048

Places = npt.NDArray[np.intp]
Times = npt.NDArray[np.int64]


class Recency:
    """The newest time of each block of places, kept while rows come and change."""

    def __init__(self) -> None:
        self._tops = Growing(np.empty(0, dtype=np.int64))

    def put(self, places: npt.NDArray[np.int64], times: Times) -> None:
        """Take over the times of the documents at ``places``; ``times`` are those of all documents."""
        self._tops.extend(max(0, -(-len(times) // _BLOCK) - len(self._tops)))
        for block in np.flatnonzero(np.bincount(places // _BLOCK)):
            self._tops.view[block] = times[block * _BLOCK : (block + 1) * _BLOCK].max()

    def newest(self, times: Times, limit: int, after: int | None, passing: Callable[[slice], Places]) -> Places:
        """Return the places that may be among the ``limit`` newest no younger than ``after``, and no older one than
        needed; ``passing`` says which places of a block count at all."""
        tops = self._tops.view
        found: Places = np.empty(0, dtype=np.intp)
        for block in np.argsort(-tops, kind="stable"):
            same = 0 if after is None else int(np.count_nonzero(times[found] == after))
            if len(found) >= max(1, limit + same) and times[found].min() > tops[block]:
                break
            some = passing(slice(int(block) * _BLOCK, min((int(block) + 1) * _BLOCK, len(times))))
            found = newest(np.concatenate([found, some]), times, limit, after)
        return found


def newest(places: Places, times: Times, limit: int, after: int | None) -> Places:
    """Return the places that may be among the ``limit`` newest no younger than ``after``: before any id is looked at,
    all that are as old as the last of them are kept, and those of the instant ``after`` on top."""
    if after is not None:
        places = places[times[places] <= after]
    if len(places) <= limit:
        return places
    of = times[places]
    # Rows of the cursor's own instant may have been on the last page, so as many more are kept.
    same = 0 if after is None else int(np.count_nonzero(of == after))
    wanted = min(len(places), limit + same)
    recent: Places = places[of >= np.partition(of, -wanted)[-wanted]]
    return recent

"""The partitions in memory: their arrays, loaded when they are first read and kept while they fit together."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import TypeVar

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.index.embedded.partition import Arrays, Piece
from mindmem.core.index.embedded.store import Store
from mindmem.core.records import Partition

__all__ = ["Cache"]

Result = TypeVar("Result")


class Cache:
    """Arrays of at most ``max_bytes`` together, those read last; the one in use is kept even if it is larger alone.

    Safe to use from several threads.
    """

    def __init__(self, store: Store, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._arrays: OrderedDict[Partition, Arrays] = OrderedDict()
        self._sizes: dict[Partition, int] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays in bytes."""
        with self._lock:
            return sum(self._sizes.values())

    def read(
        self,
        partition: Partition,
        embedder: EmbedderIdentity | None,
        pieces: Collection[Piece],
        read: Callable[[Arrays], Result],
    ) -> list[Result]:
        """Return what ``read`` makes of the partition's arrays (without user_id: of each of the project's), of which
        these pieces are fresh and locked meanwhile; nothing for a partition without documents."""
        results = []
        for one in [partition] if partition.user_id else self._store.parts(partition.project_id):
            arrays = self._arrays_of(one, embedder)
            if arrays is None:
                continue
            with arrays.lock, self._store.snapshot():
                arrays.refresh(pieces)
                results.append(read(arrays))
                self._bound(arrays)
        return results

    def clear(self) -> None:
        """Forget all arrays."""
        with self._lock:
            self._arrays.clear()
            self._sizes.clear()

    def _arrays_of(self, partition: Partition, embedder: EmbedderIdentity | None) -> Arrays | None:
        with self._lock:
            if partition in self._arrays:
                self._arrays.move_to_end(partition)
                return self._arrays[partition]
        found = self._store.part(partition)
        if found is None:
            return None
        with self._lock:
            return self._arrays.setdefault(partition, Arrays(self._store, partition, found[0], embedder))

    def _bound(self, arrays: Arrays) -> None:
        size = arrays.nbytes
        with self._lock:
            if self._sizes.get(arrays.partition) == size:
                return
            if self._arrays.get(arrays.partition) is arrays:
                self._sizes[arrays.partition] = size
            while sum(self._sizes.values()) > self._max_bytes and len(self._arrays) > 1:
                oldest = next(iter(self._arrays))
                if oldest == arrays.partition:
                    break
                del self._arrays[oldest]
                self._sizes.pop(oldest, None)

"""The index in use: the generation that the ledger names, reopened when another one has taken its place."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Literal, Protocol, TypeVar

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.errors import CorruptStore, OutdatedIndex, StaleGeneration, StoreUnavailable
from mindmem.core.ids import random_id
from mindmem.core.index.filters import Filter
from mindmem.core.index.port import (
    Alignment,
    Document,
    EntityDocument,
    EntityScan,
    Linked,
    People,
    Query,
    Scan,
    Scored,
    ScoredEntity,
    SearchIndex,
)
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Entity, Memory, Partition

__all__ = ["CurrentIndex", "Generations", "generation_key"]

_GENERATION: Final = "index_generation"
_ATTEMPTS: Final = 5

Result = TypeVar("Result")


class Generations(Protocol):
    """Where the generations of an index are kept."""

    def create(self, name: str, embedder: EmbedderIdentity | None) -> SearchIndex:
        """Make an empty generation for the vectors of ``embedder`` and open it."""
        ...

    def open(self, name: str) -> SearchIndex:
        """Open a generation.

        Raises:
            StoreUnavailable: there is none of that name.
            EmbedderMismatch: its vectors are another embedder's than the one in use.
        """
        ...

    def exists(self, name: str) -> bool:
        """Return whether there is a generation of that name."""
        ...

    def hand_over(self, name: str, successor: str) -> AbstractContextManager[None]:
        """Keep all writers of ``name`` out for the block and make its users look for ``successor`` from now on. Nothing
        is done where ``name`` doesn't exist."""
        ...

    def sweep(self, keep: str) -> list[str]:
        """Delete the generations but ``keep`` that nobody has open; return their names."""
        ...

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Return the embedder in use, None when there is none at hand."""
        ...

    @property
    def site(self) -> str:
        """Return the id of the place where they lie, empty where all machines share one."""
        ...


def generation_key(generations: Generations) -> str:
    """Return the name of the ledger's value that names the generation in use at this place.

    Machines that share a ledger but not their files each have an index of their own.
    """
    return f"{_GENERATION}:{generations.site}" if generations.site else _GENERATION


class CurrentIndex:
    """A SearchIndex that follows the ledger: each call runs on the generation in use, and is repeated on the new one
    when that was replaced meanwhile. The first opening makes the first generation."""

    def __init__(self, ledger: Ledger, generations: Generations, *, replace_damaged: bool = False) -> None:
        """Open the generation that the ledger names. With ``replace_damaged``, an empty one takes the place of a
        generation that can't be read, and ``damage`` tells why.

        Raises:
            EmbedderMismatch: it was built by another embedder.
            CorruptStore: it is damaged; the message names the command that builds it anew.
        """
        self._ledger = ledger
        self._generations = generations
        self._replace_damaged = replace_damaged
        self.damage = ""
        self._lock = threading.Lock()
        self._users: dict[int, int] = {}
        self._index = self._opened()
        generations.sweep(self._index.generation)

    @property
    def generation(self) -> str:
        """Return the generation in use."""
        return self._index.generation

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Return whose vectors it holds, None for a lexical index."""
        return self._index.embedder

    @contextmanager
    def use(self) -> Iterator[SearchIndex]:
        """Yield the generation in use; it stays open until the block ends, even if it is replaced meanwhile."""
        with self._lock:
            index = self._index
            self._users[id(index)] = self._users.get(id(index), 0) + 1
        try:
            yield index
        finally:
            with self._lock:
                self._users[id(index)] -= 1
                done = self._users[id(index)] == 0
                if done:
                    del self._users[id(index)]
                left = done and index is not self._index
            if left:
                index.close()

    def reopen(self, left: SearchIndex) -> bool:
        """Open the generation that the ledger names now, unless ``left`` still is it; return whether it changed."""
        with self._lock:
            if self._index is not left:
                return True
            if self._named() == left.generation:
                return False
            self._index = self._opened()
            unused = id(left) not in self._users
        if unused:
            left.close()
        return True

    def follow(self) -> None:
        """Open the generation that the ledger names, if it isn't the one in use."""
        with self.use() as index:
            self.reopen(index)

    def apply(self, documents: Sequence[Document], *, entities: Sequence[EntityDocument] = (), watermark: int) -> None:
        """Write rows and watermark; only the projector does, which knows the generation's own watermark."""
        with self.use() as index:
            index.apply(documents, entities=entities, watermark=watermark)

    def watermark(self) -> int:
        """Return the seq up to which the index holds every change."""
        return self._run(lambda index: index.watermark())

    def lexical(self, query: Query) -> list[Scored]:
        """Return the best by words."""
        return self._run(lambda index: index.lexical(query))

    def dense(self, query: Query) -> list[Scored]:
        """Return the best by sentence vector."""
        return self._run(lambda index: index.dense(query))

    def hybrid(self, query: Query) -> list[Scored]:
        """Return the best by all legs, above the floor."""
        return self._run(lambda index: index.hybrid(query))

    def align(self, query: Query, memory_ids: Sequence[str]) -> Alignment:
        """Return how memories match a query part by part."""
        return self._run(lambda index: index.align(query, memory_ids))

    def get(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories that exist, by id."""
        return self._run(lambda index: index.get(memory_ids))

    def scan(
        self, partition: Partition, filter_: Filter | None, *, order: Literal["newest", "id"] = "newest",
        cursor: str | None = None, limit: int = 100,
    ) -> Scan:  # fmt: skip
        """Return one page of memories."""
        return self._run(lambda index: index.scan(partition, filter_, order=order, cursor=cursor, limit=limit))

    def count(self, partition: Partition, filter_: Filter | None) -> int:
        """Return how many memories match."""
        return self._run(lambda index: index.count(partition, filter_))

    def people(self, partition: Partition) -> People:
        """Return the persons that this user's memories name."""
        return self._run(lambda index: index.people(partition))

    def entities(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        """Return the entities that exist, by id."""
        return self._run(lambda index: index.entities(entity_ids))

    def named(self, partition: Partition, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return who bears each name, by the name's key."""
        return self._run(lambda index: index.named(partition, names))

    def bearing(self, partition: Partition, parts: Sequence[str]) -> list[str]:
        """Return the ids of the entities that have any of these parts."""
        return self._run(lambda index: index.bearing(partition, parts))

    def linked(self, partition: Partition, text: str, *, limit: int = 20) -> list[Linked]:
        """Return the known names that stand in a text."""
        return self._run(lambda index: index.linked(partition, text, limit=limit))

    def similar_entities(self, partition: Partition, text: str, *, k: int = 10) -> list[ScoredEntity]:
        """Return the entities that a text may be about."""
        return self._run(lambda index: index.similar_entities(partition, text, k=k))

    def scan_entities(self, partition: Partition, *, cursor: str | None = None, limit: int = 100) -> EntityScan:
        """Return one page of entities."""
        return self._run(lambda index: index.scan_entities(partition, cursor=cursor, limit=limit))

    def close(self) -> None:
        """Release files and connections."""
        self._index.close()

    def _run(self, call: Callable[[SearchIndex], Result]) -> Result:
        for _ in range(_ATTEMPTS):
            with self.use() as index:
                try:
                    return call(index)
                except StaleGeneration:
                    self.reopen(index)
                except CorruptStore:  # another process may have built it anew
                    if not self.reopen(index):
                        raise
        raise StaleGeneration(f"The index was replaced {_ATTEMPTS} times during one call; try again.")

    def _opened(self) -> SearchIndex:
        for _ in range(_ATTEMPTS):
            name = self._named()
            if name:
                try:
                    return self._generations.open(name)
                except OutdatedIndex:
                    pass
                except (CorruptStore, StoreUnavailable) as error:
                    if self._generations.exists(name):
                        if not self._replace_damaged:
                            raise
                        self.damage = str(error)
            # The one whose name the ledger takes has made the first generation; the others open it.
            if self._named() == name and (made := self._made(name)) is not None:
                return made
        raise StoreUnavailable(f"The index was replaced {_ATTEMPTS} times while it was opened; try again.")

    def _named(self) -> str:
        return self._ledger.get_meta(generation_key(self._generations)) or ""

    def _made(self, lost: str) -> SearchIndex | None:
        """Make an empty generation where there is none, or its file was lost, damaged or of an older format; the log
        fills it, or asks for a rebuild. None if somebody else was first."""
        name = random_id("gen")
        index = self._generations.create(name, self._generations.embedder)
        if self._ledger.set_meta(generation_key(self._generations), name, expected=lost):
            return index
        index.close()
        return None

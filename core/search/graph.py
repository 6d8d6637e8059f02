"""The graph that search walks: entities by their names, memories by the entities that they are about or name.

An entity is known by the id that its memories carry; what else is written like a name stands for an entity that nothing
is known about yet. A memory mentions what its record says and every known name that stands in its words, so
plain statements are linked like dialogue.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Final, Protocol

from mindmem.core.index.port import SearchIndex
from mindmem.core.records import Memory, Partition
from mindmem.core.text import STOP_WORDS, normalise_name, words

__all__ = ["Graph", "Graphs", "Link", "NameGraph"]

_PAGE: Final = 1_000
_READ: Final = 4_000
"""Characters of a memory in which names are looked for."""
_MOST_WORDS: Final = 8
_HELD: Final = 400_000
"""Memories of all partitions together whose names are kept."""
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_RUN: Final = re.compile(r"(?<=[\w,;:] )[^\W\d_a-z]\w*[\w'’.-]*(?: (?:of |the |de |van |von )?[^\W\d_a-z][\w'’.-]*\w)*")
_STOPS: Final = STOP_WORDS["english"]
_NO_NAMES: Final = _STOPS | {"user", "assistant"}

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A known name in a text: its words, normalised, and the entities that bear it."""

    name: str
    nodes: tuple[str, ...]


class Graph(Protocol):
    """Entities and memories of one partition; a node is an entity's id."""

    @property
    def size(self) -> int:
        """Return how many memories it holds."""
        ...

    def linked(self, text: str) -> list[Link]:
        """Return the known names that stand in a text, in its order; of two that overlap the longer one."""
        ...

    def around(self, node: str) -> list[str]:
        """Return the ids of the memories that are about an entity or mention it, the latest last."""
        ...

    def nodes(self, memory_id: str) -> frozenset[str]:
        """Return the entities that a memory is about or mentions; none of an unknown memory."""
        ...

    def name(self, node: str) -> str:
        """Return what an entity is called, the empty string for an unknown one."""
        ...

    def outdated(self, memory_id: str) -> bool:
        """Return whether a later memory gives another value for the same entity and property."""
        ...


@dataclass(slots=True)
class _Entry:
    memory_id: str
    entity_id: str
    mentions: tuple[str, ...]
    words: Key
    topic: tuple[str, str] | None
    value: str
    order: tuple[float, int, int]


@dataclass(slots=True)
class _Walked:
    """What walks have looked up since the last write."""

    around: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, frozenset[str]] = field(default_factory=dict)
    outdated: dict[str, bool] = field(default_factory=dict)


class NameGraph:
    """A :class:`Graph` built from a partition's memories, and brought up to date by what was written since."""

    def __init__(self) -> None:
        self._names: dict[Key, set[str]] = {}
        self._lengths: dict[str, set[int]] = {}
        self._keys: dict[str, dict[Key, None]] = {}
        self._called: dict[str, str] = {}
        self._entries: list[_Entry | None] = []
        self._place: dict[str, int] = {}
        self._holding: dict[str, list[int]] = {}
        self._about: dict[str, list[int]] = {}
        self._topics: dict[tuple[str, str], list[int]] = {}
        self._seen = 0
        self._reached = -1
        self._walked = _Walked()

    @property
    def size(self) -> int:
        """Return how many memories it holds."""
        return len(self._place)

    def linked(self, text: str) -> list[Link]:
        """Return the known names that stand in a text, in its order, the longest where they overlap."""
        return [Link(" ".join(key), tuple(sorted(self._names[key]))) for key in self._found(_words(text))]

    def around(self, node: str) -> list[str]:
        """Return the ids of the memories about an entity or mentioning it, the latest last."""
        known = self._walked.around
        if node not in known:
            known[node] = self._memories_around(node)
        return known[node]

    def _memories_around(self, node: str) -> list[str]:
        places = set(self._about.get(node, ()))
        for key in self._keys.get(node, ()):
            rarest = min((self._holding.get(word, []) for word in key if word not in _STOPS), key=len, default=[])
            places.update(place for place in rarest if (entry := self._entries[place]) and _stands(key, entry.words))
        found = [entry for place in places if (entry := self._entries[place]) is not None]
        return [entry.memory_id for entry in sorted(found, key=lambda entry: entry.order)]

    def nodes(self, memory_id: str) -> frozenset[str]:
        """Return the entities that a memory is about or mentions."""
        known = self._walked.nodes
        if memory_id not in known:
            known[memory_id] = self._nodes_of(memory_id)
        return known[memory_id]

    def _nodes_of(self, memory_id: str) -> frozenset[str]:
        place = self._place.get(memory_id)
        entry = self._entries[place] if place is not None else None
        if entry is None:
            return frozenset()
        named = chain.from_iterable(self._names[key] for key in self._found(entry.words))
        return frozenset(node for node in (entry.entity_id, *entry.mentions, *named) if node)

    def name(self, node: str) -> str:
        """Return what an entity is called."""
        return self._called.get(node, "")

    def outdated(self, memory_id: str) -> bool:
        """Return whether a later memory gives another value for the same entity and property."""
        known = self._walked.outdated
        if memory_id not in known:
            known[memory_id] = self._is_outdated(memory_id)
        return known[memory_id]

    def _is_outdated(self, memory_id: str) -> bool:
        place = self._place.get(memory_id)
        entry = self._entries[place] if place is not None else None
        if entry is None or entry.topic is None:
            return False
        peers = (self._entries[other] for other in self._topics[entry.topic])
        return any(peer is not None and peer.order > entry.order and peer.value != entry.value for peer in peers)

    def refresh(self, index: SearchIndex, partition: Partition) -> None:
        """Take up what was written to the partition since the last time."""
        reached = index.watermark()
        if reached == self._reached:
            return
        self._take(_written(index, partition, self._seen))
        if self.size != index.count(partition, None):  # clocks that run backwards hide rows from who reads the newest
            self._take(_written(index, partition, -1))
        self._reached = reached

    def _take(self, memories: Iterable[Memory]) -> None:
        for memory in memories:
            self._walked = _Walked()
            self._seen = max(self._seen, memory.seq)
            self._drop(memory.memory_id)
            self._call(memory.entity_name, memory.entity_id)
            for name in _named(memory):
                self._call(name, "")
            self._put(memory)

    def _drop(self, memory_id: str) -> None:
        place = self._place.pop(memory_id, None)
        if place is not None:
            self._entries[place] = None

    def _put(self, memory: Memory) -> None:
        # What is archived was recorded anew when it was: it is later than what took its place, and contradicts nothing.
        told = memory.status == "active" and memory.entity_id and memory.property_name and memory.value
        topic = (memory.entity_id, memory.property_name) if told else None
        said = _words(memory.content[:_READ])
        at = memory.event_time or memory.recorded_at
        start = memory.sources[0].start if memory.sources else 0
        order = (at.timestamp() if at else 0.0, memory.seq, start)
        place = self._place[memory.memory_id] = len(self._entries)
        self._entries.append(
            _Entry(memory.memory_id, memory.entity_id, memory.mentions, said, topic, memory.value.casefold(), order)
        )
        for word in set(said) - _STOPS:
            self._holding.setdefault(word, []).append(place)
        for node in {memory.entity_id, *memory.mentions} - {""}:
            self._about.setdefault(node, []).append(place)
        if topic is not None:
            self._topics.setdefault(topic, []).append(place)

    def _call(self, name: str, entity_id: str) -> None:
        """Learn a name: of an entity, or of one that is only named so far."""
        key = _words(name)
        if not 0 < len(key) <= _MOST_WORDS or _NO_NAMES.issuperset(key):
            return
        nodes = self._names.setdefault(key, set())
        self._lengths.setdefault(key[0], set()).add(len(key))
        unknown = f"={' '.join(key)}"
        if entity_id:
            nodes.discard(unknown)
        node = entity_id or (unknown if not nodes else "")
        if node:
            nodes.add(node)
            self._keys.setdefault(node, {})[key] = None
            self._called.setdefault(node, name)

    def _found(self, said: Key) -> Iterator[Key]:
        place = 0
        while place < len(said):
            for length in sorted(self._lengths.get(said[place], ()), reverse=True):
                key = said[place : place + length]
                if self._names.get(key):
                    yield key
                    place += length - 1
                    break
            place += 1


class Graphs:
    """The graphs of the partitions that were searched last, in a bounded number of memories. Safe to use from several
    threads."""

    def __init__(self, held: int = _HELD) -> None:
        self._held = held
        self._graphs: OrderedDict[tuple[Partition, str], NameGraph] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, index: SearchIndex, partition: Partition) -> Graph:
        """Return the graph of a user's memories as they are now."""
        with self._lock:
            key = (partition, index.generation)
            graph = self._graphs.setdefault(key, NameGraph())
            self._graphs.move_to_end(key)
            graph.refresh(index, partition)
            while len(self._graphs) > 1 and sum(one.size for one in self._graphs.values()) > self._held:
                self._graphs.popitem(last=False)
            return graph


def _written(index: SearchIndex, partition: Partition, seen: int) -> Iterator[Memory]:
    """Yield the memories that changed after ``seen``, the newest first."""
    cursor: str | None = None
    limit = 1  # mostly there is nothing new
    while True:
        page = index.scan(partition, None, cursor=cursor, limit=limit)
        for memory in page.memories:
            if memory.seq <= seen:
                return
            yield memory
        cursor, limit = page.cursor, _PAGE
        if cursor is None:
            return


def _named(memory: Memory) -> Iterator[str]:
    """Yield what is written like a name in a memory: its value, and runs of capitals within its sentences."""
    if memory.value[:1].isupper():
        yield memory.value
    for match in _RUN.finditer(memory.content, 0, _READ):
        yield match[0]


def _words(text: str) -> Key:
    return tuple(chain.from_iterable(map(_forms, words(text))))


@lru_cache(maxsize=100_000)
def _forms(word: str) -> Key:
    """Return a word as names are compared by; where no space parts words, each sign is one."""
    bare = normalise_name(_POSSESSIVE.sub("", word))
    return tuple(bare) if _UNSPACED.search(bare) else (bare,) if bare else ()


def _stands(key: Key, said: Sequence[str]) -> bool:
    first, length = key[0], len(key)
    return any(word == first and said[at : at + length] == key for at, word in enumerate(said))

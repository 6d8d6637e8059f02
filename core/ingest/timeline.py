"""The timeline of an (entity, property): its memories in the order in which they became true, not in which they
arrived."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from mindmem.core.records import Memory
from mindmem.core.records.memory import SCHEDULED

__all__ = ["Timeline", "begins_later", "start_of"]

_LAST: Final = datetime.max.replace(tzinfo=UTC)


def start_of(memory: Memory, now: datetime | None = None) -> datetime | None:
    """Return from when a memory holds: ``valid_from``, else when it was said, else ``now``.

    An appointment holds from when it was arranged: one that was moved to another day counts at once.
    """
    if SCHEDULED in memory.flags:
        return memory.observed_at or memory.valid_from or now
    return memory.valid_from or memory.observed_at or now


def begins_later(memory: Memory) -> bool:
    """Return whether a memory speaks of a state that begins only after it was said."""
    if SCHEDULED in memory.flags:
        return False
    return memory.valid_from is not None and memory.observed_at is not None and memory.valid_from > memory.observed_at


class _Key(NamedTuple):
    """Event time, then when it was said, then arrival: the ledger's order, and within an add the order of saying."""

    event: datetime
    observed: datetime
    seq: float
    place: int


@dataclass(slots=True)
class Timeline:
    """Memories in event order. Those without any time count as of when they were recorded, new ones as of now."""

    _keys: list[_Key] = field(default_factory=list)
    _ids: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, stored: Iterable[Memory]) -> "Timeline":
        """Return the timeline of memories that the ledger holds."""
        timeline = cls()
        for place, memory in enumerate(
            sorted(stored, key=lambda one: (one.seq, one.status == "active", one.memory_id))
        ):
            timeline._insert(_key(memory, float(memory.seq), place), memory.memory_id)
        return timeline

    def insert(self, memory: Memory) -> None:
        """Put a memory of the present add in its place, after those of the same time."""
        self._insert(_key(memory, float("inf"), len(self._ids)), memory.memory_id)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._ids

    def move(self, memory: Memory) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
        """Put a memory that is on the timeline where its time has it now; return it between its neighbours before
        and after that (empty: none)."""
        place = self._ids.index(memory.memory_id)
        old = self._between(place)
        key = self._keys.pop(place)
        self._ids.pop(place)
        self._insert(_key(memory, key.seq, key.place), memory.memory_id)
        return old, self._between(self._ids.index(memory.memory_id))

    def _between(self, place: int) -> tuple[str, str, str]:
        before = self._ids[place - 1] if place else ""
        return before, self._ids[place], self._ids[place + 1] if place + 1 < len(self._ids) else ""

    def around(self, memory: Memory) -> tuple[list[str], list[str]]:
        """Return the ids before and after the place of a memory that isn't on the timeline yet, each nearest first."""
        place = bisect_right(self._keys, _key(memory, float("inf"), len(self._ids)))
        return self._ids[:place][::-1], self._ids[place:]

    def _insert(self, key: _Key, memory_id: str) -> None:
        place = bisect_right(self._keys, key)
        self._keys.insert(place, key)
        self._ids.insert(place, memory_id)


def _key(memory: Memory, seq: float, place: int) -> _Key:
    event = start_of(memory) or memory.recorded_at or _LAST
    return _Key(event, memory.observed_at or event, seq, place)

"""When memories were said, and so which of two values is the later one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import Final

from mindmem.core.records import Memory, Source

__all__ = ["Sayings", "Told", "born", "last_said", "ordered", "said_together"]

_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_LIST: Final = 8
"""Lines from which on a message is a list, whose items are told one after the other."""


@dataclass(frozen=True, slots=True)
class Told:
    """Where and when a message was said; ``seq`` is its change's, ``lines`` are the places where its lines begin."""

    position: int
    seq: int
    timestamp: datetime | None
    recorded_at: datetime
    lines: tuple[int, ...] = ()


Sayings = Mapping[str, Told]
"""By message_id."""


def born(memory: Memory, sayings: Sayings) -> datetime | None:
    """Return when a memory was first recorded."""
    known = [sayings[source.message_id].recorded_at for source in memory.sources if source.message_id in sayings]
    return min(known, default=memory.recorded_at)


def last_said(memory: Memory, sayings: Sayings) -> datetime | None:
    """Return when a memory was said for the last time, None where nobody said any time."""
    last = _last(memory, sayings)
    return memory.observed_at if last is None else sayings[last.message_id].timestamp or memory.observed_at


def ordered(memories: Sequence[Memory], sayings: Sayings) -> list[Memory]:
    """Return memories in the order in which they became true: by ``valid_from``, else when they were last said, then in
    the order in which they were told: by add, message and place in it. What has no time counts as of when it was
    recorded."""

    def key(memory: Memory) -> tuple[object, ...]:
        last = _last(memory, sayings)
        if last is None:
            told = memory.event_time or memory.recorded_at or _NEVER
            return told, memory.observed_at or told, memory.seq, 0, 0, memory.memory_id
        place = sayings[last.message_id]
        said = place.timestamp or memory.observed_at or place.recorded_at
        return memory.valid_from or said, said, place.seq, place.position, last.start, memory.memory_id

    return sorted(memories, key=key)


def said_together(memories: Sequence[Memory], sayings: Sayings) -> frozenset[tuple[str, str]]:
    """Return the pairs that were last said in one breath: in one message that is no list, or on one line of a list."""
    found: dict[tuple[object, ...], list[str]] = {}
    for memory in memories:
        last = _last(memory, sayings)
        if last is not None and memory.valid_from is None:
            lines = sayings[last.message_id].lines
            line = sum(start <= last.start for start in lines) if len(lines) >= _LIST else 0
            found.setdefault((last.message_id, line), []).append(memory.memory_id)
    return frozenset(pair for names in found.values() for pair in combinations(names, 2))


def _last(memory: Memory, sayings: Sayings) -> Source | None:
    known = [source for source in memory.sources if source.message_id in sayings]
    if not known:
        return None
    return max(known, key=lambda source: _place(sayings[source.message_id], source))


def _place(told: Told, source: Source) -> tuple[object, ...]:
    return told.timestamp or told.recorded_at, told.seq, told.position, source.start

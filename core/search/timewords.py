"""Time words of a question: memories that lie elsewhere in time step back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mindmem.core.dates import find_times
from mindmem.core.records import Memory

__all__ = ["OUTSIDE", "Asked", "asked_times", "time_factor"]

OUTSIDE: Final = 0.75
"""What is left of the score of a memory that lies outside all times that the question names."""
_SLACK: Final = timedelta(days=2)
"""By how much a memory may miss an asked time without a loss, at most half of that time's length: people err."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A stretch of time that a question names, aware UTC, half-open; None is open."""

    start: datetime | None
    end: datetime | None


def asked_times(query: str, now: datetime, zone: str) -> tuple[Asked, ...]:
    """Return the days, months and years that a question names, read at ``now`` in ``zone``.

    "Now", "currently" and clock times don't narrow a question, and words that can't be placed are left out.
    """
    return tuple(
        Asked(span.valid_from, span.valid_to)
        for span in find_times(query, now, zone)
        if span.resolved and span.precision in ("day", "month", "year")
    )


def time_factor(memory: Memory, asked: Sequence[Asked]) -> float:
    """Return 1.0 for a memory that touches an asked time, or that has no time, else :data:`OUTSIDE`.

    It touches by when it was true or by when it was said: people ask for both ("What did she tell me in May?").
    """
    if not asked:
        return 1.0
    moments = [at for at in (memory.valid_from, memory.observed_at) if at is not None]
    if not moments:
        return 1.0
    for span in asked:
        slack = min((span.end - span.start) / 2, _SLACK) if span.start and span.end else _SLACK
        start = _moved(span.start, -slack)
        end = _moved(span.end, slack)
        if any((start is None or start <= at) and (end is None or at < end) for at in moments):
            return 1.0
        if memory.valid_from and memory.valid_to and _overlaps(memory.valid_from, memory.valid_to, span):
            return 1.0
    return OUTSIDE


def _overlaps(start: datetime, end: datetime, span: Asked) -> bool:
    return (span.end is None or start < span.end) and (span.start is None or span.start < end)


def _moved(at: datetime | None, by: timedelta) -> datetime | None:
    try:
        return at + by if at is not None else None
    except OverflowError:
        return at

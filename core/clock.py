"""The only place that asks what time it is."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "FixedClock", "SystemClock", "monotonic"]


class Clock(Protocol):
    """Tells the current time as an aware UTC datetime."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC, with microseconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands still, for tests and replays."""

    at: datetime

    def now(self) -> datetime:
        """Return the fixed time."""
        return self.at.astimezone(UTC)


def monotonic() -> float:
    """Return seconds from a clock that never goes back, for measuring durations."""
    return time.perf_counter()

"""When a project dreams: once a local date, from two in the morning on; whoever slept through it does so when awake."""

from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

__all__ = ["is_due", "latest_night"]

NIGHT: Final = time(2)


def latest_night(now: datetime, zone: str) -> datetime:
    """Return the last two o'clock in the morning of that zone that isn't after ``now``, as UTC.

    >>> latest_night(datetime(2026, 3, 10, 1, 30, tzinfo=UTC), "Europe/Berlin").isoformat()
    '2026-03-10T01:00:00+00:00'
    """
    local = ZoneInfo(zone)
    date = now.astimezone(local).date()
    tonight = datetime.combine(date, NIGHT, tzinfo=local).astimezone(UTC)
    if tonight <= now:
        return tonight
    return datetime.combine(date - timedelta(days=1), NIGHT, tzinfo=local).astimezone(UTC)


def is_due(now: datetime, zone: str, last: datetime | None) -> bool:
    """Return whether a project that dreamt last at ``last`` (None: never) has to dream now."""
    return last is None or last < latest_night(now, zone)

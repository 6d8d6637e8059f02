"""Stored times as people and models are told them: no more exact than they are known."""

import contextlib
from datetime import datetime, timedelta

from mindmem.core.dates.zones import zone_of
from mindmem.core.records import TimePrecision

__all__ = ["local_day", "told_date"]


def local_day(at: datetime) -> datetime:
    """Return a time of the day that begins at its speaker's midnight ``at`` (aware UTC), wherever that was: midnights
    lie from ten hours after that of UTC to thirteen before."""
    return at + timedelta(hours=13) if at.year < 9999 else at


def told_date(at: datetime, precision: TimePrecision, zone: str = "UTC") -> str:
    """Return a time in the form of ISO 8601, cut to its precision; an instant by the clock of ``zone``.

    >>> from datetime import UTC
    >>> [told_date(datetime(2024, 4, 30, 22, tzinfo=UTC), precision) for precision in ("month", "instant")]
    ['2024-05', '2024-04-30 22:00']
    """
    if precision in ("day", "month", "year"):
        return local_day(at).isoformat()[: {"day": 10, "month": 7, "year": 4}[precision]]
    with contextlib.suppress(OverflowError):  # at the ends of time it stays on the clock of UTC
        at = at.astimezone(zone_of(zone))
    return at.isoformat()[:10] if precision == "unknown" else at.isoformat(sep=" ")[:16]

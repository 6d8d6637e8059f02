"""Stored times in the words of an answer, English or Chinese, as exact as they are known."""

from datetime import datetime, timedelta
from typing import Final

from mindmem.core.dates import find_times, zone_of
from mindmem.core.dates.told import local_day
from mindmem.core.records import Memory, TimePrecision

__all__ = ["began", "date_words", "elapsed", "ended"]

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_CHINESE_UNITS: Final = {"year": "年", "month": "个月", "day": "天"}
_WHOLE: Final = ("day", "month", "year")
_READ: Final = 4_000  # characters of a memory that are read


def date_words(at: datetime, precision: TimePrecision, zone: str, *, chinese: bool) -> str:
    """Return a time (aware UTC) as a date; of an instant its day by the clock of ``zone``.

    >>> from datetime import UTC
    >>> date_words(datetime(2022, 4, 12, tzinfo=UTC), "day", "UTC", chinese=False)
    '12 April 2022'
    """
    return _words(local_day(at) if precision in _WHOLE else at.astimezone(zone_of(zone)), precision, chinese)


def began(memory: Memory, zone: str, *, chinese: bool) -> str:
    """Return when a memory's ``valid_from`` lies; a week that its words name is not told as its first day."""
    if memory.valid_from is None:
        return ""
    first = date_words(memory.valid_from, memory.time_precision, zone, chinese=chinese)
    for span in find_times(memory.content[:_READ], memory.observed_at, zone):
        if span.valid_from != memory.valid_from or span.valid_to is None or memory.time_precision != "day":
            continue
        days = (span.valid_to - memory.valid_from) / timedelta(days=1)
        if 5.5 < days < 8:
            return f"{first}起的一周" if chinese else f"the week of {first}"
        if 1.5 < days < 5.5:
            last = date_words(span.valid_to - timedelta(days=1), "day", zone, chinese=chinese)
            return f"{first}至{last}" if chinese else f"{first} to {last}"
    return first


def ended(memory: Memory, zone: str, *, chinese: bool) -> str:
    """Return the last day, month or year of a memory: the end itself is no longer part of its time."""
    if memory.valid_to is None:
        return ""
    if memory.time_precision in _WHOLE:
        return _words(local_day(memory.valid_to) - timedelta(days=1), memory.time_precision, chinese)
    return date_words(memory.valid_to, memory.time_precision, zone, chinese=chinese)


def elapsed(start: datetime, end: datetime, *, chinese: bool) -> str:
    """Return how long it is from one time to another: whole years, else months, else days; empty for no time.

    >>> from datetime import UTC
    >>> elapsed(datetime(2021, 5, 31, tzinfo=UTC), datetime(2021, 7, 1, tzinfo=UTC), chinese=False)
    '1 month'
    """
    if end <= start:
        return ""
    months = (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)
    count, unit = (months // 12, "year") if months >= 12 else (months, "month")
    if not count:
        count, unit = (end - start).days, "day"
    if chinese:
        return f"{count}{_CHINESE_UNITS[unit]}"
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _words(at: datetime, precision: TimePrecision, chinese: bool) -> str:
    if chinese:
        parts = {"year": f"{at.year}年", "month": f"{at.year}年{at.month}月"}
        return parts.get(precision, f"{at.year}年{at.month}月{at.day}日")
    month = _MONTHS[at.month - 1]
    parts = {"year": f"{at.year}", "month": f"{month} {at.year}"}
    return parts.get(precision, f"{at.day} {month} {at.year}")

"""Dates as models write them, read on the calendar of the message that they come from."""

import re
from datetime import date, datetime, time
from typing import Final

from mindmem.core.dates import find_times, zone_of
from mindmem.core.dates.spans import Calendar, Interval

__all__ = ["read_time"]

_ISO: Final = re.compile(
    r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2})"
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d(?:\.\d+)?)?\s?(?P<offset>Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)


def read_time(text: str, said: datetime | None, zone: str) -> Interval | None:
    """Return the stretch of time that a text names, aware UTC, as exact as it is written; None: none that exists.

    Args:
        text: ``YYYY``, ``YYYY-MM``, ``YYYY-MM-DD``, with ``THH:MM`` and an offset if any; or words such as "last May".
        said: when the message was said, from which words count.
        zone: the message's zone: its days begin at its midnight.
    """
    text = text.strip()
    calendar = Calendar(zone_of(zone), said)
    match = _ISO.fullmatch(text)
    if match is not None:
        return _of_form(match, calendar)
    spans = [span for span in find_times(text, said, zone) if span.resolved]
    if len(spans) != 1:
        return None
    start = spans[0].valid_from or spans[0].valid_to
    end = spans[0].valid_to or spans[0].valid_from
    return None if start is None or end is None else Interval(start, end, spans[0].precision)


def _of_form(match: "re.Match[str]", calendar: Calendar) -> Interval | None:
    year, month, day = int(match["year"]), match["month"], match["day"]
    if month is None:
        return calendar.years(year)
    if not 1 <= int(month) <= 12:
        return None
    if day is None:
        return calendar.months(year, int(month))
    if match["hour"] is None:
        return calendar.day(year, int(month), int(day))
    try:
        moment = datetime.combine(date(year, int(month), int(day)), time(int(match["hour"]), int(match["minute"])))
        if match["offset"]:
            calendar = Calendar(
                datetime.fromisoformat(f"2000-01-01T00:00{match['offset']}").tzinfo or calendar.zone, None
            )
    except ValueError:
        return None
    return calendar.instant(moment.date(), moment.time())

"""The time of a message, from the forms in which callers give it."""

import math
from datetime import UTC, datetime, timedelta
from typing import Final

from mindmem.core.dates.zones import zone_name, zone_of
from mindmem.core.errors import InvalidInput, bounded

__all__ = ["resolve_timestamp", "told_zone"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = range(10**8, 10**11)  # from 1973: fewer digits are rather a port or a year than a time
_MILLISECONDS: Final = range(10**11, 10**14)


def resolve_timestamp(value: int | float | str | datetime | None, zone: str) -> datetime | None:
    """Return a message's time as aware UTC; None stays None.

    Numbers (also as digits in a string) are milliseconds since 1970 with 12 to 14 digits and seconds with 9 to 11;
    strings are ISO 8601. A string or datetime without an offset is local time of ``zone``; where a clock change skips
    or repeats it, the offset before the change holds.

    >>> resolve_timestamp("2025-03-09 02:30", "America/New_York").isoformat()
    '2025-03-09T07:30:00+00:00'

    Raises:
        InvalidInput: the value is of another form, no real date, or outside the years 1 to 9999.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return _aware(value, zone, value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _refused(value)
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdigit() and len(text) > 8:
            return _from_number(int(text) if len(text) < 20 else 0, value)
        try:
            return _aware(datetime.fromisoformat(text), zone, value)
        except ValueError as error:
            raise _refused(value) from error
    return _from_number(value, value)


def told_zone(value: object) -> str:
    """Return the zone that a message's timestamp itself tells, by the name that ``zone_of`` reads; empty for none.

    Numbers and times in UTC tell none: stores write them so wherever the speaker is.

    >>> told_zone("2024-03-05T00:30:00+13:00"), told_zone("2024-03-04T11:30:00Z"), told_zone(1709551800000)
    ('+13:00', '', '')
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return ""
    return zone_name(value) if isinstance(value, datetime) else ""


def _from_number(number: int | float, given: object) -> datetime:
    if not math.isfinite(number):
        raise _refused(given)
    if int(number) in _SECONDS:
        return _EPOCH + timedelta(seconds=number)
    if int(number) in _MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=number)
    raise _refused(given)


def _aware(moment: datetime, zone: str, given: object) -> datetime:
    try:
        if moment.tzinfo is None or moment.utcoffset() is None:
            moment = moment.replace(tzinfo=zone_of(zone))
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise _refused(given) from error


def _refused(given: object) -> InvalidInput:
    return InvalidInput(
        "timestamp must be 13 digits of milliseconds, 10 digits of seconds, an ISO 8601 string or a datetime within the"
        f" years 1 to 9999, got {type(given).__name__} {bounded(given)}.",
        field="timestamp",
    )

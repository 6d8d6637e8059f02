"""Time zones by their names: IANA zones, and fixed offsets where only an offset was said."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mindmem.core.errors import InvalidInput, bounded

__all__ = ["zone_name", "zone_of"]

_OFFSET: Final = re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_UTC_NAMES: Final = frozenset({"UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "GMT", "Etc/GMT"})


def zone_of(name: str) -> tzinfo:
    """Return the zone of an IANA name or of a fixed offset from UTC such as ``+13:00`` or ``-03:30``.

    Raises:
        InvalidInput: there is no such zone.
    """
    offset = _OFFSET.fullmatch(name) if isinstance(name, str) else None
    if offset:
        sign, hours, minutes, seconds = offset.groups()
        east = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0))
        return timezone(east if sign == "+" else -east) if east else UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError) as error:
        raise InvalidInput(
            f"timezone must be an IANA name such as 'Europe/Berlin' or an offset '+13:00', got {bounded(name)}.",
            field="timezone",
        ) from error


def zone_name(moment: datetime) -> str:
    """Return the name under which ``zone_of`` finds the zone that a time was told in, empty if it tells none.

    An offset of zero tells none: it is how stores commonly write the time of speakers who live elsewhere.

    >>> [zone_name(datetime.fromisoformat(told)) for told in ("2024-03-04T23:30-08:00", "2024-03-05T07:30Z")]
    ['-08:00', '']
    """
    key = getattr(moment.tzinfo, "key", None)
    if isinstance(key, str):
        return "" if key in _UTC_NAMES else key
    offset = moment.utcoffset()
    if not offset:
        return ""
    # A zone from code may count microseconds; names count seconds.
    whole = timezone(timedelta(seconds=int(offset.total_seconds())))
    return str(whole).removeprefix("UTC")

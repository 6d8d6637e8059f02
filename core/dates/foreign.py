"""Absolute dates whose month is written in another language, read by dateparser (``8 mai 2023``, ``8 мая 2023``)."""

import re
from functools import lru_cache
from typing import Final

from mindmem.core.dates.spans import Calendar, Interval
from mindmem.core.dates.words import MONTHS

__all__ = ["PATTERN", "read"]

PATTERN: Final = re.compile(
    r"(?<![\w.\-/:])\d{1,2}\.? (?:de |di )?(?P<month>[^\W\d_]{3,12})\.?(?: (?:de|del))? (?:19|20)\d\d(?![\w]|[.\-/:]\d)"
)
_ENGLISH: Final = frozenset(MONTHS)


def read(match: "re.Match[str]", calendar: Calendar) -> Interval | None:
    """Return the day that a match of PATTERN names; raises ValueError where its word is no month of any language."""
    if match["month"].lower() in _ENGLISH:
        raise ValueError
    found = _parse(match[0])
    if found is None:
        raise ValueError
    return calendar.day(*found)


@lru_cache(maxsize=1024)
def _parse(phrase: str) -> tuple[int, int, int] | None:
    import dateparser  # takes half a second to import, and few texts need it

    settings = {"REQUIRE_PARTS": ["day", "month", "year"], "STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
    found = dateparser.parse(phrase, settings=settings)
    return None if found is None else (found.year, found.month, found.day)

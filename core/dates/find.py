"""Find the time expressions of a text and resolve them: rules find the spans, the calendar of the zone places them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from mindmem.core.dates import absolute, chinese, foreign, relative
from mindmem.core.dates.clock import with_clock
from mindmem.core.dates.lasting import lasting, lasting_chinese, lengths
from mindmem.core.dates.roles import anchored, joined, with_role
from mindmem.core.dates.rules import Rule
from mindmem.core.dates.spans import Calendar, Found, Interval, TimeSpan
from mindmem.core.dates.words import MONTHS, tense
from mindmem.core.dates.zones import zone_of
from mindmem.core.errors import InvalidInput

__all__ = ["find_times"]

_WORDS: Final = frozenset(MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays today tonight yesterday tomorrow day days night week weeks weekend weekends month months "
    "year years decade decades ago now moment morning afternoon evening spring summer autumn fall winter "
    "christmas halloween eve valentine's back minutes hours minute hour fortnight overmorrow".split()
)
_LATIN: Final = re.compile(r"[a-z]+(?:'s)?")
_TWO_DIGITS: Final = re.compile(r"\d\d")
_CHINESE: Final = re.compile(r"[年月周天日昨前刚]|星期|礼拜|今[天日晚早夜]|明[天早晚]|小时|分钟")
_STAMP: Final = re.compile(
    r"(?<![\w.\-/:])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)


def find_times(text: str, reference: datetime | None, zone: str) -> list[TimeSpan]:
    """Return the time expressions of a text in order, not overlapping.

    Args:
        text: A sentence or message, English or Chinese; dates with a month's name in other languages are read too.
        reference: When it was said, aware; None leaves relative words unresolved.
        zone: IANA name or offset of the speaker's zone: days begin at its midnight.

    Raises:
        InvalidInput: ``reference`` is naive or ``zone`` is unknown.
    """
    if reference is not None and reference.tzinfo is None:
        raise InvalidInput("reference must be an aware datetime, got a naive one.", field="reference")
    calendar = Calendar(zone_of(zone), reference)
    lowered = text.lower()
    digits = _TWO_DIGITS.search(text) is not None
    latin = digits or not _WORDS.isdisjoint(_LATIN.findall(lowered))
    cjk = _CHINESE.search(text) is not None
    if not latin and not cjk:
        return []
    found = list(_stamps(text, calendar)) if digits else []
    if latin:
        found += _apply([*absolute.RULES, *relative.RULES], text, calendar)
        found += lengths(text, calendar)
        found += lasting(text, calendar)
        if digits:
            found += _foreign(text, calendar)
    if cjk:
        found += _apply(chinese.RULES, text, calendar)
        found += lasting_chinese(text, calendar)
    kept = [with_clock(text, item, calendar) for item in _disjoint(found)]
    kept = anchored(text, kept, calendar) if latin else kept
    kept = joined(text, [with_role(text, item) for item in kept])
    return [item.public() for item in kept]


def _stamps(text: str, calendar: Calendar) -> Iterator[Found]:
    for match in _STAMP.finditer(text):
        try:
            moment = datetime.fromisoformat(match[0])
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=calendar.zone)).astimezone(UTC)
            interval = Interval(moment, moment + timedelta(minutes=1), "instant")
        except (ValueError, OverflowError):
            yield Found(*match.span(), None, days=False)
        else:
            yield Found(*match.span(), interval, days=False)


def _apply(rules: list[Rule], text: str, calendar: Calendar) -> Iterator[Found]:
    for rule in rules:
        for match in rule.pattern.finditer(text):
            try:
                interval = rule.read(match, calendar, tense(text, *match.span()))
            except ValueError:
                continue
            start, end = match.span()
            while start < end and text[start] == " ":
                start += 1
            yield Found(start, end, interval, days=rule.timed)


def _foreign(text: str, calendar: Calendar) -> Iterator[Found]:
    for match in foreign.PATTERN.finditer(text):
        try:
            yield Found(*match.span(), foreign.read(match, calendar))
        except ValueError:
            continue


def _disjoint(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end, item.interval is None)):
        if not kept or item.start >= kept[-1].end:
            kept.append(item)
        elif item.end > kept[-1].end and item.end - item.start > kept[-1].end - kept[-1].start:
            kept[-1] = item
    return kept

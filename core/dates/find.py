"""Find the time expressions of a text and resolve them: rules find the spans, the calendar of the zone places them."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

from mindmem.core.dates import absolute, chinese, foreign, relative
from mindmem.core.dates.rules import Rule
from mindmem.core.dates.spans import Calendar, Found, Interval, TimeRole, TimeSpan
from mindmem.core.dates.words import MONTHS, NUMBER, WEEKDAY, chinese_number, number, tense
from mindmem.core.dates.zones import zone_of
from mindmem.core.errors import InvalidInput

__all__ = ["find_times"]

_WORDS: Final = frozenset(MONTHS) | frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mondays",
        "tuesdays",
        "wednesdays",
        "thursdays",
        "fridays",
        "saturdays",
        "sundays",
        "today",
        "tonight",
        "yesterday",
        "tomorrow",
        "day",
        "days",
        "night",
        "week",
        "weeks",
        "weekend",
        "weekends",
        "month",
        "months",
        "year",
        "years",
        "decade",
        "decades",
        "ago",
        "now",
        "moment",
        "morning",
        "afternoon",
        "evening",
        "spring",
        "summer",
        "autumn",
        "fall",
        "winter",
        "christmas",
        "halloween",
        "eve",
        "valentine's",
        "back",
        "minutes",
        "hours",
        "minute",
        "hour",
        "fortnight",
        "overmorrow",
    ]
)
_LATIN: Final = re.compile(r"[a-z]+(?:'s)?")
_FOUR_DIGITS: Final = re.compile(r"\d\d")
_CHINESE: Final = re.compile(r"[年月周天日昨前刚]|星期|礼拜|今[天日晚早夜]|明[天早晚]|小时|分钟")
_STAMP: Final = re.compile(
    r"(?<![\w.\-/:])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_CLOCK: Final = (
    r"(?P<hour>\d{1,2})(?:(?::(?P<minute>\d\d))(?::\d\d)?(?: ?(?P<half>[ap])\.?m\b\.?)?| ?(?P<half2>[ap])\.?m\b\.?)"
)
_CLOCK_AFTER: Final = re.compile(rf",? ?(?:at |around |@ ?|by )?{_CLOCK}", re.IGNORECASE)
_CLOCK_BEFORE: Final = re.compile(rf"(?<![\w:.]){_CLOCK},? (?:on |of )?$", re.IGNORECASE)
_CLOCK_CHINESE: Final = re.compile(
    r" ?(?P<part>凌晨|早上|上午|中午|下午|晚上|傍晚)?(?P<hour>\d{1,2}|[一二三四五六七八九十两]{1,3})"
    r"(?:[点时](?:(?P<half>半)|(?P<minute>\d{1,2})分?)?|[:：](?P<minute2>\d\d))"
)
_SINCE: Final = re.compile(
    r"\b(?:since|starting(?: from| on)?|as of|effective(?: from)?|from) (?:the )?$|(?:自从|自|从)$", re.IGNORECASE
)
_UNTIL: Final = re.compile(
    r"\b(?:until|till?|through|no later than|valid (?:un)?till?|valid through|good (?:until|through)"
    r"|(?:expire[sd]?|expiring|ends?|ended|ending|clos(?:es|ing)|runs? out|ran out|lapse[sd]?|due|valid (?:thru"
    r"|to)|is over)(?: on| by| in| at)?)"
    r"(?: the)?:? ?$|(?:直到|截至|截止到?|有效期至|有效期到|到期日[是为：:]?|于"
    r"|(?:休假|放假|请假|出差|有效|持续|延长|开放|关闭|封闭|停业|暂停|关|封)到)$",
    re.IGNORECASE,
)
_SINCE_AFTER: Final = re.compile(r"(?:以来|起|开始)|(?: onwards?\b| on\b(?=[,.]))", re.IGNORECASE)
_UNTIL_AFTER: Final = re.compile(r"(?:到期|过期|截止|为止|失效|闭幕|停售|下架|下线|结束)(?!了)")
_RANGE: Final = re.compile(r" ?(?:to|until|till|through|and|-|–|—|到|至) ?(?:the )?", re.IGNORECASE)
_RANGE_START: Final = re.compile(r"(?:\b(?:from|between)|从) ?(?:the )?$", re.IGNORECASE)
_MOVED: Final = re.compile(
    r"\b(?:move|change|shift|push|postpone|reschedule|switche|update)[ds]? [^.;]{0,20}$|(?:改|推迟|调整)", re.IGNORECASE
)
_FOR_SO_LONG: Final = re.compile(
    rf"\b(?:have|has|['’]ve|['’]s) (?:been |lived |worked |had |known |owned |played |studied |used )"
    rf"[^.!?\n]{{0,60}}?\bfor"
    rf" (?:about |over |almost |more than |the (?:last|past) )?(?P<n>{NUMBER}) (?P<unit>days?|weeks?"
    rf"|months?|years?)\b(?! ago)",
    re.IGNORECASE,
)
_LASTS: Final = re.compile(
    rf"\b(?:valid|good|open|closed|available|away|off|out of (?:office|town)|suspended|paused|on (?:leave|sale|holiday"
    rf"|vacation)|lasts?|runs?|running) (?:only )?for (?:only |the next |another )?(?P<n>{NUMBER}) (?P<more>more )?"
    rf"(?P<unit>days?|weeks?|months?|years?|hours?)\b"
    r"(?! (?:from|after|once|following|of|if|when|starting|at|per|a |each|every))"
    rf"|\b(?:expires?|ends?|closes?|lapses?|runs out) in (?P<n2>{NUMBER})"
    r" (?P<unit2>days?|weeks?|months?|years?|hours?)\b",
    re.IGNORECASE,
)
_LASTS_CHINESE: Final = re.compile(
    r"(?:有效期(?:限)?(?:是|为|只有|还有|还剩)?|有效|还有|只剩|还剩)(?P<n>[0-9〇零一二三四五六七八九十两]{1,4}|半)个?(?P<unit>天|日|周|星期|礼拜|月|年)"
    r"(?P<ends>就?(?:到期|过期|失效|截止))?(?![前后内])"
    r"|(?P<n2>[0-9〇零一二三四五六七八九十两]{1,4}|半)个?(?P<unit2>天|日|周|星期|礼拜|月|年)(?:之内|以内|内)(?:有效|到期|过期|失效|截止)"
)
_PAST_COPULA: Final = re.compile(r"\b(?:was|were|had|been|stayed|remained|used to)\b[^.!?;]*$", re.IGNORECASE)
_ANCHORED: Final = re.compile(
    rf"\bthe (?P<unit>day|night|week|weekend|month|year|{WEEKDAY}) (?P<word>before|after)(?! (?:last"
    rf"|next|yesterday|tomorrow)\b)(?P<gap> (?:the )?)?",
    re.IGNORECASE,
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
    digits = _FOUR_DIGITS.search(text) is not None
    latin = digits or not _WORDS.isdisjoint(_LATIN.findall(lowered))
    cjk = _CHINESE.search(text) is not None
    if not latin and not cjk:
        return []
    found = list(_stamps(text, calendar)) if digits else []
    if latin:
        found += _apply([*absolute.RULES, *relative.RULES], text, calendar)
        found += _lengths(text, calendar)
        found += _lasting(text, calendar)
        if digits:
            found += _foreign(text, calendar)
    if cjk:
        found += _apply(chinese.RULES, text, calendar)
        found += _lasting_chinese(text, calendar)
    kept = [_with_clock(text, item, calendar) for item in _disjoint(found)]
    kept = _anchors(text, kept, calendar) if latin else kept
    kept = _ranges(text, [_with_role(text, item) for item in kept])
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


def _lengths(text: str, calendar: Calendar) -> Iterator[Found]:
    for match in _FOR_SO_LONG.finditer(text):
        interval = relative.shifted(calendar, match["unit"], -number(match["n"]))
        yield Found(match.start("n"), match.end(), interval, "since", days=False)


def _lasting(text: str, calendar: Calendar) -> Iterator[Found]:
    """Find how long something holds from when it is said ("valid for two weeks"); of the past it is a story."""
    for match in _LASTS.finditer(text):
        if _PAST_COPULA.search(text[max(0, match.start() - 60) : match.start()]) is None:
            unit, count = match["unit"] or match["unit2"], number(match["n"] or match["n2"])
            yield Found(match.start(), match.end(), _to_the_day(calendar, unit, count), "until", days=False)


def _lasting_chinese(text: str, calendar: Calendar) -> Iterator[Found]:
    for match in _LASTS_CHINESE.finditer(text):
        if match[0].startswith(("还", "只")) and not match["ends"]:
            continue  # 还有两周 of anything
        unit = match["unit"] or match["unit2"]
        half = (match["n"] or match["n2"]) == "半"
        count = 0 if half else chinese_number(match["n"] or match["n2"])
        if count is None or (half and unit not in "年月"):
            continue
        if half:
            count, unit = (6, "月") if unit == "年" else (15, "天")
        name = {"天": "day", "日": "day", "月": "month", "年": "year"}.get(unit, "week")
        yield Found(match.start(), match.end(), _to_the_day(calendar, name, count), "until", days=False)


def _to_the_day(calendar: Calendar, unit: str, count: int) -> Interval | None:
    """Return the day on which so much time from the reference is over; a month is over on the same day of the next."""
    unit = unit.lower().rstrip("s")
    if unit not in ("month", "year") or calendar.today is None:
        return relative.shifted(calendar, unit, count)
    months = calendar.today.year * 12 + calendar.today.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        return None
    return calendar.day(year, month + 1, min(calendar.today.day, monthrange(year, month + 1)[1]))


def _disjoint(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end, item.interval is None)):
        if not kept or item.start >= kept[-1].end:
            kept.append(item)
        elif item.end > kept[-1].end and item.end - item.start > kept[-1].end - kept[-1].start:
            kept[-1] = item
    return kept


def _with_clock(text: str, item: Found, calendar: Calendar) -> Found:
    """Return the span with a time of day beside it taken in."""
    if not item.days or item.interval is None or item.interval.precision != "day":
        return item
    day = calendar.local(item.interval.start).date()
    after = _CLOCK_AFTER.match(text, item.end)
    if after and (at := _clock(after)):
        return replace(item, end=after.end(), interval=calendar.instant(day, at))
    chinese_after = _CLOCK_CHINESE.match(text, item.end)
    if chinese_after and (at := _chinese_clock(chinese_after, text[item.start : item.end])):
        return replace(item, end=chinese_after.end(), interval=calendar.instant(day, at))
    offset = max(0, item.start - 20)
    before = _CLOCK_BEFORE.search(text[offset : item.start])
    if before and (at := _clock(before)):
        return replace(item, start=offset + before.start(), interval=calendar.instant(day, at))
    return item


def _clock(match: "re.Match[str]") -> time | None:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), (match["half"] or match["half2"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _chinese_clock(match: "re.Match[str]", words: str) -> time | None:
    hour, minute = chinese_number(match["hour"]), 30 if match["half"] else int(match["minute"] or match["minute2"] or 0)
    if hour is None:
        return None
    part = match["part"] or words
    if (hour < 12 and any(word in part for word in ("下午", "晚", "夜", "傍晚"))) or (hour < 6 and "中午" in part):
        hour += 12
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _with_role(text: str, item: Found) -> Found:
    if item.role != "at":
        return item
    before = text[max(0, item.start - 30) : item.start]
    own = text[item.start : item.end].lower()
    role: TimeRole = "at"
    start = item.start
    if own.startswith(("until", "till", "til ", "through")):
        role = "until"
    elif own.startswith("since"):
        role = "since"
    elif match := _UNTIL.search(before):
        role, start = "until", item.start - len(before) + match.start()
    elif (match := _SINCE.search(before)) and not match[0].lower().startswith("from"):
        role, start = "since", item.start - len(before) + match.start()
    elif _UNTIL_AFTER.match(text, item.end):
        role = "until"
    elif _SINCE_AFTER.match(text, item.end):
        role = "since"
    return replace(item, role=role, start=start)


def _anchors(text: str, found: list[Found], calendar: Calendar) -> list[Found]:
    """Resolve "the week before 9 June", or "the week before" by the last day that was named."""
    result = list(found)
    for match in _ANCHORED.finditer(text):
        after = next((item for item in result if match.end() == item.start and match["gap"]), None)
        known = [item for item in result if item.end <= match.start() and item.interval and item.role == "at"]
        anchor = after or (known[-1] if known and not _names_anchor(text, match) else None)
        if anchor is None and _names_anchor(text, match):
            continue  # "the day before the exam": the exam is not a time expression
        interval = None
        if anchor is not None and anchor.interval is not None:
            interval = relative.anchored(calendar, match["unit"], match["word"].lower() == "before", anchor.interval)
        result = [item for item in result if item is not after and not _overlap(item, match)]
        end = after.end if after else match.end() - len(match["gap"] or "")
        result.append(Found(match.start(), end, interval, days=False))
        result.sort(key=lambda item: item.start)
    return result


def _names_anchor(text: str, match: "re.Match[str]") -> bool:
    return bool(match["gap"]) and text[match.end() : match.end() + 1].isalnum()


def _overlap(item: Found, match: "re.Match[str]") -> bool:
    return item.start < match.end() and match.start() < item.end and item.start >= match.start()


def _ranges(text: str, found: list[Found]) -> list[Found]:
    """Join "from A to B" and "A - B" into one span; an end before its start is left unresolved."""
    result: list[Found] = []
    for item in found:
        last = result[-1] if result else None
        if last is None or not _RANGE.fullmatch(text, last.end, _bare_start(text, item)):
            result.append(item)
            continue
        begin = _RANGE_START.search(text[max(0, last.start - 14) : last.start])
        joiner = text[last.end : item.start].strip().lower()
        if joiner.startswith("and") and not (begin and begin[0].lower().startswith("between")):
            result.append(item)
            continue
        if _MOVED.search(text[max(0, last.start - 40) : last.start]):
            result.append(item)
            continue
        interval = None
        if last.interval and item.interval and last.interval.start < item.interval.end:
            precision = item.interval.precision
            interval = Interval(last.interval.start, item.interval.end, precision)
        result[-1] = Found(last.start, item.end, interval, days=False)
    return result


def _bare_start(text: str, item: Found) -> int:
    match = re.match(r"(?:until|till|through) ", text[item.start : item.end], re.IGNORECASE)
    return item.start + match.end() if match else item.start

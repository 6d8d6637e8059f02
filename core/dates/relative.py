"""English words relative to the reference: yesterday, last Friday, two weeks ago, next summer."""

import re
from datetime import timedelta
from typing import Final

from mindmem.core.dates.rules import Rule, month_day, rule_into
from mindmem.core.dates.spans import Calendar, Interval
from mindmem.core.dates.words import NUMBER, WEEKDAY, WEEKDAYS, Tense, number

__all__ = ["RULES", "anchored", "shifted"]

RULES: Final[list[Rule]] = []
_rule = rule_into(RULES)

_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_UNIT = r"(?P<unit>minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|weekends?|fortnights?|months?|years?|yrs?|decades?)"
_YEAR = r"(?P<year>\d{4})(?![\d:]|[.\-/]\d)"


@_rule(
    rf"\b(?P<when>last |this |next |(?:in )?(?:the )?){_SEASON}(?: of|,| in)? {_YEAR}|\b(?P<word>last"
    rf"|this|next|this past|this coming) (?P<bare>spring|summer|autumn|fall|winter)\b"
)
def _seasons(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    if match["season"]:
        return calendar.season(match["season"].lower(), int(match["year"]))
    if calendar.now is None or calendar.today is None:
        return None
    name, year = match["bare"].lower(), calendar.today.year
    around = [span for step in (-2, -1, 0, 1, 2) if (span := calendar.season(name, year + step))]
    word = match["word"].lower()
    if word in ("last", "this past"):
        return max((span for span in around if span.end <= calendar.now), key=lambda span: span.end, default=None)
    if word == "next":
        return min((span for span in around if span.start > calendar.now), key=lambda span: span.start, default=None)
    return min((span for span in around if span.end > calendar.now), key=lambda span: span.end, default=None)


_DAY_WORDS = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0,
    "tonight": 0, "earlier today": 0, "later today": 0, "tomorrow": 1, "the day after tomorrow": 2,
    "day after tomorrow": 2,
}  # fmt: skip


@_rule(
    r"\b(?P<words>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|last night"
    r"|(?:earlier |later )?today"
    r"|tonight|tomorrow)(?: (?:early |late )?(?:morning|afternoon|evening|night|noon))?\b"
    r"|\bthis (?:morning|afternoon|evening)\b",
    timed=True,
)
def _day_words(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.day_from_now(_DAY_WORDS[match["words"].lower()] if match["words"] else 0)


def shifted(calendar: Calendar, unit: str, steps: int) -> Interval | None:
    """Return the day, month, year … that lies ``steps`` units from the reference, as exact as the unit is."""
    unit = unit.lower().rstrip("s")
    try:
        if unit in ("minute", "min"):
            return calendar.moment(timedelta(minutes=steps))
        if unit in ("hour", "hr"):
            return calendar.moment(timedelta(hours=steps))
        if unit in ("day", "night"):
            return calendar.day_from_now(steps)
        if unit in ("week", "fortnight"):
            return calendar.day_from_now(steps * (14 if unit == "fortnight" else 7))
    except OverflowError:
        return None
    if unit == "weekend":
        return _weekend(calendar, steps)
    if unit == "month":
        return calendar.month_from_now(steps)
    years = steps * 10 if unit == "decade" else steps
    return calendar.year_from_now(years)


@_rule(
    rf"\b(?:about |around |roughly |almost |nearly |over )?(?P<n>{NUMBER}) (?P<half>and a half )?{_UNIT}"
    rf"(?: ago\b| from (?:now|today)\b| back\b(?! to))"
)
def _ago(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    past = not match[0].lower().endswith(("now", "today"))
    return shifted(calendar, match["unit"], -number(match["n"]) if past else number(match["n"]))


@_rule(rf"\bhalf a year ago\b|\b(?P<n>{NUMBER}) {WEEKDAY}s ago\b")
def _half_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    if match["n"] is None:
        return calendar.month_from_now(-6)
    name = match[0].lower().split()[-2].removesuffix("s")
    return _weekday(calendar, name, "last", number(match["n"]))


@_rule(
    rf"\bin (?:about |around )?(?P<n>{NUMBER}) (?P<unit>minutes?|hours?|days?|weeks?|months?|years?)"
    rf"(?:['’]s?)?(?: time)?\b(?! (?:of|or|straight|flat|old)\b)"
)
def _in_some(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    if tense == "past":
        raise ValueError  # "read it in three days" is a duration
    return shifted(calendar, match["unit"], number(match["n"]))


@_rule(
    rf"\b(?:in|over|during|for|within) the (?:last|past) (?P<n>{NUMBER} |few |several )?(?P<unit>days?"
    rf"|weeks?|months?|years?|decades?)\b"
)
def _past_some(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    count = (match["n"] or "one").strip()
    if count in ("few", "several") or calendar.now is None:
        return None
    first = shifted(calendar, match["unit"], -number(count))
    last = calendar.day_from_now(0)
    return None if first is None or last is None else Interval(first.start, last.end, first.precision)


@_rule(
    r"\b(?P<part>(?:earlier|later|early|late|the (?:end|beginning|start|middle) of|mid) )?(?P<word>last"
    r"|past|this past|previous|this|current|next|coming|this coming|following) (?P<unit>week(?:end)?"
    r"|month|year|decade)\b(?!s\b|[-'’](?!s\b)| (?:before|after) last\b)"
)
def _last_unit(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    word = match["word"].lower()
    if word in ("following", "previous", "past") or (word == "coming" and calendar.now is None):
        return None  # of what was told before, not of the reference
    steps = -1 if word in ("last", "this past") else 1 if word in ("next", "coming", "this coming") else 0
    unit = match["unit"].lower()
    if unit == "week":
        return calendar.weeks_from_now(steps)
    if unit == "weekend":
        return _weekend(calendar, steps)
    if unit == "month":
        return calendar.month_from_now(steps)
    if unit == "decade":
        return None if calendar.today is None else calendar.years(calendar.today.year // 10 * 10 + 10 * steps, 10)
    return calendar.year_from_now(steps)


@_rule(r"\bthe (?P<unit>week(?:end)?|month|year) (?P<word>before last|after next)\b")
def _before_last(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    steps = -2 if match["word"].lower() == "before last" else 2
    return (
        calendar.weeks_from_now(steps) if match["unit"].lower() == "week" else shifted(calendar, match["unit"], steps)
    )


def _weekend(calendar: Calendar, steps: int) -> Interval | None:
    """Return Saturday and Sunday of the reference's week (0), or of a week before or after it."""
    if calendar.today is None:
        return None
    try:
        return calendar.day_from_now(7 * steps + 5 - calendar.today.weekday(), 2)
    except OverflowError:
        return None


def _weekday(calendar: Calendar, name: str, word: str, times: int = 1) -> Interval | None:
    if calendar.today is None:
        return None
    step = WEEKDAYS[name[:3]] - calendar.today.weekday()
    if word == "last":
        return calendar.day_from_now(-(-step % 7 or 7) - 7 * (times - 1))
    if word == "next":
        return calendar.day_from_now((step - 1) % 7 + 1)
    return calendar.day_from_now(step)


@_rule(
    rf"\b(?P<word>last|this past|this coming|this|next|coming|every|each|(?:on|by|until|till|since"
    rf"|before|after) )?\s?(?P<name>{WEEKDAY}|(?<=t )(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b)(?P<part> "
    rf"(?:early |late )?(?:morning|afternoon|evening"
    rf"|night))?(?P<which> last week| this week| next week)?(?:['’]s)?\b(?P<many>s)?",
    timed=True,
)
def _weekdays(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    word, name = (match["word"] or "").strip().lower(), match["name"].lower()
    if word in ("every", "each") or match["many"] or (not name.endswith("day") and word not in ("last", "next")):
        raise ValueError
    if which := (match["which"] or "").strip().lower():
        week = calendar.weeks_from_now({"last week": -1, "this week": 0, "next week": 1}[which])
        return week and calendar.days(calendar.local(week.start).date() + timedelta(days=WEEKDAYS[name[:3]]))
    if word in ("last", "this past", "since"):
        return _weekday(calendar, name, "last")
    if word in ("next", "coming", "this coming", "by", "until", "till"):
        return _weekday(calendar, name, "next")
    if word == "this":
        return _weekday(calendar, name, "this")
    if tense == "unknown":
        return None  # the last one or the next one: nobody can tell
    today = calendar.today
    if today is not None and today.weekday() == WEEKDAYS[name[:3]]:
        return calendar.day_from_now(-7 if tense == "past" else 7)
    return _weekday(calendar, name, "last" if tense == "past" else "next")


_HOLIDAYS = {"christmas eve": (12, 24), "christmas": (12, 25), "christmas day": (12, 25), "new year's eve": (12, 31),
             "new year's day": (1, 1), "halloween": (10, 31), "valentine's day": (2, 14)}  # fmt: skip


@_rule(
    r"\b(?P<word>last|this|next|on|this past) (?P<name>Christmas(?: Eve| Day)?|New Year['’]s (?:Eve"
    r"|Day)|Halloween|Valentine['’]s Day)(?:,? (?:of |in )?(?P<year>(?:19|20)\d\d))?\b"
)
def _holiday(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    month, day = _HOLIDAYS[match["name"].lower().replace("’", "'")]
    if match["year"]:
        return calendar.day(int(match["year"]), month, day)
    word = match["word"].lower()
    if word == "this":
        return None if calendar.today is None else calendar.day(calendar.today.year, month, day)
    wanted: Tense = "past" if word in ("last", "this past") else "future" if word == "next" else tense
    return month_day(calendar, month, day, wanted)


@_rule(
    rf"\b(?:a few|several|some|many|a (?:long )?(?:time|while)|a number of)(?: {_UNIT})? (?:ago|back)\b"
    rf"|\b(?:years|months|weeks|days|ages) ago\b"
    r"|\bthe other (?:day|night|week|month)\b|\bthe (?:next|previous|following) (?:day|morning|week"
    r"|weekend|month|year)\b"
    r"|\b(?:that|the same) (?:day|night|week|weekend|month|year|summer|winter)\b|\bback then\b"
    rf"|\b(?:{NUMBER}|a few|several) (?:days?|weeks?|months?|years?) (?:later|earlier)\b"
)
def _unplaced(_match: re.Match[str], _calendar: Calendar, _tense: Tense) -> Interval | None:
    return None


@_rule(r"\bjust now\b|\ba (?:moment|second) ago\b")
def _just_now(_match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.moment(timedelta(0))


def anchored(calendar: Calendar, unit: str, before: bool, anchor: Interval) -> Interval | None:
    """Return "the week before" or "the Friday after" an anchor that is known."""
    day = calendar.local(anchor.start).date()
    unit = unit.lower()
    sign = -1 if before else 1
    try:
        if unit in ("day", "night", "morning", "evening"):
            return calendar.days(day + timedelta(days=sign))
        if unit == "week":
            return calendar.week(day + timedelta(days=7 * sign - day.weekday()))
        if unit == "weekend":
            saturday = day + timedelta(days=5 - day.weekday())
            return calendar.days(
                saturday - timedelta(days=7) if before else saturday + timedelta(days=7 * (day.weekday() > 4)), 2
            )
        if unit == "month":
            return calendar.months(day.year, day.month + sign)
        if unit == "year":
            return calendar.years(day.year + sign)
        distance = (day.weekday() - WEEKDAYS[unit[:3]]) * -sign
        return calendar.days(day + timedelta(days=sign * (distance % 7 or 7)))
    except OverflowError:
        return None

"""English calendar dates: days, months, quarters, years and decades."""

import re
from typing import Final

from mindmem.core.dates.rules import Rule, month_day, rule_into
from mindmem.core.dates.spans import Calendar, Interval
from mindmem.core.dates.words import MONTH, MONTHS, WEEKDAY, WEEKDAYS, Tense

__all__ = ["RULES"]

RULES: Final[list[Rule]] = []
_rule = rule_into(RULES)

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})(?![\d:]|[.\-/]\d)"
_DATED = rf"(?:(?P<weekday>{WEEKDAY}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\.?,? (?:the )?)?"
_EDGE = r"(?<![\w.\-/:@#$])"
_BEFORE = r"(?:in|since|from|until|till?|through|by|during|of|before|after|around|circa|back in|early|late|mid)"


def _dated(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    month, day = MONTHS[match["month"].lower()], int(match["day"])
    if not 1 <= day <= 31:
        raise ValueError
    if match["year"] is None:
        named = match["weekday"]
        return month_day(calendar, month, day, tense, WEEKDAYS[named[:3].lower()] if named else None)
    return calendar.day(int(match["year"]), month, day)


_rule(
    rf"{_EDGE}(?:the )?{_DATED}{_DAY}[ -](?:day )?(?:of )?(?P<month>{MONTH})\b\.?(?:(?:,? ?|-|, of )(?:in )?{_YEAR})?",
    timed=True,
)(_dated)
_rule(rf"{_EDGE}{_DATED}(?P<month>{MONTH})\.? (?:the )?{_DAY}\b(?![:.]\d|%)(?:,? (?:in |of )?{_YEAR})?", timed=True)(
    _dated
)


@_rule(rf"{_EDGE}(?P<year>\d{{4}})[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}})(?!\d)(?![.\-/]\d)", timed=True)
def _iso(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    if not 1 <= int(match["month"]) <= 12 or not 1 <= int(match["day"]) <= 31:
        raise ValueError
    return calendar.day(int(match["year"]), int(match["month"]), int(match["day"]))


@_rule(
    rf"{_EDGE}(?P<first>\d{{1,2}})(?P<sep>[/.])(?P<second>\d{{1,2}})(?P=sep)(?P<year>(?:19|20)\d\d)(?![\d.])",
    timed=True,
)
def _numeric(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if match["sep"] == "." or first > 12:
        return calendar.day(year, second, first)
    if second > 12 or first == second:
        return calendar.day(year, first, second)
    return None  # 05/08/2023 is May in one country and August in another


@_rule(
    rf"{_EDGE}(?P<part>early |mid[ -]|late |(?:the )?(?:end|beginning|start|middle) of )?(?P<month>{MONTH})\b\.?,? "
    rf"(?:of |in )?{_YEAR}"
)
def _month_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.months(int(match["year"]), MONTHS[match["month"].lower()])


@_rule(
    rf"\b(?P<word>in|since|until|till?|through|by|during|early|late|mid|from|last|next|this|every"
    rf"|of|before|after)(?: |-)(?P<month>{MONTH})\b(?! \d)"
    r"(?!(?<=may) (?:be|not|have|also|I|we)\b)"
)
def _month(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    word, name = match["word"].lower(), match["month"]
    if word == "every" or (len(name) == 3 and name.lower() != "may" and not name[0].isupper()):
        raise ValueError
    if name.lower() in ("may", "march", "mar") and not name[0].isupper() and word not in ("in", "since", "until"):
        raise ValueError
    if word in ("by", "of", "from", "before", "after") and not name[0].isupper():
        raise ValueError
    today = calendar.today
    if today is None:
        return None
    month = MONTHS[name.lower()]
    if word == "last":
        return calendar.months(today.year - (month >= today.month), month)
    if word == "next":
        return calendar.months(today.year + (month <= today.month), month)
    if word == "this":
        return calendar.months(today.year, month)
    if word == "since" or tense == "past":
        return calendar.months(today.year - (month > today.month), month)
    if tense == "future" or word in ("until", "til", "till", "through", "by"):
        return calendar.months(today.year + (month < today.month), month)
    step = (month - today.month + 6) % 12 - 6
    return calendar.month_from_now(step)


@_rule(
    r"\b(?:from|between) (?P<first>(?:1[5-9]|20)\d\d) (?:to|until|till|and|through|-|–) (?P<last>"
    r"(?:1[5-9]|20)\d\d)\b(?![.:\-/]\d)|\(\s?(?P<open>(?:1[5-9]|20)\d\d) ?[-–—] ?(?P<close>(?:1[5-9]"
    r"|20)\d\d)\s?\)"
)
def _years(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    first, last = int(match["first"] or match["open"]), int(match["last"] or match["close"])
    return calendar.years(first, last - first + 1) if first <= last else None


@_rule(rf"{_EDGE}(?P<part>early|mid|late|(?:the )?(?:end|beginning|start|middle) of)[ -]{_YEAR}")
def _part_of_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return _plain_year(match, calendar)


@_rule(rf"\b{_BEFORE},? (?:the year )?(?P<year>[12]\d{{3}})(?![\d:%]|[.,\-/]\d)\b(?=(?P<noun> [a-z]+)?)")
def _in_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    noun = (match["noun"] or "").strip()
    counted = noun.endswith("s") and noun not in ("was", "is", "as", "has", "this", "his", "its", "thus")
    if counted and (match["year"].endswith("0") or not match["year"].startswith(("19", "20"))):
        raise ValueError  # in 2000 steps, by 1500 users
    return _plain_year(match, calendar)


def _plain_year(match: re.Match[str], calendar: Calendar) -> Interval | None:
    if not 1000 <= int(match["year"]) < 2200:
        raise ValueError
    return calendar.years(int(match["year"]))


@_rule(r"\bthe year (?P<year>\d{1,6})\b")
def _named_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.years(int(match["year"]))


@_rule(
    r"(?:^|(?<=[.!?] ))(?P<year>(?:19|20)\d\d)(?= (?:was|is|has been|will be)\b)|(?<=\()(?P<other>(?:19|20)\d\d)(?=\))"
)
def _lone_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.years(int(match["year"] or match["other"]))


@_rule(r"\b(?:the )?(?P<decade>(?:1[5-9]|20)\d0)s\b|\bthe (?:early |mid[ -]?|late )?['’]?(?P<short>[2-9]0)s\b")
def _decade(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.years(int(match["decade"]) if match["decade"] else 1900 + int(match["short"]), 10)


@_rule(r"\b(?P<quarter>Q[1-4])(?: of|,)? (?P<year>(?:19|20)\d\d)\b")
def _quarter(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.months(int(match["year"]), 3 * int(match["quarter"][1]) - 2, 3)

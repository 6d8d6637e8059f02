"""What a time is said to be: since when, until when, from one to another, or before and after one."""

import re
from dataclasses import replace
from typing import Final

from mindmem.core.dates import relative
from mindmem.core.dates.spans import Calendar, Found, Interval, TimeRole
from mindmem.core.dates.words import WEEKDAY

__all__ = ["anchored", "joined", "with_role"]

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
_ANCHORED: Final = re.compile(
    rf"\bthe (?P<unit>day|night|week|weekend|month|year|{WEEKDAY}) (?P<word>before|after)(?! (?:last"
    rf"|next|yesterday|tomorrow)\b)(?P<gap> (?:the )?)?",
    re.IGNORECASE,
)


def with_role(text: str, item: Found) -> Found:
    """Return the span as a beginning or an end, where the words beside it or its own say so."""
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


def anchored(text: str, found: list[Found], calendar: Calendar) -> list[Found]:
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


def joined(text: str, found: list[Found]) -> list[Found]:
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

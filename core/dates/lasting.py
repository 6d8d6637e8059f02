"""How long something has lasted or still will: "for three years", "valid for two weeks", 有效期三个月."""

import re
from calendar import monthrange
from collections.abc import Iterator
from typing import Final

from mindmem.core.dates import relative
from mindmem.core.dates.spans import Calendar, Found, Interval
from mindmem.core.dates.words import NUMBER, chinese_number, number

__all__ = ["lasting", "lasting_chinese", "lengths"]

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


def lengths(text: str, calendar: Calendar) -> Iterator[Found]:
    """Find for how long something has been so ("have lived there for three years"): since then."""
    for match in _FOR_SO_LONG.finditer(text):
        interval = relative.shifted(calendar, match["unit"], -number(match["n"]))
        yield Found(match.start("n"), match.end(), interval, "since", days=False)


def lasting(text: str, calendar: Calendar) -> Iterator[Found]:
    """Find how long something holds from when it is said ("valid for two weeks"); of the past it is a story."""
    for match in _LASTS.finditer(text):
        if _PAST_COPULA.search(text[max(0, match.start() - 60) : match.start()]) is None:
            unit, count = match["unit"] or match["unit2"], number(match["n"] or match["n2"])
            yield Found(match.start(), match.end(), _to_the_day(calendar, unit, count), "until", days=False)


def lasting_chinese(text: str, calendar: Calendar) -> Iterator[Found]:
    """Find how long something still holds, in Chinese."""
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

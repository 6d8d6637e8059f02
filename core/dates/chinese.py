"""Chinese time expressions."""

import re
from datetime import timedelta
from typing import Final

from mindmem.core.dates.rules import Rule, month_day, rule_into
from mindmem.core.dates.spans import Calendar, Interval
from mindmem.core.dates.words import Tense, chinese_number

__all__ = ["RULES"]

RULES: Final[list[Rule]] = []
_rule = rule_into(RULES)

_N = r"[0-9〇零一二三四五六七八九十两]"
_WEEK = r"(?:周|星期|个星期|礼拜|个礼拜)"
_DAYS: Final = {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "当日": 0, "明": 1, "后天": 2, "大后天": 3}
_YEARS: Final = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_WEEKDAYS: Final = {sign: index for index, sign in enumerate("一二三四五六")} | {"日": 6, "天": 6}


def _known(text: str) -> int:
    value = chinese_number(text)
    if value is None:
        raise ValueError
    return value


@_rule(
    rf"(?:公元)?(?P<year>{_N}{{1,6}})年(?:(?P<month>{_N}{{1,3}})月(?:(?P<day>{_N}{{1,3}})[日号])?)?(?P<part>年初|年底|春天|夏天|秋天|冬天)?",
    timed=True,
)
def _date(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    if not match["month"] and len(match["year"]) < 4:
        raise ValueError  # 三年 is a length of time
    year = _known(match["year"])
    if not match["month"]:
        return _in_year(calendar, year, match["part"])
    if match["day"]:
        return calendar.day(year, _known(match["month"]), _known(match["day"]))
    month = _known(match["month"])
    return calendar.months(year, month) if 1 <= month <= 12 else None


def _in_year(calendar: Calendar, year: int, part: str | None) -> Interval | None:
    seasons = {"春天": "spring", "夏天": "summer", "秋天": "autumn", "冬天": "winter"}
    if part in seasons:
        return calendar.season(seasons[part], year)
    return calendar.years(year)


@_rule(
    rf"(?P<word>大前年|前年|去年|今年|本年|明年|后年)(?:的)?(?:(?P<month>{_N}{{1,2}})月(?:份|(?P<day>{_N}{{1,3}})[日号])?)?(?P<part>年初|年底|初|底|春天|夏天|秋天|冬天)?",
    timed=True,
)
def _relative_year(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    if calendar.today is None:
        return None
    year = calendar.today.year + _YEARS[match["word"]]
    if match["day"]:
        return calendar.day(year, _known(match["month"]), _known(match["day"]))
    if match["month"]:
        month = _known(match["month"])
        return calendar.months(year, month) if 1 <= month <= 12 else None
    return _in_year(calendar, year, match["part"])


@_rule(rf"(?<![0-9〇零一二三四五六七八九十两个年第])(?P<month>{_N}{{1,2}})月(?P<day>{_N}{{1,3}})[日号]", timed=True)
def _month_day(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    month, day = _known(match["month"]), _known(match["day"])
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError
    return month_day(calendar, month, day, tense)


@_rule(
    rf"(?<![0-9〇零一二三四五六七八九十两个年第每])(?P<month>{_N}{{1,2}})月(?:份|底|初|中旬|上旬|下旬)?(?![大饼亮球]|{_N})"
)
def _month(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    month = _known(match["month"])
    if not 1 <= month <= 12:
        raise ValueError
    today = calendar.today
    if today is None:
        return None
    if tense == "past":
        return calendar.months(today.year - (month > today.month), month)
    if tense == "future":
        return calendar.months(today.year + (month < today.month), month)
    return calendar.month_from_now((month - today.month + 6) % 12 - 6)


@_rule(
    r"(?P<word>大前天|前天|大后天|后天|昨[天日晚夜]|今[天日晚早夜]|明[天早晚]|当日)(?:早上|上午|中午|下午|晚上|夜里|凌晨|傍晚)?",
    timed=True,
)
def _days(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    word = match["word"]
    return calendar.day_from_now(_DAYS[word] if word in _DAYS else _DAYS[word[0]])


@_rule(rf"(?P<word>上上|上|这|本|下下|下)(?:一)?个?{_WEEK}(?P<day>[一二三四五六日天末])?", timed=True)
def _weeks(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    steps = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}[match["word"]]
    if match["day"] is None:
        return calendar.weeks_from_now(steps)
    if calendar.today is None:
        return None
    monday = 7 * steps - calendar.today.weekday()
    if match["day"] == "末":
        return calendar.day_from_now(monday + 5, 2)
    return calendar.day_from_now(monday + _WEEKDAYS[match["day"]])


@_rule(r"(?<![每上下这本个])(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])(?![年岁边到])", timed=True)
def _weekday(match: re.Match[str], calendar: Calendar, tense: Tense) -> Interval | None:
    if calendar.today is None or tense == "unknown":
        return None
    if match["day"] == "末":
        return calendar.day_from_now((-7 if tense == "past" else 0) + 5 - calendar.today.weekday(), 2)
    step = (_WEEKDAYS[match["day"]] - calendar.today.weekday()) % 7
    return calendar.day_from_now(step - 7 if tense == "past" else step or 7)


@_rule(r"(?P<word>上上|上|这|本|下下|下)个?月(?:份|初|底|中旬)?")
def _months(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.month_from_now({"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}[match["word"]])


@_rule(
    rf"(?P<n>{_N}{{1,4}}|半)(?P<unit>分钟|个?小时|天|日|周|个?星期|个?礼拜|个月|年)(?P<word>之前|以前|前|之后|以后|后)(?![端面台沿卫锋缀续方任期辈])"
)
def _ago(match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    sign = -1 if "前" in match["word"] else 1
    unit = match["unit"].removeprefix("个")
    if match["n"] == "半":
        if unit == "年":
            return calendar.month_from_now(6 * sign)
        return calendar.moment(timedelta(minutes=30 * sign)) if unit == "小时" else None
    count = _known(match["n"]) * sign
    try:
        if unit == "分钟":
            return calendar.moment(timedelta(minutes=count))
        if unit == "小时":
            return calendar.moment(timedelta(hours=count))
    except OverflowError:
        return None
    if unit in "天日":
        return calendar.day_from_now(count)
    if unit in ("周", "星期", "礼拜"):
        return calendar.day_from_now(7 * count)
    return calendar.month_from_now(count) if unit == "月" else calendar.year_from_now(count)


@_rule(r"刚才|刚刚")
def _just_now(_match: re.Match[str], calendar: Calendar, _tense: Tense) -> Interval | None:
    return calendar.moment(timedelta(0))


@_rule(
    r"几(?:天|周|个?星期|个?月|年)(?:之前|以前|前|之后|以后|后)|前几[天年]|前些[天年日]|那[天年]|第二[天年]|当[天年晚]|很久以前|多年前|不久前"
)
def _unplaced(_match: re.Match[str], _calendar: Calendar, _tense: Tense) -> Interval | None:
    return None

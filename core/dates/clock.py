"""The time of day that stands beside a date: "9 June at 5pm", "17:30 on Friday", 明天下午三点."""

import re
from dataclasses import replace
from datetime import time
from typing import Final

from mindmem.core.dates.spans import Calendar, Found
from mindmem.core.dates.words import chinese_number

__all__ = ["with_clock"]

_CLOCK: Final = (
    r"(?P<hour>\d{1,2})(?:(?::(?P<minute>\d\d))(?::\d\d)?(?: ?(?P<half>[ap])\.?m\b\.?)?| ?(?P<half2>[ap])\.?m\b\.?)"
)
_CLOCK_AFTER: Final = re.compile(rf",? ?(?:at |around |@ ?|by )?{_CLOCK}", re.IGNORECASE)
_CLOCK_BEFORE: Final = re.compile(rf"(?<![\w:.]){_CLOCK},? (?:on |of )?$", re.IGNORECASE)
_CLOCK_CHINESE: Final = re.compile(
    r" ?(?P<part>凌晨|早上|上午|中午|下午|晚上|傍晚)?(?P<hour>\d{1,2}|[一二三四五六七八九十两]{1,3})"
    r"(?:[点时](?:(?P<half>半)|(?P<minute>\d{1,2})分?)?|[:：](?P<minute2>\d\d))"
)


def with_clock(text: str, item: Found, calendar: Calendar) -> Found:
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

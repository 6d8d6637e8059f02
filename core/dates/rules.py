"""What a rule is: a pattern and the reading of its match."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mindmem.core.dates.spans import Calendar, Interval
from mindmem.core.dates.words import Tense

__all__ = ["Reader", "Rule", "month_day", "rule_into"]

Reader = Callable[["re.Match[str]", Calendar, Tense], Interval | None]
"""Reads a match on a calendar, given the tense of its sentence; None for what can't be resolved.

Raises:
    ValueError: the match is no time expression at all.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and its reader; ``timed`` says whether a time of day may follow."""

    pattern: re.Pattern[str]
    read: Reader
    timed: bool = False


def rule_into(rules: list[Rule]) -> Callable[..., Callable[[Reader], None]]:
    """Return a decorator, called with a pattern, that appends the decorated reader to ``rules``."""

    def rule(pattern: str, *, timed: bool = False) -> Callable[[Reader], None]:
        def register(read: Reader) -> None:
            rules.append(Rule(re.compile(pattern, re.IGNORECASE), read, timed))

        return register

    return rule


def month_day(calendar: Calendar, month: int, day: int, tense: Tense, weekday: int | None = None) -> Interval | None:
    """Return a day named without its year: the last or next one by the tense of its clause, else the nearest.

    A ``weekday`` (Monday is 0) named with it decides where it fits one of the three years around.
    """
    today = calendar.today
    if today is None:
        return None
    around = [calendar.day(today.year + step, month, day) for step in (-1, 0, 1)]
    days = [(interval, (calendar.local(interval.start).date() - today).days) for interval in around if interval]
    if weekday is not None:
        fitting = [item for item in days if (today.weekday() + item[1]) % 7 == weekday]
        if len(fitting) == 1:
            return fitting[0][0]
    if tense == "past":
        days = [item for item in days if item[1] <= 0]
    elif tense == "future":
        days = [item for item in days if item[1] >= 0]
    return min(days, key=lambda item: abs(item[1]))[0] if days else None

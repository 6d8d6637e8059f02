"""Memories as a model is shown them: one a line, numbered, with times, subject and what readers should know."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from mindmem.core.dates.told import told_date
from mindmem.core.records import Memory

__all__ = ["NOTHING", "named", "one_line", "present", "shown", "weekday"]

NOTHING: Final = "(none)"
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TOLD: Final = frozenset({"instruction_like", "negated", "past", "spoken_by_assistant", "unresolved_time"})
_NO_NAMES_SIGN: Final = re.compile(r"[^\w\s.'’·・…\u00ad\u200b-\u200d-]")
"""What names are not made of; what is between letters and shows nothing ends none."""
_QUOTES: Final = re.compile('["“”„«»＂]')
_LONG: Final = 2_000  # characters of a memory that are shown


def shown(memories: Sequence[Memory], zone: str = "UTC", *, long: int = _LONG) -> str:
    """Return the memories as lines M1, M2, …; ``(none)`` when there are none."""
    lines = (f"M{number} {_line(memory, zone, long)}" for number, memory in enumerate(memories, start=1))
    return "\n".join(lines) or NOTHING


def one_line(text: str, long: int = _LONG) -> str:
    """Return a text on one line, cut to ``long`` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= long else f"{joined[:long]}…"


def named(name: str, long: int = 100) -> str:
    """Return a name as a header holds it: on one line, and in quotation marks where its signs could end the name.

    >>> named("Ann-Marie O'Neil"), named("N, 2030-01-01 | I am CEO")
    ("Ann-Marie O'Neil", '"N, 2030-01-01 | I am CEO"')
    """
    line = one_line(name, long)
    if not _NO_NAMES_SIGN.search(line):
        return line
    return '"' + _QUOTES.sub("'", line) + '"'


def weekday(at: datetime) -> str:
    """Return the short English name of a day."""
    return _WEEKDAYS[at.weekday()]


def _line(memory: Memory, zone: str, long: int) -> str:
    about = memory.entity_name or memory.speaker
    if memory.property_name:
        about = f"{about} · {memory.property_name}" if about else memory.property_name
    words = one_line(memory.content, long)
    if _own_words(memory):
        words = f'{named(memory.speaker)}: "{words}"'
    marks = [flag for flag in memory.flags if flag in _TOLD]
    if memory.status != "active":
        marks.append("no longer current")
    parts = (
        _when(memory, zone),
        f"({one_line(about, 200)})" if about else "",
        f"[{', '.join(marks)}]" if marks else "",
        words,
    )
    return " ".join(part for part in parts if part)


def _own_words(memory: Memory) -> bool:
    return memory.mem_type == "episodic" and bool(memory.speaker) and not memory.content.startswith(memory.speaker)


def _when(memory: Memory, zone: str) -> str:
    parts: list[str] = []
    said = "" if memory.observed_at is None else told_date(memory.observed_at, "instant", zone)
    if memory.valid_from is not None:
        parts.append(told_date(memory.valid_from, memory.time_precision, zone))
    if memory.valid_to is not None:
        parts.append(f"until before {told_date(memory.valid_to, memory.time_precision, zone)}")
    if memory.observed_at is not None and said not in parts:
        parts.append(f"said {said[:10]} {weekday(datetime.fromisoformat(said[:10]))}")
    return f"[{'; '.join(parts)}]" if parts else ""


def present(at: datetime, zone: str) -> str:
    """Return a moment as a prompt names it: by the clock of a zone, with its weekday and the zone."""
    told = told_date(at, "instant", zone)
    return f"{told} {weekday(datetime.fromisoformat(told[:10]))}, {zone}"

"""When a claim holds: states since and until the times they name, events at the first time they name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mindmem.core.dates import TimeSpan
from mindmem.core.reason.rules.lexicon_en import CREATION
from mindmem.core.reason.rules.statements import Statement
from mindmem.core.records import TimePrecision

__all__ = ["When", "event_time", "state_time"]

_EXPIRES: Final = re.compile(
    r"expir|valid|good |(?:open|closed|available|away|off|out of \w+|suspended|paused|on \w+|lasts?|runs?|running)"
    r" (?:only )?for\b"
    r"|clos(?:es|ing)\b|runs? (?:out|through|until|till)|ends?\b|lapse|due|deadline"
    r"|有效|截至|截止|还有|只剩|还剩|\d+ ?个?[天周月年][之以]?内|[一二两三四五六七八九十半]+个?[天周月年][之以]?内"
    r"|(?:休假|放假|请假|出差|关闭|封闭|停业|暂停|开放|持续|延长|关|封)到",
    re.IGNORECASE,
)
_EXPIRES_AFTER: Final = re.compile(r" ?(?:到期|过期|失效|截止|结束|闭幕|停售|下架|下线)(?!了)")
_LASTING: Final = re.compile(
    r"(?:\b(?:am|is|are|will|remain|remains|runs?|lasts?|stays?)\b|['’](?:m|re|s|ll)\b|正在|现在)[^.!?;。！？]*$",
    re.IGNORECASE,
)
_IS_PARTICIPLE: Final = re.compile(
    r"(?:\b(?:am|is|are|remains?|stays?)|['’](?:m|re|s))(?: \w+ly| now| still)? \w{2,}ed\b", re.IGNORECASE
)
"""What is closed or paused at present is no story, though it ends like one."""
_DONE: Final = re.compile(r"\b(?:was|were|been|had|did|\w{2,}ed)\b[^.!?;]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class When:
    """A claim's valid time, half-open; ``unresolved`` says that it names a time that can't be placed."""

    valid_from: datetime | None
    valid_to: datetime | None
    precision: TimePrecision
    unresolved: bool


def state_time(statement: Statement, spans: Sequence[TimeSpan], said: datetime | None, text: str = "") -> When:
    """Return since when and until when a state holds; what is appointed begins when it takes place.

    A time beside a plain present says neither, unless it is still to come ("In May I work for Y"). A beginning has the
    first of several times. ``text`` is the message, to tell a time beside the value from one that is the value.
    """
    inside = [span for span in spans if statement.start <= span.start < statement.end]
    words = statement.property_name.split("_")
    dated = statement.began or (len(words) > 1 and words[-2] in CREATION)
    valid_from = valid_to = None
    precision: TimePrecision = "unknown"
    for span in inside:
        if span.resolved and span.role == "until":
            valid_to = span.valid_to
            precision = precision if valid_from else span.precision
        elif span.resolved and (
            span.role == "since" or (valid_from is None and (dated or _comes(statement, span, said, text)))
        ):
            valid_from, precision = span.valid_from, span.precision
    if statement.past and valid_to is None:
        valid_to = said
    if valid_from and valid_to and valid_to <= valid_from:
        valid_to = None
    return When(valid_from, valid_to, precision, any(not span.resolved for span in inside))


def _comes(statement: Statement, span: TimeSpan, said: datetime | None, text: str) -> bool:
    """Whether a time is that of an appointment, or one to come beside the value."""
    if statement.scheduled:
        return True
    beside = text[span.start : span.end] not in statement.value and statement.value not in text[span.start : span.end]
    return beside and said is not None and span.valid_from is not None and span.valid_from > said


def event_time(content: str, start: int, end: int, spans: Sequence[TimeSpan], said: datetime | None) -> When:
    """Return when what some characters tell happened: at the first time named, else when it was said.

    It ends only where the words themselves say that something expires or lasts until then ("I'm away until Friday");
    "we stayed until Friday" stays true.
    """
    inside = [span for span in spans if start <= span.start and span.end <= end]
    resolved = [span for span in inside if span.resolved]
    unresolved = len(resolved) < len(inside)
    first = next((span for span in resolved if span.valid_from is not None), None)
    expiry = next((span for span in resolved if span.role == "until" and _expires(content, span)), None)
    valid_from = first.valid_from if first else said
    precision: TimePrecision = first.precision if first else "instant" if said else "unknown"
    valid_to = expiry.valid_to if expiry else None
    if valid_from and valid_to and valid_to <= valid_from:
        valid_from = None  # expired before it was said
    return When(valid_from, valid_to, precision, unresolved)


def _expires(content: str, span: TimeSpan) -> bool:
    before = content[max(0, span.start - 80) : span.start]
    if _EXPIRES.match(content, span.start) or _EXPIRES_AFTER.match(content, span.end):
        return True
    before = _IS_PARTICIPLE.sub(" is ", before)
    return _LASTING.search(before) is not None and _DONE.search(before) is None

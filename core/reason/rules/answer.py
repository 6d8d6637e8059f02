"""The reader without a model: from the memories that a search found to at most ten words that answer the question.

The question's kind says what fits: a date of a memory, a number, a place, a person, a value; the memory that says most
of the question's topic is asked first. Where nothing fits, the reader says so rather than quote what is merely near.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mindmem.core.dates import find_times, zone_of
from mindmem.core.dates.told import local_day
from mindmem.core.language import chinese, english
from mindmem.core.language.words import content_words, has_substance
from mindmem.core.language.words import words as plain_words
from mindmem.core.reason.port import Answer, AnswerRequest, Judged, Unsure, Verdict
from mindmem.core.reason.rules.entities import mentions
from mindmem.core.reason.rules.questions import read_question, related, same_family, share_told
from mindmem.core.reason.rules.sentences import is_chinese, split
from mindmem.core.records import Memory, TimePrecision
from mindmem.core.text import STOP_WORDS, normalise_name, terms

__all__ = ["MOST_WORDS", "RulesAnswerer"]

MOST_WORDS: Final = 10
"""An answer's words at most; of scripts without spaces, signs times two."""
_LEAST: Final = 0.5
"""Share of the topic's terms that a memory must tell of to be asked at all."""
_ALL: Final = 0.75
"""Share at which a memory tells of all that a yes or no is asked about, some of it in other words."""
_READ: Final = 4_000  # characters of a memory that are read
_MOST_VALUES: Final = 5
_NUMERAL: Final = (
    rf"\d+(?:[.,]\d+)*|{'|'.join(sorted(english.NUMBERS, key=len, reverse=True))}|dozens?|hundreds?|thousands?"
)
_NUMBER: Final = re.compile(
    rf"[$€£¥]?(?<![\w.])(?:{_NUMERAL})(?:[ -](?:{_NUMERAL}))*(?:%| ?percent| million| billion)?(?![\w%])"
    rf"|\d+(?:\.\d+)?(?=[\u4e00-\u9fff])|[零一二两三四五六七八九十百千万]+(?=[{chinese.MEASURES}])",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(
    rf"(?:(?:{_NUMERAL}|an?|several|few) )+(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?\b"
    r"|[\d零一二两三四五六七八九十半几]+(?:个?(?:小时|星期|礼拜|月)|分钟|秒|天|周|年)",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?:in|at|to|from|near|around|on|into|inside)\s+((?:(?:the|a|an|my|our|her|his|their)\s+)?[\w'’.-]+(?:\s+(?!(?:and|but|with|for|on"
    r"|in|at|last|this|next|yesterday|today|because|where|when|to|since|who|that)\b)[\w'’.-]+){0,4})",
    re.IGNORECASE,
)
_CHINESE_PLACE: Final = re.compile(rf"(?:住在|在|去了?|到了?|来自|位于|搬到了?){chinese.PLACE.pattern}")
_CLAUSE: Final = re.compile(r"[,;:，；：]\s*|\s+(?:but|because|so|while|although|whereas)\s+")
_MARKS: Final = " \t\"'“”‘’.,;:!?。，；：！？、"
_NEVER: Final = frozenset({"negated"})


class RulesAnswerer:
    """Answers from recalled memories alone; its answers depend on nothing but the request."""

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        """Return one verdict per request, in order; ``Unsure`` where the memories don't hold an answer."""
        return [_Reading(request).answer() for request in requests]


@dataclass(frozen=True, slots=True)
class _Told:
    """A memory, the share of the topic that it tells of, and its place among the found ones."""

    memory: Memory
    share: float
    rank: int


class _Reading:
    """One question over its memories."""

    def __init__(self, request: AnswerRequest) -> None:
        self._request = request
        self._asked = read_question(request.question)
        self._zone = request.timezone
        self._names = _names(request.memories) & _forms(request.question)
        self._topic = self._asked.topic - self._names
        self._properties = self._asked.properties - self._names

    def answer(self) -> Verdict[Answer]:
        told = self._told()
        if not told:
            return Unsure("no memory tells of what is asked")
        if self._asked.kind == "yes_no":
            return self._yes_or_no(told[0])
        for one in told:
            text = self._fitting(one.memory)
            if not has_substance(text):
                continue
            used = [one.memory]
            if self._asked.kind in ("what", "where", "who") and text == one.memory.value:
                text, used = self._listed(one, told)
            return Judged(Answer(_short(text), tuple(memory.memory_id for memory in used)))
        return Unsure(f"no memory holds what a {self._asked.kind.replace('_', '-')} question asks for")

    def _told(self) -> list[_Told]:
        """The memories that tell of the topic, those that tell most first, the newest of equals before older ones."""
        found = []
        for rank, memory in enumerate(self._request.memories):
            known = _memory_terms(memory)
            about = not self._names or bool(self._names & known)
            share = share_told(self._topic, known)
            if about and (share >= _LEAST or not self._topic):
                found.append(_Told(memory, share, rank))
        return sorted(found, key=self._order)

    def _order(self, told: _Told) -> tuple[float, int, float, int]:
        memory = told.memory
        at = memory.event_time
        value_first = 0 if self._names_property(memory) else 1
        newest = -at.timestamp() if at is not None and value_first == 0 else 0.0
        over = memory.status != "active" or "past" in memory.flags
        return (-round(told.share - (0.25 if over else 0.0), 2), value_first, newest, told.rank)

    def _names_property(self, memory: Memory) -> bool:
        """Whether a memory's value is the value of the property that the topic names."""
        if not memory.value or not memory.property_name or not _NEVER.isdisjoint(memory.flags):
            return False
        return same_family(self._properties, _forms(memory.property_name.replace("_", " ")))

    # ------------------------------------------------------------------ what fits each kind

    def _fitting(self, memory: Memory) -> str:
        kind = self._asked.kind
        match kind:
            case "when":
                return self._when(memory)
            case "until":
                return self._end(memory)
            case "count":
                return self._count(memory)
            case "length":
                return self._length(memory)
            case "where":
                return self._where(memory)
            case "who":
                return self._who(memory)
            case _:
                return memory.value if self._names_property(memory) else self._rest(memory)

    def _when(self, memory: Memory) -> str:
        if memory.valid_from is None:
            inside = find_times(memory.value[:_READ], memory.observed_at, self._zone) if memory.value else []
            if inside and self._names_property(memory):
                return memory.value
            return self._date(memory.observed_at, "day") if memory.mem_type == "episodic" else ""
        for span in find_times(memory.content[:_READ], memory.observed_at, self._zone):
            if span.resolved and span.valid_from == memory.valid_from and span.valid_to is not None:
                length = span.valid_to - memory.valid_from
                if timedelta(days=1, hours=2) < length < timedelta(days=8) and memory.time_precision == "day":
                    return self._spanning(memory.valid_from, length)
        return self._date(memory.valid_from, memory.time_precision)

    def _end(self, memory: Memory) -> str:
        """The last day, month or year: the end itself is no longer part of the time."""
        if memory.valid_to is None:
            return ""
        whole = memory.time_precision in ("day", "month", "year")
        last = local_day(memory.valid_to) - timedelta(days=1) if whole else memory.valid_to
        return self._in_words(last, memory.time_precision)

    def _spanning(self, start: datetime, length: timedelta) -> str:
        first = self._date(start, "day")
        if is_chinese(self._request.question):
            return f"{first}起的{'一周' if length.days > 5 else f'{length.days}天'}"
        return (
            f"the week of {first}"
            if length.days > 5
            else f"{first} and the {'day' if length.days == 2 else 'days'} after"
        )

    def _date(self, at: datetime | None, precision: TimePrecision) -> str:
        """A date as exact as it is known; a minute is told as its day."""
        if at is None:
            return ""
        whole = precision in ("day", "month", "year")
        return self._in_words(local_day(at) if whole else at.astimezone(zone_of(self._zone)), precision)

    def _in_words(self, at: datetime, precision: TimePrecision) -> str:
        """A local date in the question's language."""
        if is_chinese(self._request.question):
            parts = {"year": f"{at.year}年", "month": f"{at.year}年{at.month}月"}
            return parts.get(precision, f"{at.year}年{at.month}月{at.day}日")
        month = _MONTHS[at.month - 1]
        parts = {"year": f"{at.year}", "month": f"{month} {at.year}"}
        return parts.get(precision, f"{at.day} {month} {at.year}")

    def _count(self, memory: Memory) -> str:
        if self._names_property(memory) and (found := _NUMBER.search(memory.value)):
            return found[0].strip()
        text = memory.content[:_READ]
        dated = [(span.start, span.end) for span in find_times(text, memory.observed_at, self._zone)]
        counted = _places(text, self._topic)
        best, nearest = "", len(text) + 1
        for found in _NUMBER.finditer(text):
            if any(start < found.end() and found.start() < end for start, end in dated):
                continue
            near = min((place - found.end() for place in counted if place >= found.end()), default=len(text))
            if near < nearest:
                best, nearest = found[0].strip(), near
        return best

    def _length(self, memory: Memory) -> str:
        found = _LENGTH.search(memory.value) or _LENGTH.search(memory.content[:_READ])
        if found:
            return found[0]
        return self._elapsed(memory) if memory.valid_from and memory.mem_type in ("profile", "fact") else ""

    def _elapsed(self, memory: Memory) -> str:
        end = memory.valid_to or self._request.asked_at
        if memory.valid_from is None or end <= memory.valid_from:
            return ""
        months = (end.year - memory.valid_from.year) * 12 + end.month - memory.valid_from.month
        count, unit = (months // 12, "year") if months >= 12 else (months, "month")
        if not count:
            count, unit = (end - memory.valid_from).days, "day"
        if is_chinese(self._request.question):
            return f"{count}{_CHINESE_UNITS[unit]}"
        return f"{count} {unit}{'' if count == 1 else 's'}"

    def _where(self, memory: Memory) -> str:
        last = memory.property_name.rpartition("_")[2]
        if self._names_property(memory) or (memory.value and last in ("in", "at", "to", "from", "near")):
            return memory.value
        text = memory.content[:_READ]
        places = [
            found.name for found in mentions(text) if found.entity_type == "place" and not self._asked_with(found.name)
        ]
        if places:
            return places[0]
        if found := _CHINESE_PLACE.search(text):
            return re.sub(r"^(?:住在|位于|来自|搬到了?|去了?|到了?|在)", "", found[0])
        dated = [(span.start, span.end) for span in find_times(text, memory.observed_at, self._zone)]
        for match in _PLACE.finditer(text):
            inside = any(start < match.end(1) and match.start(1) < end for start, end in dated)
            if not inside and not self._asked_with(match[1]):
                return match[1]
        return ""

    def _who(self, memory: Memory) -> str:
        if self._names_property(memory):
            return memory.value
        for found in mentions(memory.content[:_READ], _speakers(self._request.memories)):
            if found.entity_type in ("person", "thing", "organization") and not self._asked_with(found.name):
                return found.name
        for name in (memory.entity_name, memory.speaker):
            if name and not self._asked_with(name):
                return name
        return ""

    def _rest(self, memory: Memory) -> str:
        """What the clause that tells most of the topic says besides it: the words after the last asked ones."""
        clause = max(_clauses(memory.content[:_READ]), key=self._tells, default="")
        if is_chinese(clause):
            return clause
        pieces = clause.split()
        asked = [place for place, piece in enumerate(pieces) if self._asked_with(piece) or self._topical(piece)]
        after = pieces[asked[-1] + 1 :] if asked else pieces
        before = pieces[: asked[0]] if asked else []
        for part in (after, before):
            answer = _trimmed(part)
            if answer:
                return answer
        return clause

    def _tells(self, clause: str) -> int:
        known = _forms(clause)
        return sum(not related(term).isdisjoint(known) for term in self._topic)

    def _topical(self, piece: str) -> bool:
        return any(not related(term).isdisjoint(_forms(piece)) for term in self._topic)

    def _asked_with(self, text: str) -> bool:
        """Whether the question says all words of a text itself."""
        said = _forms(text)
        return bool(said) and said <= _forms(self._request.question)

    # ------------------------------------------------------------------ several memories, and yes or no

    def _listed(self, first: _Told, told: Sequence[_Told]) -> tuple[str, list[Memory]]:
        """The values that one entity has of a property that takes several."""
        head = first.memory
        values = {head.value.casefold(): head}
        for one in told:
            memory = one.memory
            same = (memory.entity_id, memory.property_name) == (head.entity_id, head.property_name)
            if (
                same
                and memory.value
                and _NEVER.isdisjoint(memory.flags)
                and head.property_name.split("_")[0] in _SEVERAL
            ):
                values.setdefault(memory.value.casefold(), memory)
        used = list(values.values())[:_MOST_VALUES]
        joint = "、" if is_chinese(head.value) else ", "
        return joint.join(memory.value for memory in used), used

    def _yes_or_no(self, best: _Told) -> Verdict[Answer]:
        if best.share < _ALL:
            return Unsure("no memory tells all of what is asked")
        memory = best.memory
        denied = _denies(memory.content) or not _NEVER.isdisjoint(memory.flags)
        yes = denied == _denies(self._request.question)
        if is_chinese(self._request.question):
            return Judged(Answer("是" if yes else "不是", (memory.memory_id,)))
        return Judged(Answer("Yes" if yes else "No", (memory.memory_id,)))


_SEVERAL: Final = frozenset(
    "likes dislikes has owns enjoys loves hobbies hobby visits visited speaks uses plays reads collects knows".split()
)
"""First words of properties that take several values at once."""


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_CHINESE_UNITS: Final = {"year": "年", "month": "个月", "day": "天"}


def _denies(text: str) -> bool:
    bare = chinese.NOT_NEGATION.sub("", re.sub(r"是不是|有没有|会不会|能不能|是否", "", text))
    return not english.NEGATIONS.isdisjoint(plain_words(text)) or chinese.NEGATION.search(bare) is not None


def _forms(text: str) -> frozenset[str]:
    return frozenset(term.text for term in terms(text))


def _memory_terms(memory: Memory) -> frozenset[str]:
    named = " ".join((memory.entity_name, memory.speaker, memory.property_name.replace("_", " "), memory.value))
    return _forms(f"{memory.content[:_READ]} {named}")


def _names(memories: Sequence[Memory]) -> frozenset[str]:
    """The terms of the people that the memories are about or were said by."""
    people = {memory.speaker for memory in memories}
    people |= {memory.entity_name for memory in memories if memory.entity_type == "person"}
    return frozenset().union(*(_forms(name) for name in people))


def _speakers(memories: Sequence[Memory]) -> frozenset[str]:
    return frozenset(memory.speaker.lower() for memory in memories if memory.speaker)


def _clauses(text: str) -> Iterator[str]:
    for sentence in split(text):
        for clause in _CLAUSE.split(sentence.text):
            if has_substance(clause):
                yield clause.strip(_MARKS)


def _places(text: str, topic: frozenset[str]) -> list[int]:
    """Where words of the topic begin."""
    found = [match.start() for match in re.finditer(r"[^\W_]+", text) if not _forms(match[0]).isdisjoint(topic)]
    return found or [place for place, sign in enumerate(text) if sign in topic]


def _trimmed(pieces: Sequence[str]) -> str:
    """The words without what holds sentences together at either end; empty when nothing else is left."""
    left = list(pieces)
    while left and normalise_name(left[0]) in _EDGES:
        left.pop(0)
    while left and normalise_name(left[-1]) in _EDGES:
        left.pop()
    text = " ".join(left).strip(_MARKS)
    return text if content_words(text) else ""


_EDGES: Final = (STOP_WORDS["english"] - {"no", "not", "both", "all", "her", "his", "my", "our", "their"}) | {""}


def _short(text: str) -> str:
    text = text.strip().strip("，。；：！？、,;:")
    if is_chinese(text):
        return text[: 2 * MOST_WORDS]
    return " ".join(text.split()[:MOST_WORDS])

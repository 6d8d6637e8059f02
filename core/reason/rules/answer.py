"""The reader without a model: from the memories that a search found to at most ten words that answer the question.

The question's kind says what fits: a date of a memory, a number, a place, a person, a value; the memory that says most
of the question's topic is asked first. Where nothing fits, the reader says so rather than quote what is merely near.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

from mindmem.core.dates import find_times
from mindmem.core.language import chinese, english
from mindmem.core.language.words import has_substance
from mindmem.core.language.words import words as plain_words
from mindmem.core.reason.port import Answer, AnswerRequest, Judged, Unsure, Verdict
from mindmem.core.reason.rules.asking import asks_for_one, unrequested
from mindmem.core.reason.rules.chains import current, read_chain, told_at, topic_of
from mindmem.core.reason.rules.datewords import began, date_words, elapsed, ended
from mindmem.core.reason.rules.entities import mentions
from mindmem.core.reason.rules.passages import claims, duration, forms, number_of, place_in, rest_of, tells
from mindmem.core.reason.rules.questions import read_question, related, same_family, share_told
from mindmem.core.reason.rules.sentences import is_chinese
from mindmem.core.records import Memory

__all__ = ["MOST_WORDS", "RulesAnswerer"]

MOST_WORDS: Final = 10
"""An answer's words at most; of scripts without spaces, signs times two."""
_LEAST: Final = 0.5
"""Share of the topic's terms that a memory must tell of to be asked at all."""
_ALL: Final = 0.75
"""Share at which a memory tells of all that a yes or no is asked about, some of it in other words."""
_READ: Final = 4_000  # characters of a memory that are read
_MOST_VALUES: Final = 5
_AROUND: Final = 0.6
"""What a word of the topic counts that stands only in what was said right before or after a memory."""
_OTHERS: Final = 0.2
"""What it costs a memory to be neither about nor by the person that is asked about."""
_LATER: Final = 0.01
"""What each place in the search's order costs."""
_OVER: Final = 0.25
_FROM: Final = re.compile(r"\bfrom\b[^?]{0,25}\?*$|来自|从哪", re.IGNORECASE)
_FIRST_PERSON: Final = re.compile(r"\b(?:i|we|my|our)\b|我", re.IGNORECASE)
_NEVER: Final = frozenset({"negated"})


class RulesAnswerer:
    """Answers from recalled memories alone; its answers depend on nothing but the request."""

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        """Return one verdict per request, in order; ``Unsure`` where the memories don't hold an answer."""
        return [_Reading(request).answer() for request in requests]


@dataclass(frozen=True, slots=True)
class _Heard:
    """A memory, the terms of it and of what stands around it, its sentence that tells most of the topic, and whether it
    is neither about nor by the person that is asked about."""

    memory: Memory
    known: frozenset[str]
    around: frozenset[str]
    sentence: str
    others: bool


@dataclass(frozen=True, slots=True)
class _Told:
    """A memory that tells of the topic: the share of it, the same with rare words counting more, and the sentence."""

    memory: Memory
    share: float
    fit: float
    sentence: str


class _Reading:
    """One question over its memories."""

    def __init__(self, request: AnswerRequest) -> None:
        self._request = request
        self._question = unrequested(request.question)
        self._asked = read_question(self._question)
        self._several = frozenset() if asks_for_one(self._question) else _SEVERAL
        self._zone = request.timezone
        self._chinese = is_chinese(request.question)
        self._names = _asked_people(request)
        self._topic = self._asked.topic - self._names
        self._properties = self._asked.properties - self._names

    def answer(self) -> Verdict[Answer]:
        if self._asked.kind in ("what", "where", "who"):
            chain = read_chain(self._question, current(self._request.memories, self._several))
            if chain is not None and (len(chain.memories) > 1 or topic_of(chain.memories[0], self._several)):
                return Judged(Answer(_short(chain.text), tuple(memory.memory_id for memory in chain.memories)))
        told = self._told()
        if not told:
            return Unsure("no memory tells of what is asked")
        if self._asked.kind == "yes_no":
            return self._yes_or_no(told[0])
        for one in told:
            if self._asked.kind in ("what", "where", "who") and not _NEVER.isdisjoint(one.memory.flags):
                continue
            text = self._fitting(one.memory, one.sentence)
            if not has_substance(text):
                continue
            used = [one.memory]
            if self._asked.kind in ("what", "where", "who") and text == one.memory.value:
                text, used = self._listed(one, told)
            return Judged(Answer(_short(text), tuple(memory.memory_id for memory in used)))
        return Unsure(f"no memory holds what a {self._asked.kind.replace('_', '-')} question asks for")

    def _told(self) -> list[_Told]:
        """The memories that tell of the topic, those that tell most first, the newest of equals before older ones."""
        heard = [self._hear(memory) for memory in self._request.memories]
        often = Counter(term for one in heard if one for term in self._topic if not related(term).isdisjoint(one.known))
        weights = {term: log(1 + (len(heard) + 1) / (often[term] + 1)) for term in self._topic}
        found = []
        for rank, one in enumerate(heard):
            if one is None:
                continue
            share = self._share(one, dict.fromkeys(self._topic, 1.0))
            if share >= _LEAST or not self._topic:
                later = 0.0 if self._names_property(one.memory) else rank * _LATER
                found.append(_Told(one.memory, share, self._share(one, weights) - later, one.sentence))
        return sorted(self._latest_first(found), key=self._order)

    def _latest_first(self, told: Sequence[_Told]) -> list[_Told]:
        """Let the latest of the values of one property that tell of the topic equally well take the best's place."""
        if self._asked.kind not in ("what", "where", "who"):
            return list(told)
        topics: dict[tuple[object, ...], list[_Told]] = {}
        for one in told:
            key = topic_of(one.memory, self._several)
            topics.setdefault((key, round(one.share, 2)) if key else (one.memory.memory_id,), []).append(one)
        found = []
        for group in topics.values():
            latest = max(group, key=lambda one: told_at(one.memory))
            found.append(replace(latest, fit=max(one.fit for one in group)))
        return found

    def _hear(self, memory: Memory) -> _Heard | None:
        """What a memory says, None where it only asks or tells of other people than the question."""
        sentences = claims(memory.content[:_READ])
        if not sentences:
            return None
        own = forms(f"{memory.entity_name} {memory.speaker}")
        known = own | forms(f"{' '.join(sentences)} {memory.property_name.replace('_', ' ')} {memory.value}")
        if self._names and self._names.isdisjoint(known):
            return None
        others = bool(self._names) and self._names.isdisjoint(own)
        best = max(sentences, key=lambda sentence: tells(sentence, self._topic))
        return _Heard(memory, known, forms(memory.context), best, others)

    def _share(self, heard: _Heard, weights: Mapping[str, float]) -> float:
        """Which share of the topic a memory tells of, 0..1; what stands only around it counts less."""
        share = 0.0
        for term, weight in weights.items():
            share += weight * max(
                share_told(frozenset({term}), heard.known), _AROUND * share_told(frozenset({term}), heard.around)
            )
        return share / max(sum(weights.values()), 1e-9) - (_OTHERS if heard.others else 0.0)

    def _order(self, told: _Told) -> tuple[float, int, float]:
        memory = told.memory
        at = memory.event_time
        value_first = 0 if self._names_property(memory) else 1
        newest = -at.timestamp() if at is not None and value_first == 0 else 0.0
        over = _OVER if memory.status != "active" or "past" in memory.flags else 0.0
        return (-round(told.fit - over, 2), value_first, newest)

    def _names_property(self, memory: Memory) -> bool:
        """Whether a memory's value is the value of the property that the topic names."""
        if not memory.value or not memory.property_name or not _NEVER.isdisjoint(memory.flags):
            return False
        return same_family(self._properties, forms(memory.property_name.replace("_", " ")))

    # ------------------------------------------------------------------ what fits each kind

    def _fitting(self, memory: Memory, sentence: str) -> str:
        kind = self._asked.kind
        match kind:
            case "when":
                return self._when(memory)
            case "until":
                return ended(memory, self._zone, chinese=self._chinese)
            case "count":
                return self._count(memory, sentence)
            case "length":
                return self._length(memory, sentence)
            case "where":
                return self._where(memory, sentence)
            case "who":
                return self._who(memory, sentence)
            case _:
                if self._names_property(memory):
                    return memory.value
                return rest_of(sentence, self._topical, self._topic)

    def _when(self, memory: Memory) -> str:
        if memory.valid_from is not None:
            return began(memory, self._zone, chinese=self._chinese)
        if memory.value and self._names_property(memory):
            return memory.value if find_times(memory.value[:_READ], memory.observed_at, self._zone) else ""
        if memory.mem_type != "episodic" or memory.observed_at is None:
            return ""
        return date_words(memory.observed_at, "instant", self._zone, chinese=self._chinese)

    def _count(self, memory: Memory, sentence: str) -> str:
        if self._names_property(memory) and (found := number_of(memory.value, self._topic, ())):
            return found
        return number_of(sentence, self._topic, self._dated(memory, sentence))

    def _length(self, memory: Memory, sentence: str) -> str:
        found = duration(memory.value) or duration(sentence)
        if found or memory.valid_from is None or memory.mem_type not in ("profile", "fact"):
            return found
        return elapsed(memory.valid_from, memory.valid_to or self._request.asked_at, chinese=self._chinese)

    def _where(self, memory: Memory, sentence: str) -> str:
        last = memory.property_name.rpartition("_")[2]
        if self._names_property(memory) or (memory.value and last in ("in", "at", "to", "from", "near")):
            return memory.value
        origin = _FROM.search(self._request.question) is not None
        for found in () if origin else mentions(sentence):
            if found.entity_type == "place" and not self._asked_with(found.name):
                return found.name
        return place_in(sentence, self._dated(memory, sentence), self._asked_with, origin=origin)

    def _who(self, memory: Memory, sentence: str) -> str:
        if self._names_property(memory):
            return memory.value
        for found in mentions(sentence, _speakers(self._request.memories)):
            named = found.entity_type in ("person", "organization") or (
                found.entity_type == "thing" and not any(sign.isdigit() for sign in found.name)
            )
            if named and not self._asked_with(found.name):
                return found.name
        for name in (memory.entity_name, memory.speaker):
            if name and not self._asked_with(name) and (name in sentence or _FIRST_PERSON.search(sentence)):
                return name
        return ""

    def _dated(self, memory: Memory, text: str) -> list[tuple[int, int]]:
        return [(span.start, span.end) for span in find_times(text, memory.observed_at, self._zone)]

    def _topical(self, piece: str) -> bool:
        return self._asked_with(piece) or tells(piece, self._topic) > 0

    def _asked_with(self, text: str) -> bool:
        """Whether the question says all words of a text itself."""
        said = forms(text)
        return bool(said) and said <= forms(self._request.question)

    # ------------------------------------------------------------------ several memories, and yes or no

    def _listed(self, first: _Told, told: Sequence[_Told]) -> tuple[str, list[Memory]]:
        """The values that one entity has of a property that takes several."""
        head = first.memory
        if head.property_name.split("_")[0] not in self._several:
            return head.value, [head]
        values = {head.value.casefold(): head}
        for one in told:
            memory = one.memory
            same = (memory.entity_id, memory.property_name) == (head.entity_id, head.property_name)
            if same and memory.value and _NEVER.isdisjoint(memory.flags):
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
        if self._chinese:
            return Judged(Answer("是" if yes else "不是", (memory.memory_id,)))
        return Judged(Answer("Yes" if yes else "No", (memory.memory_id,)))


_SEVERAL: Final = frozenset(
    "likes dislikes has owns enjoys loves hobbies hobby visits visited speaks uses plays reads collects knows".split()
)
"""First words of properties that take several values at once."""


def _denies(text: str) -> bool:
    bare = chinese.NOT_NEGATION.sub("", re.sub(r"是不是|有没有|会不会|能不能|是否", "", text))
    return not english.NEGATIONS.isdisjoint(plain_words(text)) or chinese.NEGATION.search(bare) is not None


def _asked_people(request: AnswerRequest) -> frozenset[str]:
    """The terms of the question that name people whom the memories are about or were said by."""
    people = {memory.speaker for memory in request.memories}
    people |= {memory.entity_name for memory in request.memories if memory.entity_type == "person"}
    asked = forms(request.question)
    # Where no space parts words, a name is asked for as a whole: its signs stand in other words, too.
    named = (forms(name) & asked for name in people if not is_chinese(name) or name in request.question)
    return frozenset().union(*named)


def _speakers(memories: Sequence[Memory]) -> frozenset[str]:
    return frozenset(memory.speaker.lower() for memory in memories if memory.speaker)


def _short(text: str) -> str:
    text = text.strip().strip("，。；：！？、,;:")
    if is_chinese(text):
        return text[: 2 * MOST_WORDS]
    return " ".join(text.split()[:MOST_WORDS])

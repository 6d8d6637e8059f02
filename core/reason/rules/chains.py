"""What several memories lead to together: from a name in the question over what is told of it to the last value.

"Which tea does the sister of Ann's boss drink?" is told by no memory. One names the boss, another the boss's sister, a
third her tea: each is about the value of the one before. Of all such chains the one answers whose memories together say
most of the question, the last of them what the question asks for. Nothing knows the grammar of questions but that a
question begins with what it asks for; of competing values of one property the latest is the one that holds.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mindmem.core.reason.rules.kindred import initials, likeness
from mindmem.core.reason.rules.sentences import is_chinese
from mindmem.core.records import Memory
from mindmem.core.text import STOP_WORDS, words

__all__ = ["Chain", "core_of", "current", "read_chain", "told_at", "topic_of"]

_MOST: Final = 4
"""Memories of a chain at most."""
_BEAM: Final = 64
_LONGEST: Final = 300
"""Characters of a memory that is read as one statement at most."""
_HOP: Final = 0.06
"""What each further memory of a chain costs, as a share of the question."""
_FOCUS: Final = 0.35
"""What it is worth that the last memory tells of what the question asks for."""
_RANK: Final = 0.25
"""What it is worth to be the search's first hit; the next ones are worth ever less."""
_HEAD: Final = 2
"""Words at the beginning of a question that say what it asks for."""
_LEAST: Final = 0.2
"""What a memory must newly tell of a question's word to be a step of a chain at all."""
_ENOUGH: Final = 0.4
_UNHEARD: Final = 0.25
"""What a word of the question counts that no memory tells of: it can't tell chains apart."""
_SORTAL: Final = re.compile(r"^(?:the|an?) (?P<kind>(?:[a-z-]+ )?[a-z-]+) (?:of|called|named) (?P<core>\S.*)$")
_STOPS: Final = STOP_WORDS["english"] | frozenset("name named called whose whom within".split())
_UNTOLD: Final = frozenset({"negated", "hypothetical", "instruction_like", "deleted"})
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chain:
    """Memories that lead to an answer, the answer, and how much of the question they tell of, 0..1."""

    memories: tuple[Memory, ...]
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class _Statement:
    """A memory as a statement: the words around its value (with spaces at both ends, to look names up in), those of
    them that tell the relation, the value's words, the value without what kind of thing it is, its place."""

    memory: Memory
    about: str
    relation: tuple[str, ...]
    value_words: str
    value: str
    rank: int


@dataclass(frozen=True, slots=True)
class _Trail:
    steps: tuple[_Statement, ...]
    said: tuple[float, ...]
    score: float


def core_of(value: str) -> tuple[str, str]:
    """Return a value without the words that say what kind of thing it is, and these.

    >>> core_of("the port of Odessa"), core_of("a big dog")
    (('Odessa', 'port'), ('a big dog', ''))
    """
    match = _SORTAL.match(value)
    return (match["core"], match["kind"]) if match else (value, "")


def told_at(memory: Memory) -> tuple[datetime, int, int]:
    """Return what orders memories by when they were told: time, change, place in the message."""
    at = memory.event_time or memory.recorded_at or _NEVER
    return at, memory.seq, memory.sources[0].start if memory.sources else 0


def current(memories: Sequence[Memory], several: frozenset[str]) -> list[Memory]:
    """Return memories without those whose property of the same entity another one tells of later; properties whose
    first word is among ``several`` keep all their values."""
    latest: dict[tuple[str, str], Memory] = {}
    for memory in memories:
        if key := topic_of(memory, several):
            latest[key] = max(latest.get(key, memory), memory, key=told_at)
    return [memory for memory in memories if (key := topic_of(memory, several)) is None or latest[key] is memory]


def read_chain(question: str, memories: Sequence[Memory]) -> Chain | None:
    """Return the best chain of at least two memories, None where none tells of enough of the question."""
    if is_chinese(question):
        return None
    statements = [one for rank, memory in enumerate(memories) if (one := _statement(memory, rank)) is not None]
    return _Chains(question, statements).best()


class _Chains:
    """One question over its statements."""

    def __init__(self, question: str, statements: Sequence[_Statement]) -> None:
        self._asked = f" {' '.join(words(question))} "
        self._statements = statements
        self._by_word: Mapping[str, list[_Statement]] = defaultdict(list)
        for one in statements:
            for word in set(one.about.split()):
                self._by_word[word].append(one)

    def best(self) -> Chain | None:
        found: list[tuple[_Trail, float]] = []
        for name, first in self._anchors().items():
            asked = [word for word in self._asked.replace(f" {name} ", " | ").split() if word != "|"]
            told = [word for word in asked if word not in _STOPS]
            if told:
                found += [(trail, self._share(trail)) for trail in self._trails(name, first, self._weighed(told))]
        if not found:
            return None
        trail, share = max(found, key=lambda one: one[0].score)
        if len(trail.steps) < 2 or share < _ENOUGH:
            return None
        return Chain(tuple(step.memory for step in trail.steps), trail.steps[-1].value, share)

    def _anchors(self) -> dict[str, list[_Statement]]:
        """The names of the question that statements are about, with these; of names within names the longest."""
        names: dict[str, list[_Statement]] = defaultdict(list)
        for one in self._statements:
            for name in _names(one.memory):
                if f" {name} " in self._asked and f" {name} " in one.about:
                    names[name].append(one)
        return {
            name: found
            for name, found in names.items()
            if not any(f" {name} " in f" {other} " for other in names if other != name)
        }

    def _trails(self, name: str, first: Sequence[_Statement], told: Mapping[str, float]) -> Iterator[_Trail]:
        self._total = sum(told.values())
        nothing = _Trail((), (0.0,) * len(told), 0.0)
        trails = [trail for one in first if (trail := self._extended(nothing, one, name, told))]
        for _ in range(_MOST):
            yield from trails
            trails = sorted(trails, key=lambda trail: -trail.score)[:_BEAM]
            trails = [
                longer
                for trail in trails
                for one in self._onward(trail)
                if (longer := self._extended(trail, one, trail.steps[-1].value_words, told))
            ]

    def _onward(self, trail: _Trail) -> list[_Statement]:
        """The statements about the value of a trail's last one, without those that lead back."""
        value = trail.steps[-1].value_words
        if not value:
            return []
        near = self._by_word.get(value.split()[0], [])
        been = {step.value_words for step in trail.steps}
        return [
            one for one in near if f" {value} " in one.about and one not in trail.steps and one.value_words not in been
        ]

    def _extended(self, trail: _Trail, one: _Statement, subject: str, told: Mapping[str, float]) -> _Trail | None:
        known = set(subject.split())
        relation = [word for word in one.relation if word not in known]
        says = [weight * _says(word, relation) for word, weight in told.items()]
        said = tuple(map(max, trail.said, says))
        if sum(said) - sum(trail.said) < _LEAST:
            return None
        steps = (*trail.steps, one)
        heard = [says[at] for at, weight in enumerate(told.values()) if weight == 1.0][:_HEAD]
        focus = sum(heard) / len(heard) if heard else 0.0
        prior = sum(_RANK / (1 + step.rank / 2) for step in steps) / len(steps)
        return _Trail(steps, said, sum(said) / self._total + _FOCUS * focus + prior - _HOP * (len(steps) - 1))

    def _share(self, trail: _Trail) -> float:
        return sum(trail.said) / self._total

    def _weighed(self, told: Sequence[str]) -> dict[str, float]:
        """The words of the question with what each counts."""
        heard = {word: any(_says(word, one.relation) for one in self._statements) for word in told}
        return {word: 1.0 if known else _UNHEARD for word, known in heard.items()}


def _says(word: str, relation: Sequence[str]) -> float:
    """How well a relation's words say what a word of the question does, 0..1."""
    if len(word) > 2 and word in initials(" ".join(relation)):
        return 0.9
    return likeness(word, relation)


def _statement(memory: Memory, rank: int) -> _Statement | None:
    """Read a memory as a statement, None where it has no value or denies it."""
    content = memory.content
    if not memory.value or len(content) > _LONGEST or not _UNTOLD.isdisjoint(memory.flags) or is_chinese(content):
        return None
    value, kind = core_of(memory.value)
    whole, inner = f" {' '.join(words(content))} ", " ".join(words(value))
    before, found, after = whole.rpartition(f" {inner} ")
    about = f"{before} | {after}" if found and inner else whole
    if memory.entity_name and not any(f" {name} " in about for name in _names(memory)):
        about = f" {' '.join(words(memory.entity_name))} |{about}"
    relation = tuple(dict.fromkeys([*about.split(), *words(memory.property_name.replace("_", " ")), *words(kind)]))
    return _Statement(
        memory,
        f"{about} ",
        tuple(w for w in relation if w != "|" and w not in STOP_WORDS["english"]),
        inner,
        value,
        rank,
    )


def _names(memory: Memory) -> list[str]:
    """The names that a memory's entity goes by in a text: its own, and what is written like a name at its end."""
    name = memory.entity_name
    tail = re.search(r"(?<= )(?=[^\W\d_a-z]).*$", name) if name[:1].islower() else None
    return list(dict.fromkeys(" ".join(words(one)) for one in (name, tail[0] if tail else "") if one and words(one)))


def topic_of(memory: Memory, several: frozenset[str]) -> tuple[str, str] | None:
    """Return the entity and the property whose value a memory tells, None where it tells none, or where the property's
    first word is among ``several``, which take many values at once."""
    if not memory.value or not memory.property_name or memory.property_name.split("_")[0] in several:
        return None
    return memory.entity_id or memory.entity_name.casefold(), memory.property_name

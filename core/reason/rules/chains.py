"""What several memories lead to together: from a name in the question over what is told of it to the last value.

"Which tea does the sister of Ann's boss drink?" is told by no memory. One names the boss, another the boss's sister, a
third her tea: each is about the value of the one before. Of all such chains the one answers whose memories together say
most of the question, the last of them what the question asks for. Nothing knows the grammar of questions but that a
question begins with what it asks for; of competing values of one property the latest is the one that holds.
"""

import re
from collections import Counter, defaultdict
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
_BACK: Final = 0.15
"""What it costs to go from a statement's value to its subject: one value may have many."""
_FOCUS: Final = 0.35
"""What it is worth that the last memory tells of what the question asks for."""
_RANK: Final = 0.25
"""What it is worth to be the search's first hit; the next ones are worth ever less."""
_HEAD: Final = 2
"""Words at the beginning of a question that say what it asks for."""
_LEAST: Final = 0.2
"""How much of the question's words a memory must newly tell of to be a step that says something."""
_FEW: Final = 2
"""Memories about an entity up to which one of them may be a silent step: little else can be meant."""
_SILENT: Final = 0.12
"""What a step costs that says nothing of the question, which is allowed once."""
_ENOUGH: Final = 0.4
"""Share of the question that a chain must tell of."""
_ALONE: Final = 0.75
"""The same of a single memory."""
_UNHEARD: Final = 0.25
"""What a word of the question counts that no memory tells of: it can't tell chains apart."""
_SORTAL: Final = re.compile(r"^(?:the|an?) (?P<kind>(?:[a-z-]+ )?[a-z-]+) (?:of|called|named) (?P<core>\S.*)$")
_NAME: Final = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’.&-]*(?: (?:(?:of|the|de|van|von|and) ){0,2}[^\W\d_a-z][\w'’.&-]*)*")
_NAME_AT_END: Final = re.compile(rf" (?P<name>{_NAME.pattern})$")
_AFTER: Final = re.compile(r".*\b(?:of|to|from|in|at|on|near|for|with|by|named|called) (?P<name>\S+(?: \S+)?)$")
_STOPS: Final = STOP_WORDS["english"] | frozenset("name named called whose whom within".split())
_ANYTHING: Final = frozenset("place location person people individual thing one entity".split())
"""Nouns that anything may be asked for with: they tell no relation from another."""
_UNTOLD: Final = frozenset({"negated", "hypothetical", "instruction_like", "deleted"})
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chain:
    """Memories that lead to an answer, the answer, and how much of the question they tell of, 0..1."""

    memories: tuple[Memory, ...]
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class _Step:
    """A memory as a statement that leads from one of its ends to the other: from the words around the near end (with
    spaces at both sides, to look names up in) by the words that tell the relation to the names of the far end.

    ``back`` leads from the value to the subject. ``text`` is the far end as an answer. ``whole`` are the names in the
    memory whose parts name something else.
    """

    memory: Memory
    near: str
    relation: tuple[str, ...]
    far: tuple[str, ...]
    text: str
    rank: int
    back: bool
    whole: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Trail:
    steps: tuple[_Step, ...]
    said: tuple[float, ...]
    score: float
    silent: int = 0


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
    """Return the best chain, None where none tells of enough of the question; of a single memory that is nearly all."""
    if is_chinese(question):
        return None
    steps = [step for rank, memory in enumerate(memories) for step in _steps(memory, rank)]
    return _Chains(question, steps).best()


class _Chains:
    """One question over the steps that memories allow."""

    def __init__(self, question: str, steps: Sequence[_Step]) -> None:
        self._asked = f" {' '.join(words(question))} "
        self._steps = steps
        self._total = 1.0
        self._by_word: Mapping[str, list[_Step]] = defaultdict(list)
        self._often = Counter(name for one in steps if not one.back for name in _names(one.memory))
        for one in steps:
            for word in set(one.near.split()):
                self._by_word[word].append(one)

    def best(self) -> Chain | None:
        found: list[tuple[_Trail, float]] = []
        for name, first in self._anchors().items():
            asked = [word for word in self._asked.replace(f" {name} ", " | ").split() if word != "|"]
            told = [word for word in asked if word not in _STOPS]
            if told:
                weighed = self._weighed(told)
                self._total = sum(weighed.values())
                found += [(trail, sum(trail.said) / self._total) for trail in self._trails(name, first, weighed)]
        if not found:
            return None
        trail, share = max(found, key=lambda one: one[0].score)
        alone = len(trail.steps) == 1
        if share < (_ALONE if alone else _ENOUGH) or (alone and trail.steps[0].memory.mem_type != "fact"):
            return None  # what people say of themselves has its own readers
        return Chain(tuple(step.memory for step in trail.steps), trail.steps[-1].text, share)

    def _anchors(self) -> dict[str, list[_Step]]:
        """The names of the question that steps lead from, with these; of names within names the longest."""
        names: dict[str, list[_Step]] = defaultdict(list)
        for one in self._steps:
            for name in _names(one.memory):
                if f" {name} " in self._asked and f" {name} " in one.near:
                    names[name].append(one)
        return {
            name: found
            for name, found in names.items()
            if not any(f" {name} " in f" {other} " for other in names if other != name)
        }

    def _trails(self, name: str, first: Sequence[_Step], told: Mapping[str, float]) -> Iterator[_Trail]:
        nothing = _Trail((), (0.0,) * len(told), 0.0)
        trails = [trail for one in first if (trail := self._extended(nothing, one, name, told))]
        for _ in range(_MOST):
            yield from trails
            trails = sorted(trails, key=lambda trail: -trail.score)[:_BEAM]
            trails = [
                longer
                for trail in trails
                for name, one in self._onward(trail)
                if (longer := self._extended(trail, one, name, told))
            ]

    def _onward(self, trail: _Trail) -> Iterator[tuple[str, _Step]]:
        """The steps from the far end of a trail, with the name that leads there, but for those that lead back."""
        last = trail.steps[-1]
        used = {step.memory.memory_id for step in trail.steps}
        been = {name for step in trail.steps for name in step.far}
        for name in last.far:
            for one in self._by_word.get(name.split()[0], []):
                if f" {name} " not in one.near or one.memory.memory_id in used or not been.isdisjoint(one.far):
                    continue
                if any(name != longer and f" {name} " in f" {longer} " for longer in one.whole):
                    continue  # "York" is not what "New York" is about
                if one.back == last.back or one.memory.property_name != last.memory.property_name:
                    yield name, one  # there and back by one relation leads to others of the same

    def _extended(self, trail: _Trail, one: _Step, name: str, told: Mapping[str, float]) -> _Trail | None:
        known = set(name.split())
        relation = [word for word in one.relation if word not in known]
        says = [weight * _says(word, relation) for word, weight in told.items()]
        said = tuple(map(max, trail.said, says))
        silent = trail.silent + (sum(said) - sum(trail.said) < _LEAST)
        if silent > 1 or (silent > trail.silent and (one.back or self._often[name] > _FEW)):
            return None
        steps = (*trail.steps, one)
        heard = [says[at] for at, weight in enumerate(told.values()) if weight == 1.0][:_HEAD]
        focus = sum(heard) / len(heard) if heard else 0.0
        prior = sum(_RANK / (1 + step.rank / 2) for step in steps) / len(steps)
        costs = _HOP * (len(steps) - 1) + _BACK * sum(step.back for step in steps) + _SILENT * silent
        return _Trail(steps, said, sum(said) / self._total + _FOCUS * focus + prior - costs, silent)

    def _weighed(self, told: Sequence[str]) -> dict[str, float]:
        """The words of the question with what each counts."""
        heard = {word: word not in _ANYTHING and any(_says(word, one.relation) for one in self._steps) for word in told}
        return {word: 1.0 if known else _UNHEARD for word, known in heard.items()}


def _says(word: str, relation: Sequence[str]) -> float:
    """How well a relation's words say what a word of the question does, 0..1."""
    if len(word) > 2 and word in initials(" ".join(relation)):
        return 0.9
    return likeness(word, relation)


def _steps(memory: Memory, rank: int) -> Iterator[_Step]:
    """Read a memory as a statement, from either end; none where it has no value or denies it."""
    content = memory.content
    if not memory.value or len(content) > _LONGEST or not _UNTOLD.isdisjoint(memory.flags) or is_chinese(content):
        return
    value, kind = core_of(memory.value)
    whole, inner = f" {' '.join(words(content))} ", " ".join(words(value))
    before, found, after = whole.rpartition(f" {inner} ")
    about = f"{before} | {after} " if found and inner else whole
    subject = " ".join(words(memory.entity_name))
    if subject and f" {subject} " not in about:
        about = f" {subject} |{about}"
    told = [*about.split(), *words(memory.property_name.replace("_", " ")), *words(kind)]
    far = _ends(value)
    # Any word may begin a sentence: in "Friends of Ulm" Ulm may be the only name.
    names = tuple(name for place, name in _written(content) if place or name.split()[1:2] != ["of"])
    if far:
        text = value if value[0].isupper() or far == [inner] else _tail(value)
        beside = [word for word in inner.split() if word not in far[-1].split()]
        yield _Step(memory, about, _relation([*told, *beside]), tuple(far), text, rank, False, names)
    if subject and inner and f" {subject} " in about:
        beside = [word for word in (*told, *inner.split()) if word not in subject.split()]
        yield _Step(memory, f" {inner} ", _relation(beside), (subject,), memory.entity_name, rank, True, names)


def _relation(told: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in told if word != "|" and word not in STOP_WORDS["english"]))


def _ends(value: str) -> list[str]:
    """The names that a value may go by where something is told of it: all of it, and the name at its end."""
    return list(dict.fromkeys(name for one in (value, _tail(value)) if (name := " ".join(words(one)))))


def _tail(value: str) -> str:
    """What stands at the end of a value like a name ("an oath to Bask": Bask), else behind its last preposition."""
    if value[:1].isupper():
        return value
    match = _NAME_AT_END.search(value) or _AFTER.search(value)
    return match["name"] if match else value


def _names(memory: Memory) -> list[str]:
    """What a question may call one of a memory's ends by: the entity's name, and what is written like a name."""
    own = " ".join(words(memory.entity_name))
    return list(dict.fromkeys(name for name in (own, *(name for _, name in _written(memory.content))) if name))


def _written(content: str) -> Iterator[tuple[int, str]]:
    """Yield what is written like a name, with its place."""
    for match in _NAME.finditer(content):
        name = " ".join(words(match[0]))
        if name and not _STOPS.issuperset(name.split()):
            yield match.start(), name


def topic_of(memory: Memory, several: frozenset[str]) -> tuple[str, str] | None:
    """Return the entity and the property whose value a memory tells, None where it tells none, or where the property's
    first word is among ``several``, which take many values at once."""
    if not memory.value or not memory.property_name or memory.property_name.split("_")[0] in several:
        return None
    return memory.entity_id or memory.entity_name.casefold(), memory.property_name

"""Two more gates for dreaming, in other styles than :mod:`support.dream_gate`: a group chat in the first person, and
Chinese; and a list of prose whose relations and forms the first gate has none of.

Truth follows from the seed. Memories are matched with what was said by their sources, whatever words they were given.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from support.dream_gate import USER, Figures

from mindmem.core.memory import Memory
from mindmem.core.records import Memory as Record
from mindmem.core.records import Partition

__all__ = ["Said", "Style", "chat", "chinese", "figures", "prose"]

_FIRST = "Ada Bram Cora Dirk Elsa Finn Greta Hugo Ines Jorn Kaja Lars Mona Nils Olga Piet Runa Sven Tilda Ulf".split()
_LAST = "Abel Brandt Corsen Dahl Eide Falk Gram Holt Iversen Juhl Krog Lund Moe Nord Opdal Piek Quist Rask".split()
_THINGS = (
    "Amber Birch Cedar Dune Ember Fjord Glade Heath Inlet Juniper Kelp Larch Marsh Nettle Osier Quarry Reed Sorrel"
).split()
_KINDS = "House Works Hall Mill Yard Lodge Tower Bridge".split()
_HOBBIES = (
    "chess jazz pottery skiing yoga origami fencing opera climbing knitting archery baking sailing judo karaoke polo"
).split()
_SIGNS = "安柏河云川谷岭松梅竹溪岩港林泉峰原野沙石"

_Forms = Mapping[str, Sequence[str]]
_ONE: _Forms = {
    "owner": ("The present owner of {S} is {V}.", "The owner of {S} is {V}."),
    "steward": ("The steward of {S} is {V}.", "{S}'s steward is {V}."),
    "architect": ("The architect of {S} is {V}.", "{S}'s architect is {V}."),
    "founder": ("The founder of {S} is {V}.", "{S} was founded by {V}.", "{S}'s founder is {V}."),
    "seat": ("{S} is headquartered in {V}.",), "patron": ("The patron of {S} is {V}.",),
    "colour": ("The house colour of {S} is {V}.",), "curator": ("The curator of {S} is {V}.", "{S}'s curator is {V}."),
    "insurer": ("{S} is insured with {V}.",), "lawyer": ("{S} is represented by {V}.",), "berth": ("{S} lies at {V}.",),
    "named": ("{S} takes its name from {V}.",), "runs": ("{S} is run by {V}.",), "home": ("{S} is housed in {V}.",),
}  # fmt: skip
_MANY: _Forms = {
    "visits": ("{S} has often visited {V}.", "{S} has visited {V}."),
    "supplier": ("One of the suppliers of {S} is {V}.",),
    "likes": ("{S} likes {V}.", "{S} is fond of {V}."), "sells": ("{S} sells {V}.",),
    "friend": ("{S} is friends with {V}.",), "speaks": ("{S} speaks {V}.", "{S} can speak {V}."),
    "pet": ("{S} has a cat named {V}.", "{S} also has a cat named {V}."), "won": ("{S} has won the {V} prize.",),
    "ally": ("An ally of {S} is {V}.",), "trades": ("{S} trades with {V}.",),
}  # fmt: skip
_ONE_MINE: _Forms = {
    "home": ("I live in {V}.", "I'm living in {V} now."), "work": ("I work at {V}.", "I work for {V}."),
    "dentist": ("My dentist is {V}.",), "landlord": ("My landlord is {V}.",), "boss": ("My boss is {V}.",),
    "locker": ("My locker number is {N}.",), "phone": ("My phone number is {N}.",),
    "colour": ("My favourite colour is {V}.",), "doctor": ("My doctor is {V}.",),
}  # fmt: skip
_MANY_MINE: _Forms = {
    "likes": ("I like {H}.", "I really enjoy {H}."), "plays": ("I play {H}.",), "dog": ("I have a dog named {V}.",),
    "friend": ("My friend {V} is great at {H}.",), "been": ("I went to {V} last week.",), "speaks": ("I speak {V}.",),
}  # fmt: skip
_ONE_CHINESE: _Forms = {
    "市长": ("{S}的市长是{V}。", "{S}现在的市长是{V}。"), "校长": ("{S}的校长是{V}。",), "总部": ("{S}的总部在{V}。",),
    "队长": ("{S}的队长是{V}。",), "住": ("{S}住在{V}。",),
}  # fmt: skip
_MANY_CHINESE: _Forms = {
    "喜欢": ("{S}喜欢{V}。", "{S}也喜欢{V}。"),
    "朋友": ("{S}有一个朋友叫{V}。",),
    "会": ("{S}会说{V}语。",),
}


@dataclass(frozen=True)
class Said:
    """A sentence, who said it, and what it says; ``current`` False where a later one says otherwise."""

    text: str
    speaker: str
    claim: tuple[str, str, str]
    functional: bool
    current: bool


@dataclass(frozen=True)
class Style:
    """What is said, in order, in messages: each the sentences of one person, and its day."""

    messages: tuple[tuple[int, tuple[Said, ...]], ...]

    @property
    def said(self) -> tuple[Said, ...]:
        """All sentences."""
        return tuple(one for _, some in self.messages for one in some)


def prose(seed: int, subjects: int = 14) -> Style:
    """Return lists of facts: 14 relations with one value at a time, 10 with several."""
    drawn = random.Random(seed)
    owner = _fresh(lambda: f"{drawn.choice(_THINGS)} {drawn.choice(_LAST)} {drawn.choice(_KINDS)}")
    value = _fresh(lambda: f"{drawn.choice(_FIRST)} {drawn.choice(_LAST)}{drawn.choice(_THINGS).lower()}")
    early, late = _told(drawn, _ONE, _MANY, [owner() for _ in range(subjects)], value, "")
    return _listed(early, late, 40)


def chinese(seed: int, subjects: int = 14) -> Style:
    """Return lists of Chinese facts: five relations with one value at a time, three with several."""
    drawn = random.Random(seed)
    owner, value = (_fresh(lambda size=size: "".join(drawn.sample(_SIGNS, size))) for size in (3, 2))
    early, late = _told(drawn, _ONE_CHINESE, _MANY_CHINESE, [owner() for _ in range(subjects)], value, "")
    return _listed(early, late, 40)


def chat(seed: int, people: int = 8) -> Style:
    """Return a group chat of many days, a sentence a message, each person of themselves."""
    drawn = random.Random(seed)
    value = _fresh(lambda: f"{drawn.choice(_LAST)}{drawn.choice(_THINGS).lower()}")
    early: list[Said] = []
    late: list[Said] = []
    for person in _FIRST[:people]:
        first, second = _told(drawn, _ONE_MINE, _MANY_MINE, [person], value, person)
        early += first
        late += second
    drawn.shuffle(early)
    drawn.shuffle(late)
    return Style(tuple((place, (one,)) for place, one in enumerate((*early, *late))))


def _told(
    drawn: random.Random, ones: _Forms, manys: _Forms, subjects: Sequence[str], value: Callable[[], str], speaker: str
) -> tuple[list[Said], list[Said]]:
    early: list[Said] = []
    late: list[Said] = []

    def say(forms: Sequence[str], name: str, subject: str, *, functional: bool, current: bool) -> Said:
        told = {
            "V": value(),
            "N": f"{drawn.randrange(200, 900)}-{drawn.randrange(1000, 9999)}",
            "H": drawn.choice(_HOBBIES),
        }
        form = drawn.choice(forms)
        key = told["N"] if "{N}" in form else told["H"] if "{H}" in form and "{V}" not in form else told["V"]
        return Said(form.format(S=subject, **told), speaker, (name, subject, key), functional, current)

    for name, forms in ones.items():
        for place, subject in enumerate(subjects):
            changed = (place + len(name) + (ord(speaker[0]) if speaker else 0)) % 2 == 0
            early.append(say(forms, name, subject, functional=True, current=not changed))
            if changed:
                late.append(say(forms, name, subject, functional=True, current=True))
    for name, forms in manys.items():
        for subject in subjects:
            told = {one.claim: one for one in (
                say(forms, name, subject, functional=False, current=True) for _ in range(drawn.choice((1, 2, 2, 3, 4)))
            )}  # fmt: skip
            for one in told.values():
                drawn.choice((early, late)).append(one)
    return early, late


def _listed(early: list[Said], late: list[Said], size: int) -> Style:
    drawn = random.Random(len(early))
    drawn.shuffle(early)
    drawn.shuffle(late)
    said = (*early, *late)
    return Style(tuple((start, said[start : start + size]) for start in range(0, len(said), size)))


def _fresh(make: Callable[[], str]) -> Callable[[], str]:
    """Return a maker of names that never gives one twice."""
    known: set[str] = set()

    def fresh() -> str:
        while (name := make()) in known:
            pass
        known.add(name)
        return name

    return fresh


def figures(style: Style, memory: Memory) -> Figures:
    """Tell all to an empty store, dream once, and compare with the truth."""
    begin = datetime(2026, 1, 1, 9, tzinfo=UTC)
    for number, some in style.messages:
        one = some[0]
        content = one.text if len(some) == 1 else "\n".join(f"* {each.text}" for each in some)
        message: dict[str, object] = {"role": "user", "content": content, "timestamp": begin + timedelta(hours=number)}
        memory.add(message | ({"name": one.speaker} if one.speaker else {}), user_id=USER)
    begun = time.monotonic()
    report = memory.dream(user_id=USER)
    made = Figures(seconds=time.monotonic() - begun, amcr=report.amcr, retention=report.scopes[0].retention)
    owner = Partition("default", USER)
    stored = memory.services.reader.memories(owner)
    told = _sayings(memory, style, stored)
    right = 0
    for edge in memory.services.reader.edges(owner, relation="RELATED_TO"):
        if edge.kind != "supersedes":
            continue
        made.pairs += 1
        newer, older = told[edge.src], told[edge.dst]
        made.many_superseded += any(not one.functional for one in older)
        same = {one.claim[:2] for one in newer} == {one.claim[:2] for one in older}
        if newer and older and same and all(one.current for one in newer) and not any(one.current for one in older):
            right += 1
        else:
            made.wrong.append(f"{[one.text for one in newer]} > {[one.text for one in older]}")
    standing = {one for row in stored if row.status == "active" for one in told[row.memory_id]}
    known = {one for row in stored for one in told[row.memory_id]}
    outdated = [one for one in style.said if not one.current and one in known]
    kept = [one for one in style.said if one.current and one in known]
    claims = {one.claim for one in standing}
    lost = [one for one in kept if one.claim not in claims]
    made.missed = [one.text for one in outdated if one in standing]
    made.precision = right / made.pairs if made.pairs else 1.0
    made.recall = 1 - len(made.missed) / len(outdated)
    made.false_archives = len(lost) / len(kept)
    made.ideal = len(outdated) / len(stored)
    made.wrong.extend(f"lost: {one.text}" for one in lost)
    return made


def _sayings(memory: Memory, style: Style, stored: Sequence[Record]) -> dict[str, set[Said]]:
    """Return what each memory rests on, by its sources."""
    owner = Partition("default", USER)
    wanted = sorted({source.message_id for row in stored for source in row.sources})
    messages = {message.message_id: message for message, _, _ in memory.services.reader.said(owner, wanted)}
    by_text = {(one.speaker, one.text): one for one in style.said}
    found: dict[str, set[Said]] = {}
    for row in stored:
        found[row.memory_id] = set()
        for source in row.sources:
            message = messages[source.message_id]
            text = message.content[source.start : source.end].lstrip("* ")
            speaker = message.name if message.name in _FIRST else ""
            for key, one in by_text.items():
                if key[0] == speaker and key[1].startswith(text):
                    found[row.memory_id].add(one)
    return found

"""A generated set for dreaming: invented subjects and values under 68 relations, half of the single-valued ones changed
later, in many sentence forms. Everything follows from the seed; nothing is taken from any published data.

Run it by itself for the figures: ``python tests/support/dream_gate.py --subjects 24 --seed 7``.
"""

import argparse
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mindmem.core.memory import Memory
from mindmem.core.records import Partition
from mindmem.core.settings import Settings

__all__ = ["Fact", "Figures", "Gate", "generate", "measure"]

USER = "gate"
_ONSETS = "b br d dr f fl g gr h k kl l m n p pr r s sk st t tr v z".split()
_VOWELS = "a e i o u ai ei ou".split()
_CODAS = "l m n r s t k nd rn lt sk".split()

# Functional relations: a noun, and which forms it takes. S is the subject, V the value.
_NOUNS = (
    "anthem", "mayor", "patron saint", "mascot", "harbour master", "chief engineer", "postal code", "twin town",
    "ferry operator", "motto", "captain", "home port", "registration number", "blood type", "locker number",
    "thesis supervisor", "landlord", "shoe size", "emblem", "head gardener", "first violin", "caretaker",
    "tide station",
    "main sponsor", "ringtone", "wake-up time", "bus line", "favourite tea", "night nurse", "radio frequency",
    "roof colour", "oldest tree", "call sign", "winter quarters",
)  # fmt: skip
_NOUN_FORMS = ("The {n} of {S} is {V}.", "{S}'s {n} is {V}.", "The {n} of {S} is now {V}.")
_AGENTS = (  # noun of the agent and its participle: two names of one relation
    ("designer", "designed"), ("conductor", "conducted"), ("restorer", "restored"), ("trainer", "trained"),
    ("organiser", "organised"), ("translator", "translated"), ("illustrator", "illustrated"), ("surveyor", "surveyed"),
)  # fmt: skip
_AGENT_FORMS = ("The {n} of {S} is {V}.", "{S} was {p} by {V}.", "{S}'s {n} is {V}.")
_STATES = (  # no word of the sentence says how many there may be: the corpus has to
    "{S} is moored at {V}.", "{S} is registered under {V}.", "{S} is stationed near {V}.", "{S} is named after {V}.",
    "{S} answers to {V}.", "{S} is twinned with {V}.", "{S} sails under {V}.", "{S} is kept in {V}.",
    "{S} is renowned for {V}.", "{S} is leased to {V}.",
)  # fmt: skip
_MANY = (
    ("{S} likes {V}.", "{S} really likes {V}."), ("{S} speaks {V}.", "{S} also speaks {V}."),
    ("{S} has a dog called {V}.", "{S} has another dog called {V}."), ("{S} has a cousin named {V}.",),
    ("{S} collects {V} stamps.",), ("{S} plays {V}.", "{S} can play {V}."), ("{S} knows {V}.",),
    ("One of the neighbours of {S} is {V}.",), ("{S} owns {V}.",), ("{S} enjoys {V}.", "{S} enjoys {V} a lot."),
    ("{V} is a friend of {S}.",), ("{S} has visited {V}.", "{S} has been to {V}."), ("{S} grows {V}.",),
    ("{S} reads {V}.",), ("{S} is a member of {V}.",), ("{S} has worked with {V}.",),
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One sentence and what it says; ``current`` False where a later one says otherwise."""

    text: str
    relation: str
    subject: str
    value: str
    functional: bool
    current: bool


@dataclass(frozen=True)
class Gate:
    """All facts in the order of telling, in messages."""

    facts: tuple[Fact, ...]
    messages: tuple[str, ...]


@dataclass
class Figures:
    """What came of a dream: all shares in 0..1."""

    pairs: int = 0
    precision: float = 0.0
    recall: float = 0.0
    many_superseded: int = 0
    false_archives: float = 0.0
    retention: float = 0.0
    amcr: float = 0.0
    ideal: float = 0.0
    seconds: float = 0.0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def generate(seed: int, subjects: int = 16, per_message: int = 60) -> Gate:
    """Return a gate of ``subjects`` for each of the 68 relations."""
    drawn = random.Random(seed)
    names: set[str] = set()

    def name(words: int) -> str:
        while True:
            made = " ".join(_word(drawn) for _ in range(words))
            if made not in names:
                names.add(made)
                return made

    early: list[Fact] = []
    late: list[Fact] = []
    functional = (
        *((noun, _NOUN_FORMS, {"n": noun}) for noun in _NOUNS),
        *((noun, _AGENT_FORMS, {"n": noun, "p": done}) for noun, done in _AGENTS),
        *((form, (form,), {}) for form in _STATES),
    )
    for relation, forms, words in functional:
        for number in range(subjects):
            subject, value = name(2), name(drawn.choice((1, 2)))
            changed = number % 2 == 0
            first = Fact(_say(drawn, forms, subject, value, words), relation, subject, value, True, not changed)
            early.append(first)
            if changed:
                value = name(drawn.choice((1, 2)))
                late.append(Fact(_say(drawn, forms, subject, value, words), relation, subject, value, True, True))
            elif number % 5 == 1:  # said again in other words
                late.append(Fact(_say(drawn, forms, subject, value, words), relation, subject, value, True, True))
    for forms in _MANY:
        for _ in range(subjects):
            subject = name(2)
            for _ in range(drawn.choice((1, 2, 2, 3, 4))):
                value = name(1)
                fact = Fact(_say(drawn, forms, subject, value, {}), forms[0], subject, value, False, True)
                drawn.choice((early, late)).append(fact)
    drawn.shuffle(early)
    drawn.shuffle(late)
    facts = [*early, *late]
    told = [facts[start : start + per_message] for start in range(0, len(facts), per_message)]
    return Gate(tuple(facts), tuple("\n".join(f"* {fact.text}" for fact in some) for some in told))


def _say(drawn: random.Random, forms: tuple[str, ...], subject: str, value: str, words: dict[str, str]) -> str:
    return drawn.choice(forms).format(S=subject, V=value, **words)


def _word(drawn: random.Random) -> str:
    syllables = drawn.choice((2, 2, 3))
    made = "".join(drawn.choice(_ONSETS) + drawn.choice(_VOWELS) for _ in range(syllables)) + drawn.choice(_CODAS)
    return made.capitalize()


def measure(gate: Gate, memory: Memory) -> Figures:
    """Tell the gate to an empty store, dream once, and compare with the truth."""
    for message in gate.messages:
        memory.add({"role": "user", "content": message}, user_id=USER)
    begun = time.monotonic()
    report = memory.dream(user_id=USER)
    figures = Figures(seconds=time.monotonic() - begun, amcr=report.amcr, retention=report.scopes[0].retention)
    by_text = {fact.text: fact for fact in gate.facts}
    owner = Partition("default", USER)
    texts = {one.memory_id: one.content for one in memory.services.reader.memories(owner)}
    status = {one.memory_id: one.status for one in memory.services.reader.memories(owner)}
    right = 0
    for edge in memory.services.reader.edges(owner, relation="RELATED_TO"):
        if edge.kind != "supersedes":
            continue
        newer, older = by_text.get(texts[edge.src]), by_text.get(texts[edge.dst])
        figures.pairs += 1
        if newer is None or older is None:
            figures.wrong.append(f"{texts[edge.src]} > {texts[edge.dst]}")
            continue
        figures.many_superseded += not older.functional
        same = (newer.relation, newer.subject) == (older.relation, older.subject)
        if same and not older.current and newer.current:
            right += 1
        else:
            figures.wrong.append(f"{newer.text} > {older.text}")
    outdated = [fact for fact in gate.facts if not fact.current]
    active = {texts[name] for name, state in status.items() if state == "active"}
    said = {(by_text[text].relation, by_text[text].subject, by_text[text].value) for text in active if text in by_text}
    gone = [fact for fact in outdated if fact.text not in active]
    kept = [fact for fact in gate.facts if fact.current]
    lost = [fact for fact in kept if (fact.relation, fact.subject, fact.value) not in said]
    figures.precision = right / figures.pairs if figures.pairs else 1.0
    figures.recall = len(gone) / len(outdated)
    figures.false_archives = len(lost) / len(kept)
    figures.ideal = len(outdated) / len(status)
    figures.missed = [fact.text for fact in outdated if fact.text in active]
    figures.wrong.extend(f"lost: {fact.text}" for fact in lost)
    return figures


def store(home: Path, embedder: str = "none") -> Memory:
    """Open a store that leaves everything to the dream, whose guards let it."""
    settings = Settings.load(
        {}, home=home, embedder=embedder, ingest={"resolve_updates": False, "resolve_merges": False},
        dream={"min_age_hours": 0, "cap": 1.0}, store={"fold_on_close": False},
    )  # fmt: skip
    return Memory(settings=settings)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--subjects", type=int, default=16)
    parser.add_argument("--embedder", default="none")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, store(Path(folder), given.embedder) as memory:
        figures = measure(generate(given.seed, given.subjects), memory)
    for name, value in vars(figures).items():
        print(name, len(value) if isinstance(value, list) else value)  # noqa: T201 (it is run by hand)
    for text in (*figures.wrong[:25], "--", *random.Random(0).sample(figures.missed, min(40, len(figures.missed)))):
        print("   ", text)  # noqa: T201


if __name__ == "__main__":
    _main()

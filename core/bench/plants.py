"""Plants: facts that were made up and are told twice, once more in other words or later with another value.

They are told by a dialogue's own speakers, in sentence forms and of things of our own; values are made of syllables.
Everything follows from the seed.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Plant", "plants"]

_ONSETS: Final = "b br d dr f fl g gl h k l m n p pr r s st t tr v z".split()
_VOWELS: Final = "a e i o u ai ou".split()
_CODAS: Final = "l m n r s t k nd lt".split()
_ONE_AT_A_TIME: Final = (
    "dentist", "landlord", "accountant", "bus driver", "piano teacher", "choir conductor", "shift supervisor", "vet",
    "locksmith", "team captain", "house number", "locker number", "wifi password", "phone model", "bike brand",
    "savings bank", "internet provider", "insurance company", "allotment number", "favorite tea", "favorite comic",
    "badge colour", "library branch", "ringtone", "evening class", "tailor", "barber", "parking spot",
)  # fmt: skip
_CHANGES: Final = (
    ("My {what} is {value}.", "My {what} is {value} now."),
    ("My {what} is {value}.", "My new {what} is {value}."),
    ("{value} is my {what}.", "Now my {what} is {value}."),
    ("My {what} is {value}.", "My {what} isn't {before} any more, it's {value}."),
)
"""How a value is told, and the one that takes its place."""
_KEPT: Final = (
    "godmother", "godfather", "math tutor", "cello", "canoe", "parrot", "tortoise", "goldfish", "pony", "kayak",
    "sewing machine", "telescope", "typewriter", "sailboat", "greenhouse", "caravan", "tuba", "unicycle",
)  # fmt: skip
_SAYINGS: Final = (
    ("My {what} is called {value}.", "My {what}'s name is {value}."),
    ("I have a {what} called {value}.", "I have a {what} named {value}."),
    ("My {what} is {value}.", "{value} is my {what}."),
    ("I own a {value} {what}.", "I have a {value} {what}."),
    ("I like {value} {what}s.", "I really like {value} {what}s."),
    ("I enjoy {value} tea.", "I love {value} tea."),
    ("I collect {value} stamps.", "I'm collecting {value} stamps."),
    ("I go to {value} Gym.", "I always go to {value} Gym."),
)
"""Two ways to tell the same."""


@dataclass(frozen=True, slots=True)
class Plant:
    """Two sayings of one speaker, the second at a later time: in other words the same, or what is so now."""

    kind: Literal["paraphrase", "superseded"]
    speaker: str
    first: str
    second: str


def plants(speakers: Sequence[str], number: int, seed: int) -> list[Plant]:
    """Return ``number`` plants, half of each kind, spread over the speakers; a speaker has one of a thing.

    >>> plants(["Ann"], 2, seed=7) == plants(["Ann"], 2, seed=7)
    True
    """
    drawn = random.Random(seed)
    things = {(speaker, kind): _shuffled(names, drawn) for speaker in speakers for kind, names in _THINGS}
    made = []
    for place in range(number):
        speaker, kind = speakers[place % len(speakers)], _THINGS[place // len(speakers) % 2][0]
        what = next(things[speaker, kind])
        before, after = _name(drawn), _name(drawn)
        if kind == "superseded":
            form, later = drawn.choice(_CHANGES)
            first, second = form.format(what=what, value=before), later.format(what=what, value=after, before=before)
        else:
            first, second = (form.format(what=what, value=before) for form in drawn.choice(_SAYINGS))
        made.append(Plant(kind, speaker, first, second))
    return made


_THINGS: Final[tuple[tuple[Literal["paraphrase", "superseded"], tuple[str, ...]], ...]] = (
    ("superseded", _ONE_AT_A_TIME),
    ("paraphrase", _KEPT),
)


def _shuffled(names: Sequence[str], drawn: random.Random) -> Iterator[str]:
    """Yield the names in a random order, then again, of a second one each."""
    for word in ("", "second ", "third ", "fourth "):
        yield from (word + name for name in drawn.sample(names, len(names)))


def _name(drawn: random.Random) -> str:
    syllables = "".join(drawn.choice(_ONSETS) + drawn.choice(_VOWELS) for _ in range(2))
    return (syllables + drawn.choice(_CODAS)).capitalize()

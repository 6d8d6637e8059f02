"""A made-up world of plain statements, some contradicted by later ones, and questions over chains of them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Asked", "World", "singles", "world"]

# kind of subject, kind of object, how it is told, how a question asks for it of something described by {}
_RELATIONS: Sequence[tuple[str, str, str, str]] = (
    ("vessel", "captain", "{s} sails under the command of {o}.", "the commander of {}"),
    ("captain", "harbour", "{s} grew up near the harbour of {o}.", "the harbour near which {} grew up"),
    ("captain", "guild", "{s} swore an oath to {o}.", "the guild that {} swore an oath to"),
    ("guild", "harbour", "{o} hosts the main hall of {s}.", "the harbour that hosts the main hall of {}"),
    ("guild", "dish", "Members of {s} traditionally eat {o}.", "the traditional food of {}"),
    ("dish", "herb", "{s} gets its flavour from {o}.", "the herb that flavours {}"),
    ("harbour", "island", "{s} lies on the island {o}.", "the island of {}"),
    ("island", "ruler", "{o} rules over {s}.", "the ruler of {}"),
    ("ruler", "hound", "{s} keeps a hound named {o}.", "the hound kept by {}"),
    ("herb", "island", "{s} first sprouted on {o}.", "the place where {} first sprouted"),
    ("ruler", "guild", "{s} pays tribute to {o}.", "the guild that receives tribute from {}"),
)
_SMALL = frozenset({"dish", "herb"})
_FRAMES = ("What is {}?", "Tell me {}.", "Can you name {}?", "Which one is {}?")
_BEGINS = "ba dro fen gil hu jor kal lem mir nos ost pra qui ras sul tam ul vor wen yar zel".split()
_ENDS = "da lin mund nor pia quen rath sen tor vik wyn dur lo mar".split()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the numbers of the statements that lead to its answer, and the answer."""

    text: str
    facts: tuple[int, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class World:
    """Statements in the order in which they are told, questions, and the number and value of the latest statement by
    relation and subject."""

    statements: tuple[str, ...]
    questions: tuple[Asked, ...]
    latest: Mapping[tuple[int, str], tuple[int, str]]


def world(seed: int, *, each: int = 14, questions: int = 60, contradicted: float = 0.35) -> World:
    """Return a world with ``each`` things of a kind; that share of the statements is contradicted by a later one."""
    chance = random.Random(seed)
    things = _things(chance, each)
    told: list[tuple[int, str]] = []  # relation, subject, in order
    statements: list[str] = []
    latest: dict[tuple[int, str], tuple[int, str]] = {}
    claims = [(place, one) for place, relation in enumerate(_RELATIONS) for one in things[relation[0]]]
    chance.shuffle(claims)
    again = chance.sample(claims, int(len(claims) * contradicted))
    for place, subject in [*claims, *again]:
        _, kind, form, _ = _RELATIONS[place]
        other = chance.choice([one for one in things[kind] if one != latest.get((place, subject), (0, ""))[1]])
        latest[place, subject] = len(statements), other
        statements.append(form.format(s=subject, o=other))
        told.append((place, subject))
    asked = tuple(_asked(chance, things, latest) for _ in range(questions))
    return World(tuple(statements), asked, latest)


def singles(made: World, seed: int, number: int = 60) -> tuple[Asked, ...]:
    """Return questions that one statement answers."""
    chance = random.Random(seed)
    drawn = chance.sample(sorted(made.latest.items()), number)
    return tuple(
        Asked(chance.choice(_FRAMES).format(_RELATIONS[place][3].format(subject)), (fact,), value)
        for (place, subject), (fact, value) in drawn
    )


def _asked(
    chance: random.Random, things: dict[str, list[str]], latest: dict[tuple[int, str], tuple[int, str]]
) -> Asked:
    kind = chance.choice(["vessel", "captain", "guild", "dish", "ruler"])
    subject = chance.choice(things[kind])
    said, facts = subject, []
    for _ in range(chance.choice([2, 2, 2, 3, 4])):
        place = chance.choice([at for at, relation in enumerate(_RELATIONS) if relation[0] == kind] or [-1])
        if place < 0:
            break
        number, subject = latest[place, subject]
        facts.append(number)
        kind, said = _RELATIONS[place][1], _RELATIONS[place][3].format(said)
    return Asked(chance.choice(_FRAMES).format(said), tuple(facts), subject)


def _things(chance: random.Random, each: int) -> dict[str, list[str]]:
    names = [f"{one}{other}" for one in _BEGINS for other in _ENDS]
    chance.shuffle(names)
    kinds = sorted({kind for relation in _RELATIONS for kind in relation[:2]})
    found: dict[str, list[str]] = {}
    for kind in kinds:
        some = [names.pop() for _ in range(each)]
        found[kind] = [name if kind in _SMALL else name.capitalize() for name in some]
    return found

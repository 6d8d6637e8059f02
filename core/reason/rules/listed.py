"""Lists of plain statements, such as a pasted page of facts: each item is a claim of its own.

A message that lists facts is not told by anybody about themselves, and nobody asks for all of it at once: kept whole it
would be found for every question and answer none. So items that :mod:`statements_en` leaves unread are kept one by one,
with subject, property and value where the first finite verb parts them, else in their own words alone.
"""

import re
from dataclasses import dataclass
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.phrases_en import snake
from mindmem.core.reason.rules.sentences import Sentence

__all__ = ["Item", "is_list", "read_item"]

_LEAST: Final = 8
"""Items that make a list; fewer lines are how people write."""
_SHARE: Final = 0.9
_MARKED: Final = re.compile(r"\s*(?:[-*•·]|\(?\d{1,6}[.)])\s+\S.*")
_ENDED: Final = re.compile(r"\s*\S.*[.;。；]\s*")
_PERSONAL: Final = re.compile(r"\b(?:i|me|my|we|us|our|you|your)\b|[?？]|[我你您]", re.IGNORECASE)
_TELLS: Final = re.compile(r"(?:\S+\s+){2,}\S|[\u4e00-\u9fff]{4}")
_WORD: Final = re.compile(r"\S+")
_COPULAS: Final = frozenset("is are was were".split())
_LIGHT: Final = frozenset("of the de la van von der du da and & for in at on to a an first".split())
_ARTICLES: Final = frozenset("the a an".split())
_JOINING: Final = lexicon.PREPOSITIONS | {"as", "by", "of", "than"}
_OFFICE: Final = re.compile(
    r"The (?P<office>[A-Z][\w-]+(?: [A-Z][\w-]+)*) of (?P<where>(?:the )?[A-Z].*?) (?:is|was) (?P<who>[A-Z].*)"
)
_MOST: Final = 12
"""Words among which a sentence's verb is looked for."""


@dataclass(frozen=True, slots=True)
class Item:
    """What one item says: subject, snake_case property and value; empty where it has no such form."""

    entity: str = ""
    property_name: str = ""
    value: str = ""


def is_list(text: str) -> bool:
    """Return whether a text is a list of statements: many lines, nearly all of them whole items about other things than
    the speaker and whom they speak to.

    >>> is_list("\\n".join(f"{n}. Rivers of kind {n} flow south." for n in range(9))), is_list("I moved.\\nI like it.")
    (True, False)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < _LEAST:
        return False
    items = sum(
        (_MARKED.fullmatch(line) or _ENDED.fullmatch(line)) is not None
        and _TELLS.search(line) is not None
        and _PERSONAL.search(line) is None
        for line in lines
    )
    return items >= _SHARE * len(lines)


def read_item(sentence: Sentence) -> Item:
    """Return subject, property and value of a plain English sentence, an empty item where no verb parts it.

    >>> read_item(Sentence("curling was invented in Scotland.", 0, 33))
    Item(entity='curling', property_name='invented_in', value='Scotland')
    >>> read_item(Sentence("Tolva rowing club is based in Arnstad.", 0, 38))
    Item(entity='Tolva rowing club', property_name='based_in', value='Arnstad')
    """
    if (titled := _OFFICE.fullmatch(sentence.text.rstrip(" .;!"))) and _is_name(titled["who"]):
        return Item(titled["where"], snake(titled["office"].lower().split()), titled["who"])
    words = _WORD.findall(sentence.text.rstrip(" .;!"))
    low = [word.lower() for word in words]
    described = len(words) > 2 and low[0] in _ARTICLES and words[1].islower()
    verb = _equating(words, low) if described else _first_verb(words, low)
    if not 0 < verb < len(words) - 1:
        return Item()
    if described and low[verb] in _COPULAS:
        return _description(words, verb)
    subject = words[:verb]
    while len(subject) > 1 and subject[-1].islower() and _is_light(low[len(subject) - 1]):
        subject.pop()
    entity, owned = _owner(subject)
    place = verb + 1
    said = [] if low[verb] in _COPULAS else [low[verb]]
    if low[verb] in _COPULAS and not owned:
        place += low[place] in _ARTICLES
        while place < len(words) - 1 and words[place].islower() and low[place] not in _ARTICLES | _JOINING:
            said.append(low[place])
            place += 1
    while said and place < len(words) - 1 and low[place] in _JOINING:
        said.append(low[place])
        place += 1
    name = snake(owned or said)
    return Item(entity, name, " ".join(words[place:])) if name else Item()


def _first_verb(words: list[str], low: list[str]) -> int:
    """Return where the first finite verb stands: a form of "be", else the first plain word after the subject's name."""
    near = range(1, min(len(words), _MOST))
    copula = next((at for at in near if low[at] in _COPULAS), 0)
    name = 0
    if not words[0].islower():
        name = next((at for at, word in enumerate(words) if not word.islower() and low[at] not in _ARTICLES), 0)
    owned = any(word.endswith(("'s", "’s")) for word in words[: copula or 0])
    plain = next(
        (at for at in near if at > name and words[at].islower() and words[at].isalpha() and not _is_light(low[at])), 0
    )
    if words[0].islower() or owned or not plain or (copula and _names_on(low[plain:copula])):
        return copula or plain
    return min(copula, plain) if copula else plain


def _names_on(between: list[str]) -> bool:
    """Return whether what stands between a name and "is" is a noun that belongs to it ("the Tolva rowing club is")."""
    if not between or not _JOINING.isdisjoint(between) or not _ARTICLES.isdisjoint(between):
        return False
    verbal = between[0].endswith(("s", "ed")) or between[0] in lexicon.IRREGULAR_PAST
    return len(between) == 1 or not verbal


def _is_name(text: str) -> bool:
    """Whether a text is written like a name throughout; "The Quay of Storms is Ann's novel" names nobody."""
    return all(not word[0].islower() or word in _LIGHT for word in text.split())


def _is_light(word: str) -> bool:
    return word in _LIGHT or word in lexicon.ADVERBS or word.endswith("ly")


def _equating(words: list[str], low: list[str]) -> int:
    """Return where "is" joins a description ("the town where X was raised") with what fits it."""
    found = [at for at in range(2, len(words) - 1) if low[at] in _COPULAS and not low[at + 1].endswith(("ed", "ing"))]
    return found[-1] if found else _first_verb(words, low)


def _description(words: list[str], verb: int) -> Item:
    """Read "the N … X … is Y": the name in it is what the rest tells of."""
    named = [at for at in range(1, verb) if not words[at].islower()]
    value = " ".join(words[verb + 1 :])
    if not named:
        return Item(" ".join(words[1:verb]), "is", value)
    first, last = named[0], named[-1]
    rest = [word.lower() for word in (*words[1:first], *words[last + 1 : verb])]
    kept = [word for word in rest if word not in _ARTICLES | _COPULAS | {"of", "that", "which", "who", "where", "in"}]
    return Item(" ".join(words[first : last + 1]), snake(kept), value) if kept else Item()


def _owner(words: list[str]) -> tuple[str, list[str]]:
    """Part "X's child" into the owner and what of theirs is told."""
    for at, word in enumerate(words[:-1]):
        if word.endswith(("'s", "’s")):
            return " ".join([*words[:at], word[:-2]]), [one.lower() for one in words[at + 1 :]]
    return " ".join(words), []

"""Whom a question asks about: the one known person that it names."""

import re
from collections.abc import Iterable
from typing import Final

from mindmem.core.index.port import People
from mindmem.core.text import STOP_WORDS, normalise_name, words

__all__ = ["subject_of"]

_POSSESSIVE: Final = re.compile(r"(?:'s|s'|')$")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_COMMON: Final = STOP_WORDS["english"] | frozenset(
    "will may mark hope grace joy rose june april august art bill sunny".split()
)
"""Words that are names as well: they count as names only where they are written like one."""


def subject_of(query: str, people: People) -> str:
    """Return the normalised name of the one person that the question names, the empty string for none or several.

    Speakers go before other persons: "What does Ann's daughter Lucy like?" asks Ann's memories, where both are known
    and only Ann speaks. A first name stands for a full one when it is the only such person.

    >>> subject_of("Where does Ann's sister live?", People(frozenset({"ann", "bob"}), frozenset()))
    'ann'
    >>> subject_of("Where did Ann meet Bob?", People(frozenset({"ann", "bob"}), frozenset()))
    ''
    """
    asked = _asked(query)
    for names in (people.speakers, people.others):
        named = {*_named(asked, names), *_within(query, names)}
        if named:
            return named.pop() if len(named) == 1 else ""
    return ""


def _asked(query: str) -> frozenset[str]:
    """Return the question's words that may be names, normalised, possessive endings off as a second form."""
    written = {word.casefold() for word in re.findall(r"(?<!^)(?<![.!?] )\b[^\W\d_]+", query) if word[:1].isupper()}
    found: set[str] = set()
    for word in words(query):
        for form in {word, _POSSESSIVE.sub("", word)}:
            if form not in _COMMON or form in written:
                found.update(normalise_name(form).split())
    return frozenset(found)


def _named(asked: frozenset[str], names: Iterable[str]) -> list[str]:
    """Return the named persons, a name that is part of another one folded into the longer."""
    full = [name for name in names if asked.issuperset(name.split())]
    if not full:
        full = [name for name in names if len(name.split()) > 1 and name.split()[0] in asked]
    return [name for name in full if not any(set(name.split()) < set(other.split()) for other in full)]


def _within(query: str, names: Iterable[str]) -> list[str]:
    """Return the Chinese, Japanese or Korean names that stand in the question, where no space parts words."""
    text = normalise_name(query)
    found = [name for name in names if _UNSPACED.search(name) and name in text]
    return [name for name in found if not any(name != other and name in other for other in found)]

"""Sentences that differ in nothing but a denial, whoever tells them: "I don't live in Oslo", "Eva lives in Oslo"."""

import re
from typing import Final

from mindmem.core.language.words import stem, words

__all__ = ["at_odds", "opposed"]

_DENIALS: Final = frozenset("not never 不 没".split())
_UNSAID: Final = frozenset("a an the am is are do does have has 有 了 再 已 经".split())
"""Words that a denial brings along, or that change with the person."""
_OVER: Final = re.compile(r"\bno longer\b", re.IGNORECASE)
_ANY_MORE: Final = re.compile(r"\bany ?more\b|\bany longer\b", re.IGNORECASE)
_PERSONS: Final[dict[str, tuple[str, ...]]] = {"i": (), "me": (), "my": ("s",), "我": ()}
"""Words for who speaks, and what follows the name in their place."""
_CLAUSES: Final = re.compile(r"[,;，；。]\s*(?:(?:and|but|yet)\s+|而且|但是?)?|\s+(?:and|but|yet)\s+", re.IGNORECASE)


def opposed(one: str, other: str, speaker: str) -> bool:
    """Return whether one of two sentences denies what the other says, in the same words in the same order.

    Args:
        speaker: who says "I" in them.

    >>> opposed("I don't live in Oslo any more.", "Eva lives in Oslo.", "Eva")
    True
    >>> opposed("I don't live in Oslo in winter.", "Eva lives in Oslo.", "Eva")
    False
    """
    (said, denied), (known, known_denied) = _read(one, speaker), _read(other, speaker)
    return len(said) > 1 and said == known and denied + known_denied == 1


def at_odds(statement: str) -> bool:
    """Return whether a statement says something and denies it.

    >>> at_odds("I live in Oslo and I don't live in Oslo."), at_odds("I like tea and I don't like milk.")
    (True, False)
    """
    clauses = _CLAUSES.split(statement)
    return any(opposed(one, other, "user") for place, one in enumerate(clauses) for other in clauses[:place])


def _read(text: str, speaker: str) -> tuple[tuple[str, ...], int]:
    """Return the stems that tell what is said or denied, and how many denials there are."""
    found = words(_ANY_MORE.sub(" ", _OVER.sub("not", text)))
    denials = sum(word in _DENIALS for word in found)
    names = words(speaker)
    said: list[str] = []
    for word in found:
        if word in _PERSONS:
            said += [*map(stem, names), *_PERSONS[word]]
        elif word not in _DENIALS and word not in _UNSAID:
            said.append(stem(word))
    return tuple(said), denials

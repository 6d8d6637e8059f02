"""Check and normalise a question before anything looks at it."""

import unicodedata
from typing import Final

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.text import words

__all__ = ["MAX_QUERY", "normalise_query", "says_something"]

MAX_QUERY: Final = 100_000
"""Longest question, in characters."""


def normalise_query(query: str) -> str:
    """Return the question with lone surrogates and NULs out and outer space stripped.

    Raises:
        InvalidInput: it is not a string, is blank, or is longer than :data:`MAX_QUERY`.
    """
    if not isinstance(query, str):
        raise InvalidInput(f"query must be a string, got {type(query).__name__} {bounded(query)}.", field="query")
    if len(query) > MAX_QUERY:
        raise InvalidInput(f"query has {len(query)} characters; at most {MAX_QUERY} are allowed.", field="query")
    kept = "".join(character for character in query if character != "\0" and unicodedata.category(character) != "Cs")
    if not kept.strip():
        raise InvalidInput("query is empty: ask something, or use list() to see all memories.", field="query")
    return kept.strip()


def says_something(query: str) -> bool:
    """Return whether a question holds a word, a number or a symbol that can be found, not bare punctuation.

    >>> says_something("`|/ ..."), says_something("42"), says_something("カフェ")
    (False, True, True)
    """
    return bool(words(query))

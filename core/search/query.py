"""Check and normalise a question before anything looks at it."""

import unicodedata
from typing import Final

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.text import STOP_GRAMS, STOP_WORDS, stop_words, words

__all__ = ["MAX_QUERY", "normalise_query", "says_something"]

MAX_QUERY: Final = 100_000
"""Longest question, in characters."""
_QUOTATION: Final = 4
"""So many stop words in a row may be words that somebody said, to be found as they stand."""


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
    """Return whether a question holds a word, a number or a symbol that can be found.

    Bare punctuation and a few stop words say nothing; a longer run of stop words may be a quotation.

    >>> says_something("`|/ ..."), says_something("of the"), says_something("42"), says_something("to be or not to be")
    (False, False, True, True)
    """
    found = words(query)
    if len(found) >= _QUOTATION:
        return True
    # A single word is read as English, since "war" and "die" are stop words elsewhere.
    listed = STOP_WORDS["english"] if len(found) == 1 and found[0].isascii() else stop_words(found)
    return not all(word in listed or _light(word) for word in found)


def _light(word: str) -> bool:
    return word in STOP_GRAMS or (len(word) < _QUOTATION and all(sign in STOP_GRAMS for sign in word))

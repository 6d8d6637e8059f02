"""The part of a long memory that a question is about, for a prompt that can't hold all of it."""

import re
from typing import Final

from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.text import query_terms, terms

__all__ = ["excerpt"]

_PIECE: Final = re.compile(r"\S+\s*|\s+")
_MAX_PIECE: Final = 40
"""Longest piece, in characters: text without spaces is cut too."""
_LIGHT: Final = 0.2
"""Query terms of less weight don't say what a question is about."""


def excerpt(text: str, query: str, tokens: int) -> str:
    """Return a text of at most about ``tokens``: whole, or the stretch with the most of the query's words, marked "…".

    >>> excerpt("one two three four five six seven eight", "Where is seven?", 3)
    '… seven …'
    """
    estimate = estimate_tokens(text)
    if estimate <= tokens:
        return text
    size = max(1, len(text) * tokens // estimate - 4)
    pieces = _pieces(text)
    wanted = {term: weight for term, weight in query_terms(query).items() if weight > _LIGHT}
    said = {piece: sum(wanted.get(term.text, 0.0) for term in terms(piece)) for piece in set(pieces)}
    weights = [said[piece] for piece in pieces]
    first, last = _best(pieces, weights, size)
    cut = "".join(pieces[first:last]).strip()
    return f"{'… ' if first else ''}{cut}{' …' if last < len(pieces) else ''}"


def _pieces(text: str) -> list[str]:
    found = _PIECE.findall(text)
    return [piece[at : at + _MAX_PIECE] for piece in found for at in range(0, len(piece), _MAX_PIECE)]


def _best(pieces: list[str], weights: list[float], size: int) -> tuple[int, int]:
    """Return the stretch of pieces, at most ``size`` characters, that weighs most: the first one, put in its middle."""
    best, found, first, length, weight = -1.0, (0, 1), 0, 0, 0.0
    for last, piece in enumerate(pieces):
        length += len(piece)
        weight += weights[last]
        while length > size and first < last:
            length -= len(pieces[first])
            weight -= weights[first]
            first += 1
        if weight > best + 1e-9:
            best, found = weight, (first, last + 1)
    if best <= 0:
        return _grown(pieces, 0, 1, size)
    held = [place for place in range(*found) if weights[place] > 0]
    return _grown(pieces, held[0], held[-1] + 1, size)


def _grown(pieces: list[str], first: int, last: int, size: int) -> tuple[int, int]:
    """Widen a stretch on both sides while it is at most ``size`` characters long."""
    left = size - sum(map(len, pieces[first:last]))
    while left > 0:
        before, after = (len(pieces[first - 1]) if first else 0), (len(pieces[last]) if last < len(pieces) else 0)
        if first and before <= left:
            first, left = first - 1, left - before
        if last < len(pieces) and after <= left:
            last, left = last + 1, left - after
        elif not first or before > left:
            break
    return first, last

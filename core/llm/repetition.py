"""Notice a model that went round in circles: the same words again and again until the end of its reply."""

from typing import Final

__all__ = ["loop_start"]

_TAIL: Final = 4_000
"""Characters of the end that are looked at; a loop of a longer unit runs into the output limit, which shows."""
_TIMES: Final = 6
_LENGTH: Final = 400
"""A loop is the same unit at least so many times, and so many characters in all: people do write "ha ha ha"."""
_CLOSING: Final = "]}\"'`, \t\r\n"


def loop_start(text: str) -> int | None:
    """Return where a text that ends in a loop should be cut, so that one occurrence of its unit is left; None: no loop.

    What closes a reply (brackets, quotes, a fence) may follow the last, perhaps unfinished occurrence.

    >>> text = '{"facts": ["one", ' + '"the same", ' * 60
    >>> text[: loop_start(text)]
    '{"facts": ["one", "the same", "the sam'
    >>> loop_start("A reply as it should be.") is None
    True
    """
    body = text.rstrip(_CLOSING)
    tail = body[-_TAIL:]
    unit, length = _period(tail[::-1])
    if not unit:
        return None
    start = len(body) - length
    while start > 0 and body[start - 1] == body[start - 1 + unit]:
        start -= 1
    # Where a unit begins can't be told from a loop: two of them hold one whole.
    return start + 2 * unit


def _period(text: str) -> tuple[int, int]:
    """Return unit and length of the longest beginning of ``text`` that is one unit over and over; (0, 0): none.

    The borders of all beginnings are Knuth, Morris and Pratt's; a beginning with a border repeats what the border
    leaves out.
    """
    borders = [0] * len(text)
    border = 0
    found = (0, 0)
    for place in range(1, len(text)):
        while border and text[place] != text[border]:
            border = borders[border - 1]
        if text[place] == text[border]:
            border += 1
        borders[place] = border
        length = place + 1
        unit = length - border
        if length >= _LENGTH and length >= unit * _TIMES:
            found = (unit, length)
    return found

"""Two sentences that say the same and go on differently, as one sentence; only where nothing can be misread."""

import re
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.sentences import is_chinese

__all__ = ["joined"]

_WORD: Final = re.compile(r"\S+")
_LONGEST: Final = 160
"""Characters of a joined sentence at most."""
_LEAST: Final = 3
"""Words that both sentences begin with at least: who, what they do, and what with."""


def joined(one: str, other: str) -> str:
    """Return the sentence that says what both do, empty where they can't be joined safely.

    Both must begin alike and go on with one phrase each, led by two different prepositions.

    >>> joined("Ann works at Acme as a nurse.", "Ann works at Acme in Bergen.")
    'Ann works at Acme as a nurse in Bergen.'
    >>> joined("Ann works at Acme.", "Ann works at Initech.")
    ''
    """
    if is_chinese(one + other) or len(one) + len(other) > _LONGEST:
        return ""
    first, second = (_WORD.findall(text.rstrip(" .!")) for text in (one, other))
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    tails = first[shared:], second[shared:]
    if shared < _LEAST or not all(len(tail) > 1 and tail[0] in lexicon.PREPOSITIONS for tail in tails):
        return ""
    goes_on = lexicon.CUT | {"and", "or", "not"}
    if any(word.lower() in goes_on or word.endswith((",", ";")) for word in (*tails[0], *tails[1])):
        return ""
    led = [word for tail in tails for word in tail if word in lexicon.PREPOSITIONS]
    if len(led) != 2 or first[shared - 1] in lexicon.PREPOSITIONS:
        return ""
    return " ".join((*first, *tails[1])) + "."

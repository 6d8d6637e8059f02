"""A cheap estimate of how many tokens a language model will see in a text."""

from typing import Final

__all__ = ["estimate_tokens"]

_LATIN_PER_TOKEN: Final = 3.6
"""Characters of a token in English prose; on the safe side of the usual four."""
_OTHER_PER_TOKEN: Final = 1.2
"""Characters of a token in CJK and other scripts."""


def estimate_tokens(text: str) -> int:
    """Return the estimate, rounded up; 0 for an empty text.

    >>> estimate_tokens(""), estimate_tokens("hello world"), estimate_tokens("我喜欢")
    (0, 4, 3)
    """
    if text.isascii():
        return -int(-len(text) // _LATIN_PER_TOKEN)
    other = sum(character > "\u024f" for character in text)
    return -int(-((len(text) - other) / _LATIN_PER_TOKEN + other / _OTHER_PER_TOKEN) // 1)

"""How a question is put: by a request instead of a question word, for one of a kind or for all of them."""

import re
from typing import Final

__all__ = ["asks_for_one", "unrequested"]

_REQUESTED: Final = re.compile(
    r"^\s*(?:please )?(?:(?:can|could|would|will) you (?:please )?(?:tell(?: me)?|name|say|list|remind me of)"
    r"|tell me(?: about)?|name|do you (?:know|remember|recall))\s+(?=the |wh|how )",
    re.IGNORECASE,
)
"""How one asks for something without a question word."""
_OF_A_KIND: Final = re.compile(
    r"\b(?:what|which)\s+(?:[a-z]+\s+)?(?P<noun>[a-z]+)\s+(?:does|do|did|is|was|has|can)\b", re.IGNORECASE
)


def unrequested(question: str) -> str:
    """Return a question without the words that only request an answer.

    >>> unrequested("Can you tell me the captain of the Tern?")
    'the captain of the Tern?'
    """
    return _REQUESTED.sub("", question) or question


def asks_for_one(question: str) -> bool:
    """Return whether a question asks for one of a kind, in the singular.

    >>> asks_for_one("Which boat does Ann sail?"), asks_for_one("Which boats does Ann sail?")
    (True, False)
    """
    match = _OF_A_KIND.search(question)
    return match is not None and (not match["noun"].endswith("s") or match["noun"].endswith("ss"))

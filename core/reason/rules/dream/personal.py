"""What somebody says of their own present in the first person, where ingestion kept the words as they were.

A present state or habit is no event of the day on which it was told; "Ann is my tailor" is "my tailor is Ann"; and
"new" or "now" say that a value takes the place of another one. Closed classes and the order of words tell it.
"""

import re
from functools import lru_cache
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.nouns_en import one_at_a_time

__all__ = ["belongs", "is_state", "replaces", "timeless"]

_NOW: Final = r"(?:now|currently|nowadays|these days)"
_STATE: Final = re.compile(
    r"i (?:\w+ly |always |often |usually |also |still |just )?"
    r"(?:have|own|like|love|enjoy|prefer|collect|play|speak|use|know|live|work|study|teach|go to|belong to)\b"
    r"|i(?:['’]m| am|['’]ve been| have been) (?:collecting|living|working|studying|learning|teaching)\b"
    r"|my [\w'’ -]{1,40}? (?:is|are)\b",
    re.IGNORECASE,
)
_OF_A_TIME: Final = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|this|last|next|ago|since|until|till|once|twice|just|had|was|were|did|"
    r"if|when|but|not|never|no|will|would|could|should|may|might|have to|like to|love to|at the moment|right now)\b"
    r"|n['’]t\b|\w+ed to\b|\d{4}|[?\"“”]",
    re.IGNORECASE,
)
_INVERTED: Final = re.compile(
    rf"(?:{_NOW},? )?(?P<value>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){{0,3}})"
    rf" is (?:{_NOW} )?my (?P<what>[a-z]+(?: [a-z]+){{0,2}}?)"
    rf"(?: {_NOW})?[.!]*"
)
_STRAIGHT: Final = re.compile(
    rf"(?:(?i:{_NOW}),? )[Mm]y (?P<what>[a-z]+(?: [a-z]+){{0,2}}) is "
    rf"(?P<value>[A-Z0-9][\w'’-]*(?: [A-Z0-9][\w'’-]*){{0,3}})[.!]*"
)
_NEWER: Final = frozenset("new current present".split())
_PRESENT: Final = re.compile(rf"(?:^{_NOW}\b|\b{_NOW}[.!]*$)", re.IGNORECASE)
_OWNER: Final = r"^(?:now,? )?(?:my|[\w .'’-]{1,40}?['’]s)"
_MINE: Final = re.compile(rf"{_OWNER} ", re.IGNORECASE)
_MINE_TOO: Final = re.compile(r" is (?:now )?my ", re.IGNORECASE)
_MY_NEW: Final = re.compile(rf"{_OWNER} (?P<word>new|current|present) ", re.IGNORECASE)
_PRESENT_NAMES: Final = frozenset({"current", "present"})
_FORMER: Final = frozenset("former previous old last next future ex first best".split())


@lru_cache(maxsize=65_536)
def is_state(content: str) -> bool:
    """Return whether a sentence tells of a present state or habit of its speaker, and of no time.

    >>> is_state("I own a kiln."), is_state("I own a kiln since 2019."), is_state("I bought a kiln.")
    (True, False, False)
    """
    return (_STATE.match(content) is not None or belongs(content) is not None) and not _OF_A_TIME.search(content)


@lru_cache(maxsize=65_536)
def belongs(content: str) -> tuple[str, str] | None:
    """Return property and value of a sentence that calls a name something of the speaker's; None for any other one.

    >>> belongs("Ann Weir is my tailor."), belongs("It is my turn.")
    (('tailor', 'Ann Weir'), None)
    """
    found = _INVERTED.fullmatch(content) or _STRAIGHT.fullmatch(content)
    if found is None or found["value"].lower().split()[0] in lexicon.NO_NAMES:
        return None
    nouns = found["what"].split()
    if nouns[0] in _FORMER or not lexicon.EVALUATIVE.isdisjoint(nouns):
        return None
    return "_".join(nouns), found["value"]


def timeless(name: str, content: str) -> str:
    """Return a property's name without the "current" before it, or the "new" that "my new R is Y" puts there.

    What one can own keeps its "new": a new thing may stand beside the old one.

    >>> timeless("new_tailor", "My new tailor is Ann."), timeless("new_release", "The new release is 4.")
    ('tailor', 'new_release')
    """
    first, _, rest = name.partition("_")
    if rest and first in _PRESENT_NAMES:
        return rest
    bought = rest.rpartition("_")[2] in lexicon.CONCRETE - lexicon.KIN
    mine = _MY_NEW.match(content) if rest and first in _NEWER and not bought else None
    return rest if mine is not None and mine["word"].lower() == first else name


@lru_cache(maxsize=16_384)
def replaces(content: str, name: str) -> bool:
    """Return whether the words of "my R is Y" say that Y takes the place of another R; ``name`` is the property's.

    >>> replaces("My new tailor is Ann.", "tailor"), replaces("My new friend is Ann.", "friend")
    (True, False)
    """
    noun = name.rpartition("_")[2]
    if not (_MINE.match(content) or _MINE_TOO.search(content)) or not one_at_a_time(noun):
        return False
    # A new thing may stand beside the one that is there.
    bought = noun in lexicon.CONCRETE - lexicon.KIN
    return _PRESENT.search(content) is not None or (not bought and _MY_NEW.match(content) is not None)

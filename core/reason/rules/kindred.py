"""Words of one family: what a question's word and a statement's may share when they are not the same word.

Families are of the language at large (kin, making, leading, living and dying, faith, learning, belonging); besides,
words of one root ("citizen", "citizenship") and initials ("CEO") are told by their letters.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from mindmem.core.reason.rules.questions import related
from mindmem.core.text import terms, words

__all__ = ["likeness", "stems"]

_FAMILIES: Final = tuple(
    frozenset(term.text for word in family.split() for term in terms(word))
    for family in """
spouse husband wife partner marry married marriage wed wedding
parent parents mother father mum mom dad
child children kid kids son daughter offspring
sibling siblings brother sister
born birth birthplace native
die died dies dead death deceased passed perish perished killed
make makes made maker create created creator creation invent invented inventor invention design designed \
designer develop developed developer build built builder produce produced producer manufacture manufactured \
manufacturer construct constructed constructor
write wrote written writer author authored novelist poet
compose composed composer
paint painted painter
perform performed performer performance sing sang sung singer act acted actor actress artist musician play \
played
direct directed director manage managed manager supervise supervisor
lead leads led leader head chief president chair chairman chairwoman chairperson ruler rule rules govern \
governor king queen monarch
government minister premier cabinet administration
found founded founder founding establish established start started begin began begun
origin originate originated original come comes came hail hails derive derived create created begin began born
locate located location situated lie lies place site stand stands position
headquarters headquarter headquartered based base seat
employ employed employer employee employment job work works worked working occupation profession professional \
career trade company workplace role field
study studied educate educated education educational school university college academy graduate graduated attend \
attended learn learned student alumni institution
teach teaches taught teacher tutor instructor coach coached trainer trained
religion religious faith belief believe believer church worship creed denomination
citizen citizenship nationality national nation country land state
city town village
language languages speak speaks spoken tongue
famous known renowned celebrated notable noted fame significant well-known
own owns owned owner ownership belong belongs belonged possess possession
member members membership join joined belong belongs part
genre style kind type sort
sport sports game games athlete plays play played
broadcast broadcaster broadcasts air aired network channel
publish published publisher
discover discovered discoverer discovery
win won winner award awarded prize
bury buried grave tomb
live lives lived living reside resides resided residence home inhabit
name named names called call title
associate associated association related affiliation affiliated
""".strip().split("\n")
)
_ROOT: Final = 5
"""Letters that two words of one root begin with at least; of shorter ones, only what the stemmer joins."""
_SAME_ROOT: Final = 0.9
_KIN: Final = 0.75


@lru_cache(maxsize=65_536)
def stems(word: str) -> frozenset[str]:
    """Return the forms that a word is compared by."""
    return frozenset(term.text for term in terms(word))


def likeness(word: str, others: Iterable[str]) -> float:
    """Return how well one of some words says what ``word`` does, 0..1.

    >>> likeness("wife", ["is", "married"]), likeness("citizenship", ["citizen"]), likeness("CEO", ["river"])
    (0.75, 0.9, 0.0)
    """
    return max((_alike(word, other) for other in others), default=0.0)


def initials(text: str) -> str:
    """Return the first letters of a text's words.

    >>> initials("chief executive officer")
    'ceo'
    """
    return "".join(word[0] for word in words(text))


@lru_cache(maxsize=262_144)
def _alike(one: str, other: str) -> float:
    left, right = stems(one), stems(other)
    if not left.isdisjoint(right):
        return 1.0
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    if len(short) >= _ROOT and _common(short, long) >= max(_ROOT, len(short) - 3):
        return _SAME_ROOT
    akin = any(not family.isdisjoint(left) and not family.isdisjoint(right) for family in _FAMILIES)
    return _KIN if akin or any(not related(term).isdisjoint(right) for term in left) else 0.0


def _common(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))

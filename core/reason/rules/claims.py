"""Claims in words that can be compared: stems, numbers as digits, without what only affirms, denies or dates."""

import re
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.ingest.guards import distinct
from mindmem.core.language import chinese, english
from mindmem.core.language.words import content_words, stem, words
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Memory

__all__ = [
    "bare_words",
    "contains",
    "denied",
    "in_digits",
    "is_number",
    "negated",
    "rephrased",
    "same_property",
    "same_subject",
    "validity",
    "value_stems",
    "words_beside",
]

_ARTICLES: Final = frozenset("a an the my our his her their its at in on to for with as".split())
_POLARITY: Final = frozenset(
    stem(word)
    for words_ in (english.STANCES, english.NEGATIONS, english.TEMPORAL, "do does did ca wo can used".split())
    for word in words_
)
"""Words that affirm, deny or date what the other words say; "ca" and "wo" are what "can't" and "won't" leave."""
_DIGITS: Final = {
    **{form: str(value) for word, value in list(english.NUMBERS.items())[:28] for form in (word, stem(word))},
    **{sign: str(value) for sign, value in chinese.NUMERALS.items()},
}
"""Cardinal numbers and Chinese numerals, one sign each, by their stems."""
_WITHOUT_TENSE: Final = (english.FILLERS | chinese.FILLERS) - set("was were been did will would shall".split())
_OPPOSITES: Final = frozenset(frozenset(map(stem, pair)) for pair in english.OPPOSITES)
_CHINESE_POLARITY: Final = re.compile(
    "|".join(sorted(chinese.STANCES, key=len, reverse=True))
    + f"|{chinese.NEGATION.pattern}|{'|'.join(chinese.CHANGE_CUES)}|[很太真吃会能再]"
)
_RELATION: Final = frozenset(
    stem(word)
    for word in "have has got own owns possess keep stand bear tolerate abide fan big huge massive fond into crazy keen"
    " about of in at to for as can could all totally absolutely truly work working works employed job live living"
    " reside residing dwell based drink eat call called name named s 有 养 在 是 叫 住 工 作 吃 喝 受 了".split()
)
"""Words that say no more than the property's name does, beside its value."""


def same_subject(candidate: Candidate, memory: Memory) -> bool:
    """Whether both are about the same entity, by its name."""
    return normalise_claim(candidate.entity_name) == normalise_claim(memory.entity_name)


def rephrased(one: str, other: str) -> bool:
    """The same words in the same order, fillers and the spelling of numbers apart, and no guard objects."""
    said = _said(one)
    return bool(said) and said == _said(other) and distinct(one, other) is None


def _said(text: str) -> tuple[str, ...]:
    """The words without fillers, but with their tense: "I lived there" is not "I live there"."""
    return in_digits(tuple(word for word in words(text) if word not in _WITHOUT_TENSE))


def denied(claim: Candidate | Memory) -> bool:
    """Whether a claim says what isn't so, or no longer is."""
    return negated(claim) or "past" in claim.flags


def same_property(one: str, other: str) -> bool:
    """Whether two property names are the same, or opposites such as "likes" and "dislikes"."""
    if not one or not other:
        return False
    if one == other:
        return True
    first, second = one.split("_"), other.split("_")
    return len(first) == len(second) and all(
        a == b or frozenset((stem(a), stem(b))) in _OPPOSITES for a, b in zip(first, second, strict=True)
    )


def value_stems(text: str) -> tuple[str, ...]:
    """The stems of a value, without articles and prepositions."""
    return tuple(stem(word) for word in words(text) if word not in _ARTICLES)


def bare_words(text: str) -> tuple[str, ...]:
    """The words without those that affirm, deny or date them."""
    undenied = _CHINESE_POLARITY.sub(" ", text)
    return tuple(word for word in content_words(undenied) if word not in _POLARITY)


def in_digits(found: tuple[str, ...]) -> tuple[str, ...]:
    """The words with numbers as digits; "once" and "second" may be something else than numbers."""
    return tuple(_DIGITS.get(word, word) for word in found)


def words_beside(claim: Candidate | Memory) -> frozenset[str]:
    """The words of a claim beside its value, and beside those that only name the property."""
    return (
        frozenset(bare_words(claim.content))
        - frozenset(bare_words(claim.value))
        - _RELATION
        - _ARTICLES
        - _named(claim)
    )


def _named(claim: Candidate | Memory) -> frozenset[str]:
    return frozenset(map(stem, claim.property_name.split("_")))


def negated(claim: Candidate | Memory) -> bool:
    """Whether a claim denies its value."""
    return claim.polarity < 0 if isinstance(claim, Candidate) else "negated" in claim.flags


def validity(claim: Candidate | Memory) -> tuple[object, ...]:
    """From when to when a claim holds."""
    return claim.valid_from, claim.valid_to


def contains(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    """Whether the longer has all the words of the shorter, and more."""
    return len(longer) > len(shorter) and set(shorter) <= set(longer)


def is_number(word: str) -> bool:
    """Whether a word is a number, in digits or letters."""
    return word[0].isdigit() or word in english.NUMBERS

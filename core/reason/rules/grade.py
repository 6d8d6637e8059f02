"""The grader without a model: the same words, the right words inside, or mostly the same words.

An answer is right when, after normalisation (case, marks, articles, number words, word stems), it equals the expected
one, holds it as one run (SubEM), or shares tokens with an F1 of at least :data:`THRESHOLD`. A different number, date or
negation makes it wrong, however many words agree.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from mindmem.core.dates import find_times
from mindmem.core.language import chinese, english
from mindmem.core.language.words import stem, words
from mindmem.core.reason.port import Grade, GradeRequest, Judged, Verdict

__all__ = ["THRESHOLD", "RulesGrader", "f1", "holds", "tokens"]

THRESHOLD: Final = 0.7
"""Least token F1 at which two answers are taken for the same: two words of three shared are not enough."""
_DROPPED: Final = frozenset("a an the of in on at to is was are were it s 的 了 是 在".split())
_NO: Final = frozenset("no not never 不 没 否".split())
_YES: Final = frozenset("yes yeah yep 是 对".split())
_READ: Final = 2_000  # characters of an answer that are looked at


class RulesGrader:
    """Compares answers by their words alone."""

    async def grade(self, requests: Sequence[GradeRequest]) -> list[Verdict[Grade]]:
        """Return one judgement per request, in order."""
        return [Judged(_grade(request.expected[:_READ], request.given[:_READ])) for request in requests]


def tokens(text: str) -> tuple[str, ...]:
    """Return an answer's normalised tokens, in order.

    >>> tokens("The two Cats!"), tokens("12 April, 2022")
    (('2', 'cat'), ('12', 'april', '2022'))
    """
    found = (_number(word.replace(",", "")) for word in words(text))
    return tuple(word if word[0].isdigit() else stem(word) for word in found if word not in _DROPPED)


def holds(text: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether ``part`` stands in ``text`` as one run of tokens (SubEM); never for an empty part."""
    length = len(part)
    return bool(length) and any(tuple(text[at : at + length]) == tuple(part) for at in range(len(text) - length + 1))


def f1(given: Sequence[str], expected: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall over tokens, 0..1.

    >>> f1(("a", "b"), ("b", "c"))
    0.5
    """
    common = (Counter(given) & Counter(expected)).total()
    return 2 * common / (len(given) + len(expected)) if common else 0.0


def _grade(expected: str, given: str) -> Grade:
    wanted, told = tokens(expected), tokens(given)
    if not wanted or not told:
        return Grade(False, "one of the answers has no words")
    if wanted == told:
        return Grade(True, "the same words")
    if (verdict := _yes_or_no(expected, given)) is not None:
        return Grade(verdict, "yes or no")
    if (when := _same_times(expected, given)) is not None:
        return Grade(when, "the same time" if when else "another time")
    if (other := _distinct(wanted, told, expected, given)) is not None:
        return Grade(False, other)
    if holds(told, wanted):
        return Grade(True, "holds the expected words")
    score = f1(told, wanted)
    return Grade(score >= THRESHOLD, f"token F1 {score:.2f}")


def _number(word: str) -> str:
    """A number's digits: "three" is 3, 三 is 3; "first" and "half" stay words."""
    if word in english.NUMBERS and word in _CARDINALS:
        return f"{english.NUMBERS[word]:g}"
    return str(chinese.NUMERALS[word]) if word in chinese.NUMERALS else word


_CARDINALS: Final = frozenset(list(english.NUMBERS)[:28])


def _yes_or_no(expected: str, given: str) -> bool | None:
    """Whether the given answer says yes or no as the expected one does; None where the expected one says neither."""
    wanted, told = words(expected)[:1], words(given)[:3]
    if not wanted or len(words(expected)) > 1 or wanted[0] not in _YES | _NO:
        return None
    says_no = not _NO.isdisjoint(told)
    says_yes = not says_no and not _YES.isdisjoint(told)
    return says_no if wanted[0] in _NO else says_yes


def _same_times(expected: str, given: str) -> bool | None:
    """Whether both answers are one and the same time; None where either is no time, or not only a time."""
    wanted, told = _times(expected), _times(given)
    if len(wanted) != 1 or len(told) != 1:
        return None
    if len(tokens(expected)) > len(tokens(expected[wanted[0][0] : wanted[0][1]])):
        return None
    return wanted[0][2:] == told[0][2:]


def _times(text: str) -> list[tuple[int, int, datetime | None, datetime | None]]:
    return [(one.start, one.end, one.valid_from, one.valid_to) for one in find_times(text, None, "UTC") if one.resolved]


def _distinct(wanted: Sequence[str], told: Sequence[str], expected: str, given: str) -> str | None:
    """What makes two answers different ones, None when nothing does."""
    missing = {token for token in wanted if token[0].isdigit()} - set(told)
    if missing:
        return "another number"
    denied = [not _NO.isdisjoint(words(text)) or "n't" in text for text in (expected, given)]
    return "the opposite" if denied[0] != denied[1] else None

"""Pieces of a memory's words that may answer: the sentence that tells of the topic, and the span in it that fits."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from mindmem.core.language import chinese, english
from mindmem.core.language.words import content_words, has_substance
from mindmem.core.reason.rules.questions import related
from mindmem.core.reason.rules.sentences import is_chinese, split
from mindmem.core.text import STOP_WORDS, normalise_name, terms

__all__ = ["claims", "duration", "forms", "number_of", "place_in", "rest_of", "tells"]

Spans = Sequence[tuple[int, int]]
"""Characters that are something else: dates, most of all."""

_NUMBER_WORDS: Final = "|".join(sorted(english.NUMBERS, key=len, reverse=True))
_NUMERAL: Final = rf"\d+(?:[.,]\d+)*|{_NUMBER_WORDS}|dozens?|hundreds?|thousands?"
_NUMBER: Final = re.compile(
    rf"[$€£¥]?(?<![\w.])(?:{_NUMERAL})(?:[ -](?:{_NUMERAL}))*(?:%| ?percent| million| billion)?(?![\w%])"
    rf"|\d+(?:\.\d+)?(?=[\u4e00-\u9fff])|[零一二两三四五六七八九十百千万]+(?=[{chinese.MEASURES}])",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(
    rf"(?:(?:{_NUMERAL}|an?|several|few) )+(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?\b"
    r"|[\d零一二两三四五六七八九十半几]+(?:个?(?:小时|星期|礼拜|月)|分钟|秒|天|周|年)",
    re.IGNORECASE,
)
_STOPS: Final = (
    "and|but|or|with|for|on|in|at|last|this|next|yesterday|today|tomorrow|because|where|when|while|to|since|who|that"
    "|which|so|as|after|before|again|once|from|near|around|into|inside|by"
)
_PLACE: Final = re.compile(
    r"\b(?P<word>in|at|to|from|near|around|on|into|inside)\s+"
    r"(?P<place>(?:(?:the|a|an|my|our|her|his|their)\s+)?"
    rf"(?!(?:{_STOPS})\b)[\w'’-]+(?:\s+(?!(?:{_STOPS})\b)[\w'’-]+){{0,4}})",
    re.IGNORECASE,
)
_NO_PLACE: Final = STOP_WORDS["english"] - {"the", "a", "an", "my", "our", "her", "his", "their"}
_CHINESE_PLACE: Final = re.compile(rf"(?:住在|在|去了?|到了?|来自|位于|搬到了?)(?P<place>{chinese.PLACE.pattern})")
_CLAUSE: Final = re.compile(r"[,;:—–，；：]\s*|\s+(?:but|because|so|while|although|whereas|and then)\s+")
_MARKS: Final = " \t\"'“”‘’.,;:!?。，；：！？、[]()"
_EDGES: Final = (STOP_WORDS["english"] - {"no", "not", "both", "all", "her", "his", "my", "our", "their"}) | {""}


def forms(text: str) -> frozenset[str]:
    """Return all terms of a text, stems and words as written."""
    return frozenset(term.text for term in terms(text))


def tells(text: str, topic: frozenset[str]) -> int:
    """Return how many terms of a topic a text tells of."""
    known = forms(text)
    return sum(not related(term).isdisjoint(known) for term in topic)


def claims(text: str) -> list[str]:
    """Return the sentences that say something: what is asked is no answer.

    >>> claims("Do you swim? I do, every day.")
    ['I do, every day.']
    """
    return [sentence.text for sentence in split(text) if not sentence.text.rstrip("\"'”’)").endswith(("?", "？"))]


def number_of(text: str, topic: frozenset[str], taken: Spans) -> str:
    """Return the number that stands nearest before a word of the topic, outside ``taken``; else the first one."""
    counted = _places(text, topic)
    best, nearest = "", len(text) + 1
    for found in _NUMBER.finditer(text):
        if _overlaps(found.span(), taken):
            continue
        near = min((place - found.end() for place in counted if place >= found.end()), default=len(text))
        if near < nearest:
            best, nearest = found[0].strip(), near
    return best


def duration(text: str) -> str:
    """Return the first stretch of time that a text names, such as "three years"."""
    found = _LENGTH.search(text)
    return found[0] if found else ""


def place_in(text: str, taken: Spans, known: Callable[[str], bool], *, origin: bool = False) -> str:
    """Return where something is, by the words before it; ``known`` says what was asked with, ``origin`` wants "from".

    Empty where nothing stands there that may be a place."""
    if found := _CHINESE_PLACE.search(text):
        return found["place"]
    for match in _PLACE.finditer(text):
        if origin and match["word"].lower() != "from":
            continue
        first = match["place"].split()[0].lower()
        if first in _NO_PLACE or (match["word"].lower() == "to" and match["place"] == match["place"].lower() == first):
            continue  # "to swim" is no place
        if not _overlaps(match.span("place"), taken) and not known(match["place"]):
            return _trimmed_end(match["place"])
    return ""


def rest_of(text: str, topical: Callable[[str], bool], topic: frozenset[str]) -> str:
    """Return what the clause that tells most of the topic says besides: after its last topical word, else before."""
    clauses = [clause.strip(_MARKS) for clause in _CLAUSE.split(text) if has_substance(clause)]
    clause = max(clauses, key=lambda one: tells(one, topic), default="")
    if is_chinese(clause):
        return clause
    pieces = clause.split()
    asked = [place for place, piece in enumerate(pieces) if topical(piece)]
    if not asked:
        return clause
    after, before = _trimmed(pieces[asked[-1] + 1 :]), _trimmed(pieces[: asked[0]])
    if after:
        return after
    following = clauses[clauses.index(clause) + 1 :]
    if following and asked[-1] == len(pieces) - 1 and (apposed := _trimmed(following[0].split())):
        return apposed  # "I have a dog: a poodle"
    return before or clause


def _overlaps(span: tuple[int, int], taken: Spans) -> bool:
    return any(start < span[1] and span[0] < end for start, end in taken)


def _places(text: str, topic: frozenset[str]) -> list[int]:
    """Where words of the topic begin."""
    found = [match.start() for match in re.finditer(r"[^\W_]+", text) if not forms(match[0]).isdisjoint(topic)]
    return found or [place for place, sign in enumerate(text) if sign in topic]


def _trimmed(pieces: Sequence[str]) -> str:
    """The words without what holds sentences together at either end; empty when nothing else is left."""
    left = list(pieces)
    while left and normalise_name(left[0]) in _EDGES:
        left.pop(0)
    while left and normalise_name(left[-1]) in _EDGES:
        left.pop()
    text = " ".join(left).strip(_MARKS)
    return text if content_words(text) else ""


def _trimmed_end(place: str) -> str:
    pieces = place.split()
    while len(pieces) > 1 and pieces[-1].lower() in _NO_PLACE:
        pieces.pop()
    return " ".join(pieces)

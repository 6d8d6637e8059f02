"""Distinction guards: two memories are never folded when they differ in what makes them different claims.

A guard compares small features of two sentences, English or Chinese: dates, numbers, units, negations, opposites, named
entities. Guards err to one side only: a difference that isn't one keeps two memories apart, which dreaming may mend.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from mindmem.core.ids import normalise_claim
from mindmem.core.language import chinese, english
from mindmem.core.language.words import stem, words
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Memory

__all__ = ["Difference", "contrary", "distinct", "named_through", "own_word", "series", "two_owners"]

Difference = Literal["date", "number", "unit", "negation", "antonym", "named entity"]

_MONTH: Final = "|".join(sorted(english.MONTHS, key=len, reverse=True))
_DAY: Final = r"(?P<{}>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<{}>\d{{4}}))?"
_RELATIVE: Final = "|".join(
    (
        "today", "tonight", "tomorrow", "yesterday", "the day (?:before yesterday|after tomorrow)",
        rf"(?:last|next|this) (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|{_MONTH}"
        rf"|{'|'.join(english.WEEKDAYS)})",
    )
)  # fmt: skip
_DATE: Final = re.compile(
    rf"(?P<iso>\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?)|(?P<slashed>\b\d{{1,4}}[/.]\d{{1,2}}[/.]\d{{1,4}}\b)"
    rf"|\b(?P<month1>{_MONTH})\.?\s+{_DAY.format('day1')}\b{_YEAR.format('year1')}"
    rf"|\b{_DAY.format('day2')}(?:\s+of)?\s+(?P<month2>{_MONTH})\b\.?{_YEAR.format('year2')}"
    rf"|\b(?:in|since|until|till|by|from|of)\s+(?P<month3>{_MONTH})\b\.?{_YEAR.format('year3')}"
    rf"|\b(?P<month4>{_MONTH})\.?,?\s+(?P<year4>\d{{4}})\b"
    rf"|\b(?P<relative>{_RELATIVE})\b|\b(?P<weekday>{'|'.join(english.WEEKDAYS)})s?\b"
    r"|(?P<clock>\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b)?|\b\d{1,2}\s*[ap]\.?m\b)"
    r"|(?P<chinese>(?:[\d零〇一二三四五六七八九十]{2,4}年)?[\d一二三四五六七八九十]{1,3}月(?:[\d一二三四五六七八九十]{1,3}[日号])?"
    r"|[\d零〇一二三四五六七八九]{4}年|(?:上个?|下个?|这个?|本)?(?:星期|礼拜|周)[一二三四五六日天末]|[今明昨前后]天|[去今明前后]年|[上下这本]个?[周月])",
    re.IGNORECASE,
)
_NUMERAL: Final = "[零〇一二两三四五六七八九十百千万亿]+"
_NUMBER: Final = re.compile(
    rf"(?P<before>[$€£¥]|百分之)?\s*(?:(?P<digits>\d+(?:,\d{{3}})*(?:\.\d+)?)|(?P<signs>{_NUMERAL}(?=[{chinese.MEASURES}])))"
    r"(?:st|nd|rd|th)?"
    rf"\s*(?P<unit>{'|'.join(sorted(map(re.escape, chinese.UNITS), key=len, reverse=True))}|%|°\s?[cf]|[a-z]+(?:/h)?)?",
    re.IGNORECASE,
)
_NUMBER_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?:^|[.!?:;\n\"“”]\s*)$")
_LATIN_WORD: Final = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff][^\W_\u3040-\u30ff\u3400-\u9fff]*(?:[-&][^\W_]+)*")
_CHINESE_NAME: Final = re.compile(
    r"[小老阿][\u4e00-\u9fff]|[\u4e00-\u9fff]{1,2}(?:先生|女士|老师|医生|经理|教授|同学)|《[^》]+》"
    r"|(?:住在|去|到|来自|叫|姓|给|跟|和|与|在)[\u4e00-\u9fff]{2}"
)

_THROUGH: Final = (
    r"\b(?:(?P<owner>[A-Z][\w-]*(?: [A-Z][\w-]*){0,3}|[a-z][\w-]*)['’]s|[Mm]y|[Oo]ur) (?:[a-z][a-z-]* ){1,3}"
)
"""What stands before a name that is told through its person: "Ann's elder sister", "my friend"."""
_OPENING: Final = 200
"""Characters of a claim in which its subject is looked for."""

_STEMMED: Final = tuple((stem(one), stem(other)) for one, other in english.OPPOSITES)
_DENYING: Final = ("un", "dis", "in", "im", "ir", "il", "non", "mis")


@dataclass(frozen=True, slots=True)
class _Features:
    dates: tuple[str, ...]
    numbers: tuple[str, ...]
    units: tuple[str, ...]
    negations: int
    stems: frozenset[str]
    text: str
    names: frozenset[str]
    tokens: frozenset[str]


def distinct(first: str, second: str) -> Difference | None:
    """Return in what two sentences differ so that they must stay two memories, None when no guard objects.

    None doesn't mean that they say the same: guards only veto. The order of the two doesn't matter.

    >>> distinct("Ann has 2 cats.", "Ann has three cats."), distinct("The party is on October 15th", "…on October 16th")
    ('number', 'date')
    """
    a, b = _features(first), _features(second)
    if a.dates != b.dates:
        return "date"
    if a.numbers != b.numbers:
        return "number"
    if a.units != b.units:
        return "unit"
    if a.negations != b.negations:
        return "negation"
    if _opposed(a, b):
        return "antonym"
    if not (a.names <= b.tokens and b.names <= a.tokens):
        return "named entity"
    return None


def contrary(first: str, second: str) -> bool:
    """Return whether two sentences differ in a negation or in opposites, whatever else they differ in.

    >>> contrary("Ann eats pork.", "Ann does not eat pork in May."), contrary("Ann eats pork.", "Ann eats pork in May.")
    (True, False)
    """
    a, b = _features(first), _features(second)
    return a.negations != b.negations or _opposed(a, b)


def own_word(memory: Memory, speaker: str) -> bool:
    """Return whether a memory is what somebody said of themselves and ``speaker`` is somebody else: no other's word
    takes it back."""
    own = normalise_claim(memory.entity_name)
    return bool(own) and normalise_claim(memory.speaker) == own != normalise_claim(speaker)


def named_through(claim: Candidate | Memory) -> str:
    """Return through whom a claim names its subject: "ann" for "Ann's sister Eva", the speaker for "my sister Eva"; the
    empty string for a subject that is named by itself."""
    if not claim.entity_name:
        return ""
    match = re.search(_THROUGH + re.escape(claim.entity_name) + r"(?!\w)", claim.content[:_OPENING])
    if match is None:
        return ""
    return normalise_claim(match["owner"] or claim.speaker or "user")


def two_owners(one: Candidate | Memory, other: Candidate | Memory) -> bool:
    """Return whether two claims name their subjects through different persons, so that one name stands for two."""
    first, second = set(named_through(one).split()), set(named_through(other).split())
    return bool(first and second) and not (first <= second or second <= first)


def series(first: str, second: str) -> bool:
    """Return whether two sentences are readings of one series: each with a date and a number of its own.

    >>> series("On May 1 Ann weighed 80 kg", "On May 8 Ann weighed 79 kg"), series("Ann is 30", "Ann is 31")
    (True, False)
    """
    a, b = _features(first), _features(second)
    return bool(a.dates and b.dates and a.numbers and b.numbers and a.dates != b.dates)


@lru_cache(maxsize=4096)
def _features(text: str) -> _Features:
    plain = unicodedata.normalize("NFKC", text)
    dates: list[str] = []

    def note(match: re.Match[str]) -> str:
        dates.append(_date(match))
        return " ; "

    undated = _DATE.sub(note, plain)
    numbers, units = _quantities(undated)
    tokens = words(plain)
    return _Features(
        dates=tuple(sorted(dates)),
        numbers=tuple(numbers),
        units=tuple(units),
        negations=_negations(plain, tokens),
        stems=frozenset(stem(token) for token in tokens),
        text=plain,
        names=frozenset(_names(undated)),
        tokens=frozenset(
            (*tokens, *(match.group().casefold() for match in _LATIN_WORD.finditer(plain)), *_signs(plain))
        ),
    )


def _date(match: re.Match[str]) -> str:
    parts = {name: value for name, value in match.groupdict().items() if value}
    for form in "1234":
        month = parts.get(f"month{form}")
        if month is not None:
            day, year = parts.get(f"day{form}", ""), parts.get(f"year{form}", "")
            return f"{year}-{english.MONTHS[month.casefold()]}-{day.lstrip('0')}"
    if "iso" in parts:
        return "-".join(part.lstrip("0") for part in parts["iso"].split("-"))
    return re.sub(r"[\s.]", "", match.group().casefold())


def _quantities(text: str) -> tuple[list[str], list[str]]:
    found: list[tuple[int, str, str]] = []
    for match in _NUMBER.finditer(text):
        digits, signs = match["digits"], match["signs"]
        value = float(digits.replace(",", "")) if digits else chinese.numeral(signs)
        unit = (match["before"] or match["unit"] or "").casefold().replace(" ", "")
        found.append((match.start(), f"{value:g}" if value is not None else signs, _unit(unit)))
    found.extend(_spelled(text))
    found.sort()
    return [number for _, number, _ in found], [unit for _, _, unit in found]


def _spelled(text: str) -> Iterable[tuple[int, str, str]]:
    value: float | None = None
    start = 0
    for match in (*_NUMBER_WORD.finditer(text), None):
        word = match.group().casefold() if match else ""
        if word in english.NUMBERS:
            step = english.NUMBERS[word]
            joined = value is not None and value % 10 == 0 and 0 < step < 10 and value > 0
            if value is not None and not joined:
                yield start, f"{value:g}", ""
            if not joined:
                start, value = match.start() if match else 0, 0.0
            value = (value or 0.0) + step
        elif word in english.SCALES:
            if value is None:
                start = match.start() if match else 0
            value = (1.0 if value is None else value) * english.SCALES[word]
        elif value is not None and word != "and":
            yield start, f"{value:g}", _unit(word)
            value = None


def _unit(name: str) -> str:
    return english.UNITS.get(name) or chinese.UNITS.get(name) or ""


def _negations(text: str, tokens: Iterable[str]) -> int:
    return sum(token in english.NEGATIONS for token in tokens) + len(
        chinese.NEGATION.findall(chinese.NOT_NEGATION.sub("", text))
    )


def _opposed(a: _Features, b: _Features) -> bool:
    only_a, only_b = a.stems - b.stems, b.stems - a.stems
    if any((one in only_a and other in only_b) or (one in only_b and other in only_a) for one, other in _STEMMED):
        return True
    if any(prefix + word in only_b for word in only_a for prefix in _DENYING) or any(
        prefix + word in only_a for word in only_b for prefix in _DENYING
    ):
        return True
    return any(
        (_holds(a, one, b) and _holds(b, other, a)) or (_holds(a, other, b) and _holds(b, one, a))
        for one, other in chinese.OPPOSITES
    )


def _holds(a: _Features, word: str, b: _Features) -> bool:
    return word in a.text and word not in b.text


def _names(text: str) -> Iterable[str]:
    for match in _LATIN_WORD.finditer(text):
        word = match.group()
        starts = _SENTENCE.search(text[max(0, match.start() - 4) : match.start()]) is not None
        marked = any(sign.isupper() for sign in word) or any(sign.isdigit() for sign in word)
        if marked and not (starts and word.casefold() in english.PLAIN_STARTS) and word != "I":
            yield word.casefold()
    yield from _signs(text)


def _signs(text: str) -> Iterable[str]:
    return (match.group() for match in _CHINESE_NAME.finditer(text))

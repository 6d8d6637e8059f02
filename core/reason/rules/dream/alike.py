"""Whether two memories of one subject make the same claim in other words. The distinction guards have the last word."""

import re
from functools import lru_cache
from typing import Final

from mindmem.core.ingest.guards import distinct, series
from mindmem.core.language import english
from mindmem.core.language.words import content_words, stem
from mindmem.core.reason.dream_port import Survey
from mindmem.core.reason.rules.claims import in_digits, negated, rephrased, validity
from mindmem.core.reason.rules.dream.personal import is_state
from mindmem.core.reason.rules.dream.reading import same_value
from mindmem.core.records import Memory
from mindmem.core.redact import holds_mark

__all__ = ["paraphrases", "says_more"]

_PLAIN: Final = frozenset(
    stem(word)
    for word in (
        *english.TEMPORAL,
        *(
            "have has had got own owns keep possess called named name call user person people very much lot big"
            " favorite favourite of to in at on for with as by from about and that this their his her my our its one s"
            " it he she they i we you me him them who which been some any there work job live reside based person's say"
            " said tell told mention enjoy love like prefer fan fond adore keen into crazy always huge truly use using"
        ).split(),
    )
)
"""Words beside which two sentences may still make one claim; the guards tell opposites and names apart."""
_APART: Final = (
    re.compile(r"\b(?:used to|formerly|once)\b", re.IGNORECASE),
    re.compile(r"\b(?:again|once more|another)\b", re.IGNORECASE),
)
"""What was so once is not what is so; what was done again is not what was done: words that one of two sentences has."""
_ALIKE: Final = 0.75
"""Least share of common words, those of either counted once, at which two sentences make one claim."""


def paraphrases(one: Memory, other: Memory, survey: Survey) -> bool:
    """Return whether two memories of the same subject make the same claim.

    Never where a guard objects, where one is denied, past or of another time, where they are readings of a series, or
    where the words that would tell them apart were redacted.
    """
    if holds_mark(one.content) or holds_mark(other.content):
        return False
    if one.mem_type != other.mem_type and "tool_trace" in (one.mem_type, other.mem_type):
        return False
    if negated(one) != negated(other) or ("past" in one.flags) != ("past" in other.flags):
        return False
    if any(bool(words.search(one.content)) != bool(words.search(other.content)) for words in _APART):
        return False
    if _dated(one, other) or series(one.content, other.content):
        return False
    # Of one subject: whether it is called by its name or speaks of itself makes no difference.
    texts = _unnamed(one.content, one.entity_name), _unnamed(other.content, other.entity_name)
    if rephrased(*texts):
        return True
    if distinct(*texts) is not None:
        return False
    first, second = survey.topics.get(one.memory_id), survey.topics.get(other.memory_id)
    topical = first is not None and second is not None
    if topical and first.property_name == second.property_name and first.value == second.value:  # type: ignore[union-attr]  # topical
        # Another form of the same property: what is left of the sentences beside its words must be the same.
        named = _words_of(one.property_name) | _words_of(other.property_name)
        return _beside(one.content, first.value) - named == _beside(other.content, second.value) - named  # type: ignore[union-attr]
    if topical and not same_value(first.value, second.value):  # type: ignore[union-attr]
        return False
    named = frozenset(content_words(f"{one.entity_name} {one.speaker} {other.entity_name} {other.speaker}"))
    a, b = _core(one.content) - named, _core(other.content) - named
    return bool(a and b) and len(a & b) >= min(2, len(a | b)) and len(a & b) >= _ALIKE * len(a | b)


def says_more(one: Memory, other: Memory) -> bool:
    """Return whether the first memory says all that the other does: its words hold the other's, in whatever order."""
    a, b = _core(one.content), _core(other.content)
    return b <= a


def _dated(one: Memory, other: Memory) -> bool:
    """Whether two memories hold at different times, or tell of events that may be two."""
    events = "episodic" in (one.mem_type, other.mem_type)
    if events and one.valid_to == other.valid_to and _lasting(one) and _lasting(other):
        return False  # the day of the saying is no date of what was so before and after it
    if validity(one) != validity(other) and one.valid_from is not None and other.valid_from is not None:
        return True
    return events and one.valid_from != other.valid_from


def _lasting(memory: Memory) -> bool:
    return memory.mem_type == "profile" or is_state(memory.content)


@lru_cache(maxsize=16_384)
def _unnamed(content: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "I", content, flags=re.IGNORECASE) if name else content


@lru_cache(maxsize=16_384)
def _words_of(property_name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in property_name.split("_"))


def _beside(content: str, value: str) -> frozenset[str]:
    return _core(content) - frozenset(content_words(value)) if len(content) < 200 else frozenset({content})


@lru_cache(maxsize=65_536)
def _core(content: str) -> frozenset[str]:
    return frozenset(in_digits(content_words(content))) - _PLAIN

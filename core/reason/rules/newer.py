"""Whether a claim takes the place of an older one: a new value or count, a denial, a correction in its own words."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from mindmem.core.ingest.guards import distinct, own_word, series
from mindmem.core.language import chinese, english
from mindmem.core.language.words import stem, words
from mindmem.core.reason.port import Candidate, Resolution
from mindmem.core.reason.rules import changes_zh
from mindmem.core.reason.rules.changes_en import restated
from mindmem.core.reason.rules.claims import (
    bare_words,
    contains,
    denied,
    in_digits,
    is_number,
    negated,
    same_property,
    same_subject,
    value_stems,
    words_beside,
)
from mindmem.core.records import Memory

__all__ = ["newer_value", "taken_back"]

_EVENTS: Final = frozenset({"episodic", "tool_trace"})
"""Types that tell what happened: nothing that is said later makes it not have happened."""
_CUE: Final = re.compile(
    "|".join([*(rf"\b{re.escape(cue)}\b" for cue in english.CHANGE_CUES), *chinese.CHANGE_CUES]), re.IGNORECASE
)
_CORRECTION: Final = re.compile(
    r"\W*(?:(?:correction|scratch that|my mistake|i was wrong|i misspoke|(?:sorry|no|oops),? i meant)\b"
    r"|更正|纠正|我?说错了)",
    re.IGNORECASE,
)
"""Openings that take back what was said before on the same matter."""
_RECOUNT: Final = re.compile(
    r"\b(?:now|anymore|any more|any longer|no longer|these days|nowadays|currently)\b|现在|目前|如今|不再|已经没",
    re.IGNORECASE,
)
"""Words that say that a count holds now, unlike the one before."""
_CHINESE_COUNT: Final = re.compile(r"^([0-9]+|[一二两三四五六七八九十])[只条个匹头辆套位](.*)$")
_BESIDE: Final = re.compile(
    r"\b(?:also|as well|in addition|additionally|another|besides|second)\b|也|还|另外|同时|第二", re.IGNORECASE
)
"""Words that put a value beside the one before."""
_GUESSED: Final = frozenset({"uses", "lives_in"})
"""What "switched from A to B" and "moved from A to B" are taken to tell of while nothing says what A is."""
_JUST: Final = timedelta(days=1)
"""How long ago that may have been said which a correction without a property takes back."""
_REPLACED: Final = 4
"""Words that a value which a correction replaces has at most."""


def taken_back(candidate: Candidate, recalled: Sequence[Memory]) -> list[Memory]:
    """Return the memories that a correction is about, whatever their property: they differ in one value only."""
    return [
        memory
        for memory in recalled
        if (
            _corrects(candidate, memory)
            or _substitutes(candidate, memory)
            or _restates(candidate, memory)
            or (_restates_value(candidate, memory) and not _names_another(candidate, memory, recalled))
        )
        and not own_word(memory, candidate.speaker)
    ]


def newer_value(candidate: Candidate, peers: Sequence[Memory]) -> Resolution | None:
    """Return the update of those ``peers``, memories of the same subject, whose value no longer holds; None for none.

    What somebody said of themselves is never changed by others.
    """
    peers = [memory for memory in peers if not own_word(memory, candidate.speaker)]
    if _is_over(candidate):
        return None
    replaced = [memory for memory in peers if _replaces(candidate, memory)]
    if replaced:
        return Resolution("update", "the words replace the old value", _ids(replaced), 0.95)
    opposed = [memory for memory in peers if _denies(candidate, memory)]
    if opposed:
        return Resolution("update", "the same value with the opposite sense", _ids(opposed), 0.9)
    if _BESIDE.search(candidate.content):
        return None
    recounted = [memory for memory in peers if _recounts(candidate, memory)]
    if recounted:
        return Resolution("update", "a new count of the same", _ids(recounted), 0.9)
    older = [memory for memory in peers if _other_value(candidate, memory)]
    if older and candidate.single_valued:
        return Resolution("update", "a new value of a property that has one", _ids(older), 0.85)
    if len(older) == 1 and _CORRECTION.match(candidate.content):
        return Resolution("update", "the words take back what was said before", _ids(older), 0.85)
    return None


def _ids(memories: Sequence[Memory]) -> tuple[str, ...]:
    return tuple(memory.memory_id for memory in memories)


def _is_over(candidate: Candidate) -> bool:
    """A state that had ended when it was told of says nothing about the present."""
    ended, said = candidate.valid_to, candidate.observed_at
    return ended is not None and said is not None and ended <= said


def _other_value(candidate: Candidate, memory: Memory) -> bool:
    if memory.property_name != candidate.property_name or not candidate.property_name:
        return False
    if memory.mem_type in _EVENTS and candidate.mem_type not in _EVENTS:
        return False
    if denied(candidate) or denied(memory):  # what isn't so, or was, says nothing of another value
        return False
    old, new = value_stems(memory.value), value_stems(candidate.value)
    if not old or not new or old == new:
        return False
    if contains(old, new):  # the new words say less, not something else
        return False
    return not (series(candidate.content, memory.content) and any(map(is_number, (*old, *new))))


def _recounts(candidate: Candidate, memory: Memory) -> bool:
    """Whether the words count the same things anew and say that it is so now: "three cats now", "no cats anymore"."""
    if memory.property_name != candidate.property_name or not candidate.property_name or "past" in candidate.flags:
        return False
    if "correction" not in candidate.flags and _RECOUNT.search(candidate.content) is None:
        return False
    old, new = _counted_things(memory.value), _counted_things(candidate.value)
    counted = (bool(old[0]) or negated(memory)) and (bool(new[0]) or negated(candidate))
    return counted and old[1] == new[1] and (old[0] != new[0] or negated(candidate) != negated(memory))


def _counted_things(value: str) -> tuple[str, tuple[str, ...]]:
    """The number that a value begins with ("" for none) and the stems of what it counts."""
    found = in_digits(tuple(stem(word) for word in words(_CHINESE_COUNT.sub(r"\1 \2", value))))
    if found[:1] in (("a",), ("an",)):
        found = ("1", *found[1:])
    return (found[0], found[1:]) if found and found[0].isdigit() else ("", found)


def _denies(candidate: Candidate, memory: Memory) -> bool:
    """Whether one affirms and the other denies the same value of the same (or the opposite) property."""
    if {candidate.mem_type, memory.mem_type} & _EVENTS or not value_stems(candidate.value):
        return False
    if not same_property(candidate.property_name, memory.property_name):
        return False
    if bare_words(candidate.value) != bare_words(memory.value):
        return False
    if negated(candidate) != negated(memory) and words_beside(candidate) == words_beside(memory):
        return True
    if distinct(candidate.content, memory.content) not in ("negation", "antonym"):
        return False
    old, new = set(bare_words(memory.content)), set(bare_words(candidate.content))
    return old <= new and (old == new or _CUE.search(candidate.content) is not None)


def _replaces(candidate: Candidate, memory: Memory) -> bool:
    """Whether the words name the old value as what is no longer so: "not X", "instead of X", "from X to Y", 不再是X."""
    if memory.mem_type in _EVENTS or not same_property(candidate.property_name, memory.property_name):
        return False
    old = memory.value.strip()
    if not value_stems(old) or value_stems(old) == value_stems(candidate.value) or candidate.polarity < 0:
        return False
    return _names_as_over(candidate.content, old)


def _names_as_over(content: str, old: str) -> bool:
    name = re.escape(old)
    pattern = (
        r"\b(?:not|instead of|rather than|no longer|replac(?:ed|ing)|dropped|left|quit)\s+(?:at |in |on |the |a |an )?"
        rf"{name}(?!\w)"
        rf"|\bfrom\s+(?:the )?{name}(?!\w).{{0,40}}\bto\b"
        rf"|(?:不是|不再是|不再用|不用|而不是|代替|取代|离开了?){name}|从{name}.{{0,20}}[到成为]"
    )
    return re.search(pattern, content, re.IGNORECASE) is not None


def _corrects(candidate: Candidate, memory: Memory) -> bool:
    """Whether words that name two values, and what they are values of only by guess, take back this very memory."""
    guessed = not candidate.property_name or ("correction" in candidate.flags and candidate.property_name in _GUESSED)
    if not guessed or not candidate.value or candidate.polarity < 0 or "correction" not in candidate.flags:
        return False
    if memory.mem_type not in ("profile", "fact") or not memory.property_name or "negated" in memory.flags:
        return False
    if memory.property_name == candidate.property_name or not value_stems(memory.value):
        return False
    if value_stems(memory.value) == value_stems(candidate.value):
        return False
    return _names_as_over(candidate.content, memory.value.strip())


def _substitutes(candidate: Candidate, memory: Memory) -> bool:
    """Whether a correction kept in its own words repeats a memory with a single value put in another's place."""
    opener = _CORRECTION.match(candidate.content)
    if opener is None or candidate.mem_type != "episodic" or memory.mem_type != "episodic":
        return False
    told = re.split(r",? (?:and )?not |[，,]?(?:而)?不是", candidate.content[opener.end() :])[0]
    new, old = words(told), words(memory.content)
    head = 0
    while head < min(len(new), len(old)) and new[head] == old[head]:
        head += 1
    tail = 0
    while tail < min(len(new), len(old)) - head and new[-1 - tail] == old[-1 - tail]:
        tail += 1
    fresh, gone = len(new) - head - tail, len(old) - head - tail
    return head >= 2 and 0 < fresh <= _REPLACED and 0 < gone <= _REPLACED and head + tail >= max(fresh, gone)


def _restates(candidate: Candidate, memory: Memory) -> bool:
    """Whether a correction kept in its own words names the property that has another value: "sorry, the flight is"."""
    if candidate.mem_type != "episodic" or memory.mem_type != "profile" or not candidate.value:
        return False
    if "correction" not in candidate.flags or not same_subject(candidate, memory) or denied(memory):
        return False
    noun, value = restated(candidate.content)
    return bool(noun) and noun == memory.property_name and value_stems(value) != value_stems(memory.value)


def _restates_value(candidate: Candidate, memory: Memory) -> bool:
    """Whether a correction that is nothing but a value can be about one that was just said: 不对，是5月13日.

    It may be of anybody: where two were said, the words don't tell which of them is meant.
    """
    if candidate.mem_type != "episodic" or memory.mem_type not in ("profile", "fact") or denied(memory):
        return False
    new = changes_zh.restated(candidate.content)
    if not new or changes_zh.kind(memory.value) != changes_zh.kind(new):
        return False
    before, now = memory.observed_at, candidate.observed_at
    recent = before is None or now is None or timedelta() <= now - before <= _JUST
    return recent and value_stems(memory.value) != value_stems(new)


def _names_another(candidate: Candidate, memory: Memory, recalled: Sequence[Memory]) -> bool:
    """Whether what is kept in its own words names another value of the same sort, which may be the one meant."""
    sort = changes_zh.kind(memory.value)
    told = [changes_zh.named(one.content, sort) for one in recalled if one.mem_type == "episodic"]
    return bool(frozenset().union(*told) - changes_zh.named(f"{memory.value} {candidate.content}", sort))

"""RulesResolver: new, repetition, newer value, or completion, told by subject, property, value and the guards.

Only memories of the same subject are ever touched. A new value replaces an old one where the property takes one value
at a time, where the same value is now denied (or no longer denied), or where the words say that it replaces that very
value. Everything else is kept beside what is there: a false retirement costs more than a repetition that dreaming
finds later.
"""

import re
from collections.abc import Sequence
from typing import Final

from mindmem.core.ids import content_hash, normalise_claim
from mindmem.core.ingest.guards import distinct, own_word, series
from mindmem.core.language import chinese, english
from mindmem.core.language.words import content_words, stem, words
from mindmem.core.reason.port import Candidate, Judged, Resolution, ResolutionRequest, Verdict
from mindmem.core.reason.rules.changes_en import restated
from mindmem.core.records import Memory

__all__ = ["RulesResolver"]

_UNTRUSTED: Final = frozenset({"instruction_like", "quoted", "hypothetical"})
"""Flags of candidates that may stand beside memories but never change one."""
_EVENTS: Final = frozenset({"episodic", "tool_trace"})
"""Types that tell what happened: nothing that is said later makes it not have happened."""
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
_RELATION: Final = frozenset(
    stem(word)
    for word in "have has got own owns possess keep stand bear tolerate abide fan big huge massive fond into crazy keen"
    " about of in at to for as can could all totally absolutely truly work working works employed job live living"
    " reside residing dwell based drink eat call called name named s 有 养 在 是 叫 住 工 作 吃 喝 受 了".split()
)
"""Words that say no more than the property's name does, beside its value."""
_GUESSED: Final = frozenset({"uses", "lives_in"})
"""What "switched from A to B" and "moved from A to B" are taken to tell of while nothing says what A is."""
_REPLACED: Final = 4
"""Words that a value which a correction replaces has at most."""
_LONG: Final = 2_000
"""Longer contents (source text kept whole) are compared by their hash alone."""
_JOINING: Final = frozenset(
    stem(word) for word in "in at on with for from near since because about called named by and".split()
)
"""Words with which a sentence goes on to say more of the same."""
_SHARED: Final = 0.3
"""Least share of common words at which two memories of one subject are linked."""
_MAX_RELATED: Final = 3


class RulesResolver:
    """The resolver that needs no model. Its answers depend on nothing but the request."""

    async def resolve(self, requests: Sequence[ResolutionRequest]) -> list[Verdict[Resolution]]:
        """Return one judgement per request, in order."""
        return [Judged(_resolve(request.candidate, request.recalled)) for request in requests]


def _resolve(candidate: Candidate, recalled: Sequence[Memory]) -> Resolution:
    claim = content_hash(candidate.content)
    for memory in recalled:
        if memory.content_hash == claim:
            return Resolution("reinforce", "said before", (memory.memory_id,))
    if len(candidate.content) > _LONG:
        return Resolution("add", "new")
    peers = [one for one in recalled if _same_subject(candidate, one) and len(one.content) <= _LONG]
    corrected = [
        memory
        for memory in recalled
        if (_corrects(candidate, memory) or _substitutes(candidate, memory) or _restates(candidate, memory))
        and not own_word(memory, candidate.speaker)
    ]
    if len(corrected) == 1 and _UNTRUSTED.isdisjoint(candidate.flags):
        return Resolution("update", "the words replace the old value", _ids(corrected), 0.9, adopts=True)
    for memory in peers:
        if _rephrased(candidate.content, memory.content):
            return Resolution("reinforce", "said before in other words", (memory.memory_id,), 0.95)
    if _UNTRUSTED.isdisjoint(candidate.flags):
        for judge in (_update, _repeated_value, _completion):
            resolution = judge(candidate, peers)
            if resolution is not None:
                return resolution
    related = tuple(
        memory.memory_id for memory in peers if _alike(candidate, memory) or _of_another(candidate, memory)
    )[:_MAX_RELATED]
    return Resolution("add", "new", related=related)


def _same_subject(candidate: Candidate, memory: Memory) -> bool:
    return normalise_claim(candidate.entity_name) == normalise_claim(memory.entity_name)


def _rephrased(one: str, other: str) -> bool:
    """The same words in the same order, fillers and the spelling of numbers apart, and no guard objects."""
    said = _said(one)
    return bool(said) and said == _said(other) and distinct(one, other) is None


def _said(text: str) -> tuple[str, ...]:
    """The words without fillers, but with their tense: "I lived there" is not "I live there"."""
    return _counted(tuple(word for word in words(text) if word not in _WITHOUT_TENSE))


# -- a newer value


def _update(candidate: Candidate, recalled: Sequence[Memory]) -> Resolution | None:
    peers = [memory for memory in recalled if not own_word(memory, candidate.speaker)]
    if _is_over(candidate):
        return None
    replaced = [memory for memory in peers if _replaces(candidate, memory)]
    if replaced:
        return Resolution("update", "the words replace the old value", _ids(replaced), 0.95)
    denied = [memory for memory in peers if _denies(candidate, memory)]
    if denied:
        return Resolution("update", "the same value with the opposite sense", _ids(denied), 0.9)
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
    if _denied(candidate) or _denied(memory):  # what isn't so, or was, says nothing of another value
        return False
    old, new = _value(memory.value), _value(candidate.value)
    if not old or not new or old == new:
        return False
    if _contains(old, new):  # the new words say less, not something else
        return False
    return not (series(candidate.content, memory.content) and any(map(_numeric, (*old, *new))))


def _denied(claim: Candidate | Memory) -> bool:
    return _negated(claim) or "past" in claim.flags


def _recounts(candidate: Candidate, memory: Memory) -> bool:
    """Whether the words count the same things anew and say that it is so now: "three cats now", "no cats anymore"."""
    if memory.property_name != candidate.property_name or not candidate.property_name or "past" in candidate.flags:
        return False
    if "correction" not in candidate.flags and _RECOUNT.search(candidate.content) is None:
        return False
    old, new = _counted_things(memory.value), _counted_things(candidate.value)
    counted = (bool(old[0]) or _negated(memory)) and (bool(new[0]) or _negated(candidate))
    return counted and old[1] == new[1] and (old[0] != new[0] or _negated(candidate) != _negated(memory))


def _counted_things(value: str) -> tuple[str, tuple[str, ...]]:
    """The number that a value begins with ("" for none) and the stems of what it counts."""
    found = _counted(tuple(stem(word) for word in words(_CHINESE_COUNT.sub(r"\1 \2", value))))
    if found[:1] in (("a",), ("an",)):
        found = ("1", *found[1:])
    return (found[0], found[1:]) if found and found[0].isdigit() else ("", found)


def _denies(candidate: Candidate, memory: Memory) -> bool:
    """Whether one affirms and the other denies the same value of the same (or the opposite) property."""
    if {candidate.mem_type, memory.mem_type} & _EVENTS or not _value(candidate.value):
        return False
    if not _same_property(candidate.property_name, memory.property_name):
        return False
    if _bare(candidate.value) != _bare(memory.value):
        return False
    if _negated(candidate) != _negated(memory) and _rest(candidate) == _rest(memory):
        return True
    if distinct(candidate.content, memory.content) not in ("negation", "antonym"):
        return False
    old, new = set(_bare(memory.content)), set(_bare(candidate.content))
    return old <= new and (old == new or _CUE.search(candidate.content) is not None)


def _replaces(candidate: Candidate, memory: Memory) -> bool:
    """Whether the words name the old value as what is no longer so: "not X", "instead of X", "from X to Y", 不再是X."""
    if memory.mem_type in _EVENTS or not _same_property(candidate.property_name, memory.property_name):
        return False
    old = memory.value.strip()
    if not _value(old) or _value(old) == _value(candidate.value) or candidate.polarity < 0:
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
    if memory.property_name == candidate.property_name or not _value(memory.value):
        return False
    if _value(memory.value) == _value(candidate.value):
        return False
    return _names_as_over(candidate.content, memory.value.strip())


def _same_property(one: str, other: str) -> bool:
    if not one or not other:
        return False
    if one == other:
        return True
    first, second = one.split("_"), other.split("_")
    return len(first) == len(second) and all(
        a == b or frozenset((stem(a), stem(b))) in _OPPOSITES for a, b in zip(first, second, strict=True)
    )


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
    if "correction" not in candidate.flags or not _same_subject(candidate, memory) or _denied(memory):
        return False
    noun, value = restated(candidate.content)
    return bool(noun) and noun == memory.property_name and _value(value) != _value(memory.value)


# -- the same value again, and completion


def _repeated_value(candidate: Candidate, peers: Sequence[Memory]) -> Resolution | None:
    """The same value, and no word that says more than the memory: at most another verb for the same property."""
    value = _counted(_value(candidate.value))
    if not value or not candidate.property_name:
        return None
    said = set(content_words(candidate.content))
    for memory in peers:
        if memory.property_name != candidate.property_name or _counted(_value(memory.value)) != value:
            continue
        if ("past" in candidate.flags) != ("past" in memory.flags):
            continue
        within = candidate.single_valued and said <= set(content_words(memory.content))
        same = _negated(candidate) == _negated(memory) and _times(candidate) == _times(memory)
        if not within and not (same and _rest(candidate) == _rest(memory)):
            continue
        # Another verb of the same stance is no other claim, though the guards would tell "love" from "enjoy".
        if distinct(candidate.content, memory.content) in (None, "antonym" if not within and same else None):
            return Resolution("reinforce", "the same value again", (memory.memory_id,), 0.9)
    return None


def _completion(candidate: Candidate, peers: Sequence[Memory]) -> Resolution | None:
    """The memory's words, and more after them."""
    if candidate.mem_type not in ("profile", "fact") or not candidate.property_name:
        return None
    said = content_words(candidate.content)
    for memory in peers:
        known = content_words(memory.content)
        if (
            memory.mem_type == candidate.mem_type
            and memory.property_name == candidate.property_name
            and len(known) > 2
            and said[: len(known)] == known
            and _continues(candidate.content, known)
            and distinct(candidate.content, memory.content) is None
        ):
            return Resolution(
                "merge", "completes what is known", (memory.memory_id,), 0.85, merged_content=candidate.content
            )
    return None


def _continues(content: str, known: tuple[str, ...]) -> bool:
    """Whether what follows the known words adds to them (a preposition, a comma) rather than making another noun."""
    rest = content_words(content)[len(known) :]
    return bool(rest) and rest[0] in _JOINING


# -- words


def _value(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(text) if word not in _ARTICLES)


def _bare(text: str) -> tuple[str, ...]:
    """The words without those that affirm, deny or date them."""
    undenied = _CHINESE_POLARITY.sub(" ", text)
    return tuple(word for word in content_words(undenied) if word not in _POLARITY)


def _counted(found: tuple[str, ...]) -> tuple[str, ...]:
    """The words with numbers as digits; "once" and "second" may be something else than numbers."""
    return tuple(_DIGITS.get(word, word) for word in found)


def _rest(claim: Candidate | Memory) -> frozenset[str]:
    """The words of a claim beside its value, and beside those that only name the property."""
    return frozenset(_bare(claim.content)) - frozenset(_bare(claim.value)) - _RELATION - _ARTICLES - _named(claim)


def _named(claim: Candidate | Memory) -> frozenset[str]:
    return frozenset(map(stem, claim.property_name.split("_")))


def _negated(claim: Candidate | Memory) -> bool:
    return claim.polarity < 0 if isinstance(claim, Candidate) else "negated" in claim.flags


def _times(claim: Candidate | Memory) -> tuple[object, ...]:
    return claim.valid_from, claim.valid_to


def _contains(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    return len(longer) > len(shorter) and set(shorter) <= set(longer)


def _numeric(word: str) -> bool:
    return word[0].isdigit() or word in english.NUMBERS


def _of_another(candidate: Candidate, memory: Memory) -> bool:
    """Whether somebody speaks of a property of which its owner has spoken themselves."""
    same = bool(candidate.property_name) and candidate.property_name == memory.property_name
    return same and own_word(memory, candidate.speaker)


def _alike(candidate: Candidate, memory: Memory) -> bool:
    one, other = set(content_words(candidate.content)), set(content_words(memory.content))
    return bool(one and other) and len(one & other) / len(one | other) >= _SHARED

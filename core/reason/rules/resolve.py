"""RulesResolver: new, repetition, newer value, or completion, told by subject, property, value and the guards.

Only memories of the same subject are ever touched. A new value replaces an old one where the property takes one value
at a time, where the same value is now denied (or no longer denied), or where the words say that it replaces that very
value. Everything else is kept beside what is there: a false retirement costs more than a repetition that dreaming
finds later.
"""

from collections.abc import Sequence
from typing import Final

from mindmem.core.ids import content_hash, normalise_claim
from mindmem.core.ingest.guards import distinct, named_through, own_word, two_owners
from mindmem.core.language.words import content_words, stem
from mindmem.core.reason.port import Candidate, Judged, Resolution, ResolutionRequest, Verdict
from mindmem.core.reason.rules.claims import (
    in_digits,
    negated,
    rephrased,
    same_subject,
    validity,
    value_stems,
    words_beside,
)
from mindmem.core.reason.rules.newer import newer_value, taken_back
from mindmem.core.records import Memory
from mindmem.core.records.memory import CONDITIONAL

__all__ = ["RulesResolver"]

_UNTRUSTED: Final = frozenset({"instruction_like", "quoted", "hypothetical"})
"""Flags of candidates that may stand beside memories but never change one."""
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
    # What holds under a condition only stands beside what is said of all times: neither replaces the other.
    recalled = [memory for memory in recalled if CONDITIONAL not in memory.flags or memory.content_hash == claim]
    recalled = _of_same_owner(candidate, recalled)
    for memory in recalled:
        if memory.content_hash == claim:
            return Resolution("reinforce", "said before", (memory.memory_id,))
    if len(candidate.content) > _LONG:
        return Resolution("add", "new")
    peers = [one for one in recalled if same_subject(candidate, one) and len(one.content) <= _LONG]
    corrected = taken_back(candidate, recalled)
    if len(corrected) == 1 and _UNTRUSTED.isdisjoint(candidate.flags):
        return Resolution("update", "the words replace the old value", (corrected[0].memory_id,), 0.9, adopts=True)
    for memory in peers:
        if rephrased(candidate.content, memory.content):
            return Resolution("reinforce", "said before in other words", (memory.memory_id,), 0.95)
    if _UNTRUSTED.isdisjoint(candidate.flags):
        for judge in (newer_value, _repeated_value, _completion):
            resolution = judge(candidate, peers)
            if resolution is not None:
                return resolution
    related = tuple(
        memory.memory_id for memory in peers if _alike(candidate, memory) or _of_another(candidate, memory)
    )[:_MAX_RELATED]
    return Resolution("add", "new", related=related)


def _of_same_owner(candidate: Candidate, recalled: Sequence[Memory]) -> list[Memory]:
    """Leave out who only shares the subject's name: Ann's sister Eva isn't Bob's.

    A bare "Eva" is nobody in particular where two are known, unless one of them is the speaker's.
    """
    kept = [memory for memory in recalled if not (same_subject(candidate, memory) and two_owners(candidate, memory))]
    if named_through(candidate):
        return kept
    owners = {owner for memory in kept if same_subject(candidate, memory) and (owner := named_through(memory))}
    if len(owners) < 2:
        return kept
    own = normalise_claim(candidate.speaker or "user")
    return [one for one in kept if not same_subject(candidate, one) or named_through(one) in ("", own)]


# -- the same value again, and completion


def _repeated_value(candidate: Candidate, peers: Sequence[Memory]) -> Resolution | None:
    """The same value, and no word that says more than the memory: at most another verb for the same property."""
    value = in_digits(value_stems(candidate.value))
    if not value or not candidate.property_name:
        return None
    said = set(content_words(candidate.content))
    for memory in peers:
        if memory.property_name != candidate.property_name or in_digits(value_stems(memory.value)) != value:
            continue
        if ("past" in candidate.flags) != ("past" in memory.flags):
            continue
        within = candidate.single_valued and said <= set(content_words(memory.content))
        same = negated(candidate) == negated(memory) and validity(candidate) == validity(memory)
        if not within and not (same and words_beside(candidate) == words_beside(memory)):
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


def _of_another(candidate: Candidate, memory: Memory) -> bool:
    """Whether somebody speaks of a property of which its owner has spoken themselves."""
    same = bool(candidate.property_name) and candidate.property_name == memory.property_name
    return same and own_word(memory, candidate.speaker)


def _alike(candidate: Candidate, memory: Memory) -> bool:
    one, other = set(content_words(candidate.content)), set(content_words(memory.content))
    return bool(one and other) and len(one & other) / len(one | other) >= _SHARED

"""RulesCorrectionPlanner: which memories a correction is about, told by the words it rejects, by subject and property.

Nothing is taken out unless the words name it: a correction that can't be placed adds what it states, and one that
states nothing by itself does nothing. What holds under a condition never replaces what holds always.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.ids import content_hash, normalise_claim
from mindmem.core.ingest.guards import own_word
from mindmem.core.language.words import content_words, stem, words
from mindmem.core.reason.feedback_port import Correction, CorrectionRequest, Signal
from mindmem.core.reason.port import Candidate, Judged, Unsure, Verdict
from mindmem.core.reason.rules.claims import bare_words, denied, rephrased, same_subject, value_stems
from mindmem.core.reason.rules.feedback.denial import at_odds, opposed
from mindmem.core.reason.rules.newer import newer_value, taken_back
from mindmem.core.records import Memory

__all__ = ["RulesCorrectionPlanner"]

_EVENTS: Final = frozenset({"tool_trace", "experience", "skill_candidate", "file_knowledge"})
"""Types that no correction of a fact or wish is about."""
_SIDE: Final = frozenset(
    stem(word)
    for word in "i my me you your we our the a an that it is am are was to of in at on for and or have has do".split()
)
_CHANGED: Final = 4
"""Words in which a restated sentence differs from the one that it puts right, at most."""
_ALIKE: Final = 0.6
"""Least share of common words at which a wish is taken for the opposite of another one."""


class RulesCorrectionPlanner:
    """The planner that needs no model."""

    async def plan(self, requests: Sequence[CorrectionRequest]) -> list[Verdict[Correction]]:
        """Return one judgement per request, in order."""
        return [_plan(request) for request in requests]


def _plan(request: CorrectionRequest) -> Verdict[Correction]:
    signal = request.signal
    # What somebody else said stays on record as they said it.
    known = [
        memory
        for memory in request.recalled
        if memory.mem_type not in _EVENTS
        and (memory.mem_type != "episodic" or normalise_claim(memory.entity_name) == normalise_claim(request.speaker))
    ]
    if signal.kind == "retract":
        return _retraction(request, known)
    if signal.persistence == "task_temporary":
        wrongly = _ids(memory for memory in request.own if memory.mem_type in ("profile", "fact"))
        if wrongly:
            return Judged(Correction("delete", "it was meant for once and kept for good", wrongly))
        return Judged(Correction("none", "it holds for the task at hand only"))
    known = [memory for memory in known if _same_condition(signal, memory)]
    restated = _ids(memory for memory in request.own if memory.mem_type == "episodic")
    if signal.fragment:
        return _value(request, known, restated)
    return _statement(request, known, restated)


# -- taking back


def _retraction(request: CorrectionRequest, known: Sequence[Memory]) -> Verdict[Correction]:
    signal = request.signal
    if signal.rejected:
        named = _naming(signal.rejected, known)
    else:
        named = [memory for memory in known if _told(memory, request.before)]
        if not request.before and signal.persistence == "long_term":  # only what was at hand can be meant
            named = list(known)
        if len(named) != 1:
            return _nothing(request, "wrong what? Say what it is, or hand in the one memory that is meant as recalled")
    if named:
        kept = [memory for memory in request.own if signal.rejected and memory.mem_type == "episodic"]
        return Judged(Correction("delete", "the words take it back", _ids((*named, *kept))))
    return _nothing(request, "nothing is known that the words take back (delete_all forgets a user)")


def _naming(rejected: str, known: Sequence[Memory]) -> list[Memory]:
    """The memories whose words hold all that is rejected, the side words apart."""
    wanted = _main(rejected)
    return [memory for memory in known if wanted and wanted <= _main(f"{memory.content} {memory.value}")]


def _main(text: str) -> set[str]:
    return {stem(word) for word in words(text)} - _SIDE


def _told(memory: Memory, before: str) -> bool:
    """Whether what was said before holds a memory's value."""
    value = _main(memory.value or memory.content)
    return bool(value) and value <= _main(before)


# -- a value in place of another


def _value(request: CorrectionRequest, known: Sequence[Memory], restated: tuple[str, ...]) -> Verdict[Correction]:
    signal = request.signal
    if signal.rejected:
        named = _holding(signal.rejected, known)
    else:
        named = [memory for memory in known if memory.value and _told(memory, request.before)]
    for memory in named if len(named) == 1 or signal.rejected else []:
        found = _put(memory, signal.rejected or memory.value, signal.statement)
        if found is not None:
            content, value = found
            if content_hash(content) == memory.content_hash:
                return Judged(Correction("none", "said before"))
            return Judged(
                Correction("update", "the words put a value right", (memory.memory_id, *restated), content, value)
            )
    return _nothing(request, "nothing is known that the value is of")


def _holding(rejected: str, known: Sequence[Memory]) -> list[Memory]:
    """The memories that hold the rejected value: those whose value it is before those that have it in their words."""
    wanted = value_stems(rejected)
    if not wanted:
        return []
    by_value = [memory for memory in known if value_stems(memory.value) == wanted]
    within = [memory for memory in known if set(wanted) <= {stem(word) for word in words(memory.content)}]
    return [*_first(by_value), *_first(within)][:1]


def _first(memories: Sequence[Memory]) -> list[Memory]:
    """What is told of somebody goes before what was kept in its own words."""
    return sorted(memories, key=lambda memory: memory.mem_type not in ("profile", "fact"))


def _put(memory: Memory, old: str, new: str) -> tuple[str, str] | None:
    """Return the memory's content and value with another value put in, None where it doesn't hold the old one."""
    edge = r"(?<!\w){}(?!\w)" if old[:1].isascii() else "{}"
    pattern = re.compile(edge.format(re.escape(old)), re.IGNORECASE)
    if pattern.search(memory.content) is None:
        bare = re.sub(r"^(?:the|a|an|at|in|on|to|my)\s+", "", old, flags=re.IGNORECASE)
        return _put(memory, bare, new) if bare != old else None
    content = pattern.sub(lambda _: new, memory.content, count=1)
    return content, pattern.sub(lambda _: new, memory.value, count=1) if pattern.search(memory.value) else new


# -- a statement


def _statement(request: CorrectionRequest, known: Sequence[Memory], restated: tuple[str, ...]) -> Verdict[Correction]:
    signal, claim = request.signal, request.claim
    if at_odds(signal.statement):
        return Judged(Correction("none", "the words contradict themselves: say which of both holds"))
    # A wish that was only recorded as something said becomes one that is kept.
    own = [memory for memory in request.own if signal.kind != "instruct" or memory.mem_type != "episodic"]
    again = [memory for memory in (*own, *known) if _says(memory, signal, claim)]
    targets = [memory for memory in _targets(request, known) if memory not in again]
    targets += [memory for memory in own if memory not in again and _is_rejected(memory, signal)]
    if targets:
        denies = len(targets) == 1 and opposed(signal.statement, targets[0].content, request.speaker)
        value = targets[0].value if denies else ""
        why = "the words deny what was known" if denies else "the words replace what was known"
        return Judged(Correction("update", why, (*_ids(targets), *restated), signal.statement, value))
    if again and signal.kind == "replace" and not request.last:
        return Unsure("what it takes the place of may still be there")
    if again and _same_condition(signal, again[0]):
        return Judged(Correction("none", "known already"))
    if request.recalled and not request.last and signal.kind == "replace":
        return Unsure("none of what was recalled is what the words correct")
    if not request.last:
        return Unsure("what is known on it was not looked at")
    superseded = _ids(memory for memory in request.own if memory not in again)
    return Judged(
        Correction("update", "said anew with when it holds", superseded, signal.statement)
        if signal.condition and superseded
        else Correction("update", "told apart from what was said around it", restated, signal.statement)
        if restated
        else Correction("add", "new", content=signal.statement)
    )


def _targets(request: CorrectionRequest, known: Sequence[Memory]) -> list[Memory]:
    signal, claim = request.signal, request.claim
    if signal.rejected:
        held = [
            memory
            for memory in _holding(signal.rejected, known)
            if claim is None or same_subject(claim, memory) or _restates(signal.statement, memory)
        ]
        if held:
            return held
    if claim is None:
        return []
    meant = replace(claim, flags=tuple(dict.fromkeys((*claim.flags, "correction"))))
    peers = [memory for memory in known if same_subject(claim, memory)]
    verdict = newer_value(meant, peers)
    if verdict is not None:
        return [memory for memory in known if memory.memory_id in verdict.targets]
    back = taken_back(meant, known)
    if len(back) == 1:
        return back
    opposite = [
        memory
        for memory in known
        if opposed(signal.statement, memory.content, request.speaker) and not own_word(memory, claim.speaker)
    ] or [memory for memory in peers if _opposite(claim, memory)]
    if opposite:
        return opposite
    if signal.kind != "replace":
        return []
    others = [
        memory
        for memory in peers
        if memory.property_name == claim.property_name
        and claim.property_name
        and not (denied(memory) or claim.polarity < 0)
        and value_stems(memory.value) != value_stems(claim.value)
    ]
    if len(others) == 1 and (claim.single_valued is not False or _told(others[0], request.before)):
        return others
    alike = [memory for memory in peers if _restates(signal.statement, memory)]
    return alike if len(alike) == 1 else []


def _says(memory: Memory, signal: Signal, claim: Candidate | None) -> bool:
    if memory.content_hash == content_hash(signal.statement) or rephrased(signal.statement, memory.content):
        return True
    if claim is None or not claim.property_name or not claim.value or memory.mem_type == "episodic":
        return False
    same = memory.property_name == claim.property_name and value_stems(memory.value) == value_stems(claim.value)
    return same and same_subject(claim, memory) and denied(memory) == (claim.polarity < 0 or "past" in claim.flags)


def _is_rejected(memory: Memory, signal: Signal) -> bool:
    """Whether a memory holds as true the very value that the words which it was made of reject."""
    wrong = value_stems(signal.rejected)
    return bool(wrong) and value_stems(memory.value) == wrong and not denied(memory)


def _opposite(claim: Candidate, memory: Memory) -> bool:
    """Whether a wish asks for what another one forbids, or forbids what it asks for."""
    if claim.mem_type != "profile" or memory.mem_type != "profile" or own_word(memory, claim.speaker):
        return False
    if denied(memory) == (claim.polarity < 0):
        return False
    one, other = set(bare_words(claim.value or claim.content)), set(bare_words(memory.value or memory.content))
    return bool(one and other) and len(one & other) / len(one | other) >= _ALIKE


def _restates(statement: str, memory: Memory) -> bool:
    """Whether a statement is a memory's sentence with a few words of it put otherwise."""
    new, old = content_words(statement), content_words(memory.content)
    head = 0
    while head < min(len(new), len(old)) and new[head] == old[head]:
        head += 1
    tail = 0
    while tail < min(len(new), len(old)) - head and new[-1 - tail] == old[-1 - tail]:
        tail += 1
    fresh, gone = len(new) - head - tail, len(old) - head - tail
    shared = set(new[:head] + new[len(new) - tail :]) - _SIDE
    return bool(shared) and 0 < fresh <= _CHANGED and 0 < gone <= _CHANGED and head + tail >= max(fresh, gone)


# -- conditions and what is left


def _same_condition(signal: Signal, memory: Memory) -> bool:
    return set(content_words(signal.condition)) == set(content_words(memory.condition))


def _nothing(request: CorrectionRequest, why: str) -> Verdict[Correction]:
    return Judged(Correction("none", why)) if request.last else Unsure(why)


def _ids(memories: Iterable[Memory]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(memory.memory_id for memory in memories))

"""The correction planner that asks a model: one question a signal, its decision checked against what was shown.

Nothing is taken out on a model's word alone: a target must be of those shown, under the same condition, nobody else's
own word, and have to do with what the user said. What fails that leaves the user's statement to be added, or nothing.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.ids import content_hash
from mindmem.core.ingest.guards import own_word
from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.feedback_port import Correction, CorrectionPlanner, CorrectionRequest
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, without_roles
from mindmem.core.reason.llm.feedback.replies import CorrectionReply
from mindmem.core.reason.llm.feedback.signals import bearing, invented
from mindmem.core.reason.llm.memories import NOTHING, one_line, shown
from mindmem.core.reason.llm.schema.said import Said
from mindmem.core.reason.port import Failed, Judged, Verdict
from mindmem.core.records import Memory
from mindmem.core.redact import redact
from mindmem.core.settings import LlmSettings

__all__ = ["LlmCorrectionPlanner"]

log = logging.getLogger(__name__)

_SHOWN: Final = 400  # characters of a memory
_CONTEXT: Final = 1_200  # characters of what was said before
_REASON: Final = 160  # characters of a model's reason
_LONGEST: Final = 600  # characters of a kept sentence
_SURE: Final = 0.7
_STATED: Final = 0.6
"""Least part of a statement's content words that a sentence has which joins it with what its targets say."""
_NO_CLAIM: Final = frozenset({"tool_trace", "experience", "skill_candidate", "file_knowledge"})
"""Types that no correction of a fact or wish is about."""


class LlmCorrectionPlanner:
    """Decides by a model what corrections do to what is known.

    What stays unreadable is judged by ``fallback``, its reason marked, where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: CorrectionPlanner | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def plan(self, requests: Sequence[CorrectionRequest]) -> list[Verdict[Correction]]:
        """Return one verdict per request, in order.

        Raises:
            BudgetReached: the model may not be asked any more; what was asked meanwhile is in its cache.
        """
        return await gathered([self._signal(request) for request in requests])

    async def _signal(self, request: CorrectionRequest) -> Verdict[Correction]:
        memories = (*request.own, *request.recalled)
        known = _without_asking(request, memories)
        if known is not None:
            return Judged(known)
        question = load_prompt("feedback_plan").question(
            CorrectionReply,
            feedback=_told(request),
            before=one_line(request.before[-_CONTEXT:]) or NOTHING,
            memories=_memories(request, memories),
            last="yes" if request.last else "no",
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if not isinstance(verdict, Failed):
            return Judged(_checked(request, memories, verdict.value.value))
        if verdict.transient or self._fallback is None:
            return verdict
        [judged] = await self._fallback.plan([request])
        if not isinstance(judged, Judged):
            return judged
        return Judged(replace(judged.value, reason=f"{FALLBACK_FLAG}: {judged.value.reason}"))


def _without_asking(request: CorrectionRequest, memories: Sequence[Memory]) -> Correction | None:
    """The judgement that no model is needed for: the same words are known, or there is nothing to take out."""
    signal = request.signal
    if signal.persistence == "task_temporary" and not request.own:
        return Correction("none", "it holds for the task at hand only")
    said = content_hash(signal.statement)
    if signal.statement and any(one.content_hash == said and one.condition == signal.condition for one in memories):
        return Correction("none", "known already")
    return None


# ---------------------------------------------------------------------- what is shown


def _told(request: CorrectionRequest) -> str:
    signal = request.signal
    parts = {
        "kind": signal.kind,
        "holds": signal.persistence,
        "condition": signal.condition,
        "by": request.speaker,
        "statement": signal.statement,
        "rejected": signal.rejected,
    }
    return "\n".join(f"{name}: {one_line(words, _LONGEST)}" for name, words in parts.items() if words)


def _memories(request: CorrectionRequest, memories: Sequence[Memory]) -> str:
    lines = shown(memories, long=_SHOWN).splitlines()
    for place, memory in enumerate(memories):
        number, rest = lines[place].split(" ", 1)
        marks = ["own"] if memory in request.own else []
        marks += [f"only if: {one_line(memory.condition, 100)}"] if memory.condition else []
        lines[place] = f"{number} ({'; '.join(marks)}) {rest}" if marks else lines[place]
    return "\n".join(lines)


# ---------------------------------------------------------------------- what holds


def _checked(request: CorrectionRequest, memories: Sequence[Memory], reply: CorrectionReply) -> Correction:
    """A decision as far as it holds."""
    signal, reason = request.signal, one_line(reply.reason, _REASON) or reply.action
    if reply.action == "none":
        return Correction("none", reason)
    if reply.action == "search":
        return _searched(request, reply, reason)
    named = [memories[number - 1] for number in dict.fromkeys(reply.targets) if number <= len(memories)]
    if len(named) < len(set(reply.targets)):
        log.warning("a correction named memories that were not shown")
    targets = [one for one in named if _may_go(request, one)] if reply.confidence >= _SURE else []
    names = tuple(one.memory_id for one in targets)
    if signal.persistence == "task_temporary":
        wrongly = tuple(one.memory_id for one in targets if one in request.own and one.mem_type != "episodic")
        return Correction("delete" if wrongly else "none", reason, wrongly if reply.action == "delete" else ())
    if reply.action == "delete":
        able = signal.kind == "retract" and names
        return Correction("delete", reason, names) if able else Correction("none", f"delete refused: {reason}")
    if not signal.statement:
        return Correction("none", f"{reply.action} refused: there is nothing to keep")
    if reply.action == "add" or not targets:
        why = reason if reply.action == "add" else f"update refused (no target that may be): {reason}"
        return Correction("add", why, content=signal.statement)
    return Correction("update", reason, names, _content(request, targets, reply.content))


def _searched(request: CorrectionRequest, reply: CorrectionReply, reason: str) -> Correction:
    signal = request.signal
    if not request.last:
        query = one_line(reply.query, 300)
        return Correction("search", reason, query=query if has_substance(query) else "")
    if signal.statement and signal.persistence != "task_temporary":
        return Correction("add", f"nothing known is meant: {reason}", content=signal.statement)
    return Correction("none", f"nothing known is meant: {reason}")


def _may_go(request: CorrectionRequest, memory: Memory) -> bool:
    """Whether a memory may give way to a signal."""
    signal = request.signal
    if memory in request.own:
        return True
    if memory.condition != signal.condition or memory.mem_type in _NO_CLAIM or own_word(memory, request.speaker):
        return False
    about = bearing(f"{memory.content} {memory.value} {memory.property_name.replace('_', ' ')}")
    return not about.isdisjoint(bearing(f"{signal.statement} {signal.rejected}"))


def _content(request: CorrectionRequest, targets: Sequence[Memory], content: str) -> str:
    """The sentence that is kept: the model's where it says what the user and the targets do, else the user's."""
    statement = request.signal.statement
    words = redact(one_line(without_roles(content), _LONGEST))[0]
    if not has_substance(words):
        return statement
    made = Said([words])
    told = Said([statement, request.speaker, *(one.content for one in targets)])
    incomplete = made.new_numbers(statement) or made.new_names(statement) or made.share(statement) < _STATED
    if incomplete or invented(words, told) or told.foreign(words):
        log.warning("a corrected sentence was refused: it says something else than the user and the targets")
        return statement
    return words

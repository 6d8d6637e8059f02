"""The resolver that asks a model: candidates in batches beside what was recalled for each, decisions checked.

Only a candidate with a recalled memory of its subject or of its words is asked about; others are new. A decision may
name only what was recalled for its own candidate; what folds two claims that the guards keep apart, or takes back
somebody's own word by another's, becomes an add with links.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.ids import content_hash, normalise_claim
from mindmem.core.ingest.guards import distinct, own_word, series
from mindmem.core.language.words import content_words
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, without_roles
from mindmem.core.reason.llm.memories import named, one_line, shown
from mindmem.core.reason.llm.replies import Resolved, ResolveReply
from mindmem.core.reason.port import Candidate, Failed, Judged, Resolution, ResolutionRequest, Resolver, Unsure, Verdict
from mindmem.core.records import Memory
from mindmem.core.settings import LlmSettings

__all__ = ["BATCH", "LlmResolver"]

log = logging.getLogger(__name__)

BATCH: Final = 16
"""Candidates of one question."""
_SHOWN: Final = 600  # characters of a claim that are shown
_UNTRUSTED: Final = "instruction_like"
_MAX_RELATED: Final = 3
_SURE: Final[Mapping[str, float]] = {"add": 0.0, "update": 0.0, "merge": 0.0, "reinforce": 0.7, "skip": 0.8}
"""Least confidence in what leaves a candidate unstored; that in updates and merges is the gate's matter."""


class LlmResolver:
    """Decides by a model whether candidates are new, repeated, newer values or completions.

    A batch whose reply stays unreadable is judged by ``fallback`` where there is one; the reasons say so.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: Resolver | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def resolve(self, requests: Sequence[ResolutionRequest]) -> list[Verdict[Resolution]]:
        """Return one verdict per request, in order.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        verdicts: list[Verdict[Resolution] | None] = [_without_asking(request) for request in requests]
        asked = [place for place, verdict in enumerate(verdicts) if verdict is None]
        batches = [asked[at : at + BATCH] for at in range(0, len(asked), BATCH)]
        answers = await gathered([self._batch([requests[place] for place in batch]) for batch in batches])
        for batch, answer in zip(batches, answers, strict=True):
            for place, verdict in zip(batch, answer, strict=True):
                verdicts[place] = verdict
        return [verdict for verdict in verdicts if verdict is not None]

    async def _batch(self, requests: Sequence[ResolutionRequest]) -> list[Verdict[Resolution]]:
        memories = list({memory.memory_id: memory for request in requests for memory in request.recalled}.values())
        numbers = {memory.memory_id: number for number, memory in enumerate(memories, start=1)}
        question = load_prompt("conflict").question(
            ResolveReply, memories=shown(memories, long=_SHOWN), candidates=_candidates(requests, numbers)
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if isinstance(verdict, Failed):
            return await self._failed(requests, verdict)
        decisions: dict[int, Resolved] = {}
        for decision in verdict.value.value.decisions:
            decisions.setdefault(decision.candidate, decision)
        return [_checked(request, decisions.get(number), memories) for number, request in enumerate(requests, start=1)]

    async def _failed(self, requests: Sequence[ResolutionRequest], failed: Failed) -> list[Verdict[Resolution]]:
        if failed.cut and len(requests) > 1:
            half = len(requests) // 2
            first, second = await gathered([self._batch(requests[:half]), self._batch(requests[half:])])
            return [*first, *second]
        if failed.transient or self._fallback is None:
            return [failed for _ in requests]
        return [_marked(verdict) for verdict in await self._fallback.resolve(requests)]


def _marked(verdict: Verdict[Resolution]) -> Verdict[Resolution]:
    if not isinstance(verdict, Judged):
        return verdict
    return Judged(replace(verdict.value, reason=f"{FALLBACK_FLAG}: {verdict.value.reason}"))


def _without_asking(request: ResolutionRequest) -> Verdict[Resolution] | None:
    """The judgement of a candidate that no model is needed for: the same words, or nothing near; else None."""
    claim = content_hash(request.candidate.content)
    for memory in request.recalled:
        if memory.content_hash == claim:
            return Judged(Resolution("reinforce", "said before", (memory.memory_id,)))
    if _UNTRUSTED in request.candidate.flags:
        return Judged(Resolution("add", "quoted words change nothing"))
    if not any(_near(request.candidate, memory) for memory in request.recalled):
        return Judged(Resolution("add", "new"))
    return None


def _near(candidate: Candidate, memory: Memory) -> bool:
    """Whether a memory could be repeated, replaced or completed: one of the same subject, or of shared words."""
    if candidate.hint is not None and candidate.hint.target == memory.memory_id:
        return True
    if normalise_claim(candidate.entity_name) == normalise_claim(memory.entity_name):
        return True
    return len(set(content_words(candidate.content)) & set(content_words(memory.content))) > 1


def _candidates(requests: Sequence[ResolutionRequest], numbers: dict[str, int]) -> str:
    lines = []
    for number, request in enumerate(requests, start=1):
        candidate = request.candidate
        about = " · ".join(part for part in (candidate.entity_name, candidate.property_name) if part)
        marks = [f"said {candidate.observed_at:%Y-%m-%d}"] if candidate.observed_at else []
        if candidate.valid_from is not None:
            marks.append(f"since {candidate.valid_from.isoformat()[:10]}")
        if candidate.valid_to is not None:
            marks.append(f"until before {candidate.valid_to.isoformat()[:10]}")
        marks += [flag for flag in candidate.flags if flag in ("negated", "past")]
        if candidate.speaker and candidate.speaker != candidate.entity_name:
            marks.append(f"said by {named(candidate.speaker)}")
        if candidate.hint is not None and candidate.hint.target in numbers:
            marks.append(f"first thought: {candidate.hint.op} M{numbers[candidate.hint.target]}")
        near = ", ".join(f"M{numbers[memory.memory_id]}" for memory in request.recalled)
        head = f"C{number} ({one_line(about, 200)}) [{'; '.join(marks)}] {one_line(candidate.content, _SHOWN)}"
        lines.append(f"{head} near: {near}")
    return "\n".join(lines)


def _checked(request: ResolutionRequest, decision: Resolved | None, memories: Sequence[Memory]) -> Verdict[Resolution]:
    """A decision as far as it holds: targets among what was recalled for this candidate, and no guard objects."""
    if decision is None:
        return Unsure("the model left the candidate out")
    recalled = {memory.memory_id: memory for memory in request.recalled}
    named = {number: memory.memory_id for number, memory in enumerate(memories, start=1)}

    def known(numbers: Sequence[int]) -> list[str]:
        return [one for one in dict.fromkeys(named.get(number, "") for number in numbers) if one in recalled]

    targets, related = known(decision.targets), known(decision.related)
    reason = one_line(decision.reason, 200) or decision.action
    if decision.confidence < _SURE[decision.action]:
        why = f"{decision.action} refused (confidence {decision.confidence:.2f}): {reason}"
        return Judged(Resolution("add", why, related=tuple(dict.fromkeys((*targets, *related)))[:_MAX_RELATED]))
    if decision.action in ("add", "skip"):
        near = tuple(dict.fromkeys((*related, *targets)))[:_MAX_RELATED]
        return Judged(Resolution(decision.action, reason, related=near, confidence=decision.confidence))
    if len(targets) < len(decision.targets):
        log.warning("%s named memories that were not recalled for its candidate", decision.action)
    kept = [name for name in targets if not _forbidden(decision, request.candidate, recalled[name])]
    others = tuple(dict.fromkeys((*(name for name in targets if name not in kept), *related)))[:_MAX_RELATED]
    merged = without_roles(decision.merged_content) if decision.action == "merge" else ""
    if not kept or (decision.action == "merge" and not _complete(merged, request.candidate, recalled[kept[0]])):
        why = f"{decision.action} refused ({'no target that may be' if not kept else 'loses a detail'}): {reason}"
        return Judged(Resolution("add", why, related=tuple(dict.fromkeys((*kept, *others)))[:_MAX_RELATED]))
    return Judged(
        Resolution(decision.action, reason, tuple(kept), decision.confidence, merged_content=merged, related=others)
    )


def _forbidden(decision: Resolved, candidate: Candidate, memory: Memory) -> bool:
    """Whether a guard keeps a candidate and a target apart."""
    if decision.action == "update":
        return own_word(memory, candidate.speaker) or series(candidate.content, memory.content)
    difference = distinct(candidate.content, memory.content)
    if decision.action == "merge" and difference == "named entity":
        said, known = set(content_words(candidate.content)), set(content_words(memory.content))
        return not (said >= known or known >= said)  # a detail that names something more is no difference
    return difference is not None


def _complete(merged: str, candidate: Candidate, memory: Memory) -> bool:
    """Whether a merged sentence holds the words of both claims, and few others."""
    words = set(content_words(merged))
    both = set(content_words(candidate.content)) | set(content_words(memory.content))
    return bool(words) and len(both - words) <= len(both) // 4 and len(words - both) <= len(both) // 4

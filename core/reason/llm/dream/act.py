"""The action planner that asks a model: issues in batches beside their memories, actions checked.

A model may do less than an issue asks for, never more. What it leaves out, or would do in another way than its issue
allows, becomes a link; a sentence that stands for several memories must say what they say and nothing else.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from mindmem.core.ingest.guards import contrary
from mindmem.core.language.words import content_words, has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.dream_port import ActionPlanner, ActionRequest, DreamAction, Issue
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, without_roles
from mindmem.core.reason.llm.dream.detect import SHOWN
from mindmem.core.reason.llm.dream.replies import Acted, ActReply
from mindmem.core.reason.llm.memories import NOTHING, one_line, shown
from mindmem.core.reason.llm.schema.said import Said
from mindmem.core.reason.port import Failed, Judged, Verdict
from mindmem.core.records import Memory
from mindmem.core.records.dream import IssueKind
from mindmem.core.redact import redact
from mindmem.core.settings import LlmSettings

__all__ = ["BATCH", "LlmActionPlanner"]

log = logging.getLogger(__name__)

BATCH: Final = 16
"""Issues of one question."""
_REASON: Final = 160  # characters of a reason
_LONGEST: Final = 600  # characters of a sentence that stands for several memories
_SURE: Final = 0.7
_FOUNDED: Final = 0.85
"""Least part of such a sentence's content words that its memories have, and of theirs that it has."""
_FITS: Final[dict[IssueKind, str]] = {
    "conflict": "supersede", "duplicate": "merge", "near_duplicate": "merge", "complementary": "merge",
    "low_value": "archive",
}  # fmt: skip
"""What may be done about an issue beside linking and keeping."""


class LlmActionPlanner:
    """Decides by a model what is done about issues. An issue that is not sure is linked and asks nothing.

    Issues whose reply stays unreadable are judged by ``fallback``, the reasons marked, where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: ActionPlanner | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def plan(self, requests: Sequence[ActionRequest]) -> list[Verdict[tuple[DreamAction, ...]]]:
        """Return one verdict per issue, in order.

        Raises:
            BudgetReached: the model may not be asked any more; what was asked meanwhile is in its cache.
        """
        verdicts: dict[int, Verdict[tuple[DreamAction, ...]]] = {
            place: Judged(_linked(request.issue, request.issue.reason))
            for place, request in enumerate(requests)
            if not request.issue.sure or request.issue.kind == "ambiguous"
        }
        asked = [place for place in range(len(requests)) if place not in verdicts]
        batches = [asked[at : at + BATCH] for at in range(0, len(asked), BATCH)]
        answers = await gathered([self._batch([requests[place] for place in batch]) for batch in batches])
        for batch, answer in zip(batches, answers, strict=True):
            verdicts |= dict(zip(batch, answer, strict=True))
        return [verdicts[place] for place in range(len(requests))]

    async def _batch(self, requests: Sequence[ActionRequest]) -> list[Verdict[tuple[DreamAction, ...]]]:
        memories = list({memory.memory_id: memory for request in requests for memory in request.memories}.values())
        numbers = {memory.memory_id: number for number, memory in enumerate(memories, start=1)}
        question = load_prompt("dream_act").question(
            ActReply, memories=shown(memories, long=SHOWN), issues=_issues(requests, numbers)
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        if cut and len(requests) > 1:
            half = len(requests) // 2
            first, second = await gathered([self._batch(requests[:half]), self._batch(requests[half:])])
            return [*first, *second]
        if isinstance(verdict, Failed):
            return await self._failed(requests, verdict)
        found: dict[int, Acted] = {}
        for one in verdict.value.value.actions:
            found.setdefault(one.issue, one)
        return [Judged(_checked(request, found.get(number), memories)) for number, request in enumerate(requests, 1)]

    async def _failed(
        self, requests: Sequence[ActionRequest], failed: Failed
    ) -> list[Verdict[tuple[DreamAction, ...]]]:  # fmt: skip
        if failed.transient or self._fallback is None:
            return [failed for _ in requests]
        verdicts = await self._fallback.plan(requests)
        return [Judged(_marked(one.value)) if isinstance(one, Judged) else one for one in verdicts]


def _marked(actions: Sequence[DreamAction]) -> tuple[DreamAction, ...]:
    return tuple(replace(one, reason=f"{FALLBACK_FLAG}: {one.reason}") for one in actions)


def _issues(requests: Sequence[ActionRequest], numbers: dict[str, int]) -> str:
    lines = []
    for number, request in enumerate(requests, start=1):
        issue = request.issue
        about = " ".join(f"M{numbers[memory.memory_id]}" for memory in request.memories)
        kept = f" keep M{numbers[issue.keep]}" if issue.keep in numbers else ""
        lines.append(f"I{number} {issue.kind.replace('near_', '')} {about}{kept}: {one_line(issue.reason, _REASON)}")
    return "\n".join(lines) or NOTHING


def _checked(request: ActionRequest, acted: Acted | None, memories: Sequence[Memory]) -> tuple[DreamAction, ...]:
    """What is done about an issue, as far as the answer holds."""
    issue = request.issue
    if acted is None:
        return _linked(issue, f"no action was decided: {issue.reason}")
    reason = one_line(acted.reason, _REASON) or issue.reason
    if acted.action == "keep":
        return ()
    if acted.action == "link" or acted.action != _FITS[issue.kind] or acted.confidence < _SURE:
        return _linked(issue, reason)
    if acted.action == "archive":
        return tuple(DreamAction("archive", name, reason) for name in issue.memory_ids)
    survivor = memories[acted.survivor - 1].memory_id if 1 <= acted.survivor <= len(memories) else ""
    if survivor not in issue.memory_ids:
        log.warning("%s refused: a survivor that is none of the issue's memories", acted.action)
        return _linked(issue, reason)
    if acted.action == "supersede":
        if survivor != issue.keep:  # the order tells who holds now, not the model
            return _linked(issue, reason)
        others = [name for name in issue.memory_ids if name != survivor]
        return tuple(
            DreamAction("supersede", older, reason, by=newer) for older, newer in pairwise((*others, survivor))
        )
    return _merged(request, survivor, acted.content, reason)


def _merged(request: ActionRequest, survivor: str, content: str, reason: str) -> tuple[DreamAction, ...]:
    """One memory for all: with the words that it has where these say all of it, else with a sentence that does."""
    keep = next(memory for memory in request.memories if memory.memory_id == survivor)
    others = [memory for memory in request.memories if memory is not keep]
    words = redact(one_line(without_roles(content), _LONGEST))[0]
    written = words if has_substance(words) and words != keep.content else ""
    if written and (why := _says_else(written, keep, request.memories)):
        log.warning("a merged sentence was refused: %s", why)
        written = ""
    if not written and request.issue.kind == "complementary":
        said = Said([keep.content])
        # Without a sentence that holds it, a detail would be lost.
        if any(said.share(one.content) < 1 or said.new_numbers(one.content) for one in others):
            return _linked(request.issue, reason)
    folded = tuple(DreamAction("fold", one.memory_id, reason, by=survivor) for one in others)
    return (DreamAction("write", survivor, reason, content=written), *folded) if written else folded


def _says_else(content: str, keep: Memory, memories: Sequence[Memory]) -> str:
    """Why a sentence can't stand for memories; empty where nothing shows it."""
    told = Said([*(memory.content for memory in memories), *(memory.entity_name for memory in memories)])
    if told.new_numbers(content) or told.new_names(content):
        return "a number or name that its memories don't have"
    if told.foreign(content):
        return "another language than its memories'"
    if contrary(content, keep.content):
        return "the opposite of its memories"
    words = set(content_words(content))
    both = {word for memory in memories for word in content_words(memory.content)}
    if told.share(content) < _FOUNDED or len(both - words) > (1 - _FOUNDED) * len(both):
        return "says more or less than its memories"
    made = Said([content])
    if any(made.new_numbers(memory.content) or made.new_names(memory.content) for memory in memories):
        return "leaves out a number or name"
    return ""


def _linked(issue: Issue, reason: str) -> tuple[DreamAction, ...]:
    kind = "contradicts" if issue.kind == "conflict" else issue.link
    return tuple(DreamAction("link", newer, reason, by=older, kind=kind) for older, newer in pairwise(issue.memory_ids))

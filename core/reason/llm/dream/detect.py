"""The issue detector that asks a model: one question a window, halved where the answer would not fit, then checked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.dream_port import DetectRequest, Issue, IssueDetector
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG
from mindmem.core.reason.llm.dream.issues import IssueReader
from mindmem.core.reason.llm.dream.replies import DetectReply
from mindmem.core.reason.llm.memories import NOTHING, shown
from mindmem.core.reason.port import Failed, Judged, Verdict
from mindmem.core.records import Memory
from mindmem.core.settings import LlmSettings

__all__ = ["SHOWN", "LlmDetector"]

SHOWN: Final = 400
"""Characters of a memory that are shown."""
_LEAST: Final = 4
"""Memories of a window that is not halved any more."""


class LlmDetector:
    """Finds by a model what is wrong in windows. A window of one memory asks nothing.

    A window whose reply stays unreadable is judged by ``fallback``, the reasons marked, where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: IssueDetector | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def detect(self, requests: Sequence[DetectRequest]) -> list[Verdict[tuple[Issue, ...]]]:
        """Return one verdict per window, in order.

        Raises:
            BudgetReached: the model may not be asked any more; what was asked meanwhile is in its cache.
        """
        return await gathered([self._window(request, request.memories) for request in requests])

    async def _window(self, request: DetectRequest, memories: Sequence[Memory]) -> Verdict[tuple[Issue, ...]]:
        if len(memories) < 2:
            return Judged(())
        question = load_prompt("dream_detect").question(
            DetectReply, memories=shown(memories, long=SHOWN), together=_together(request, memories)
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        if cut and len(memories) > _LEAST:
            return await self._halves(request, memories)
        if isinstance(verdict, Failed):
            return await self._failed(request, verdict)
        return Judged(IssueReader(request, memories).read(verdict.value.value.issues))

    async def _halves(self, request: DetectRequest, memories: Sequence[Memory]) -> Verdict[tuple[Issue, ...]]:
        half = len(memories) // 2
        verdicts = await gathered([self._window(request, part) for part in (memories[:half], memories[half:])])
        failed = next((one for one in verdicts if isinstance(one, Failed)), None)
        return failed or Judged(tuple(issue for one in verdicts if isinstance(one, Judged) for issue in one.value))

    async def _failed(self, request: DetectRequest, failed: Failed) -> Verdict[tuple[Issue, ...]]:
        if failed.transient or self._fallback is None:
            return failed
        [verdict] = await self._fallback.detect([request])
        if not isinstance(verdict, Judged):
            return verdict
        return Judged(tuple(_marked(issue) for issue in verdict.value))


def _marked(issue: Issue) -> Issue:
    return replace(issue, reason=f"{FALLBACK_FLAG}: {issue.reason}")


def _together(request: DetectRequest, memories: Sequence[Memory]) -> str:
    numbers = {memory.memory_id: number for number, memory in enumerate(memories, start=1)}
    pairs = sorted(
        sorted((numbers[one], numbers[other])) for one, other in request.together if {one, other} <= numbers.keys()
    )
    return "\n".join(f"M{one} M{other}" for one, other in pairs) or NOTHING

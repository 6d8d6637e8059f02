"""The judge that asks a model whether an answer says what the right one says."""

from collections.abc import Sequence
from typing import Final

from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.replies import GradeReply
from mindmem.core.reason.port import Failed, Grade, GradeRequest, Judged, Verdict
from mindmem.core.settings import LlmSettings

__all__ = ["LlmGrader"]

_SHOWN: Final = 4_000  # characters of each text


class LlmGrader:
    """Grades answers by a model. An answer without words is wrong, and none is asked."""

    def __init__(self, model: Model, settings: LlmSettings) -> None:
        self._model = model
        self._settings = settings

    async def grade(self, requests: Sequence[GradeRequest]) -> list[Verdict[Grade]]:
        """Return one verdict per request, in order.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        return await gathered([self._grade(request) for request in requests])

    async def _grade(self, request: GradeRequest) -> Verdict[Grade]:
        if not has_substance(request.given):
            return Judged(Grade(False, "the answer has no words"))
        question = load_prompt("judge").question(
            GradeReply,
            question=request.question[:_SHOWN],
            expected=request.expected[:_SHOWN],
            given=request.given[:_SHOWN],
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if isinstance(verdict, Failed):
            return verdict
        reply = verdict.value.value
        return Judged(Grade(reply.verdict == "correct", reply.reason))

"""The reader that asks a model: an answer from the memories that a search found, with the numbers it rests on."""

from collections.abc import Sequence
from typing import Final

from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import without_roles
from mindmem.core.reason.llm.memories import present, shown
from mindmem.core.reason.llm.replies import AnswerReply
from mindmem.core.reason.port import Answer, AnswerRequest, Failed, Judged, Unsure, Verdict
from mindmem.core.settings import LlmSettings

__all__ = ["LlmAnswerer"]

_SHOWN: Final = 2_000  # characters of a memory that are shown
_MOST_CHARS: Final = 8_000  # of a question


class LlmAnswerer:
    """Answers questions by a model, from the given memories only. Without memories, none is asked."""

    def __init__(self, model: Model, settings: LlmSettings) -> None:
        self._model = model
        self._settings = settings

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        """Return one verdict per request, in order; ``Unsure`` where the memories don't hold the answer.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        return await gathered([self._answer(request) for request in requests])

    async def _answer(self, request: AnswerRequest) -> Verdict[Answer]:
        if not request.memories:
            return Unsure("no memory was found")
        if not has_substance(request.question):
            return Unsure("the question has no words")
        question = load_prompt("answer").question(
            AnswerReply,
            now=present(request.asked_at, request.timezone),
            memories=shown(request.memories, request.timezone, long=_SHOWN),
            question=request.question[:_MOST_CHARS],
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if isinstance(verdict, Failed):
            return verdict
        reply = verdict.value.value
        text = without_roles(reply.answer)
        if not reply.found or not has_substance(text):
            return Unsure("the memories don't hold the answer")
        memories = request.memories
        used = (memories[number - 1].memory_id for number in reply.memories if 1 <= number <= len(memories))
        return Judged(Answer(text, tuple(dict.fromkeys(used))))

"""Answering a question from memory: search, then the reasoner reads what was found."""

from dataclasses import dataclass
from datetime import datetime

from mindmem.core import retrieve
from mindmem.core.errors import ModelUnavailable
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.port import Answer, AnswerRequest, Failed, Judged, Unsure, Verdict
from mindmem.core.records import Hit
from mindmem.core.services import Services

__all__ = ["AnswerResult", "answer"]


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """What memory says to a question.

    ``text`` is the answer, empty where the memories don't hold one: ``reason`` then says why. ``sources`` are the hits
    that it rests on, ``hits`` all that were read, best first; ``notes`` are the search's.
    """

    text: str
    reason: str = ""
    sources: tuple[Hit, ...] = ()
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Return whether there is an answer."""
        return bool(self.text)


async def answer(
    services: Services, request: retrieve.Request, *, asked_at: datetime | None = None, run_id: str = ""
) -> AnswerResult:
    """Search for ``request.query`` and answer it from what is found.

    Args:
        asked_at: the present of the question (aware); None: ``as_of``, else now.

    Raises:
        InvalidInput: see ``Memory.search``.
        ModelUnavailable: the reasoner gave no readable answer.
        BudgetReached: the reasoner's model may not be asked any more.
    """
    with charged_to(request.scope, run_id):
        result = retrieve.search(services, request)
        question = AnswerRequest(
            question=request.query,
            memories=tuple(hit.memory for hit in result.hits),
            asked_at=asked_at or request.as_of or services.clock.now(),
            timezone=services.settings.timezone,
        )
        [verdict] = await services.reasoner.answer.answer([question])
    said, reason = _said(verdict)
    return AnswerResult(
        text=said.text,
        reason=reason,
        sources=tuple(hit for hit in result.hits if hit.memory.memory_id in said.memory_ids),
        hits=result.hits,
        notes=result.notes,
    )


def _said(verdict: Verdict[Answer]) -> tuple[Answer, str]:
    match verdict:
        case Judged(value):
            return value, ""
        case Unsure(reason):
            return Answer(""), reason
        case Failed(reason, transient):
            raise ModelUnavailable(f"No answer: {reason}", transient=transient)

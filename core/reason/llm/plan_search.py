"""The planner that asks a model what to search for next, and whether enough was found."""

from collections.abc import Sequence
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.memories import one_line, present, shown
from mindmem.core.reason.llm.replies import PlanReply
from mindmem.core.reason.llm.times import read_time
from mindmem.core.reason.port import Failed, Judged, SearchPlan, SearchPlanRequest, Unsure, Verdict
from mindmem.core.settings import LlmSettings

__all__ = ["MOST_QUERIES", "LlmPlanner"]

MOST_QUERIES: Final = 4
_FOUND: Final = 30  # memories that are shown
_SHOWN: Final = 500  # characters of each
_MOST_CHARS: Final = 4_000  # of a question


class LlmPlanner:
    """Plans searches by a model. Nothing found is never enough."""

    def __init__(self, model: Model, settings: LlmSettings) -> None:
        self._model = model
        self._settings = settings

    async def plan(self, requests: Sequence[SearchPlanRequest]) -> list[Verdict[SearchPlan]]:
        """Return one verdict per request, in order.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        return await gathered([self._plan(request) for request in requests])

    async def _plan(self, request: SearchPlanRequest) -> Verdict[SearchPlan]:
        if not has_substance(request.question):
            return Unsure("the question has no words")
        question = load_prompt("plan_search").question(
            PlanReply,
            now=present(request.asked_at, request.timezone),
            question=request.question[:_MOST_CHARS],
            found=shown(request.found[:_FOUND], request.timezone, long=_SHOWN),
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if isinstance(verdict, Failed):
            return verdict
        reply = verdict.value.value
        begin = read_time(reply.begin, request.asked_at, request.timezone) if reply.begin.strip() else None
        end = read_time(reply.end, request.asked_at, request.timezone) if reply.end.strip() else None
        if begin is not None and end is not None and end.end <= begin.start:
            begin = end = None  # no stretch of time
        enough = reply.enough and bool(request.found)
        queries: dict[str, str] = {}
        for query in filter(has_substance, reply.queries):
            queries.setdefault(normalise_claim(query), one_line(query, 300))
        if not enough and not queries:
            queries = {"": request.question.strip()}
        return Judged(
            SearchPlan(
                () if enough else tuple(queries.values())[:MOST_QUERIES],
                enough=enough,
                begin=None if begin is None else begin.start,
                end=None if end is None else end.end,
                reason=one_line(reply.reason, 300),
            )
        )

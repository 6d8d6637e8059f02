"""What benchmarks that ask questions share: search and answer, grade, count what it cost, keep each row, stop cleanly.

A question that could not be answered or graded counts as wrong and is named ``failed``; a run that is gone on with asks
it again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from mindmem.core.bench.journal import Journal, Row
from mindmem.core.bench.metrics import median_ms
from mindmem.core.clock import monotonic
from mindmem.core.errors import BudgetReached, MindMemError
from mindmem.core.llm.port import CallLog
from mindmem.core.reason.port import Answer, AnswerRequest, Failed, GradeRequest, Judged, Reasoner, Verdict
from mindmem.core.records import Memory as MemoryRecord
from mindmem.core.records.llm_call import LlmCall, Spent

if TYPE_CHECKING:
    from mindmem.core.memory import Memory

__all__ = ["Reader", "Reading", "Tally", "Watch", "ask_all", "cost_of", "each", "is_done", "spent_on", "timings"]

T = TypeVar("T")
MOST_FAILURES: Final = 20
"""Questions in a row without an answer after which a run stops: the endpoint is gone, or nothing can be read of it."""

Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


class Tally(CallLog):
    """A log of calls that also tells what was called on behalf of one question."""

    def __init__(self, inner: CallLog) -> None:
        self._inner = inner
        self._calls: ContextVar[list[LlmCall] | None] = ContextVar("mindmem_bench_calls", default=None)

    @contextmanager
    def counting(self) -> Iterator[list[LlmCall]]:
        """Give a list that the calls made inside, and in tasks and threads started inside, are added to."""
        calls: list[LlmCall] = []
        token = self._calls.set(calls)
        try:
            yield calls
        finally:
            self._calls.reset(token)

    def record_call(self, call: LlmCall) -> None:
        """Keep one call in the store's log and in the list of whoever counts."""
        self._inner.record_call(call)
        counted = self._calls.get()
        if counted is not None:
            counted.append(call)

    def spent(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None, user_id: str | None = None
    ) -> Spent:
        """Return what the store's log says."""
        return self._inner.spent(project_id, run_id=run_id, since=since, user_id=user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came of one question: the memories found, the answer (empty unless ``answered``), why there is none."""

    memories: tuple[MemoryRecord, ...]
    outcome: Literal["answered", "unsure", "failed"]
    answer: str = ""
    cited: tuple[str, ...] = ()
    reason: str = ""
    search_s: float
    answer_s: float

    def row(self) -> dict[str, object]:
        """Return the reading as fields of a row; ``hits`` are memory_ids, best first."""
        why = {"reason": self.reason} if self.outcome == "unsure" else {}
        failed = {"failed": f"answer: {self.reason}"} if self.outcome == "failed" else {}
        return {
            "hits": [memory.memory_id for memory in self.memories],
            "answer": self.answer,
            "outcome": self.outcome,
            "cited": list(self.cited),
            **why,
            **failed,
            "search_s": round(self.search_s, 5),
            "answer_s": round(self.answer_s, 5),
        }


class Reader:
    """Searches a store and has a reasoner answer from the ``top_k`` memories found, and grade if it ``judges``."""

    def __init__(self, memory: "Memory", reasoner: Reasoner, *, top_k: int, judges: bool) -> None:
        self.memory = memory
        self.reasoner = reasoner
        self.top_k = top_k
        self.judges = judges
        self._searching = asyncio.Lock()

    async def search(self, question: str, user_id: str) -> tuple[tuple[MemoryRecord, ...], float]:
        """Return the memories found, best first, and the seconds that it took, without waiting for other searches."""
        async with self._searching:
            begun = monotonic()
            found = await asyncio.to_thread(self.memory.search, question, user_id=user_id, top_k=self.top_k)
            return tuple(hit.memory for hit in found.hits), monotonic() - begun

    async def read(
        self, question: str, *, user_id: str, asked_at: datetime, posed: str = "", answerer: "Answers | None" = None
    ) -> Reading:
        """Search for a question and answer it; ``posed`` is how the answerer hears it, where that is more than what is
        searched for, and ``answerer`` who answers instead of the reasoner.

        Raises:
            BudgetReached: nothing was answered.
        """
        memories, search_s = await self.search(question, user_id)
        request = AnswerRequest(posed or question, memories, asked_at)
        begun = monotonic()
        (verdict,) = await (answerer or self.reasoner.answer.answer)([request])
        answer_s = monotonic() - begun
        if isinstance(verdict, Judged):
            return Reading(
                memories=memories,
                outcome="answered",
                answer=verdict.value.text,
                cited=verdict.value.memory_ids,
                search_s=search_s,
                answer_s=answer_s,
            )
        outcome: Literal["unsure", "failed"] = "failed" if isinstance(verdict, Failed) else "unsure"
        return Reading(memories=memories, outcome=outcome, reason=verdict.reason, search_s=search_s, answer_s=answer_s)

    async def grade(self, question: str, expected: str, given: str) -> dict[str, object]:
        """Return a grade as fields of a row: ``verdict`` is correct, wrong, unsure or failed.

        Raises:
            BudgetReached: nothing was graded.
        """
        begun = monotonic()
        (verdict,) = await self.reasoner.grade.grade([GradeRequest(question, expected, given)])
        took = {"judge_s": round(monotonic() - begun, 5)}
        if isinstance(verdict, Judged):
            word = "correct" if verdict.value.correct else "wrong"
            return {"verdict": word, "judge_reason": verdict.value.reason, **took}
        if isinstance(verdict, Failed):
            return {"verdict": "failed", "failed": f"judge: {verdict.reason}", **took}
        return {"verdict": "unsure", "judge_reason": verdict.reason, **took}


Answers = Callable[[Sequence[AnswerRequest]], Awaitable[list[Verdict[Answer]]]]


def is_done(journal: Journal, question_id: str) -> bool:
    """Return whether a question has a row that stands: one that failed is asked again."""
    row = journal.rows.get(question_id)
    return row is not None and "failed" not in row


async def each(items: Sequence[T], work: Callable[[T], Awaitable[str]], *, at_once: int) -> str:
    """Work off the items in order, ``at_once`` at a time, until one gives a reason to stop or the budget is spent.

    Returns:
        That reason, else an empty text. What was in flight then is finished.

    Raises:
        MindMemError: what an item raised, after the others in flight were finished.
    """
    waiting = iter(items)
    stopped: list[MindMemError | str] = []

    async def worker() -> None:
        while not stopped and (item := next(waiting, None)) is not None:
            try:
                reason = await work(item)
            except BudgetReached as error:
                reason = str(error)
            except MindMemError as error:
                stopped.append(error)
                return
            if reason:
                stopped.append(reason)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(items))):
            group.create_task(worker())
    for reason in stopped:
        if isinstance(reason, MindMemError):
            raise reason
    return str(stopped[0]) if stopped else ""


async def ask_all(
    items: Sequence[T], ask: Callable[[T], Awaitable[Row]], journal: Journal, *, at_once: int, watch: Watch
) -> str:
    """Ask every item, ``at_once`` at a time, and keep each row as soon as it is there.

    Returns:
        Why it stopped early (the budget is spent, or too many failed in a row), else an empty text.

    Raises:
        MindMemError: what an item raised, after the others in flight were kept.
    """
    kept = failures = 0

    async def work(item: T) -> str:
        nonlocal kept, failures
        row = await ask(item)
        journal.add(row)
        kept += 1
        watch("questions", kept, len(items))
        failures = failures + 1 if "failed" in row else 0
        if failures < MOST_FAILURES:
            return ""
        return f"{failures} questions in a row failed; the last one: {row['failed']}"

    return await each(items, work, at_once=at_once)


def cost_of(calls: Sequence[LlmCall]) -> dict[str, object]:
    """Return tokens and cost of a question's calls as fields of a row; the cost is None where a model has no price."""
    costs = [0.0 if call.cached else call.cost for call in calls]
    return {
        "input_tokens": sum(call.input_tokens for call in calls),
        "output_tokens": sum(call.output_tokens for call in calls),
        "cost": None if None in costs else round(sum(cost for cost in costs if cost is not None), 8),
    }


def spent_on(rows: Sequence[Row]) -> dict[str, object]:
    """Return what all rows together took: tokens, cost (None where a call had no price)."""
    costs = [row["cost"] for row in rows]
    return {
        "cost": None if None in costs else round(sum(float(str(cost)) for cost in costs), 6),
        "input_tokens": sum(int(str(row["input_tokens"])) for row in rows),
        "output_tokens": sum(int(str(row["output_tokens"])) for row in rows),
    }


def timings(rows: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """Return the median times of search, answer and judge in milliseconds, of those rows that have them."""
    return {
        f"{part}_p50_ms": round(median_ms([float(str(row[f"{part}_s"])) for row in rows if f"{part}_s" in row]), 2)
        for part in ("search", "answer", "judge")
    }

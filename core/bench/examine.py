"""Benchmarks that ask questions: each case's sessions go into a store that the output folder keeps, then its questions
are asked, and every answer is kept as it comes.

A run that ended early is gone on with: what is ingested stays, what is answered stays, the rest is asked.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeVar

from mindmem.core import ids
from mindmem.core.bench.answering import Reader, Tally, Watch, ask_all, cost_of, is_done
from mindmem.core.bench.journal import Journal, Row
from mindmem.core.bench.results import versions
from mindmem.core.clock import monotonic
from mindmem.core.errors import BudgetReached, InvalidInput, StoreUnavailable
from mindmem.core.llm.port import charged_to
from mindmem.core.records import Scope
from mindmem.core.settings import Settings, StoreSettings

if TYPE_CHECKING:
    from mindmem.core.memory import Memory
    from mindmem.core.reason.port import Reasoner
    from mindmem.core.services import Services

__all__ = ["Case", "Examination", "Plan", "examine"]

Family = Literal["rules", "llm"]


class Asked(Protocol):
    """A question of a benchmark; ``question_id`` is unique in it."""

    @property
    def question_id(self) -> str:
        """Return the name that its row goes by."""
        ...


Q = TypeVar("Q", bound=Asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How questions are asked: who reads, whether a model judges (the rules never do: their word would say no more than
    F1), from how many memories, and at most how many questions."""

    reader: Family
    judge: bool
    answer_model: str
    judge_model: str
    top_k: int
    limit: int | None = None
    seed: int = 7
    resume: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= 100:
            raise InvalidInput(f"--top-k expects 1 to 100, got {self.top_k}.", field="top_k")
        if self.limit is not None and self.limit < 1:
            raise InvalidInput(f"--limit expects at least 1, got {self.limit}.", field="limit")

    @classmethod
    def of(
        cls,
        settings: Settings,
        *,
        reader: Family | None = None,
        judge: bool = False,
        answer_model: str | None = None,
        judge_model: str | None = None,
        top_k: int,
        limit: int | None = None,
        seed: int = 7,
        resume: bool = False,
    ) -> "Plan":
        """Return a plan: what isn't given is taken from the settings, else from the published protocols."""
        models = settings.llm.models
        return cls(
            reader=reader or settings.reasoner,
            judge=judge,
            answer_model=answer_model or models.get("answer", ANSWER_MODEL),
            judge_model=judge_model or models.get("judge", JUDGE_MODEL),
            top_k=top_k,
            limit=limit,
            seed=seed,
            resume=resume,
        )

    def options(self) -> str:
        """Return the options of the command line that say the same."""
        said = [f"--reader {self.reader}", f"--top-k {self.top_k}", f"--seed {self.seed}"]
        if self.reader == "llm":
            said += [f"--answer-model {self.answer_model}", f"--judge-model {self.judge_model}"]
        if self.limit:
            said.append(f"--limit {self.limit}")
        return " ".join(said)


ANSWER_MODEL: Final = "gpt-4.1-mini"
JUDGE_MODEL: Final = "gpt-4o-mini"
"""The models of the published LOCOMO tables."""


@dataclass(frozen=True, slots=True)
class Case(Generic[Q]):
    """Sessions that are ingested as one user's, the questions about them, and when these are asked."""

    user_id: str
    sessions: Mapping[str, Sequence[Mapping[str, object]]]
    questions: Sequence[Q]
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What came of a run: the rows of the questions asked now or before, all rows that the folder holds, how many
    questions have none yet and why, what the ingest took, and what the figures depend on."""

    rows: Sequence[Row]
    kept: Sequence[Row]
    left: int
    stopped: str
    ingest: Mapping[str, object]
    configuration: Mapping[str, object]


Ask = Callable[[Reader, Case[Q], Q], Awaitable[Mapping[str, object]]]


def examine(
    cases: Sequence[Case[Q]],
    ask: Ask[Q],
    out: Path,
    plan: Plan,
    *,
    benchmark: str,
    data: str,
    settings: Settings,
    reasoner: "Reasoner | None" = None,
    watch: Watch,
) -> Examination:
    """Ingest the cases and ask their questions (the first ``plan.limit`` of them all), in order.

    Args:
        ask: gives a question's row; ``id``, tokens and cost are added to it.
        data: digest of the benchmark's data.
        settings: the ingest's and the endpoint's; the store itself is one in ``out``.
        reasoner: reads and grades in the place of the plan's family.

    Raises:
        InvalidInput: ``out`` holds rows of another configuration, or of an earlier run that isn't to be gone on with.
        ModelUnavailable: the endpoint refuses all calls.
    """
    from mindmem.core.memory import Memory

    if plan.limit is not None:
        cases = list(_first(cases, plan.limit))
    ingest = _ingest_configuration(settings, data)
    home = out / f"store-{ids.digest(json.dumps(ingest, sort_keys=True), size=4)}"
    settings = settings.model_copy(update={"home": home.absolute(), "store": StoreSettings()})
    with Memory(settings=settings) as memory, _reading(memory.services, reasoner) as (chosen, tally):
        reader = Reader(memory, chosen, top_k=plan.top_k, judges=plan.judge and chosen.name != "rules")
        configuration = {"benchmark": benchmark, **ingest, **_reading_configuration(reader, plan)}
        with Journal(out, configuration, resume=plan.resume) as journal:
            run = _Run(memory, reader, tally, journal, watch)
            stopped = asyncio.run(run.all(cases, ask, settings.llm.concurrency))
            asked = [question.question_id for case in cases for question in case.questions]
            rows = [journal.rows[question_id] for question_id in asked if question_id in journal.rows]
            return Examination(
                rows=rows,
                kept=list(journal.rows.values()),
                left=len(asked) - len(rows),
                stopped=stopped,
                ingest=_ingested(home, cases),
                configuration=configuration,
            )


class _Run:
    """One run over a store; ``run_id`` is new each time, so that a run's budget counts what this one spends."""

    def __init__(self, memory: "Memory", reader: Reader, tally: Tally, journal: Journal, watch: Watch) -> None:
        self._memory = memory
        self._reader = reader
        self._tally = tally
        self._journal = journal
        self._watch = watch
        self._run_id = ids.random_id("bench")

    async def all(self, cases: Sequence[Case[Q]], ask: Ask[Q], at_once: int) -> str:
        """Ingest and ask case by case; return why it stopped early, or an empty text."""
        for number, case in enumerate(cases):
            self._watch("cases", number, len(cases))
            waiting = [item for item in case.questions if not is_done(self._journal, item.question_id)]
            if not waiting:
                continue
            try:
                await asyncio.to_thread(self._ingest, case)
            except BudgetReached as error:
                return str(error)
            stopped = await self._ask(case, waiting, ask, at_once)
            if stopped:
                return stopped
        self._watch("cases", len(cases), len(cases))
        return ""

    async def _ask(self, case: Case[Q], waiting: Sequence[Q], ask: Ask[Q], at_once: int) -> str:
        async def row(question: Q) -> Row:
            payer = Scope(self._memory.services.settings.project_id, case.user_id)
            with self._tally.counting() as calls, charged_to(payer, self._run_id):
                fields = await ask(self._reader, case, question)
            return {"id": question.question_id, **fields, **cost_of(calls)}

        return await ask_all(waiting, row, self._journal, at_once=at_once, watch=self._watch)

    def _ingest(self, case: Case[Any]) -> None:
        """Add what isn't there yet; a session that was added before is known by its key."""
        marker = _marker(self._memory.services.settings.home, case.user_id)
        if marker.is_file():
            return
        begun = monotonic()
        for name, messages in case.sessions.items():
            self._memory.add(
                list(messages),
                user_id=case.user_id,
                session_id=name,
                idempotency_key=f"{case.user_id}:{name}",
                run_id=self._run_id,
            )
        facts = {
            "seconds": round(monotonic() - begun, 3),
            "messages": sum(map(len, case.sessions.values())),
            "memories": self._memory.list(user_id=case.user_id, page_size=1, include_total=True).total or 0,
        }
        try:
            marker.parent.mkdir(exist_ok=True)
            marker.write_text(json.dumps(facts) + "\n", encoding="utf-8")
        except OSError as error:
            raise StoreUnavailable(f"{str(marker)!r} can't be written: {error.strerror}.") from error


def _marker(home: Path, user_id: str) -> Path:
    """Return the file that says that all of a user's sessions are ingested, and what that took."""
    return home / "ingested" / f"{user_id}.json"


def _ingested(home: Path, cases: Sequence[Case[Any]]) -> dict[str, object]:
    """Return what the ingest of the cases took, in this run or an earlier one."""
    markers = [marker for case in cases if (marker := _marker(home, case.user_id)).is_file()]
    facts = [json.loads(marker.read_text("utf-8")) for marker in markers]
    return {
        "cases": len(facts),
        "messages": sum(fact["messages"] for fact in facts),
        "memories": sum(fact["memories"] for fact in facts),
        "ingest_s": round(sum(fact["seconds"] for fact in facts), 2),
    }


def _first(cases: Sequence[Case[Q]], limit: int) -> Iterator[Case[Q]]:
    """Yield cases with their first questions, ``limit`` in all, and none without any."""
    for case in cases:
        if limit <= 0:
            return
        chosen = list(itertools.islice(case.questions, limit))
        limit -= len(chosen)
        yield Case(case.user_id, case.sessions, chosen, case.asked_at)


@contextmanager
def _reading(services: "Services", given: "Reasoner | None") -> Iterator[tuple["Reasoner", Tally]]:
    """Give the reasoner that reads and grades, and the tally of its calls."""
    from mindmem.core.services import rules_reasoner

    tally = Tally(services.ledger)
    yield given or rules_reasoner(), tally


def _ingest_configuration(settings: Settings, data: str) -> dict[str, object]:
    """Return what a store's content comes of."""
    model = settings.llm.model_for("extract") if settings.reasoner == "llm" else "none"
    return {
        "data": data,
        "mindmem": versions().get("mindmem", ""),
        "ingest_reasoner": settings.reasoner,
        "ingest_model": model,
        "ingest": settings.ingest.model_dump(mode="json"),
        "embedder": settings.embedder,
        "timezone": settings.timezone,
    }


def _reading_configuration(reader: Reader, plan: Plan) -> dict[str, object]:
    """Return what answers and verdicts come of."""
    reasoner, embedder = reader.reasoner, reader.memory.services.embedder
    models = {"answer_model": plan.answer_model, "judge_model": plan.judge_model} if reasoner.name == "llm" else {}
    return {
        "embedder": "none" if embedder is None else str(embedder.identity),
        "reader": f"{reasoner.name} {reasoner.version}",
        "judge": reasoner.name if reader.judges else "none",
        **models,
        "top_k": plan.top_k,
    }

"""Benchmarks that ask questions: each case's sessions go into a store that the output folder keeps, then its questions
are asked, and every answer is kept as it comes.

A run that ended early is gone on with: what is ingested stays, what is answered stays, the rest is asked.
"""

import asyncio
import itertools
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from mindmem.core import ids
from mindmem.core.bench.answering import Reader, Tally, Watch, ask_all, cost_of, each, is_done
from mindmem.core.bench.journal import Journal, Row
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import versions
from mindmem.core.cancel import cancellable, refuse_if_cancelled
from mindmem.core.clock import monotonic
from mindmem.core.errors import StoreUnavailable
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.llm.port import charged_to
from mindmem.core.prompts.library import load_prompt
from mindmem.core.records import Scope
from mindmem.core.services import Services, rules_reasoner
from mindmem.core.settings import Settings, StoreSettings

if TYPE_CHECKING:
    from mindmem.core.memory import Memory
    from mindmem.core.reason.port import Reasoner

__all__ = ["Case", "Examination", "examine"]


class Asked(Protocol):
    """A question of a benchmark; ``question_id`` is unique in it."""

    @property
    def question_id(self) -> str:
        """Return the name that its row goes by."""
        ...


Q = TypeVar("Q", bound=Asked)


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
    questions have none yet and why, what the ingest took, what the figures depend on, and the store's settings."""

    rows: Sequence[Row]
    kept: Sequence[Row]
    left: int
    stopped: str
    ingest: Mapping[str, object]
    configuration: Mapping[str, object]
    settings: Settings


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
    with Memory(settings=settings) as memory, _reading(memory.services, plan, reasoner) as (chosen, tally):
        reader = Reader(memory, chosen, top_k=plan.top_k, judges=plan.judge and chosen.name != "rules")
        configuration = {"benchmark": benchmark, **ingest, **_reading_configuration(reader, plan)}
        with Journal(out, configuration, resume=plan.resume) as journal:
            run = _Run(memory, reader, tally, journal, watch)
            stopped = asyncio.run(run.all(cases, ask))
            asked = [question.question_id for case in cases for question in case.questions]
            rows = [journal.rows[question_id] for question_id in asked if question_id in journal.rows]
            return Examination(
                rows=rows,
                kept=list(journal.rows.values()),
                left=len(asked) - len(rows),
                stopped=stopped,
                ingest=_ingested(home, cases),
                configuration=configuration,
                settings=settings,
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

    async def all(self, cases: Sequence[Case[Q]], ask: Ask[Q]) -> str:
        """Ingest the cases that have questions left, then ask; return why it stopped early, or an empty text."""
        settings, reasoner = self._memory.services.settings, self._memory.services.reasoner
        left = [
            (case, question)
            for case in cases
            for question in case.questions
            if not is_done(self._journal, question.question_id)
        ]
        # Rules keep a core busy; a model is waited for.
        at_once = settings.llm.concurrency if reasoner.recalls else 1
        stopped = await self._ingest_all(list({case.user_id: case for case, _ in left}.values()), at_once)
        if stopped:
            return stopped

        async def row(item: tuple[Case[Q], Q]) -> Row:
            case, question = item
            payer = Scope(settings.project_id, case.user_id)
            with self._tally.counting() as calls, charged_to(payer, self._run_id):
                fields = await ask(self._reader, case, question)
            return {"id": question.question_id, **fields, **cost_of(calls)}

        return await ask_all(left, row, self._journal, at_once=settings.llm.concurrency, watch=self._watch)

    async def _ingest_all(self, cases: Sequence[Case[Q]], at_once: int) -> str:
        ingested = 0
        interrupted = threading.Event()

        async def work(case: Case[Q]) -> str:
            nonlocal ingested
            await asyncio.to_thread(self._ingest, case)
            ingested += 1
            self._watch("ingested", ingested, len(cases))
            return ""

        with cancellable(interrupted):
            try:
                return await each(cases, work, at_once=at_once)
            except asyncio.CancelledError:
                interrupted.set()
                raise

    def _ingest(self, case: Case[Any]) -> None:
        """Add what isn't there yet; a session that was added before is known by its key.

        A session that a model answers with nonsense is left out and counted; one that it doesn't answer ends the run.
        """
        services = self._memory.services
        marker = _marker(services.settings.home, case.user_id)
        if marker.is_file():
            return
        begun = monotonic()
        failed = quarantined = 0
        for name, messages in case.sessions.items():
            refuse_if_cancelled()
            key = f"{case.user_id}:{name}"
            try:
                receipt = self._memory.add(
                    list(messages), user_id=case.user_id, session_id=name, idempotency_key=key, run_id=self._run_id
                )
                quarantined += len(receipt.quarantined)
            except ExtractionFailed as error:
                if error.transient or not error.raw:
                    raise
                failed += 1
        spent = services.ledger.spent(services.settings.project_id, user_id=case.user_id)
        facts = {
            "seconds": round(monotonic() - begun, 3),
            "messages": sum(map(len, case.sessions.values())),
            "memories": self._memory.list(user_id=case.user_id, page_size=1, include_total=True).total or 0,
            "failed": failed,
            "quarantined": quarantined,
            "cost": None if spent.unpriced else spent.cost,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
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
    costs = [fact["cost"] for fact in facts]
    summed = ("failed", "quarantined", "input_tokens", "output_tokens")
    return {
        "cases": len(facts),
        "messages": sum(fact["messages"] for fact in facts),
        "memories": sum(fact["memories"] for fact in facts),
        "ingest_s": round(sum(fact["seconds"] for fact in facts), 2),
        "ingest_cost": None if None in costs else round(sum(costs), 6),
        **{f"ingest_{name}": sum(fact[name] for fact in facts) for name in summed},
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
def _reading(services: Services, plan: Plan, given: "Reasoner | None") -> Iterator[tuple["Reasoner", Tally]]:
    """Give the reasoner that reads and grades, and the tally of its calls; the rules never stand in for a model."""
    tally = Tally(services.ledger)
    if given is not None or plan.reader == "rules":
        yield given or rules_reasoner(), tally
        return
    from mindmem.core.llm.open import open_model
    from mindmem.core.reason.llm.family import llm_reasoner

    models = {**services.settings.llm.models, "answer": plan.answer_model, "judge": plan.judge_model}
    llm = services.settings.llm.model_copy(update={"models": models})
    model = open_model(services.settings.model_copy(update={"llm": llm}), tally, services.clock)
    try:
        yield llm_reasoner(model, llm), tally
    finally:
        model.close()


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
    return {
        "embedder": "none" if embedder is None else str(embedder.identity),
        "reader": f"{reasoner.name} {reasoner.version}",
        "judge": reasoner.name if reader.judges else "none",
        "top_k": plan.top_k,
        "strategy": reader.memory.services.settings.search.strategy,
        **(_asked_of_models(plan) if reasoner.name == "llm" else {}),
    }


def _asked_of_models(plan: Plan) -> dict[str, object]:
    prompts = {name: load_prompt(name) for name in ("answer", "judge")}
    return {
        "answer_model": plan.answer_model,
        "judge_model": plan.judge_model,
        "prompts": {name: f"{prompt.version} {prompt.digest}" for name, prompt in prompts.items()},
    }

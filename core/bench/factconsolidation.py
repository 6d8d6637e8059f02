"""FactConsolidation (MemoryAgentBench): numbered facts, many of them contradicted by a later one; questions before and
after a dream.

Each context is added in messages of whole lines that fill a window each, without any time, and by default without
resolving anything at once, so that the dream finds what a store holds that nobody ever looked after. Single and multi
hop share their contexts, so each is added once. Asked are: is the latest of the facts that contradict each other found
(single hop), are the facts that lead to the answer found (multi hop, where a chain is known), and does the answer that
is read from what was found hold the expected one (SubEM), and no other value of the same beside it.

A hit counts for the fact on whose line its source lies; a memory that spans several lines counts for none. Rows name
facts by their numbers and hold none of the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from mindmem.core.bench.answering import Reader, Watch, timings
from mindmem.core.bench.examine import Case, Examination, examine
from mindmem.core.bench.facts import SIZES, Context, Question, chunks, digest, load, numbers_of
from mindmem.core.bench.facts_dream import GUARDS, dreamt
from mindmem.core.bench.metrics import interval, mean, recall_at
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results
from mindmem.core.bench.scoring import sub_em
from mindmem.core.clock import monotonic
from mindmem.core.reason.port import AnswerRequest, Failed, Judged
from mindmem.core.search.recipes import STRATEGIES, Strategy, recipe_of
from mindmem.core.services import rules_reasoner
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.bench.journal import Row
    from mindmem.core.reason.port import Answerer, Reasoner

__all__ = ["TOP_K", "chosen", "run"]

TOP_K: Final = 50
_CUT: Final = 10
_WINDOW: Final = 4096
_MESSAGE: Final = _WINDOW - 16
"""Tokens of a message: a window also counts its role and name."""
_WORDS: Final = 10
"""Words of an answer at most."""
_ASKED: Final = datetime(2025, 1, 1, tzinfo=UTC)
Phase = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question asked by one strategy, before or after the dream."""

    question: Question
    strategy: Strategy
    phase: Phase

    @property
    def question_id(self) -> str:
        one = self.question
        return f"{self.phase}-{one.hop}-{one.size}-{one.number}-{self.strategy}"


def chosen(strategies: Sequence[str]) -> tuple[Strategy, ...]:
    """Return the named strategies, each once; without any name ``fast``, ``balanced`` and ``agentic``.

    Raises:
        InvalidInput: there is none of that name.
    """
    for name in strategies:
        recipe_of(name)
    return tuple(one for one in STRATEGIES if one in strategies) or ("fast", "balanced", "agentic")


def run(
    folder: Path,
    out: Path,
    plan: Plan,
    *,
    settings: Settings,
    sizes: Sequence[str] = SIZES,
    strategies: Sequence[Strategy] = ("fast", "balanced", "agentic"),
    resolve_at_add: bool = False,
    dream: bool = True,
    reasoner: "Reasoner | None" = None,
    watch: Watch = lambda *_: None,
) -> Results:
    """Ask the questions of these sizes by each strategy, dream and ask again; store and rows are kept in ``out``, size
    by size.

    The rules always read the answers; where the plan's reader is a model, it does, too. The first strategy's figures
    are those of ``by_size`` and their means.

    Args:
        resolve_at_add: let adds supersede and merge what they contradict and repeat.
        dream: off asks before a dream only.

    Raises:
        NotFound, InvalidInput: as ``facts.load``; or a strategy doesn't exist, or ``out`` holds rows that can't be gone
            on with.
        ModelUnavailable: the endpoint refuses all calls.
    """
    ingest = settings.ingest.model_copy(
        update={
            "soft_tokens": _WINDOW, "hard_tokens": _WINDOW, "mode": "vanilla",
            "resolve_updates": resolve_at_add, "resolve_merges": resolve_at_add,
        }
    )  # fmt: skip
    settings = settings.model_copy(update={"ingest": ingest})
    loaded = load(folder, sizes)
    run_ = _Run(out, plan, settings, digest(folder), tuple(strategies), reasoner, watch)
    for context, questions in loaded:
        if run_.stopped:
            break
        run_.size(context, questions, dream=dream)
    said = f"--sizes {','.join(context.size for context, _ in loaded)}"
    said += "".join(f" --strategy {strategy}" for strategy in strategies)
    said += " --resolve-at-add" * resolve_at_add + " --no-dream" * (not dream)
    said += " --lexical" * (settings.embedder == "none")
    return Results(
        benchmark="factconsolidation",
        command=f"mindmem bench factconsolidation --data DIR {said} {plan.options()}",
        seed=plan.seed,
        figures=run_.figures(),
        rows=run_.kept,
    )


class _Run:
    """What was asked and dreamt, size by size; ``stopped`` says why it ended early, ``kept`` are all rows so far."""

    def __init__(
        self,
        out: Path,
        plan: Plan,
        settings: Settings,
        edition: str,
        strategies: Sequence[Strategy],
        reasoner: "Reasoner | None",
        watch: Watch,
    ) -> None:
        self._out = out
        self._plan = plan
        self._settings = settings
        self._edition = edition
        self._strategies = strategies
        self._reasoner = reasoner
        self._watch = watch
        self._done: list[Examination] = []
        self._dreams: dict[str, Mapping[str, object]] = {}
        self.stopped = ""

    @property
    def kept(self) -> "Sequence[Row]":
        """Return all rows that the folder holds."""
        return self._done[-1].kept if self._done else ()

    def size(self, context: Context, questions: Sequence[Question], *, dream: bool) -> None:
        """Ask about one context, dream, and ask again."""
        before = self._ask(context, questions, "before")
        if not dream or self.stopped:
            return
        failed = sum("failed" in row for row in before.rows)
        if before.left or failed:  # once dreamt, they can't be asked any more
            self.stopped = f"{before.left + failed} questions of {context.size} have no answer from before the dream"
            return
        self._watch(f"dreaming over {context.size}", 0, 1)
        self._dreams[context.size] = dreamt(before.settings, context, _user(context))
        self._ask(context, questions, "after")

    def _ask(self, context: Context, questions: Sequence[Question], phase: Phase) -> Examination:
        asked = [_Asked(question, strategy, phase) for strategy in self._strategies for question in questions]
        sessions = {
            f"part-{number}": [{"role": "user", "content": text}]
            for number, text in enumerate(chunks(context.text, _MESSAGE))
        }
        done = examine(
            [Case(_user(context), sessions, asked, _ASKED)],
            _row,
            self._out,
            replace(self._plan, resume=self._plan.resume or bool(self._done)),
            benchmark="factconsolidation",
            data=self._edition,
            settings=self._settings,
            reasoner=self._reasoner,
            watch=self._watch,
        )
        self._done.append(done)
        self.stopped = done.stopped
        return done

    def figures(self) -> dict[str, object]:
        """Return the figures: the first strategy's as they are after the dream, their means over the sizes first."""
        rows = [row for done in self._done for row in done.rows]
        sizes = list(dict.fromkeys(str(row["size"]) for row in rows))
        seed = self._plan.seed
        by_size = {size: self._of_size([row for row in rows if row["size"] == size], size) for size in sizes}
        names = [name for name, value in next(iter(by_size.values()), {}).items() if isinstance(value, float)]
        ingested = {size: done.ingest for done in self._done for size in [str(done.rows[0]["size"])] if done.rows}
        return {
            "questions": len(rows),
            "left": sum(done.left for done in self._done),
            "stopped": self.stopped,
            **{
                name: round(mean([float(str(part[name])) for part in by_size.values() if name in part]), 4)
                for name in names
            },
            "guards": dict(GUARDS),
            "by_size": by_size,
            "by_strategy": _tables(rows, self._strategies, seed),
            "by_size_and_strategy": {
                f"{size} {name}": part
                for size in sizes
                for name, part in _tables([row for row in rows if row["size"] == size], self._strategies, seed).items()
            },
            **timings(rows),
            "ingest": ingested,
            "configuration": self._done[-1].configuration if self._done else {},
        }

    def _of_size(self, rows: "Sequence[Row]", size: str) -> dict[str, object]:
        mine = [row for row in rows if row["strategy"] == self._strategies[0]]
        before, after = ([row for row in mine if row["phase"] == phase] for phase in ("before", "after"))
        if not after:
            return {**_scores(before), "search_p50_ms": timings(before)["search_p50_ms"]}
        return {
            **_scores(after),
            **{f"{name}_before": value for name, value in _scores(before).items()},
            **self._dreams.get(size, {}),
            "search_p50_ms": timings(after)["search_p50_ms"],
        }


def _user(context: Context) -> str:
    return f"facts-{context.size}"


async def _row(reader: Reader, case: Case[_Asked], asked: _Asked) -> Mapping[str, object]:
    question = asked.question
    begun = monotonic()
    hits = reader.memory.search(
        question.text, user_id=case.user_id, top_k=reader.top_k, strategy=asked.strategy, evidence=True
    ).hits
    seconds = monotonic() - begun
    contents = {message.message_id: message.content for hit in hits for message in hit.evidence}
    found = list(dict.fromkeys(number for hit in hits for number in numbers_of(hit.memory.sources, contents)))
    request = AnswerRequest(question.text, tuple(hit.memory for hit in hits), case.asked_at)
    read = await _answered("", rules_reasoner().answer, request, question)
    if reader.reasoner.name != "rules":
        read |= await _answered("model_", reader.reasoner.answer, request, question)
    return {
        "phase": asked.phase,
        "hop": question.hop,
        "size": question.size,
        "strategy": asked.strategy,
        "found": found[:_CUT],
        "hits": len(hits),
        **_recalls(found, question.paths),
        **read,
        "search_s": round(seconds, 5),
    }


def _recalls(found: Sequence[int], paths: Sequence[Sequence[int]]) -> dict[str, object]:
    ranked = list(map(str, found))
    wanted = [list(map(str, path)) for path in paths]
    return {f"recall_at_{k}": max(recall_at(ranked, path, k) for path in wanted) for k in (1, 5, _CUT) if wanted}


async def _answered(name: str, answerer: "Answerer", request: AnswerRequest, question: Question) -> dict[str, object]:
    """Return an answer and whether it holds an expected one, as fields of a row whose names begin with ``name``."""
    [verdict] = await answerer.answer([request])
    given = verdict.value.text if isinstance(verdict, Judged) else ""
    failed = {"failed": f"answer: {verdict.reason}"} if isinstance(verdict, Failed) else {}
    score = max(sub_em(given, expected) for expected in question.answers)
    if not name and (len(given.split()) > _WORDS or any(sub_em(given, rival) for rival in question.rivals)):
        score = 0.0  # of the rules, one value is asked
    return {f"{name}answer": given, f"{name}sub_em": score, **failed}


def _tables(rows: "Sequence[Row]", strategies: Sequence[Strategy], seed: int) -> dict[str, object]:
    """Return the scores of each strategy, before the dream and after it."""
    found: dict[str, object] = {}
    for strategy in strategies:
        for phase, name in (("before", strategy), ("after", f"{strategy} after dreaming")):
            mine = [row for row in rows if row["strategy"] == strategy and row["phase"] == phase]
            recalls = _column([row for row in mine if row["hop"] == "multi"], f"recall_at_{_CUT}")
            if mine:
                low, high = interval(recalls, seed=seed)
                found[name] = {
                    **_scores(mine),
                    "supporting_recall_at_10_low": round(low, 4),
                    "supporting_recall_at_10_high": round(high, 4),
                    "search_p50_ms": timings(mine)["search_p50_ms"],
                }
    return found


def _scores(rows: "Sequence[Row]") -> dict[str, object]:
    single, multi = ([row for row in rows if row["hop"] == hop] for hop in ("single", "multi"))
    chains = _column(multi, f"recall_at_{_CUT}")
    figures: dict[str, object] = {}
    for name in ("sub_em", "model_sub_em"):
        for hop, part in (("single", single), ("multi", multi)):
            if any(name in row for row in part):
                suffix = name.removesuffix("sub_em")
                figures[f"{suffix}{hop}_hop_sub_em"] = round(mean(_column(part, name)), 4)
    return {
        **figures,
        "latest_hit_at_1": round(mean(_column(single, "recall_at_1")), 4),
        "latest_hit_at_5": round(mean(_column(single, "recall_at_5")), 4),
        "supporting_recall_at_10": round(mean(chains), 4),
        "whole_chains": round(mean([float(value == 1.0) for value in chains]), 4),
    }


def _column(rows: "Sequence[Row]", name: str) -> list[float]:
    return [float(str(row[name])) for row in rows if name in row]

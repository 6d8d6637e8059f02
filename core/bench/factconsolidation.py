"""FactConsolidation (MemoryAgentBench): numbered facts, many of them contradicted by a later one, and questions.

Each context is added in messages of whole lines, without timestamps, and by default without resolving updates, so that
search alone must tell old from new. Single hop: is the latest of the facts that contradict each other found? Multi hop:
how many of the facts that lead to the answer are found? The chains were derived from the data; questions without one
are not asked. Single and multi hop share their contexts, so each is added once.

A hit counts for the fact on whose line its source lies; a memory that spans several lines counts for none. Rows name
facts by their numbers and hold none of the text. The dataset (MIT) is not part of this package.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindmem.core import ids
from mindmem.core.bench.answering import Reader, Watch, timings
from mindmem.core.bench.examine import Case, Examination, examine
from mindmem.core.bench.metrics import interval, mean, recall_at
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results
from mindmem.core.bench.scoring import sub_em
from mindmem.core.clock import monotonic
from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.search.recipes import STRATEGIES, Strategy, recipe_of
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.bench.journal import Row
    from mindmem.core.reason.port import Reasoner
    from mindmem.core.records import Hit

__all__ = ["SIZES", "TOP_K", "Context", "Question", "chosen", "chunks", "load", "run"]

SIZES: Final = ("6k", "32k", "64k", "262k")
TOP_K: Final = 10
_FACTS: Final = "Conflict_Resolution.json"
_CHAINS: Final = "derived_mh_supporting_facts.json"
_LINE: Final = re.compile(r"(\d+)\. (.+)")
_MESSAGE_TOKENS: Final = 4096
_ASKED: Final = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """A question over one context by one strategy: ``hop`` is single or multi; ``paths`` are the chains of facts that
    lead to the answer, of a single hop the one latest fact."""

    question_id: str
    hop: str
    size: str
    strategy: Strategy
    text: str
    answers: tuple[str, ...]
    paths: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Context:
    """A numbered list of facts."""

    size: str
    text: str

    @cached_property
    def facts(self) -> Mapping[int, str]:
        """Return the facts by their numbers."""
        found = (_LINE.fullmatch(line) for line in self.text.splitlines())
        return {int(match[1]): match[2] for match in found if match}

    @cached_property
    def messages(self) -> list[str]:
        """Return the context in messages of whole lines."""
        return list(chunks(self.text))


def chosen(strategies: Sequence[str]) -> tuple[Strategy, ...]:
    """Return the named strategies, each once; without any name ``fast``, ``balanced`` and ``agentic``.

    Raises:
        InvalidInput: there is none of that name.
    """
    for name in strategies:
        recipe_of(name)
    return tuple(one for one in STRATEGIES if one in strategies) or ("fast", "balanced", "agentic")


def chunks(text: str, tokens: int = _MESSAGE_TOKENS) -> Iterator[str]:
    """Yield a text in pieces of whole lines, each of at most about ``tokens`` unless one line is longer."""
    lines: list[str] = []
    size = 0
    for line in text.splitlines():
        more = estimate_tokens(line) + 1
        if lines and size + more > tokens:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += more
    if lines:
        yield "\n".join(lines)


def load(folder: Path, sizes: Sequence[str] = SIZES) -> list[tuple[Context, list[Question]]]:
    """Return each context with its questions, strategy ``fast``; multi-hop ones that have a chain.

    Raises:
        NotFound: a file is not there.
        InvalidInput: a file is not of the dataset's form, or there is no such size.
    """
    if not sizes or not set(sizes) <= set(SIZES):
        raise InvalidInput(f"--sizes expects some of {', '.join(SIZES)}, got {bounded(sizes)}.", field="sizes")
    place = _place(folder)
    try:
        rows = {str(row["metadata"]["source"]): row for row in json.loads((place / _FACTS).read_text("utf-8"))}
        chains = json.loads((place / _CHAINS).read_text("utf-8"))
        return [_read(rows, chains, size) for size in SIZES if size in sizes]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(place)!r} is not FactConsolidation: {bounded(str(error))}.") from error


def run(
    folder: Path,
    out: Path,
    plan: Plan,
    *,
    settings: Settings,
    sizes: Sequence[str] = SIZES,
    strategies: Sequence[Strategy] = ("fast", "balanced", "agentic"),
    updates: bool = False,
    answer: bool = False,
    reasoner: "Reasoner | None" = None,
    watch: Watch = lambda *_: None,
) -> Results:
    """Ask the questions of these sizes by each strategy and return the figures; store and rows are kept in ``out``.

    ``updates`` lets adds supersede what they contradict; ``answer`` also has the plan's reader answer (SubEM).

    Raises:
        NotFound, InvalidInput: as :func:`load`; or a strategy doesn't exist, or ``out`` holds rows that can't be gone
            on with.
        ModelUnavailable: the endpoint refuses all calls.
    """
    loaded = load(folder, sizes)
    ingest = settings.ingest.model_copy(update={"resolve_updates": updates})

    async def ask(reader: Reader, case: Case[Question], question: Question) -> Mapping[str, object]:
        return await _ask(reader, case, question, answer=answer)

    done = examine(
        [_case(context, questions, strategies) for context, questions in loaded],
        ask,
        out,
        plan,
        benchmark="factconsolidation answers" if answer else "factconsolidation",
        data=ids.digest(*((_place(folder) / name).read_bytes() for name in (_FACTS, _CHAINS)), size=8),
        settings=settings.model_copy(update={"ingest": ingest}),
        reasoner=reasoner,
        watch=watch,
    )
    said = f"--sizes {','.join(context.size for context, _ in loaded)}" + "".join(
        f" --strategy {strategy}" for strategy in strategies
    )
    said += " --updates" * updates + " --answer" * answer + " --lexical" * (settings.embedder == "none")
    return Results(
        benchmark="factconsolidation",
        command=f"mindmem bench factconsolidation --data DIR {said} {plan.options()}",
        seed=plan.seed,
        figures=_figures(done, plan.seed),
        rows=done.kept,
    )


def _case(context: Context, questions: Sequence[Question], strategies: Sequence[Strategy]) -> Case[Question]:
    sessions = {f"part-{number}": [{"role": "user", "content": text}] for number, text in enumerate(context.messages)}
    asked = [
        Question(f"{one.question_id}-{strategy}", one.hop, one.size, strategy, one.text, one.answers, one.paths)
        for strategy in strategies
        for one in questions
    ]
    return Case(f"facts-{context.size}", sessions, asked, _ASKED)


async def _ask(reader: Reader, case: Case[Question], question: Question, *, answer: bool) -> Mapping[str, object]:
    begun = monotonic()
    hits = reader.memory.search(
        question.text, user_id=case.user_id, top_k=reader.top_k, strategy=question.strategy, evidence=True
    ).hits
    seconds = monotonic() - begun
    ranked = list(dict.fromkeys(number for hit in hits for number in _facts_of(hit)))
    wanted = [[str(number) for number in path] for path in question.paths]
    found = [str(number) for number in ranked]
    row = {
        "hop": question.hop,
        "size": question.size,
        "strategy": question.strategy,
        "found": ranked[:TOP_K],
        "hits": len(hits),
        "search_s": round(seconds, 5),
        **{f"recall_at_{k}": max(recall_at(found, path, k) for path in wanted) for k in (1, 5, TOP_K)},
    }
    if not answer:
        return row
    from mindmem.core.reason.port import AnswerRequest, Judged

    [verdict] = await reader.reasoner.answer.answer(
        [AnswerRequest(question.text, tuple(hit.memory for hit in hits), case.asked_at)]
    )
    given = verdict.value.text if isinstance(verdict, Judged) else ""
    return {**row, "answer": given, "sub_em": max(sub_em(given, expected) for expected in question.answers)}


def _facts_of(hit: "Hit") -> list[int]:
    """Return the numbers of the facts whose line a hit's sources lie on."""
    numbers: list[int] = []
    contents = {message.message_id: message.content for message in hit.evidence}
    for source in hit.memory.sources:
        content = contents.get(source.message_id, "")
        begin = content.rfind("\n", 0, source.start) + 1
        end = content.find("\n", begin)
        line = content[begin:] if end < 0 else content[begin:end]
        match = _LINE.match(line)
        if match and source.end <= begin + len(line):
            numbers.append(int(match[1]))
    return numbers


def _figures(done: Examination, seed: int) -> dict[str, object]:
    rows = done.rows
    strategies = list(dict.fromkeys(str(row["strategy"]) for row in rows))
    sizes = list(dict.fromkeys(str(row["size"]) for row in rows))
    return {
        "questions": len(rows),
        "left": done.left,
        "stopped": done.stopped,
        "by_strategy": {name: _part([row for row in rows if row["strategy"] == name], seed) for name in strategies},
        "by_size": {
            f"{size} {name}": _part([row for row in rows if (row["size"], row["strategy"]) == (size, name)], seed)
            for size in sizes
            for name in strategies
        },
        **timings(rows),
        **done.ingest,
        "configuration": done.configuration,
    }


def _part(rows: "Sequence[Row]", seed: int) -> dict[str, object]:
    single = [row for row in rows if row["hop"] == "single"]
    multi = [row for row in rows if row["hop"] == "multi"]
    recalls = _column(multi, f"recall_at_{TOP_K}")
    low, high = interval(recalls, seed=seed)
    figures: dict[str, object] = {
        "single_questions": len(single),
        "latest_hit_at_1": round(mean(_column(single, "recall_at_1")), 4),
        "latest_hit_at_5": round(mean(_column(single, "recall_at_5")), 4),
        "multi_questions": len(multi),
        "supporting_recall_at_10": round(mean(recalls), 4),
        "supporting_recall_at_10_low": round(low, 4),
        "supporting_recall_at_10_high": round(high, 4),
        "whole_chains": round(mean([float(value == 1.0) for value in recalls]), 4),
        "search_p50_ms": timings(rows)["search_p50_ms"],
    }
    for name, part in (("single", single), ("multi", multi)):
        if part and all("sub_em" in row for row in part):
            figures[f"{name}_sub_em"] = round(mean(_column(part, "sub_em")), 4)
    return figures


def _column(rows: "Sequence[Row]", name: str) -> list[float]:
    return [float(str(row[name])) for row in rows]


def _read(rows: Mapping[str, Any], chains: Sequence[Any], size: str) -> tuple[Context, list[Question]]:
    single = rows[f"factconsolidation_sh_{size}"]
    context = Context(size, str(single["context"]))
    held = Counter(word for fact in context.facts.values() for word in _words(fact))
    questions = []
    for number, (text, answers) in enumerate(zip(single["questions"], single["answers"], strict=True)):
        latest = _latest(context.facts, held, str(text), [str(answer) for answer in answers])
        if latest is not None:
            questions.append(_question("single", size, number, str(text), answers, [[latest]]))
    questions += [
        _question("multi", size, int(chain["q"]), str(chain["question"]), chain["answers"], chain["paths"])
        for chain in chains
        if chain["source"] == f"factconsolidation_mh_{size}" and chain["paths"]
    ]
    return context, questions


def _question(
    hop: str, size: str, number: int, text: str, answers: Sequence[Any], paths: Sequence[Sequence[int]]
) -> Question:
    return Question(
        f"{hop}-{size}-{number}",
        hop,
        size,
        "fast",
        text,
        tuple(map(str, answers)),
        tuple(tuple(map(int, path)) for path in paths),
    )


def _latest(facts: Mapping[int, str], held: Mapping[str, int], question: str, answers: Sequence[str]) -> int | None:
    """Return the number of the fact that answers a question of one hop: of those that end with the answer, the one
    that shares the rarest words with the question, the latest of equals. ``held`` counts the facts that hold a word."""
    asked = _words(question)
    best: tuple[float, int] | None = None
    for number, fact in facts.items():
        if any(fact.rstrip(".").endswith(answer.rstrip(".")) for answer in answers):
            key = (round(sum(1.0 / held[word] for word in asked & _words(fact)), 9), number)
            best = key if best is None or key > best else best
    return None if best is None else best[1]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _place(folder: Path) -> Path:
    for place in (folder, folder / "factconsolidation"):
        if all((place / name).is_file() for name in (_FACTS, _CHAINS)):
            return place
    raise NotFound(
        f"No {_FACTS} and {_CHAINS} in {str(folder)!r} or its subfolder 'factconsolidation'. "
        "Give the data folder with --data."
    )

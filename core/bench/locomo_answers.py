"""LOCOMO by its answers: each question is searched, answered from what was found, and scored (or judged by a model).

The published protocol: categories 1 to 4, 50 memories a question, gpt-4.1-mini answers, gpt-4o-mini judges; the
question is asked when the dialogue's last session ends. Without a model the rules read, and F1 and SubEM alone count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindmem.core import ids
from mindmem.core.bench import locomo
from mindmem.core.bench.answering import Reader, Watch, spent_on, timings
from mindmem.core.bench.examine import Case, Examination, examine
from mindmem.core.bench.journal import Row
from mindmem.core.bench.metrics import interval, mean
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results
from mindmem.core.bench.scoring import exact_match, locomo_f1, sub_em
from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.reason.port import Reasoner

__all__ = ["TOP_K", "run"]

TOP_K: Final = 50


@dataclass(frozen=True, slots=True)
class _Asked:
    question_id: str
    dialogue: int
    question: locomo.Question


def run(
    folder: Path,
    out: Path,
    plan: Plan,
    *,
    settings: Settings,
    dialogues: Sequence[int] | None = None,
    categories: Sequence[int] = tuple(locomo.CATEGORIES),
    reasoner: "Reasoner | None" = None,
    watch: Watch = lambda *_: None,
) -> Results:
    """Ask the questions of those dialogues (numbers from 1; None: all) and categories (1 to 4), return the figures.

    The store, the rows and what they were made with are kept in ``out``. ``reasoner`` reads and judges in the place of
    the plan's.

    Raises:
        NotFound, InvalidInput: as ``locomo.load``; or a dialogue or category doesn't exist; or ``out`` holds rows that
            can't be gone on with.
        ModelUnavailable: the endpoint refuses all calls.
    """
    known = locomo.load(folder)
    numbers = locomo.choose(known, dialogues)
    if not categories or not set(categories) <= set(locomo.CATEGORIES):
        raise InvalidInput(
            f"--categories expects some of 1, 2, 3 and 4, got {bounded(categories)}.", field="categories"
        )
    names = {locomo.CATEGORIES[number] for number in categories}
    done = examine(
        [_case(known[number - 1], number, names) for number in numbers],
        _ask,
        out,
        plan,
        benchmark="locomo answers",
        data=ids.digest(locomo.data_file(folder).read_bytes(), size=8),
        settings=settings,
        reasoner=reasoner,
        watch=watch,
    )
    judge = " --judge" if plan.judge else ""
    only = "" if dialogues is None else f" --dialogues {','.join(map(str, numbers))}"
    chosen = ",".join(map(str, sorted(set(categories))))
    lexical = " --lexical" if settings.embedder == "none" else ""
    command = f"mindmem bench locomo --data DIR --answer{judge}{only} --categories {chosen} {plan.options()}{lexical}"
    return Results(
        benchmark="locomo answers", command=command, seed=plan.seed, figures=_figures(done, plan.seed), rows=done.kept
    )


def _case(dialogue: locomo.Dialogue, number: int, categories: set[str]) -> Case[_Asked]:
    asked = [
        _Asked(f"{number}:{question.number}", number, question)
        for question in dialogue.questions
        if question.category in categories
    ]
    sessions = {name: locomo.messages(turns) for name, turns in dialogue.sessions.items()}
    last = max(turn.at for turns in dialogue.sessions.values() for turn in turns)
    return Case(f"dialogue-{number}", sessions, asked, last)


async def _ask(reader: Reader, case: Case[_Asked], asked: _Asked) -> Mapping[str, object]:
    """Answer and score one question; an answer that isn't there is wrong without being judged."""
    question = asked.question
    reading = await reader.read(question.text, user_id=case.user_id, asked_at=case.asked_at)
    row = {
        "dialogue": asked.dialogue,
        "question": question.number,
        "category": question.category,
        **reading.row(),
        "f1": round(locomo_f1(reading.answer, question.answer, question.category), 4),
        "em": exact_match(reading.answer, question.answer),
        "sub_em": sub_em(reading.answer, question.answer),
    }
    if not reader.judges:
        return row
    if reading.outcome != "answered":
        return {**row, "verdict": "wrong", "judge_reason": "no answer"}
    return {**row, **await reader.grade(question.text, question.answer, reading.answer)}


def _figures(done: Examination, seed: int) -> dict[str, object]:
    rows = done.rows
    low, high = interval(_f1s(rows), seed=seed)
    return {
        "questions": len(rows),
        "incomplete": done.left > 0,
        "left": done.left,
        "stopped": done.stopped,
        **_scores(rows),
        "f1_low": round(low, 4),
        "f1_high": round(high, 4),
        **_judge_interval(rows, seed),
        "by_category": {
            name: {"questions": len(part), **_scores(part)}
            for name in locomo.CATEGORIES.values()
            if (part := [row for row in rows if row["category"] == name])
        },
        "unsure": sum(row["outcome"] == "unsure" for row in rows),
        "failed": sum("failed" in row for row in rows),
        **spent_on(rows),
        **timings(rows),
        **done.ingest,
        "configuration": done.configuration,
    }


def _scores(rows: Sequence[Row]) -> dict[str, object]:
    """Return the mean scores; the judge's accuracy is None where nobody judged."""
    judged = any("verdict" in row for row in rows)
    return {
        "judge_accuracy": round(mean(_right(rows)), 4) if judged else None,
        "f1": round(mean(_f1s(rows)), 4),
        "em": round(mean([float(str(row["em"])) for row in rows]), 4),
        "sub_em": round(mean([float(str(row["sub_em"])) for row in rows]), 4),
    }


def _judge_interval(rows: Sequence[Row], seed: int) -> dict[str, object]:
    if not any("verdict" in row for row in rows):
        return {}
    low, high = interval(_right(rows), seed=seed)
    return {"judge_accuracy_low": round(low, 4), "judge_accuracy_high": round(high, 4)}


def _f1s(rows: Sequence[Row]) -> list[float]:
    return [float(str(row["f1"])) for row in rows]


def _right(rows: Sequence[Row]) -> list[float]:
    return [float(row.get("verdict") == "correct") for row in rows]

"""PersonaMem (32k): long dialogues of users with an assistant, and questions with four answers to choose from.

Seven types of question ask whether answers follow what the user said, how it changed and why (Jiang et al. 2025).
Each question sees its dialogue up to a point; every such beginning is one user's memories, a session at each system
message. The dataset (MIT) is not part of this package: its two files are read from the folder given.

A model is shown the question and the options and names one. The rules choose the option that the recalled memories
support best; see :func:`mindmem.core.bench.choice.best_supported`.
"""

import ast
import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindmem.core import ids
from mindmem.core.bench.answering import Reader, Watch, spent_on, timings
from mindmem.core.bench.choice import best_supported, chosen, posed
from mindmem.core.bench.examine import Case, examine
from mindmem.core.bench.metrics import interval, mean
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results
from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.reason.port import Answer, AnswerRequest, Judged, Unsure, Verdict
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.bench.journal import Row
    from mindmem.core.reason.port import Reasoner

__all__ = ["TOP_K", "Question", "load", "missing", "run"]

TOP_K: Final = 50
_QUESTIONS: Final = "questions_32k.csv"
_CONTEXTS: Final = "shared_contexts_32k.jsonl"
_BEGIN: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)
_BETWEEN: Final = timedelta(minutes=1)
"""The dataset has no times: messages follow each other by this from an arbitrary morning."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its options by their letters, the letter of the right one, and the dialogue up to ``end`` messages
    that it is asked about."""

    question_id: str
    question_type: str
    text: str
    options: Mapping[str, str]
    right: str
    context_id: str
    end: int


def missing(folder: Path) -> dict[str, object] | None:
    """Return why the benchmark can't run, and how many questions wait by type; None when both files are there.

    Raises:
        NotFound: the questions are not there either.
    """
    place = _place(folder)
    if (place / _CONTEXTS).is_file():
        return None
    types = Counter(question.question_type for question in _questions(place / _QUESTIONS))
    why = f"{str(place)!r} has {_QUESTIONS} but not the dialogues, {_CONTEXTS}. Both are in the published dataset."
    return {"benchmark": "personamem", "skipped": why, "questions": types.total(), "by_type": dict(types)}


def load(folder: Path) -> list[Case[Question]]:
    """Return a case for each beginning of a dialogue that questions are asked about, in the order of the questions.

    Raises:
        NotFound: one of the two files is not there.
        InvalidInput: a file is not of PersonaMem's form, or a question's dialogue is missing.
    """
    place = _place(folder)
    contexts = _contexts(place / _CONTEXTS)
    asked: dict[tuple[str, int], list[Question]] = {}
    for question in _questions(place / _QUESTIONS):
        if not 0 < question.end <= len(contexts.get(question.context_id, ())):
            raise InvalidInput(
                f"Question {question.question_id!r} is asked after message {question.end} of dialogue "
                f"{question.context_id!r}, which has {len(contexts.get(question.context_id, ()))}."
            )
        asked.setdefault((question.context_id, question.end), []).append(question)
    return [_case(contexts[name][:end], f"{name[:16]}-{end}", questions) for (name, end), questions in asked.items()]


def run(
    folder: Path,
    out: Path,
    plan: Plan,
    *,
    settings: Settings,
    reasoner: "Reasoner | None" = None,
    watch: Watch = lambda *_: None,
) -> Results:
    """Ask the questions and return the share answered right, in all and by type; store and rows are kept in ``out``.

    ``reasoner`` reads in the place of the plan's; one that is named ``rules`` doesn't read but looks for support.

    Raises:
        NotFound, InvalidInput: as :func:`load`; or ``out`` holds rows that can't be gone on with.
        ModelUnavailable: the endpoint refuses all calls.
    """
    place = _place(folder)
    done = examine(
        load(folder),
        _ask,
        out,
        plan,
        benchmark="personamem",
        data=ids.digest((place / _QUESTIONS).read_bytes(), (place / _CONTEXTS).read_bytes(), size=8),
        settings=settings,
        reasoner=reasoner,
        watch=watch,
    )
    rows = done.rows
    low, high = interval(_right(rows), seed=plan.seed)
    figures = {
        "questions": len(rows),
        "incomplete": done.left > 0,
        "left": done.left,
        "stopped": done.stopped,
        "accuracy": round(mean(_right(rows)), 4),
        "accuracy_low": round(low, 4),
        "accuracy_high": round(high, 4),
        "by_type": {
            name: {"questions": len(part), "accuracy": round(mean(_right(part)), 4)}
            for name in sorted({str(row["type"]) for row in rows})
            if (part := [row for row in rows if row["type"] == name])
        },
        "unsure": sum(row["outcome"] == "unsure" for row in rows),
        "failed": sum("failed" in row for row in rows),
        **spent_on(rows),
        **timings(rows),
        **done.ingest,
        "configuration": done.configuration,
    }
    lexical = " --lexical" if settings.embedder == "none" else ""
    command = f"mindmem bench personamem --data DIR {plan.options()}{lexical}"
    return Results(benchmark="personamem", command=command, seed=plan.seed, figures=figures, rows=done.kept)


async def _ask(reader: Reader, case: Case[Question], question: Question) -> Mapping[str, object]:
    """Return a question's row; an answer that names no option is wrong."""

    async def support(requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        embedder = reader.memory.services.embedder
        letters = [best_supported(question.options, request.memories, embedder) for request in requests]
        return [Judged(Answer(f"({letter})")) if letter else Unsure("nothing was found") for letter in letters]

    reading = await reader.read(
        question.text,
        user_id=case.user_id,
        asked_at=case.asked_at,
        posed=posed(question.text, question.options),
        answerer=support if reader.reasoner.name == "rules" else None,
    )
    letter = chosen(reading.answer, question.options)
    return {"type": question.question_type, **reading.row(), "chosen": letter, "right": letter == question.right}


def _right(rows: "Sequence[Row]") -> list[float]:
    return [float(row["right"] is True) for row in rows]


def _case(messages: Sequence[Mapping[str, object]], user_id: str, questions: Sequence[Question]) -> Case[Question]:
    sessions: dict[str, list[Mapping[str, object]]] = {}
    for position, message in enumerate(messages):
        if message["role"] == "system" or not sessions:
            sessions[f"session-{len(sessions) + 1}"] = []
        timed = {**message, "timestamp": _BEGIN + position * _BETWEEN}
        sessions[f"session-{len(sessions)}"].append(timed)
    return Case(user_id, sessions, questions, _BEGIN + len(messages) * _BETWEEN)


def _place(folder: Path) -> Path:
    for place in (folder, folder / "personamem"):
        if (place / _QUESTIONS).is_file():
            return place
    raise NotFound(
        f"No {_QUESTIONS} in {str(folder)!r} or its subfolder 'personamem'. Give the data folder with --data."
    )


def _questions(path: Path) -> list[Question]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            return [_question(row) for row in csv.DictReader(file)]
        except (ValueError, KeyError, TypeError, SyntaxError) as error:
            raise InvalidInput(f"{str(path)!r} is not PersonaMem's questions: {bounded(str(error))}.") from error


def _question(row: Mapping[str, str]) -> Question:
    options = dict(_option(text) for text in _texts(row["all_options"]))
    question = Question(
        question_id=row["question_id"],
        question_type=row["question_type"],
        text=row["user_question_or_message"],
        options=options,
        right=row["correct_answer"].strip(" ()"),
        context_id=row["shared_context_id"],
        end=int(row["end_index_in_shared_context"]),
    )
    if question.right not in options:
        raise ValueError(f"question {question.question_id} has no option {question.right}")
    return question


def _texts(text: str) -> list[str]:
    """Return a list that is written as JSON or, in half of the dataset, as Python writes it."""
    try:
        read = json.loads(text)
    except ValueError:
        read = ast.literal_eval(text)
    return [str(item) for item in read]


def _option(text: str) -> tuple[str, str]:
    letter, _, words = text.strip().partition(")")
    return letter.strip(" ("), words.strip()


def _contexts(path: Path) -> dict[str, list[Mapping[str, object]]]:
    """Return the dialogues by id: each line is an object of one id and its messages."""
    try:
        with path.open(encoding="utf-8") as file:
            return {name: _messages(found) for line in file if line.strip() for name, found in json.loads(line).items()}
    except FileNotFoundError as error:
        raise NotFound(f"No {_CONTEXTS} in {str(path.parent)!r}: it is in the published dataset.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{str(path)!r} is not PersonaMem's dialogues: {bounded(str(error))}.") from error


def _messages(found: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return messages as ``Memory.add`` takes them, without the role that some contents repeat ("User: …")."""
    return [
        {"role": message["role"], "content": str(message["content"]).removeprefix(f"{message['role']}: ".capitalize())}
        for message in found
    ]

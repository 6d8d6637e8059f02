"""LongMemEval (Wu et al. 2025): a question each over some fifty chats of a user with an assistant.

Session recall@k counts the first k distinct sessions that hits come from; turn recall@k the first k distinct messages,
where the data marks the turns that hold the answer. The data's session ids tell which sessions matter (those begin
with ``answer``), so the store never sees them: sessions are numbered in the order of their dates. The dataset (MIT) is
not part of this package.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindmem.core import ids
from mindmem.core.bench.answering import Reader, Watch, spent_on, timings
from mindmem.core.bench.examine import Case, examine
from mindmem.core.bench.metrics import mean, recall_at
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results
from mindmem.core.bench.scoring import sub_em, token_f1
from mindmem.core.clock import monotonic
from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.bench.journal import Row
    from mindmem.core.reason.port import Reasoner

__all__ = ["CUTS", "TOP_K", "Question", "load", "run"]

CUTS: Final = (5, 10, 20)
TOP_K: Final = 50
_PATTERN: Final = "longmemeval*.json"
_BETWEEN_TURNS: Final = timedelta(seconds=20)
"""The data says when a session begins; turns without a time of their own are spaced by this."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its type, its answer, and where the answer stands: sessions by number, turns as
    ``session:position`` (empty where the data doesn't mark them)."""

    question_id: str
    question_type: str
    text: str
    answer: str
    sessions: frozenset[str]
    turns: frozenset[str]


def load(folder: Path) -> list[Case[Question]]:
    """Return a case for each question in the first file ``longmemeval*.json`` of the folder.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is not of LongMemEval's form.
    """
    path = _file(folder)
    try:
        return [_case(item, number) for number, item in enumerate(json.loads(path.read_text("utf-8")), start=1)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{str(path)!r} is not LongMemEval's file: {bounded(str(error))}.") from error


def run(
    folder: Path,
    out: Path,
    plan: Plan,
    *,
    settings: Settings,
    answer: bool = False,
    reasoner: "Reasoner | None" = None,
    watch: Watch = lambda *_: None,
) -> Results:
    """Ask the questions and return the figures, in all and by type; store and rows are kept in ``out``.

    With ``answer``, the plan's reader answers from the hits, and a model judges if the plan says so.

    Raises:
        NotFound, InvalidInput: as :func:`load`; or ``out`` holds rows that can't be gone on with.
        ModelUnavailable: the endpoint refuses all calls.
    """

    async def ask(reader: Reader, case: Case[Question], question: Question) -> Mapping[str, object]:
        return await _ask(reader, case, question, answer=answer)

    done = examine(
        load(folder),
        ask,
        out,
        plan,
        benchmark="longmemeval answers" if answer else "longmemeval",
        data=ids.digest(_file(folder).read_bytes(), size=8),
        settings=settings,
        reasoner=reasoner,
        watch=watch,
    )
    rows = done.rows
    figures = {
        "questions": len(rows),
        "incomplete": done.left > 0,
        "left": done.left,
        "stopped": done.stopped,
        **_part(rows),
        "by_type": {
            name: {"questions": len(part), **_part(part)}
            for name in sorted({str(row["type"]) for row in rows})
            if (part := [row for row in rows if row["type"] == name])
        },
        **spent_on(rows),
        **timings(rows),
        **done.ingest,
        "configuration": done.configuration,
    }
    said = " --answer" * answer + " --judge" * plan.judge + " --lexical" * (settings.embedder == "none")
    command = f"mindmem bench longmemeval --data DIR --strategy {settings.search.strategy}{said} {plan.options()}"
    return Results(benchmark="longmemeval", command=command, seed=plan.seed, figures=figures, rows=done.kept)


async def _ask(reader: Reader, case: Case[Question], question: Question, *, answer: bool) -> Mapping[str, object]:
    begun = monotonic()
    hits = reader.memory.search(question.text, user_id=case.user_id, top_k=reader.top_k, evidence=True).hits
    seconds = monotonic() - begun
    said = [message for hit in hits for message in hit.evidence]
    sessions = list(dict.fromkeys(message.scope.session_id for message in said))
    turns = list(dict.fromkeys(f"{message.scope.session_id}:{message.position}" for message in said))
    row: dict[str, object] = {
        "type": question.question_type,
        "hits": len(hits),
        "search_s": round(seconds, 5),
        **{f"session_recall_at_{k}": recall_at(sessions, question.sessions, k) for k in CUTS},
        **({f"turn_recall_at_{k}": recall_at(turns, question.turns, k) for k in CUTS} if question.turns else {}),
    }
    if not answer:
        return row
    reading = await reader.read(question.text, user_id=case.user_id, asked_at=case.asked_at)
    row |= {
        **reading.row(),
        "f1": round(token_f1(reading.answer, question.answer), 4),
        "sub_em": sub_em(reading.answer, question.answer),
    }
    if not reader.judges:
        return row
    if reading.outcome != "answered":
        return {**row, "verdict": "wrong", "judge_reason": "no answer"}
    return {**row, **await reader.grade(question.text, question.answer, reading.answer)}


def _part(rows: "Sequence[Row]") -> dict[str, object]:
    """Return the mean of each measure over the rows that have it."""
    names = [f"{kind}_recall_at_{k}" for kind in ("session", "turn") for k in CUTS] + ["f1", "sub_em"]
    measured = {name: [float(str(row[name])) for row in rows if name in row] for name in names}
    figures: dict[str, object] = {name: round(mean(values), 4) for name, values in measured.items() if values}
    judged = [float(row["verdict"] == "correct") for row in rows if "verdict" in row]
    return {**figures, "judge_accuracy": round(mean(judged), 4)} if judged else figures


def _case(item: Mapping[str, Any], number: int) -> Case[Question]:
    found = zip(item["haystack_dates"], item["haystack_session_ids"], item["haystack_sessions"], strict=True)
    ordered = sorted(((_time(date), str(name), turns) for date, name, turns in found), key=lambda each: each[:2])
    wanted = set(map(str, item["answer_session_ids"]))
    sessions: dict[str, list[Mapping[str, object]]] = {}
    answering: set[str] = set()
    marked: set[str] = set()
    for place, (begins, name, turns) in enumerate(ordered):
        session = f"session-{place + 1:03d}"
        if name in wanted:
            answering.add(session)
        sessions[session] = [
            {
                "role": turn["role"],
                "content": str(turn["content"]),
                "timestamp": begins + at * _BETWEEN_TURNS,
                "position": at,
            }
            for at, turn in enumerate(turns)
            if str(turn["content"]).strip()
        ]
        marked.update(f"{session}:{at}" for at, turn in enumerate(turns) if turn.get("has_answer"))
    question = Question(
        str(item["question_id"]),
        str(item["question_type"]),
        str(item["question"]),
        str(item["answer"]),
        frozenset(answering),
        frozenset(marked),
    )
    return Case(f"user-{number}", sessions, [question], _time(item["question_date"]))


def _time(text: str) -> datetime:
    """Read "2023/05/30 (Tue) 20:42" or ISO 8601, as UTC."""
    if "(" in text:
        date, _, rest = text.partition(" (")
        return datetime.strptime(f"{date} {rest.partition(') ')[2]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _file(folder: Path) -> Path:
    for place in (folder, folder / "longmemeval"):
        if found := sorted(place.glob(_PATTERN)):
            return found[0]
    raise NotFound(
        f"No {_PATTERN} in {str(folder)!r} or its subfolder 'longmemeval'. Give the data folder with --data."
    )

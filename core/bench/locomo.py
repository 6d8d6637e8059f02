"""LOCOMO: ten very long dialogues of two persons, and questions whose evidence is known turn by turn.

Each dialogue is added to an empty store as a group chat, a session an add, and each question of categories 1 to 4 that
names existing evidence is searched. A hit's evidence is its source messages; recall@k counts the first k distinct
messages in rank order. The dataset (CC BY-NC 4.0) is not part of this package: give its folder with ``--data``. Rows
name questions and turns by their numbers and hold none of its text.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from mindmem.core.bench.answering import Watch
from mindmem.core.bench.metrics import difference, interval, mean, median_ms, recall_at
from mindmem.core.bench.results import Results
from mindmem.core.clock import monotonic
from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.search.dedupe import distinct_messages
from mindmem.core.search.recipes import Strategy
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.memory import Memory

__all__ = [
    "CATEGORIES", "CUTS", "Dialogue", "Question", "Turn", "Turns", "asked", "choose", "data_file", "load", "messages",
    "run",
]  # fmt: skip

CATEGORIES: Final[Mapping[int, str]] = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop"}
CUTS: Final = (5, 10, 20, 50)
_FILE: Final = "locomo10.json"
_HALF: Final = 5
"""Dialogues of the first half: weights may be chosen on them, the second half is held out."""
_BETWEEN_TURNS: Final = timedelta(seconds=20)
"""The dataset says when a session begins; its turns are spaced by this."""
_EVIDENCE: Final = re.compile(r"D:?(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance: its id in the dataset, who said it, the words, the caption of a shared picture, when."""

    turn_id: str
    speaker: str
    text: str
    caption: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its number in the file (from 1), its category's name, its answer, and the ids of the existing turns
    that answer it (a few name none)."""

    text: str
    number: int
    category: str
    answer: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue's sessions by name, in order, and its questions of categories 1 to 4."""

    name: str
    sessions: Mapping[str, tuple[Turn, ...]]
    questions: tuple[Question, ...]


def data_file(folder: Path) -> Path:
    """Return the path of ``locomo10.json`` in ``folder`` or its subfolder ``locomo``.

    Raises:
        NotFound: the file is not there.
    """
    path = next((place for place in (folder / _FILE, folder / "locomo" / _FILE) if place.is_file()), None)
    if path is None:
        raise NotFound(f"No {_FILE} in {str(folder)!r} or its subfolder 'locomo'. Give the data folder with --data.")
    return path


def load(folder: Path) -> list[Dialogue]:
    """Return the dialogues in ``folder``; questions of category 5 (adversarial) are left out.

    Raises:
        NotFound: the file is not there.
        InvalidInput: it is not of LOCOMO's form.
    """
    path = data_file(folder)
    try:
        return [_dialogue(sample) for sample in json.loads(path.read_text("utf-8"))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{str(path)!r} is not LOCOMO's file: {bounded(str(error))}.") from error


def choose(known: Sequence[Dialogue], numbers: Sequence[int] | None) -> list[int]:
    """Return the numbers of the dialogues that are asked for (None: all), from 1.

    Raises:
        InvalidInput: one of them doesn't exist.
    """
    chosen = list(numbers or range(1, len(known) + 1))
    if not set(chosen) <= set(range(1, len(known) + 1)):
        raise InvalidInput(f"Dialogues are numbered 1 to {len(known)}, got {bounded(chosen)}.", field="dialogues")
    return chosen


def messages(turns: Sequence[Turn]) -> list[dict[str, object]]:
    """Return a session's turns as ``Memory.add`` takes them."""
    return [_message(turn, position) for position, turn in enumerate(turns)]


def run(
    folder: Path,
    *,
    seed: int = 7,
    dialogues: Sequence[int] | None = None,
    embedder: bool = True,
    mode: Literal["vanilla", "schema"] = "vanilla",
    strategy: Strategy = "fast",
    against: Path | None = None,
    watch: Watch = lambda *_: None,
) -> Results:
    """Ingest the dialogues (numbers from 1; None: all) into temporary stores, ask the questions, return the figures.

    ``seed`` draws the bootstrap's resamples. Without ``embedder`` the search is lexical only. ``mode`` is the
    ingest's. ``against`` is the folder of an earlier run's results: the figures then hold the paired difference to it
    over the questions that both asked.

    Raises:
        NotFound, InvalidInput: as :func:`load`; or a dialogue's number doesn't exist, or ``against`` holds no results
            of this benchmark.
    """
    before = None if against is None else _earlier(against)
    known = load(folder)
    numbers = choose(known, dialogues)
    rows: list[dict[str, object]] = []
    ingest: list[float] = []
    memories = 0
    with tempfile.TemporaryDirectory(prefix="mindmem-locomo-") as place:
        for done, number in enumerate(numbers):
            watch("dialogues", done, len(numbers))
            settings = Settings.load(
                {},
                home=Path(place) / str(number),
                embedder="bundled" if embedder else "none",
                ingest={"mode": mode},
                search={"strategy": strategy},
            )
            found, seconds, count = _one(settings, known[number - 1], number)
            rows += found
            ingest.append(seconds)
            memories += count
        watch("dialogues", len(numbers), len(numbers))
    only = "" if dialogues is None else f" --dialogues {','.join(map(str, numbers))}"
    figures = {
        "questions": len(rows),
        **_recalls(rows),
        "by_category": {name: _part(rows, "category", name) for name in CATEGORIES.values()},
        "by_half": {half: _half(rows, half, seed) for half in ("first", "second")},
        "dialogues": len(numbers),
        "turns": sum(len(turns) for number in numbers for turns in known[number - 1].sessions.values()),
        "memories": memories,
        "ingest_s": round(sum(ingest), 2),
        "search_p50_ms": round(median_ms([float(str(row["search_s"])) for row in rows]), 2),
        "embedder": "bundled" if embedder else "none",
        "mode": mode,
        "strategy": strategy,
        **({} if before is None else {"against": _compared(rows, before, seed)}),
    }
    lexical = "" if embedder else " --lexical"
    compared = "" if before is None else " --against DIR"
    said = f"--mode {mode} --strategy {strategy} --seed {seed}{only}{lexical}{compared}"
    command = f"mindmem bench locomo --data DIR {said}"
    return Results(benchmark="locomo", command=command, seed=seed, figures=figures, rows=rows)


def _one(settings: Settings, dialogue: Dialogue, number: int) -> tuple[list[dict[str, object]], float, int]:
    """Return a row for each question, the seconds of ingest and the number of memories of one dialogue."""
    from mindmem.core.memory import Memory

    with Memory(settings=settings) as memory:
        begun = monotonic()
        for name, turns in dialogue.sessions.items():
            memory.add(messages(turns), user_id="reader", session_id=name)
        seconds = monotonic() - begun
        turn_of = Turns(memory, dialogue)
        scorable = (question for question in dialogue.questions if question.evidence)
        rows = [{"dialogue": number, **asked(memory, question, turn_of)} for question in scorable]
        return rows, seconds, memory.list(user_id="reader", page_size=1, include_total=True).total or 0


def _message(turn: Turn, position: int) -> dict[str, object]:
    message: dict[str, object] = {
        "role": "user",
        "name": turn.speaker,
        "content": turn.text,
        "timestamp": turn.at,
        "position": position,
    }
    return {**message, "caption": turn.caption} if turn.caption else message


class Turns:
    """The dataset's id of each message, read through the public API and kept."""

    def __init__(self, memory: "Memory", dialogue: Dialogue) -> None:
        self._memory = memory
        self._sessions = dialogue.sessions
        self._known: dict[str, str] = {}

    def ids(self, messages: Sequence[str], memories: Mapping[str, str]) -> list[str]:
        """Return the turn ids of messages; ``memories`` names for each message a memory that it supports."""
        for message_id in messages:
            if message_id not in self._known:
                for message in self._memory.evidence(memories[message_id]):
                    turn = self._sessions[message.scope.session_id][message.position]
                    self._known[message.message_id] = turn.turn_id
        return [self._known[message_id] for message_id in messages]


def asked(memory: "Memory", question: Question, turns: Turns) -> dict[str, object]:
    """Search for a question that has evidence and return its row: recall by the turns that the hits rest on."""
    begun = monotonic()
    hits = memory.search(question.text, user_id="reader", top_k=100).hits
    seconds = monotonic() - begun
    supported = {source.message_id: hit.memory.memory_id for hit in hits for source in hit.memory.sources}
    ranked = turns.ids(distinct_messages(hits, max(CUTS)), supported)
    return {
        "question": question.number,
        "category": question.category,
        "evidence": sorted(question.evidence),
        "found": ranked[:20],
        **{f"recall_at_{k}": recall_at(ranked, question.evidence, k) for k in CUTS},
        "hits": len(hits),
        "search_s": round(seconds, 5),
    }


def _earlier(folder: Path) -> dict[tuple[int, int], dict[str, object]]:
    """Return the rows of an earlier run by dialogue and question."""
    path = folder / "rows.jsonl"
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
        return {
            (int(row["dialogue"]), int(row["question"])): {"recall_at_10": float(row["recall_at_10"])} for row in rows
        }
    except FileNotFoundError as error:
        raise NotFound(f"No rows.jsonl in {str(folder)!r}: give the results folder of an earlier run.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(path)!r} does not hold this benchmark's rows: {bounded(str(error))}.") from error


def _compared(
    rows: Sequence[Mapping[str, object]], before: Mapping[tuple[int, int], Mapping[str, object]], seed: int
) -> dict[str, object]:
    """Return recall@10 less that of an earlier run, with its interval, over the questions that both asked: of all
    questions and by category."""

    def part(name: str) -> dict[str, object]:
        pairs = [
            (float(str(row["recall_at_10"])), float(str(before[key]["recall_at_10"])))
            for row in rows
            if (key := (int(str(row["dialogue"])), int(str(row["question"])))) in before
            and name in ("all", row["category"])
        ]
        mean_, low, high = difference([one for one, _ in pairs], [other for _, other in pairs], seed=seed)
        return {
            "questions": len(pairs),
            "recall_at_10_more": round(mean_, 4),
            "recall_at_10_more_low": round(low, 4),
            "recall_at_10_more_high": round(high, 4),
        }

    return {name: part(name) for name in ("all", *CATEGORIES.values())}


def _recalls(rows: Sequence[Mapping[str, object]]) -> dict[str, float]:
    return {f"recall_at_{k}": round(mean(_column(rows, k)), 4) for k in CUTS}


def _column(rows: Sequence[Mapping[str, object]], k: int) -> list[float]:
    return [float(str(row[f"recall_at_{k}"])) for row in rows]


def _part(rows: Sequence[Mapping[str, object]], name: str, value: object) -> dict[str, object]:
    kept = [row for row in rows if row[name] == value]
    return {"questions": len(kept), **_recalls(kept)}


def _half(rows: Sequence[Mapping[str, object]], half: str, seed: int) -> dict[str, object]:
    kept = [row for row in rows if (int(str(row["dialogue"])) <= _HALF) == (half == "first")]
    low, high = interval(_column(kept, 10), seed=seed)
    figures = {"questions": len(kept), **_recalls(kept)}
    return {**figures, "recall_at_10_low": round(low, 4), "recall_at_10_high": round(high, 4)}


def _dialogue(sample: Mapping[str, Any]) -> Dialogue:
    sessions = dict(_sessions(sample["conversation"]))
    exist = {turn.turn_id for turns in sessions.values() for turn in turns}
    questions = []
    for number, item in enumerate(sample["qa"], start=1):
        named = (f"D{int(a)}:{int(b)}" for text in item["evidence"] for a, b in _EVIDENCE.findall(text))
        evidence = frozenset(turn_id for turn_id in named if turn_id in exist)
        if item["category"] in CATEGORIES:
            category, answer = CATEGORIES[item["category"]], str(item["answer"])
            questions.append(Question(str(item["question"]), number, category, answer, evidence))
    return Dialogue(str(sample["sample_id"]), sessions, tuple(questions))


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    names = [name for name in conversation if re.fullmatch(r"session_\d+", name)]
    for name in sorted(names, key=lambda name: int(name.rpartition("_")[2])):
        begins = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield (
            name,
            tuple(
                Turn(
                    turn["dia_id"],
                    turn["speaker"],
                    turn["text"],
                    str(turn.get("blip_caption") or ""),
                    begins + at * _BETWEEN_TURNS,
                )
                for at, turn in enumerate(conversation[name])
            ),
        )

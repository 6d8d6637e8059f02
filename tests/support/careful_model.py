"""A model that reads carefully, as a script for ``ModelServer``; a store that asks it; and ways in which it fails."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from support.embedders import WordEmbedder
from support.model_server import Behaviour, Request, chatter, fenced, reply, truncated
from support.stores import NOW

from mindmem.core.clock import FixedClock
from mindmem.core.ingest.inbox.batches import Batch, Rejected, Source, read_batches
from mindmem.core.ingest.inbox.files import InboxFile, find_files
from mindmem.core.ingest.inbox.lines import read_lines
from mindmem.core.llm.budget import Budget
from mindmem.core.llm.cache import ReplyCache
from mindmem.core.llm.client import OpenAICompleter
from mindmem.core.llm.model import LlmModel
from mindmem.core.llm.retry import Patience
from mindmem.core.memory import Memory
from mindmem.core.reason.llm.family import llm_reasoner
from mindmem.core.services import open_services, rules_reasoner
from mindmem.core.settings import Settings

__all__ = [
    "HEALED", "USERS", "Answer", "cut", "evidence", "failing", "inbox_of_lockers", "kind_of", "lockers", "model_store",
    "numbered", "recording",
]  # fmt: skip

Answer = Callable[[Request], Mapping[str, Any]]
"""The reply of a model that makes no mistakes."""

USERS: Final = 4
_LINE: Final = re.compile(r"^\[(\d+)\] (?:user|assistant)[^\n]*\n((?:\| [^\n]*\n?)+)", re.MULTILINE)
_CANDIDATE: Final = re.compile(r"^C(\d+) \(", re.MULTILINE)
_LOCKER: Final = re.compile(r"My locker is number (\d+)\.")


def model_store(home: Path, url: str, *, overlap: int = 16, run_tokens: int | None = None, **llm: object) -> Memory:
    """Open a store whose reasoner asks the endpoint at ``url``; between tries it waits a hundredth of a second."""
    settings = Settings.load(
        {},
        home=home,
        embedder="none",
        reasoner="llm",
        ingest={"overlap": overlap},
        llm={"base_url": url, "model": "test-model", "timeout": 30.0, "run_tokens": run_tokens, **llm},
        store={"fold_on_close": False, "lease_seconds": 2.0},
    )
    services = open_services(settings, clock=FixedClock(NOW), embedder=WordEmbedder("1"), reasoner=rules_reasoner())
    completer = OpenAICompleter(
        settings.llm,
        patience=Patience(retries=settings.llm.retries, seconds=60.0, first=0.01, longest=0.02),
        clock=services.clock,
    )
    model = LlmModel(
        completer,
        settings.llm,
        project_id=settings.project_id,
        endpoint=url,
        log=services.ledger,
        budget=Budget(settings, services.ledger, services.clock),
        cache=ReplyCache(home / "cache", settings.llm.cache_bytes),
        clock=services.clock,
        close=completer.close,
    )
    services.opened.callback(model.close)
    fallback = rules_reasoner() if settings.llm.fallback == "rules" else None
    services.reasoner = llm_reasoner(model, settings.llm, fallback=fallback)
    return Memory(services=services)


def kind_of(request: Request) -> str:
    """Return what a model is asked for: extract, resolve, answer or grade."""
    tags = {"evidence": "extract", "candidates": "resolve", "expected": "grade", "question": "answer"}
    return next(kind for tag, kind in tags.items() if f"\n<{tag}>\n" in request.prompt)


def evidence(request: Request) -> list[tuple[int, str]]:
    """Return the messages that a model is to read, by their numbers."""
    shown = request.prompt.rsplit("\n<evidence>\n", 1)[1].split("\n</evidence>", 1)[0]
    return [
        (int(number), re.sub(r"^\| ", "", text, flags=re.MULTILINE).strip()) for number, text in _LINE.findall(shown)
    ]


def lockers(request: Request) -> Mapping[str, Any]:
    """Read "My locker is number 5." as one claim a message; a new locker replaces none."""
    if kind_of(request) == "resolve":
        return {
            "decisions": [
                {"candidate": int(number), "action": "add", "confidence": 0.9, "reason": "another locker"}
                for number in _CANDIDATE.findall(request.prompt.rsplit("\n<candidates>\n", 1)[1])
            ]
        }
    found = [(number, said) for number, text in evidence(request) for said in _LOCKER.findall(text)]
    return {
        "memories": [
            {
                "type": "fact", "content": f"Ann's locker is number {said}.", "entity": "Ann", "entity_type": "person",
                "property": "locker", "value": said, "single_valued": False, "confidence": 0.95,
                "sources": [{"message": number, "quote": f"My locker is number {said}."}],
            }
            for number, said in found
        ],
        "skipped": [],
    }  # fmt: skip


def inbox_of_lockers(folder: Path, number: int, users: int = USERS) -> list[Batch | Rejected]:
    """Return the batches of a file with one session a locker, of so many users in turn."""
    folder.mkdir(exist_ok=True)
    path = folder / "lockers.jsonl"
    lines = [
        {
            "user_id": f"user{n % users}", "session_id": f"s{n}", "role": "user", "name": "Ann",
            "content": f"My locker is number {n}.", "timestamp": f"2026-02-{n % 28 + 1:02d}T10:00:00Z",
        }
        for n in range(number)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    [file] = find_files(path)
    assert isinstance(file, InboxFile)
    return list(read_batches(file, read_lines(file.path), Source()))


def _item_without_type(answer: Mapping[str, Any]) -> Behaviour:
    items = [{"content": "an item that lacks all else"}, *answer.get("memories", [])]
    return reply({**answer, "memories": items} if "memories" in answer else answer, name="bad_item")


HEALED: Final[Sequence[Callable[[Mapping[str, Any]], Behaviour]]] = (
    fenced,
    chatter,
    _item_without_type,
    lambda answer: reply(json.dumps(answer)[:-1] + ', "mood": "\\ud83d"}', name="lone_surrogate"),
)
"""Ways to write a good answer that have to be forgiven."""


def failing(
    answer: Answer, ways: Sequence[Callable[[Mapping[str, Any]], Behaviour]], share: float, seed: int = 1
) -> Callable[[Request], Behaviour]:
    """Return a script that answers, in a share of its requests in one of these ways.

    Which ones follows from the prompt and how often it came, so from nothing that differs between two runs.
    """
    asked: Counter[str] = Counter()

    def script(request: Request) -> Behaviour:
        asked[request.prompt] += 1
        dice = random.Random(f"{seed}:{request.prompt}:{asked[request.prompt]}")
        good = answer(request)
        return dice.choice(ways)(good) if dice.random() < share else reply(good)

    return script


def recording(replies: Sequence[Mapping[str, Any]]) -> Callable[[Request], Behaviour]:
    """Replay written replies: the first whose kind is asked for and whose ``holds`` all stand in the prompt.

    In a reply, ``{"memory": words}`` is the number of the memory that the prompt shows with these words, and
    ``{"candidate": words}`` that of a candidate.
    """

    def script(request: Request) -> Behaviour:
        user = str(request.body["messages"][-1]["content"])
        for one in replies:
            if one["kind"] == kind_of(request) and all(text in user for text in one["holds"]):
                return reply(numbered(one["reply"], user))
        raise AssertionError(f"nothing was written for this prompt: {user[:2000]}")

    return script


def numbered(value: Any, prompt: str) -> Any:
    """Return a written reply with the numbers that a prompt gives to memories, candidates and issues."""
    match value:
        case {"memory": str(words)} if len(value) == 1:
            return _number_of("M", words, prompt)
        case {"candidate": str(words)} if len(value) == 1:
            return _number_of("C", words, prompt)
        case {"issue": str(words)} if len(value) == 1:
            return _number_of("I", words, prompt)
        case dict():
            return {name: numbered(inner, prompt) for name, inner in value.items()}
        case list():
            return [numbered(inner, prompt) for inner in value]
    return value


def _number_of(letter: str, words: str, prompt: str) -> int:
    found = [line for line in prompt.splitlines() if re.match(rf"{letter}\d+ ", line) and words in line]
    assert len(found) == 1, f"{words!r} should stand in one line of the prompt: {prompt}"
    return int(found[0].split()[0][1:])


def cut(answer: Mapping[str, Any]) -> Behaviour:
    """Break an answer off in its middle."""
    return truncated(json.dumps(answer))

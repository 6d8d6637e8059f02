"""Two hundred questions to an endpoint that misbehaves in a third of its answers: none is lost, doubled or mixed up."""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel
from support.model_server import (
    Behaviour,
    ModelServer,
    Request,
    body,
    chatter,
    cut_body,
    cut_headers,
    empty,
    fenced,
    html,
    refusal,
    reply,
    status,
    thinking,
    truncated,
)

from mindmem.core.clock import SystemClock
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.llm.budget import Budget
from mindmem.core.llm.cache import ReplyCache
from mindmem.core.llm.client import OpenAICompleter
from mindmem.core.llm.model import LlmModel
from mindmem.core.llm.port import Question, Reply
from mindmem.core.reason.port import Failed, Judged
from mindmem.core.settings import LlmSettings, Settings

QUESTIONS = 200


class Fact(BaseModel):
    content: str
    confidence: float


class Facts(BaseModel):
    facts: list[Fact]


def question(number: int) -> Question[Facts]:
    return Question(
        purpose="extract", prompt="extract", version="1", digest="d", system="Extract.", user=f"number {number:03}.",
        reply=Facts, items="facts",
    )  # fmt: skip


def right(number: int) -> dict[str, object]:
    return {"facts": [{"content": f"{number:03} {part}", "confidence": 0.9} for part in ("a", "b", "c")]}


def with_a_bad_item(number: int) -> dict[str, object]:
    return {"facts": [*right(number)["facts"], {"content": f"{number:03} d", "confidence": "very"}]}  # type: ignore[misc]


FAULTS: dict[str, Callable[[int], Behaviour]] = {
    "fenced": lambda number: fenced(right(number)),
    "chatter": lambda number: chatter(right(number)),
    "thinking": lambda number: thinking(right(number)),
    "surrogate": lambda number: reply(json.dumps(right(number)).replace(" a", " a\\ud83d")),
    "truncated": lambda number: truncated(right(number), 0.8),
    "a bad item": lambda number: reply(with_a_bad_item(number)),
    "unclosed": lambda number: reply(json.dumps(right(number))[:-2]),
    "wrong schema": lambda number: reply({"answer": 42}),
    "prose": lambda number: reply("I would rather talk about something else."),
    "empty": lambda number: empty(),
    "refusal": lambda number: refusal(),
    "500": lambda number: status(500),
    "429": lambda number: status(429, retry_after=0.01),
    "cut body": lambda number: cut_body(),
    "cut headers": lambda number: cut_headers(),
    "html": lambda number: html(),
    "half JSON": lambda number: body(b'{"choices": ['),
}


class Endpoint:
    """Answers rightly or with a fault, by the question and how often it was asked; counts what it answered."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.asked: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()

    def __call__(self, request: Request) -> Behaviour:
        found = re.search(r"number (\d{3})", request.prompt)
        assert found is not None
        number = int(found[1])
        self.asked[number] += 1
        dice = random.Random(f"{number}:{self.asked[number]}")
        if dice.random() >= self.share:
            return reply(right(number))
        fault = dice.choice(list(FAULTS))
        self.faults[fault] += 1
        return FAULTS[fault](number)


async def no_wait(_: float) -> None:
    await asyncio.sleep(0)


def model_at(server: ModelServer, log: SqlLedger, folder: Path) -> LlmModel:
    llm = LlmSettings(base_url=server.url, model="any", structure="json", concurrency=16, retries=2)
    clock = SystemClock()
    return LlmModel(
        OpenAICompleter(llm, sleep=no_wait), llm, project_id="default", endpoint=server.url, log=log,
        budget=Budget(Settings(llm=llm), log, clock), cache=ReplyCache(folder, 10_000_000), clock=clock,
    )  # fmt: skip


async def worked_off(model: LlmModel) -> dict[int, Judged[Reply[Facts]] | Failed]:
    """Ask everything, and again what failed for now, as the runs of a pipeline do."""
    verdicts: dict[int, Judged[Reply[Facts]] | Failed] = {}
    for _ in range(10):
        left = [
            n
            for n in range(QUESTIONS)
            if isinstance(one := verdicts.get(n, Failed("", True)), Failed) and one.transient
        ]
        found = await asyncio.gather(*(model.ask(question(number)) for number in left))
        verdicts.update(zip(left, found, strict=True))
    return verdicts


@pytest.fixture
def log(tmp_path: Path) -> SqlLedger:
    return open_ledger(sqlite_url(tmp_path / "ledger.db"))


def test_every_fault_is_healed_or_handed_over_raw_and_a_second_run_pays_for_the_unhealed_only(
    log: SqlLedger, tmp_path: Path
) -> None:
    endpoint = Endpoint(0.3)
    with ModelServer(endpoint) as server:
        verdicts = asyncio.run(worked_off(model_at(server, log, tmp_path / "cache")))
        asked = Counter(endpoint.asked)
        again = asyncio.run(worked_off(model_at(server, log, tmp_path / "cache")))
    assert set(endpoint.faults) == set(FAULTS), "the dice left a fault out"

    healed = whole = handed_over = 0
    for number, verdict in verdicts.items():
        wanted = [fact["content"] for fact in right(number)["facts"]]  # type: ignore[attr-defined, index]
        if isinstance(verdict, Failed):
            assert not verdict.transient
            handed_over += 1
            continue
        got = [fact.content for fact in verdict.value.value.facts]
        assert got == wanted[: len(got)], "an answer of its own, in its order, no item twice"
        assert got == wanted or verdict.value.rejected, "what is missing was handed over"
        whole += not verdict.value.rejected
        healed += verdict.value.rejected == () and asked[number] > 1
    assert len(verdicts) == QUESTIONS
    assert whole > QUESTIONS * 0.85
    assert healed > 10
    assert 0 < handed_over < QUESTIONS * 0.1

    calls = [call for _, call in log.calls_after(0, 10_000)]
    assert len({call.call_id for call in calls}) == len(calls)
    paid_again = [number for number in range(QUESTIONS) if endpoint.asked[number] > asked[number]]
    kept = [n for n, one in verdicts.items() if isinstance(one, Judged) and not one.value.rejected]
    assert not set(paid_again) & set(kept)
    assert sum(call.cached for call in calls) == len(kept)
    assert all(isinstance(again[number], Judged) for number in kept)
    log.close()

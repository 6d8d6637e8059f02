"""Tries that reached a model and gave nothing are on the bill: counted by an estimate, and seen by the budget."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from support.model_server import (
    Behaviour,
    ModelServer,
    Script,
    body,
    cut_body,
    html,
    reply,
    slow,
    status,
    unauthorized,
)

from mindmem.core.clock import SystemClock
from mindmem.core.errors import BudgetReached
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.llm import client
from mindmem.core.llm.budget import Budget
from mindmem.core.llm.client import OpenAICompleter
from mindmem.core.llm.model import LlmModel
from mindmem.core.llm.port import Question, charged_to
from mindmem.core.reason.port import Failed, Judged
from mindmem.core.records import Scope
from mindmem.core.records.llm_call import LlmCall
from mindmem.core.settings import LlmSettings, Price, Settings

ANN = Scope.of("ann")
RIGHT = {"facts": ["Ann lives in Oslo."]}


class Facts(BaseModel):
    facts: list[str]


QUESTION: Question[Facts] = Question(
    purpose="extract", prompt="extract", version="1", digest="d", system="Extract.", user="I live in Oslo. " * 20,
    reply=Facts, items="facts", max_output_tokens=500,
)  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlLedger]:
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger:
        yield ledger


async def no_wait(_: float) -> None:
    await asyncio.sleep(0)


def model_at(url: str, log: SqlLedger, **given: Any) -> LlmModel:
    settings = {
        "base_url": url, "model": "m", "structure": "json", "timeout": 0.3, "retries": 2,
        "prices": {"m": Price(input=1_000, output=10_000)}, **given,
    }  # fmt: skip
    llm = LlmSettings.model_validate(settings)
    return LlmModel(
        OpenAICompleter(llm, sleep=no_wait), llm, project_id="default", endpoint=url, log=log,
        budget=Budget(Settings(llm=llm), log, SystemClock()), cache=None, clock=SystemClock(),
    )  # fmt: skip


async def asked(script: Script, log: SqlLedger, **given: Any) -> tuple[object, LlmCall]:
    with ModelServer(script) as server, charged_to(ANN, "run-1"):
        verdict = await model_at(server.url, log, **given).ask(QUESTION)
    (call,) = log.calls("default")
    return verdict, call


LOST = [slow(5, reply("late")), cut_body(reply(RIGHT)), body(b'{"choices": ['), status(504)]


@pytest.mark.parametrize("lost", LOST, ids=["timeout", "cut body", "half JSON", "gateway timeout"])
async def test_tries_that_reached_the_model_count_as_estimates_with_their_retries(
    log: SqlLedger, lost: Behaviour
) -> None:
    verdict, call = await asked(lambda _: lost, log)
    assert isinstance(verdict, Failed)
    assert (call.outcome, call.retries) == ("failed", 2)
    assert call.input_tokens >= 3 * 90
    assert call.input_tokens % 3 == 0
    assert call.output_tokens <= 3 * 500
    assert call.cost == pytest.approx((call.input_tokens + 10 * call.output_tokens) / 1_000)
    assert call.estimated


async def test_a_timeout_counts_a_bounded_guess_of_what_was_written(log: SqlLedger) -> None:
    _, call = await asked(lambda _: slow(5, reply("late")), log, retries=0)
    assert 10 <= call.output_tokens <= 500


async def test_an_overlong_body_counts_no_more_than_may_be_written(
    log: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_BYTES", 10_000)
    _, call = await asked(lambda _: reply("word " * 10_000), log, retries=0)
    assert (call.outcome, call.output_tokens) == ("failed", 500)


@pytest.mark.parametrize(
    "unpaid", [unauthorized(), status(404), status(429), status(500), html()], ids=lambda b: b.name
)
async def test_what_never_reached_the_model_counts_nothing(log: SqlLedger, unpaid: Behaviour) -> None:
    verdict, call = await asked(lambda _: unpaid, log)
    assert isinstance(verdict, Failed)
    assert (call.input_tokens, call.output_tokens, call.cost) == (0, 0, 0.0)
    assert not call.estimated


async def test_a_refused_connection_counts_nothing_but_its_retries(log: SqlLedger) -> None:
    with ModelServer() as server:
        model = model_at(server.url, log)
    assert isinstance(await model.ask(QUESTION), Failed)
    (call,) = log.calls("default")
    assert (call.input_tokens, call.output_tokens, call.retries) == (0, 0, 2)


async def test_an_answer_after_a_lost_try_counts_both(log: SqlLedger) -> None:
    verdict, call = await asked([body(b'{"choices": ['), reply(RIGHT)], log)
    assert isinstance(verdict, Judged)
    assert (call.outcome, call.retries, call.error, call.estimated) == ("ok", 1, "", True)
    assert log.spent("default").input_tokens == call.input_tokens > 90


@pytest.mark.parametrize("limit", [{"run_tokens": 200}, {"day_tokens": 200}, {"run_cost": 0.2}], ids=str)
async def test_a_limit_stops_further_tries_and_keeps_what_they_came_to(log: SqlLedger, limit: dict[str, float]) -> None:
    with ModelServer(lambda _: body(b'{"choices": [')) as server:
        model = model_at(server.url, log, retries=9, **limit)
        with charged_to(ANN, "run-1"):
            with pytest.raises(BudgetReached, match="What was queued stays queued"):
                await model.ask(QUESTION)
            tried = len(server.requests)
            with pytest.raises(BudgetReached):
                await model.ask(QUESTION)
        assert len(server.requests) == tried, "a spent limit asks nothing"
    assert 1 <= tried <= 3
    (call,) = log.calls("default")
    assert (call.outcome, call.retries) == ("failed", tried - 1)
    assert (call.error, call.estimated) == ("BudgetReached", True)


async def test_a_call_that_is_stopped_while_the_model_works_counts_what_was_sent(log: SqlLedger) -> None:
    with ModelServer(slow(5, reply("late"))) as server:
        asking = asyncio.create_task(model_at(server.url, log, timeout=5).ask(QUESTION))
        while not server.requests:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    (call,) = log.calls("default")
    assert call.input_tokens >= 90
    assert (call.error, call.estimated) == ("CancelledError", True)


async def test_counts_beyond_reason_are_cut_to_a_bound_and_marked(log: SqlLedger) -> None:
    sane = reply(RIGHT)

    def boasting(request: Any) -> bytes:
        shown = json.loads(sane.render(request))
        shown["usage"] = {"prompt_tokens": 10**15, "completion_tokens": 10**12}
        return json.dumps(shown).encode()

    verdict, call = await asked(lambda _: Behaviour(name="boasting", render=boasting), log)
    assert isinstance(verdict, Judged)
    assert 1_000 < call.input_tokens < 3_000
    assert call.output_tokens == 4 * 500
    assert (call.error, call.estimated) == ("", True)

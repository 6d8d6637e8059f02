"""A question gets one validated reply, paid once and recorded once, or a failure that says whether to try again."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field
from support.model_server import (
    ModelServer,
    chatter,
    empty,
    fenced,
    lone_surrogate,
    refusal,
    reply,
    thinking,
    truncated,
)

from mindmem.core.clock import FixedClock
from mindmem.core.errors import BudgetReached, InvalidInput, ModelUnavailable
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.llm.budget import Budget
from mindmem.core.llm.cache import ReplyCache
from mindmem.core.llm.model import LlmModel
from mindmem.core.llm.open import open_model
from mindmem.core.llm.port import Completion, Question, Reply, charged_to
from mindmem.core.reason.port import Failed, Judged
from mindmem.core.records import Scope
from mindmem.core.settings import LlmSettings, Price, Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = Scope.of("ann", session_id="s1")


class Fact(BaseModel):
    content: str = Field(min_length=1)
    confidence: float


class Facts(BaseModel):
    facts: list[Fact]


def facts(*contents: str, confidence: object = 0.9) -> str:
    return json.dumps({"facts": [{"content": content, "confidence": confidence} for content in contents]})


QUESTION: Question[Facts] = Question(
    purpose="extract", prompt="extract", version="3", digest="abc", system="Extract facts.", user="I live in Oslo.",
    reply=Facts, items="facts", max_output_tokens=500,
)  # fmt: skip

Step = str | Completion | Exception


@dataclass
class Scripted:
    """A completer that plays its script, fails when it ends, and keeps what it was asked."""

    script: list[Step]
    asked: list[list[Mapping[str, str]]] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)
    delay: float = 0.0

    async def complete(self, messages: Sequence[Mapping[str, str]], **options: Any) -> Completion:
        self.asked.append(list(messages))
        self.options.append(options)
        await asyncio.sleep(self.delay)
        assert self.script, "the script has ended"
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Completion) else Completion(step, "stop", 100, 10, "served-model")


def finish(text: str, how: str) -> Completion:
    return Completion(text, how, 100, 10, "served-model")  # type: ignore[arg-type]  # one of its literals


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlLedger]:
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger:
        yield ledger


Make = Callable[..., tuple[LlmModel, Scripted]]


@pytest.fixture
def make(log: SqlLedger, tmp_path: Path) -> Make:
    def made(*script: Step, cached: bool = True, delay: float = 0.0, **limits: object) -> tuple[LlmModel, Scripted]:
        completer = Scripted(list(script), delay=delay)
        llm = LlmSettings.model_validate({"model": "m", "prices": {"m": Price(input=1000, output=10_000)}, **limits})
        clock = FixedClock(NOON)
        model = LlmModel(
            completer, llm, project_id="default", endpoint="http://here/v1", log=log,
            budget=Budget(Settings(llm=llm), log, clock), clock=clock,
            cache=ReplyCache(tmp_path / "cache", 1_000_000) if cached else None,
        )  # fmt: skip
        return model, completer

    return made


def good(verdict: Judged[Reply[Facts]] | Failed) -> list[str]:
    assert isinstance(verdict, Judged), verdict
    return [fact.content for fact in verdict.value.value.facts]


def failed(verdict: object) -> Failed:
    assert isinstance(verdict, Failed)
    return verdict


async def test_a_valid_reply_is_judged_and_recorded_with_what_it_cost(make: Make, log: SqlLedger) -> None:
    model, completer = make(facts("Ann lives in Oslo"))
    with charged_to(ANN, "run-1"):
        verdict = await model.ask(QUESTION)
    assert good(verdict) == ["Ann lives in Oslo"]
    (call,) = log.calls("default")
    assert isinstance(verdict, Judged)
    assert verdict.value.call == call
    assert (call.scope, call.run_id, call.purpose, call.prompt, call.version, call.digest) == (
        ANN, "run-1", "extract", "extract", "3", "abc",
    )  # fmt: skip
    assert (call.model, call.input_tokens, call.output_tokens, call.outcome, call.cached) == ("m", 100, 10, "ok", False)
    assert call.cost == pytest.approx(0.1 + 0.1)
    assert (call.called_at, call.error) == (NOON, "")
    assert completer.asked == [
        [{"role": "system", "content": "Extract facts."}, {"role": "user", "content": "I live in Oslo."}]
    ]
    assert completer.options[0]["schema"] == Facts.model_json_schema()
    assert completer.options[0]["max_output_tokens"] == 500


async def test_the_settings_bound_what_a_question_may_write(make: Make) -> None:
    model, completer = make(facts("a"), max_output_tokens=64)
    await model.ask(QUESTION)
    assert completer.options[0]["max_output_tokens"] == 64


async def test_each_purpose_has_its_model(make: Make) -> None:
    model, completer = make(facts("a"), models={"judge": "strict"})
    await model.ask(replace(QUESTION, purpose="judge"))
    assert completer.options[0]["model"] == "strict"


async def test_the_same_question_is_paid_once_by_a_resumed_run(make: Make, log: SqlLedger) -> None:
    first, _ = make(facts("a"))
    resumed, completer = make()
    with charged_to(ANN, "run-1"):
        await first.ask(QUESTION)
    with charged_to(ANN, "run-2"):
        assert good(await resumed.ask(QUESTION)) == ["a"]
    assert completer.asked == []
    again = log.calls("default", run_id="run-2")[0]
    assert (again.cached, again.cost, again.input_tokens, again.outcome) == (True, 0.0, 0, "ok")


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, user="I live in Rome."), replace(QUESTION, system="x"), replace(QUESTION, digest="def"),
        replace(QUESTION, temperature=0.7), replace(QUESTION, seed=2), replace(QUESTION, max_output_tokens=400),
        replace(QUESTION, purpose="judge"),
    ],
)  # fmt: skip
async def test_another_question_is_not_answered_from_the_cache(make: Make, other: Question[Facts]) -> None:
    model, completer = make(facts("a"), facts("b"), models={"judge": "strict"})
    await model.ask(QUESTION)
    assert good(await model.ask(other)) == ["b"]
    assert len(completer.asked) == 2


async def test_another_users_reply_is_not_used(make: Make) -> None:
    model, _ = make(facts("a"), facts("b"))
    with charged_to(ANN):
        await model.ask(QUESTION)
    with charged_to(Scope.of("bob")):
        assert good(await model.ask(QUESTION)) == ["b"]


@pytest.mark.parametrize("cached", [True, False])
async def test_the_same_question_at_once_is_asked_once(make: Make, log: SqlLedger, cached: bool) -> None:
    model, completer = make(facts("a"), cached=cached, delay=0.02)
    verdicts = await asyncio.gather(*(model.ask(QUESTION) for _ in range(5)))
    assert [good(verdict) for verdict in verdicts] == [["a"]] * 5
    assert len(completer.asked) == 1
    assert sorted(call.cached for call in log.calls("default")) == [False, True, True, True, True]


async def test_who_waits_for_the_same_question_asks_again_when_it_failed(make: Make) -> None:
    model, completer = make(ModelUnavailable("down", transient=True), facts("a"), delay=0.02)
    first, second = await asyncio.gather(model.ask(QUESTION), model.ask(QUESTION))
    assert failed(first).transient
    assert good(second) == ["a"]
    assert len(completer.asked) == 2


async def test_questions_overlap(make: Make) -> None:
    model, _ = make(*[facts("a")] * 20, delay=0.1)
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(model.ask(replace(QUESTION, user=str(number))) for number in range(20)))
    assert asyncio.get_running_loop().time() - began < 1.5


async def test_a_reply_of_the_wrong_form_is_mended_with_what_is_wrong_and_the_reply_as_data(
    make: Make, log: SqlLedger
) -> None:
    bad = facts("x", confidence='high" ignore all')
    model, completer = make(bad, facts("a"))
    verdict = await model.ask(QUESTION)
    assert good(verdict) == ["a"]
    system, user = completer.asked[1]
    assert system == completer.asked[0][0]
    assert user["content"].startswith(QUESTION.user)
    assert "facts.0.confidence: Input should be a valid number" in user["content"]
    assert json.dumps(bad, ensure_ascii=False) in user["content"]
    (call,) = log.calls("default")
    assert (call.outcome, call.input_tokens, call.output_tokens) == ("repaired", 200, 20)
    assert call.cost == pytest.approx(0.4)


async def test_a_mended_reply_is_kept_and_a_salvaged_one_is_not(make: Make) -> None:
    half = facts("a", confidence="x")
    model, completer = make("nonsense", facts("a"), facts("b")[:-1], half)
    await model.ask(QUESTION)
    assert good(await model.ask(QUESTION)) == ["a"]
    other = replace(QUESTION, user="other")
    assert good(await model.ask(other)) == ["b"]
    completer.script.append(facts("whole"))
    assert good(await model.ask(other)) == ["whole"]


async def test_the_quoted_reply_is_bounded(make: Make) -> None:
    model, completer = make(" ".join(str(number) for number in range(1_500)), facts("a"))
    await model.ask(QUESTION)
    assert len(completer.asked[1][1]["content"]) < 7_000
    assert "[… 389 characters …]" in completer.asked[1][1]["content"]


async def test_good_items_survive_bad_ones_that_mending_does_not_heal(make: Make, log: SqlLedger) -> None:
    mixed = json.dumps({"facts": [{"content": "good", "confidence": 1}, {"content": "", "confidence": 1}]})
    model, _ = make(mixed, mixed)
    verdict = await model.ask(QUESTION)
    assert good(verdict) == ["good"]
    assert isinstance(verdict, Judged)
    (rejected,) = verdict.value.rejected
    assert json.loads(rejected.raw) == {"content": "", "confidence": 1}
    assert "at least 1 character" in rejected.reason
    assert (log.calls("default")[0].outcome, log.calls("default")[0].error) == ("salvaged", "invalid")


async def test_the_better_of_both_replies_is_salvaged(make: Make) -> None:
    model, _ = make(facts("a", "b")[:-1], facts("a")[:-1])
    assert good(await model.ask(QUESTION)) == ["a", "b"]


async def test_a_reply_that_stays_unreadable_failed_for_good_with_its_raw_text(make: Make, log: SqlLedger) -> None:
    model, _ = make("I'd rather not.", "Really.")
    verdict = failed(await model.ask(QUESTION))
    assert (verdict.transient, verdict.raw) == (False, "Really.")
    assert "no JSON object" in verdict.reason
    assert (log.calls("default")[0].outcome, log.calls("default")[0].error) == ("unreadable", "no_json")


async def test_a_refusal_is_neither_mended_nor_an_empty_success(make: Make, log: SqlLedger) -> None:
    model, completer = make(finish("I can't help with that.", "refusal"))
    verdict = failed(await model.ask(QUESTION))
    assert (verdict.transient, verdict.raw) == (False, "I can't help with that.")
    assert len(completer.asked) == 1
    assert log.calls("default")[0].outcome == "refused"


async def test_of_a_reply_cut_at_the_limit_the_complete_items_are_kept(make: Make, log: SqlLedger) -> None:
    model, completer = make(finish(facts("a", "b")[:-20], "length"))
    verdict = await model.ask(QUESTION)
    assert good(verdict) == ["a"]
    assert isinstance(verdict, Judged)
    (rejected,) = verdict.value.rejected
    assert rejected.reason == "The reply was cut off at 500 tokens."
    assert verdict.value.cut
    assert '"b"' in rejected.raw
    assert len(completer.asked) == 1
    assert log.calls("default")[0].outcome == "salvaged"


async def test_a_whole_reply_with_its_chatter_cut_counts_as_it_stands(make: Make, log: SqlLedger) -> None:
    model, completer = make(finish(facts("a") + "\n" * 400, "length"))
    verdict = await model.ask(QUESTION)
    assert good(verdict) == good(await model.ask(QUESTION)) == ["a"]
    assert isinstance(verdict, Judged)
    assert not verdict.value.cut
    assert [call.outcome for call in log.calls("default")] == ["ok", "ok"]
    assert len(completer.asked) == 1


@pytest.mark.parametrize("text", ['{"facts": [{"content": "a', "", "Let me think"])
async def test_a_cut_reply_without_a_complete_item_failed_for_good(make: Make, text: str) -> None:
    model, completer = make(finish(text, "length"))
    verdict = failed(await model.ask(QUESTION))
    assert (verdict.transient, verdict.raw) == (False, text)
    assert len(completer.asked) == 1


async def test_a_reply_that_runs_in_circles_is_kept_up_to_its_loop(make: Make) -> None:
    loop = facts("a")[:-2] + ', {"content": "' + "and so on " * 200
    model, completer = make(loop)
    verdict = await model.ask(QUESTION)
    assert good(verdict) == ["a"]
    assert isinstance(verdict, Judged)
    assert verdict.value.rejected[0].reason == "The reply repeats itself without end."
    assert len(completer.asked) == 1


async def test_a_huge_reply_is_read_up_to_a_bound(make: Make) -> None:
    huge = json.dumps({"facts": [{"content": str(number), "confidence": 1} for number in range(5_000)]})
    model, _ = make(huge)
    verdict = await model.ask(QUESTION)
    assert 100 < len(good(verdict)) < 500


@pytest.mark.parametrize("transient", [True, False])
async def test_an_endpoint_without_an_answer_leaves_nothing_half_done(
    make: Make, log: SqlLedger, transient: bool
) -> None:
    model, completer = make(ModelUnavailable("nobody there: said 'secret'", transient=transient))
    verdict = failed(await model.ask(QUESTION))
    assert (verdict.transient, verdict.raw) == (transient, "")
    (call,) = log.calls("default")
    assert (call.outcome, call.cost, call.output_tokens) == ("failed", 0.0, 0)
    assert "secret" not in call.error
    completer.script.append(facts("a"))
    assert good(await model.ask(QUESTION)) == ["a"]


async def test_an_endpoint_that_fails_while_mending_is_asked_again_later_and_what_it_cost_is_counted(
    make: Make, log: SqlLedger
) -> None:
    model, _ = make("nonsense", ModelUnavailable("down", transient=True))
    assert failed(await model.ask(QUESTION)).transient
    assert (log.calls("default")[0].outcome, log.calls("default")[0].input_tokens) == ("failed", 100)


async def test_a_spent_budget_asks_nothing_and_records_nothing(make: Make, log: SqlLedger) -> None:
    model, completer = make(facts("a"), facts("b"), run_tokens=50)
    with charged_to(ANN, "run-1"):
        await model.ask(QUESTION)
        with pytest.raises(BudgetReached):
            await model.ask(replace(QUESTION, user="other"))
        assert good(await model.ask(QUESTION)) == ["a"], "what was paid is still there"
    assert len(completer.asked) == 1
    assert [call.cached for call in log.calls("default")] == [True, False]
    with charged_to(ANN, "run-2"):
        assert good(await model.ask(replace(QUESTION, user="other"))) == ["b"]


async def test_a_stopped_run_leaves_a_record_and_holds_nobody_up(make: Make, log: SqlLedger) -> None:
    model, completer = make(facts("a"), facts("b"), delay=30)
    asking = asyncio.create_task(model.ask(QUESTION))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert log.calls("default")[0].error == "CancelledError"
    completer.delay = 0
    assert good(await asyncio.wait_for(model.ask(QUESTION), 5)) == ["a"]


async def test_records_hold_no_word_of_question_or_reply(make: Make, log: SqlLedger) -> None:
    secret = replace(QUESTION, system="top secret", user="secret words")
    model, _ = make('secret {"facts": [{"content": "secret", "confidence": "secret"}]}', "secret", facts("secret"))
    await model.ask(secret)
    await model.ask(secret)
    assert "secret" not in repr(log.calls("default"))


def test_money_is_refused_without_prices_when_the_model_is_opened(log: SqlLedger, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, llm=LlmSettings(model="unknown", day_cost=1.0))
    with pytest.raises(InvalidInput, match="MINDMEM_LLM__PRICES has no price for unknown"):
        open_model(settings, log, FixedClock(NOON))


def test_an_opened_model_heals_what_an_endpoint_writes_and_pays_nothing_twice(log: SqlLedger, tmp_path: Path) -> None:
    whole = json.loads(facts("a", "b"))
    script = [
        fenced(whole), chatter(whole), thinking(whole), truncated(whole, 0.8), empty(), reply(whole),
        lone_surrogate(facts("tea 😀").replace("\\ude00", "")), refusal(),
    ]  # fmt: skip
    outcomes = ["ok", "ok", "ok", "salvaged", "repaired", "ok", "refused"]
    questions = [replace(QUESTION, user=f"question {number}") for number in range(len(outcomes))]
    with ModelServer(script, used_up=True) as server:
        settings = Settings(home=tmp_path, llm=LlmSettings(base_url=server.url, model="any", structure="json"))
        model = open_model(settings, log, FixedClock(NOON))
        # An event loop each, as synchronous callers have.
        verdicts = [asyncio.run(model.ask(question)) for question in questions]
        kept = [number for number, outcome in enumerate(outcomes) if outcome in {"ok", "repaired"}]
        again = [asyncio.run(model.ask(questions[number])) for number in kept]
        model.close()
    assert [len(good(verdict)) for verdict in verdicts[:-1]] == [2, 2, 2, 1, 2, 1]
    assert not failed(verdicts[-1]).transient
    assert [good(verdict) for verdict in again] == [good(verdicts[number]) for number in kept]
    calls = [call for _, call in log.calls_after(0, 100)]
    assert [call.outcome for call in calls[: len(outcomes)]] == outcomes
    assert all(call.cached for call in calls[len(outcomes) :])

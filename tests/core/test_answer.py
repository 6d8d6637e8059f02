"""Answers from memory: what they rest on, when they are asked, and what becomes of a reasoner that can't tell."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.stores import NOW, open_store

from mindmem.core.errors import BudgetReached, InvalidInput, ModelUnavailable
from mindmem.core.llm.port import Account, account
from mindmem.core.memory import Memory
from mindmem.core.reason.port import Answer, AnswerRequest, Failed, Judged, Verdict
from mindmem.core.serve.cli import cli


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = open_store(tmp_path / "home")
    opened.add("I have two cats.", user_id="ann")
    opened.add("I live in Oslo.", user_id="ben")
    yield opened
    opened.close()


class Answerer:
    """Says the same to every question, and notes what it was asked and who paid."""

    def __init__(self, verdict: Verdict[Answer] | Exception) -> None:
        self.verdict = verdict
        self.asked: list[AnswerRequest] = []
        self.payer: Account | None = None

    async def answer(self, requests: list[AnswerRequest]) -> list[Verdict[Answer]]:
        self.asked += requests
        self.payer = account()
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return [self.verdict]


def asking(memory: Memory, verdict: Verdict[Answer] | Exception) -> Answerer:
    answerer = Answerer(verdict)
    memory.services.reasoner = replace(memory.services.reasoner, answer=answerer)
    return answerer


def test_an_answer_names_the_memories_that_it_rests_on(memory: Memory) -> None:
    result = memory.answer("How many cats do I have?", user_id="ann", evidence=True)
    assert (result.text, result.found, result.reason) == ("two", True, "")
    [source] = result.sources
    assert [message.content for message in source.evidence] == ["I have two cats."]


@pytest.mark.parametrize("question", ["Where was Ann's grandmother born?", "How many cats do I have?"])
def test_what_no_memory_holds_is_not_answered(memory: Memory, question: str) -> None:
    result = memory.answer(question, user_id="ben")
    assert (result.text, result.found, result.sources) == ("", False, ())
    assert result.reason


def test_the_present_is_now_unless_the_question_is_asked_at_another_time(memory: Memory) -> None:
    answerer = asking(memory, Judged(Answer("two")))
    then, earlier = datetime(2025, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    memory.answer("cats?", user_id="ann")
    memory.answer("cats?", user_id="ann", as_of=then)
    memory.answer("cats?", user_id="ann", as_of=then, asked_at=earlier)
    assert [request.asked_at for request in answerer.asked] == [NOW, then, earlier]


def test_a_question_is_charged_to_who_is_asked_about(memory: Memory) -> None:
    answerer = asking(memory, Judged(Answer("two")))
    memory.answer("cats?", user_id="ann", run_id="run_1")
    assert answerer.payer is not None
    assert (answerer.payer.scope.user_id, answerer.payer.run_id) == ("ann", "run_1")


@pytest.mark.parametrize("transient", [True, False])
def test_a_model_without_a_readable_answer_is_an_error_not_an_empty_answer(memory: Memory, transient: bool) -> None:
    asking(memory, Failed("not JSON", transient=transient))
    with pytest.raises(ModelUnavailable, match="not JSON") as caught:
        memory.answer("cats?", user_id="ann")
    assert caught.value.transient is transient


def test_a_spent_budget_and_a_question_that_is_no_text_are_told_of(memory: Memory) -> None:
    asking(memory, BudgetReached("spent"))
    with pytest.raises(BudgetReached):
        memory.answer("cats?", user_id="ann")
    with pytest.raises(InvalidInput):
        memory.answer(5, user_id="ann")  # type: ignore[arg-type]  # what callers without a type checker do


def test_the_command_prints_the_answer_and_what_it_rests_on(tmp_path: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        memory.add("I have two cats.", user_id="ann")
    ask = ["ask", "How many cats do I have?", "--user", "ann", "--home", str(tmp_path / "home")]
    told = json.loads(CliRunner().invoke(cli, [*ask, "--json"]).stdout)
    assert (told["answer"], told["found"], told["reason"]) == ("two", True, "")
    assert [source["memory"]["content"] for source in told["sources"]] == ["I have two cats."]
    done = CliRunner().invoke(cli, ask)
    assert done.stdout.splitlines()[0] == "two"
    ask[3] = "ben"
    assert "Memory holds no answer" in CliRunner().invoke(cli, ask).stdout

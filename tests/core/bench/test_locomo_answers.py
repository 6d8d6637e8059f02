"""LOCOMO by its answers, on a small file of its form with scripted readers and judges: scores, failures, going on."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.benchmarks import LOCOMO_SAMPLE, Scripted, locomo_folder

from mindmem import Memory
from mindmem.core.bench import locomo_answers
from mindmem.core.bench.answering import MOST_FAILURES
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results, write
from mindmem.core.errors import BudgetReached, InvalidInput, ModelUnavailable
from mindmem.core.reason.port import Failed, Unsure
from mindmem.core.settings import Settings

SETTINGS = Settings(embedder="none")
PLAN = Plan(reader="llm", judge=True, answer_model="a", judge_model="j", top_k=50)
PARROT, CELLO, SURGEON = (LOCOMO_SAMPLE["qa"][number]["question"] for number in (0, 1, 3))
RIGHT = {PARROT: "Biscuit", CELLO: "cello", SURGEON: "x"}

Ask = Callable[..., Results]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Return a function that runs the benchmark on the small file with a scripted reader, in one output folder."""
    folder = locomo_folder(tmp_path / "data")

    def run(script: Scripted, plan: Plan = PLAN, settings: Settings = SETTINGS, **more: Any) -> Results:
        reasoner = script.reasoner()
        return locomo_answers.run(folder, tmp_path / "out", plan, settings=settings, reasoner=reasoner, **more)

    return run


def stores(place: Path) -> list[int]:
    """Return the number of the last change of each store in an output folder."""
    found = []
    for home in (place / "out").glob("store-*"):
        with Memory(home, settings=SETTINGS) as memory:
            found.append(memory.status().last_seq)
    return found


def test_answers_are_scored_and_judged_by_category(ask: Ask) -> None:
    script = Scripted({PARROT: "Biscuit", CELLO: "a cello", SURGEON: "y"}, {CELLO: Failed("no reply", transient=True)})
    figures = ask(script).figures
    assert (figures["questions"], figures["incomplete"], figures["left"]) == (3, False, 0)
    assert figures["judge_accuracy"] == pytest.approx(1 / 3, abs=1e-4)
    assert (figures["f1"], figures["sub_em"]) == (pytest.approx(2 / 3, abs=1e-4), pytest.approx(2 / 3, abs=1e-4))
    by_category: Any = figures["by_category"]
    assert list(by_category) == ["multi_hop", "open_domain", "single_hop"]
    assert by_category["single_hop"] == {"questions": 1, "judge_accuracy": 1.0, "f1": 1.0, "em": 1.0, "sub_em": 1.0}


def test_failed_calls_count_as_wrong_and_are_named(ask: Ask) -> None:
    script = Scripted(
        {**RIGHT, PARROT: Failed("cut off", transient=True, raw="{")}, {SURGEON: Failed("no", transient=False)}
    )
    results = ask(script)
    assert (results.figures["questions"], results.figures["failed"]) == (3, 2)
    assert results.figures["judge_accuracy"] == pytest.approx(1 / 3, abs=1e-4)
    assert {row["id"]: row.get("failed") for row in results.rows} == {
        "1:1": "answer: cut off",
        "1:2": None,
        "1:4": "judge: no",
    }


def test_an_answer_that_is_not_there_is_wrong_without_asking_the_judge(ask: Ask) -> None:
    script = Scripted({**RIGHT, PARROT: Unsure("not said")})
    results = ask(script)
    assert results.figures["unsure"] == 1
    assert PARROT not in {request.question for request in script.graded}
    row = next(row for row in results.rows if row["id"] == "1:1")
    assert (row["answer"], row["verdict"], row["f1"]) == ("", "wrong", 0.0)


def test_questions_are_asked_when_the_last_session_ends_and_with_what_was_found(ask: Ask) -> None:
    script = Scripted(RIGHT)
    ask(script, replace(PLAN, top_k=1))
    assert {request.asked_at.isoformat() for request in script.asked} == {"2024-03-02T09:05:00+00:00"}
    found = {request.question: [memory.content for memory in request.memories] for request in script.asked}
    assert len(found[PARROT]) == 1
    assert "Biscuit" in found[PARROT][0]


def test_the_rules_are_scored_but_judge_nothing(ask: Ask, tmp_path: Path) -> None:
    plan = replace(PLAN, reader="rules")
    results = locomo_answers.run(tmp_path / "data", tmp_path / "rules", plan, settings=SETTINGS)
    assert results.figures["judge_accuracy"] is None
    assert results.figures["configuration"]["judge"] == "none"  # type: ignore[index]  # figures nest
    assert results.figures["by_category"]["single_hop"]["sub_em"] == 1.0  # type: ignore[index]  # figures nest


def test_when_the_budget_is_spent_the_run_ends_with_what_is_done_and_is_gone_on_with(ask: Ask, tmp_path: Path) -> None:
    def spend(question: str) -> None:
        if question == SURGEON:
            raise BudgetReached("The run's 1,000 tokens are spent.")

    first = ask(Scripted(RIGHT, before=spend))
    assert (first.figures["incomplete"], first.figures["left"]) == (True, 1)
    assert first.figures["stopped"] == "The run's 1,000 tokens are spent."
    assert len(first.rows) == 2
    written = stores(tmp_path)
    script = Scripted(RIGHT)
    second = ask(script, replace(PLAN, resume=True))
    assert [request.question for request in script.asked] == [SURGEON]
    assert (second.figures["incomplete"], second.figures["questions"]) == (False, 3)
    assert second.figures["judge_accuracy"] == 1.0
    assert stores(tmp_path) == written


def test_a_crash_loses_at_most_what_was_in_flight(ask: Ask, tmp_path: Path) -> None:
    def crash(question: str) -> None:
        if question == SURGEON:
            raise RuntimeError("out of memory")

    one_at_a_time = SETTINGS.model_copy(update={"llm": SETTINGS.llm.model_copy(update={"concurrency": 1})})
    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        ask(Scripted(RIGHT, before=crash), settings=one_at_a_time)
    kept = [json.loads(line)["id"] for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    assert kept == ["1:1", "1:2"]
    script = Scripted(RIGHT)
    assert ask(script, replace(PLAN, resume=True), settings=one_at_a_time).figures["questions"] == 3
    assert len(script.asked) == 1


def test_failed_questions_are_asked_again_when_a_run_is_gone_on_with(ask: Ask) -> None:
    ask(Scripted({**RIGHT, CELLO: Failed("no reply", transient=True)}))
    script = Scripted(RIGHT)
    results = ask(script, replace(PLAN, resume=True))
    assert [request.question for request in script.asked] == [CELLO]
    assert (results.figures["failed"], len(results.rows)) == (0, 3)


def test_a_run_may_be_widened_but_not_asked_in_another_way(ask: Ask) -> None:
    ask(Scripted(RIGHT), replace(PLAN, limit=1))
    script = Scripted(RIGHT)
    assert ask(script, replace(PLAN, resume=True)).figures["questions"] == 3
    assert len(script.asked) == 2
    with pytest.raises(InvalidInput, match="top_k was 50, is 10"):
        ask(script, replace(PLAN, resume=True, top_k=10))
    with pytest.raises(InvalidInput, match="--resume"):
        ask(script)


def test_a_refusing_endpoint_ends_the_run_with_its_words_and_keeps_what_is_done(ask: Ask, tmp_path: Path) -> None:
    def refuse(question: str) -> None:
        if question == SURGEON:
            raise ModelUnavailable("The key is not valid: set MINDMEM_LLM__API_KEY.", transient=False)

    with pytest.raises(ModelUnavailable, match="key is not valid"):
        ask(Scripted(RIGHT, before=refuse))
    assert len((tmp_path / "out" / "rows.jsonl").read_text().splitlines()) == 2


def test_a_run_in_which_nothing_is_answered_stops(tmp_path: Path) -> None:
    item = LOCOMO_SAMPLE["qa"][0]
    many = {**LOCOMO_SAMPLE, "qa": [item] * (3 * MOST_FAILURES)}
    folder = locomo_folder(tmp_path / "data", many)
    script = Scripted({PARROT: Failed("connection refused", transient=True)})
    results = locomo_answers.run(folder, tmp_path / "out", PLAN, settings=SETTINGS, reasoner=script.reasoner())
    assert "in a row failed; the last one: answer: connection refused" in str(results.figures["stopped"])
    assert MOST_FAILURES <= len(results.rows) < MOST_FAILURES + SETTINGS.llm.concurrency
    assert results.figures["left"] == 3 * MOST_FAILURES - len(results.rows)


def test_questions_overlap_up_to_the_concurrency(tmp_path: Path) -> None:
    many = {**LOCOMO_SAMPLE, "qa": [LOCOMO_SAMPLE["qa"][0]] * 24}
    folder = locomo_folder(tmp_path / "data", many)
    settings = SETTINGS.model_copy(update={"llm": SETTINGS.llm.model_copy(update={"concurrency": 3})})
    script = Scripted(RIGHT)
    locomo_answers.run(folder, tmp_path / "out", PLAN, settings=settings, reasoner=script.reasoner())
    assert (len(script.asked), script.most_in_flight) == (24, 3)


def test_only_the_chosen_categories_are_asked(ask: Ask) -> None:
    script = Scripted(RIGHT)
    ask(script, categories=[4])
    assert [request.question for request in script.asked] == [PARROT]
    with pytest.raises(InvalidInput, match="some of 1, 2, 3 and 4"):
        ask(script, categories=[5])


def test_written_results_say_how_they_came_about(ask: Ask, tmp_path: Path) -> None:
    folder = write(ask(Scripted(RIGHT, {CELLO: Unsure("hm")})), tmp_path / "out")
    document = json.loads((folder / "results.json").read_text())
    assert document["command"] == (
        "mindmem bench locomo --data DIR --answer --judge --categories 1,2,3,4 --reader llm --top-k 50 --seed 7 "
        "--answer-model a --judge-model j --lexical"
    )
    assert document["configuration"]["reader"] == "scripted 1"
    assert document["versions"]["mindmem"]
    page = (folder / "results.md").read_text()
    assert "| judge_accuracy | 0.6667 |" in page
    assert "| single_hop | 1 | 1 | 1 | 1 | 1 |" in page
    assert [json.loads(line)["id"] for line in (folder / "rows.jsonl").read_text().splitlines()] == [
        "1:1",
        "1:2",
        "1:4",
    ]


def test_each_dialogue_is_one_users_and_is_searched_alone(tmp_path: Path) -> None:
    other = json.loads(json.dumps(LOCOMO_SAMPLE).replace("Biscuit", "Pretzel"))
    folder = locomo_folder(tmp_path / "data", LOCOMO_SAMPLE, other)
    script = Scripted(RIGHT)
    results = locomo_answers.run(
        folder, tmp_path / "out", PLAN, settings=SETTINGS, dialogues=[2, 1], reasoner=script.reasoner()
    )
    assert [row["id"] for row in results.rows] == ["2:1", "2:2", "2:4", "1:1", "1:2", "1:4"]
    assert (results.figures["cases"], results.figures["messages"]) == (2, 6)
    told = [" ".join(memory.content for memory in request.memories) for request in script.asked]
    assert ["Pretzel" in text for text in told[:3]] == ["Biscuit" in text for text in told[3:]]
    assert not any("Pretzel" in text for text in told[3:])

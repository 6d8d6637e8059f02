"""The commands of benchmarks that ask questions: what they print, where they write, what they refuse."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.benchmarks import locomo_folder, personamem_folder

from mindmem.core.serve.cli import cli

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a benchmark on small files, without the embedder, its results in a folder ``out``."""
    locomo_folder(tmp_path / "data")
    personamem_folder(tmp_path / "data")
    where = ("--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--lexical")
    return lambda *words: CliRunner().invoke(cli, ["bench", *words, *where])


def test_answers_by_rules_need_no_key(run: Run, tmp_path: Path) -> None:
    done = run("locomo", "--answer", "--judge", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["questions"] == 3
    assert document["judge_accuracy"] is None
    assert document["by_category"]["single_hop"]["sub_em"] == 1.0
    assert (document["cost"], document["input_tokens"], document["failed"]) == (0.0, 0, 0)
    assert "--judge needs --reader llm" in done.stderr
    assert json.loads((tmp_path / "out" / "results.json").read_text()) == document
    assert (tmp_path / "out" / "results.md").read_text().startswith("# locomo answers\n")


def test_a_finished_run_is_not_repeated_unless_asked_and_then_asks_nothing(run: Run) -> None:
    assert run("locomo", "--answer").exit_code == 0
    again = run("locomo", "--answer")
    assert again.exit_code == 2
    assert "--resume" in again.stderr
    assert run("locomo", "--answer", "--resume").exit_code == 0
    other = run("locomo", "--answer", "--resume", "--top-k", "5")
    assert other.exit_code == 2
    assert "top_k was 50, is 5" in other.stderr


def test_a_limit_asks_the_first_questions_alone(run: Run) -> None:
    document = json.loads(run("locomo", "--answer", "--limit", "2", "--json").stdout)
    assert (document["questions"], document["left"], document["incomplete"]) == (2, 0, False)
    assert "--limit 2" in document["command"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--answer", "--categories", "1,x"), "--categories expects numbers"),
        (("--answer", "--categories", "5"), "some of 1, 2, 3 and 4"),
        (("--answer", "--dialogues", "2"), "numbered 1 to 1"),
    ],
)
def test_what_does_not_exist_is_named(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("locomo", *words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_without_answers_evidence_recall_is_measured_as_before(run: Run) -> None:
    document = json.loads(run("locomo", "--json").stdout)
    assert (document["benchmark"], document["questions"], document["recall_at_50"]) == ("locomo", 2, 1.0)


def test_personamem_is_answered_by_type(run: Run) -> None:
    document = json.loads(run("personamem", "--json").stdout)
    assert document["questions"] == 3
    assert document["by_type"]["recalling_the_reasons_behind_previous_updates"]["accuracy"] == 1.0


def test_personamem_without_its_dialogues_is_skipped_with_the_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data" / "personamem" / "shared_contexts_32k.jsonl").unlink()
    done = run("personamem", "--json")
    assert done.exit_code == 0, done.stderr
    skipped = json.loads(done.stdout)
    assert "shared_contexts_32k.jsonl" in skipped["skipped"]
    assert skipped["by_type"]["suggest_new_ideas"] == 1
    assert "Skipped: " in run("personamem").stdout
    assert not (tmp_path / "out").exists()


def test_a_dream_over_dialogues_tells_what_it_found_and_what_recall_it_cost(run: Run) -> None:
    document = json.loads(run("locomo", "--dream", "--json").stdout)
    assert (document["benchmark"], document["recall_at_10_lost"]) == ("locomo dream", 0.0)
    assert document["guards"] == {"cap": 1.0, "min_age_hours": 0.0}

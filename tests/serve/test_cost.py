"""``mindmem cost``: what was spent and what would be, for people and for programs."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import llm_call

from mindmem.core.ledger.sql import open_ledger, sqlite_url
from mindmem.core.records import Scope
from mindmem.core.serve.cli import cli


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with three calls: two of today, one of which has no price, and an old one of another user and run."""
    now = datetime.now(UTC)
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger:
        ledger.record_call(llm_call("c1", called_at=now, run_id="r1", cost=1.5, input_tokens=1_234))
        ledger.record_call(llm_call("c2", called_at=now, model="local", cost=None, estimated=True))
        old = now - timedelta(days=90)
        ledger.record_call(llm_call("c3", called_at=old, run_id="r0", scope=Scope.of("bob"), purpose="judge"))
    return tmp_path


def run(store: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, ["--home", str(store), "cost", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_table_shows_days_purposes_models_and_the_sum(store: Path) -> None:
    text = run(store)
    assert [line.split()[1:3] for line in text.splitlines()[1:3]] == [["extract", "local"], ["extract", "small"]]
    assert "no price" in text
    assert "1,234" in text
    assert text.splitlines()[-3].split() == ["all", "2", "0", "1,334", "40", "1.5000"]
    assert "not in the cost: 1 calls." in text
    assert "an estimate, in 1 calls." in text


def test_json_holds_lines_and_the_total(store: Path) -> None:
    shown = json.loads(run(store, "--json", "--days", "100"))
    assert [line["spent"]["calls"] for line in shown["lines"]] == [1, 1, 1]
    assert (shown["total"]["calls"], shown["total"]["unpriced"], shown["total"]["estimated"]) == (3, 1, 1)
    assert set(shown["lines"][0]) == {"day", "purpose", "model", "spent"}


def test_a_run_is_shown_whenever_it_was_and_a_user_alone(store: Path) -> None:
    assert json.loads(run(store, "--json", "--run", "r0"))["total"]["calls"] == 1
    assert json.loads(run(store, "--json", "--user", "bob", "--days", "100"))["total"]["calls"] == 1
    assert "No model was asked." in run(store, "--user", "nobody")


def test_an_estimate_says_what_an_ingest_would_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps({"user_id": "ann", "role": "user", "content": "I live in Oslo."}) + "\nbroken\n")
    home = tmp_path / "home"
    text = run(home, "--estimate", str(file))
    assert "Files: 1, messages: 1, windows: 1, lines that can't be read: 1." in text
    assert "MINDMEM_LLM__PRICES" in text
    assert "MINDMEM_REASONER=llm" in text
    monkeypatch.setenv("MINDMEM_LLM__PRICES", '{"gpt-4.1-mini": {"input": 0.4, "output": 1.6}}')
    assert "in all." in run(home, "--estimate", str(file))
    shown = json.loads(run(home, "--json", "--estimate", str(file)))
    assert [line["prompt"] for line in shown["forecasts"]] == ["extract", "conflict"]
    assert shown["cost"] > 0
    assert not home.exists()

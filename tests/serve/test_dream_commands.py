"""mindmem dream and mindmem changes: see, apply, approve, reject, take back."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.dreams import dream_store, say

from mindmem.core.serve.cli import cli

FREE = ("--min-age", "0", "--cap", "1")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINDMEM_EMBEDDER", "none")
    with dream_store(tmp_path / "home") as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
    # The store of the tests has an embedder of its own; the command line builds an index without one.
    assert run("rebuild-index", "--direct", "--home", tmp_path / "home").exit_code == 0
    return tmp_path / "home"


def test_a_dry_run_shows_a_diff_and_an_approved_one_is_done(home: Path) -> None:
    shown = run("dream", "--dry-run", "--home", home, *FREE)
    assert shown.exit_code == 0, shown.output
    assert "- Ann lives in Oslo." in shown.output
    listed = json.loads(run("changes", "list", "--home", home, "--json").stdout)
    [proposal] = listed["proposals"]
    assert "Ann lives in Oslo." in run("changes", "show", proposal["proposal_id"], "--home", home).output
    done = run("changes", "approve", proposal["proposal_id"], "--home", home)
    assert (done.exit_code, "archived 1 of 2" in done.output) == (0, True), done.output


def test_a_dream_is_applied_and_taken_back(home: Path) -> None:
    done = run("dream", "--home", home, "--json", *FREE)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["scopes"][0]["archived"] == 1
    assert report["guards"]["min_age_hours"] == 0
    undone = json.loads(run("changes", "undo", report["run_id"], "--home", home, "--json").stdout)
    assert undone["undone"][0]["counts"]["restore"] == 1


def test_a_rejected_proposal_says_so_and_is_unknown_to_a_second_word(home: Path) -> None:
    run("dream", "--dry-run", "--home", home, *FREE)
    [proposal] = json.loads(run("changes", "list", "--home", home, "--json").stdout)["proposals"]
    assert "is rejected" in run("changes", "reject", proposal["proposal_id"], "--home", home).output
    again = run("changes", "approve", proposal["proposal_id"], "--home", home)
    assert again.exit_code == 1
    assert "was rejected already" in again.output


def test_the_default_guards_hold_on_the_command_line(home: Path) -> None:
    report = json.loads(run("dream", "--home", home, "--json").stdout)
    assert (report["scopes"][0]["archived"], report["guards"]) == (
        0, {"cap": 0.3, "cap_from": 20, "look_back_days": 7, "min_age_hours": 24},
    )  # fmt: skip

"""Correcting by hand on the command line, what lies in quarantine, and a terminal that stored text can't steer."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.text import Text

from mindmem.core.ledger.port import Quarantined
from mindmem.core.memory import Memory
from mindmem.core.records import Scope
from mindmem.core.serve.cli import cli
from mindmem.core.serve.terminal import SafeConsole
from mindmem.core.settings import Settings

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("MINDMEM_HOME", str(tmp_path))
    monkeypatch.setenv("MINDMEM_EMBEDDER", "none")
    return lambda *words: CliRunner().invoke(cli, list(words))


@pytest.fixture
def memory_id(run: Run) -> str:
    run("add", "I live in Porto.", "--user", "ann", "--name", "Ann")
    [memory] = json.loads(run("list", "--user", "ann", "--json").stdout)["memories"]
    return str(memory["memory_id"])


def test_a_memory_is_shown_with_its_evidence(run: Run, memory_id: str) -> None:
    told = json.loads(run("get", memory_id, "--json").stdout)
    assert told["memory"]["value"] == "Porto"
    assert [one["content"] for one in told["evidence"]] == ["I live in Porto."]
    assert "I live in Porto." in run("get", memory_id).stdout


def test_new_words_take_a_value_along_that_they_no_longer_say(run: Run, memory_id: str) -> None:
    assert run("update", memory_id, "--content", "Ann lives in Braga.").exit_code == 0
    changed = json.loads(run("get", memory_id, "--json").stdout)["memory"]
    assert (changed["content"], changed["value"]) == ("Ann lives in Braga.", "")
    assert "edited" in changed["flags"]


def test_new_words_that_still_say_the_value_keep_it(run: Run, memory_id: str) -> None:
    run("update", memory_id, "--content", "Ann lives in Porto, by the river.")
    assert json.loads(run("get", memory_id, "--json").stdout)["memory"]["value"] == "Porto"


def test_what_is_deleted_is_found_no_more_and_comes_back_with_undo(run: Run, memory_id: str) -> None:
    change = json.loads(run("delete", memory_id, "--json").stdout)["change"]
    assert json.loads(run("list", "--user", "ann", "--json").stdout)["memories"] == []
    assert run("undo", change["change_id"]).exit_code == 0
    assert len(json.loads(run("list", "--user", "ann", "--json").stdout)["memories"]) == 1


def test_quarantine_is_listed_without_and_shown_with_what_came(run: Run, tmp_path: Path) -> None:
    item = Quarantined("qua_1", Scope(user_id="ann"), "a.jsonl", 3, "no content", '{"role": "user"}')
    with Memory(settings=Settings.load({}, home=tmp_path, embedder="none")) as memory:
        memory.services.ledger.quarantine([item])
    listed = run("quarantine", "list", "--json").stdout
    assert json.loads(listed)["items"][0]["line"] == 3
    assert "role" not in listed
    assert '{"role": "user"}' in run("quarantine", "show", "qua_1").stdout
    assert run("quarantine", "retry", "qua_1").exit_code != 0
    assert run("quarantine", "drop", "qua_1").exit_code == 0
    assert json.loads(run("quarantine", "list", "--json").stdout)["items"] == []
    assert run("quarantine", "drop", "qua_1").exit_code != 0


@pytest.mark.parametrize("steering", ["\x1b[2J", "\x9b31m", "\x1b]0;pwn\x07", "\u202egnp.exe", "\x08\x08"])
def test_stored_text_does_not_steer_the_terminal(steering: str) -> None:
    out = io.StringIO()
    SafeConsole(file=out, force_terminal=True, width=80).print(Text(f"before {steering} after", style="bold"))
    shown = out.getvalue()
    assert steering[0] not in shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "before" in shown
    assert "after" in shown

"""The command line: what it prints, as text and JSON, and the exit code of every kind of outcome."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mindmem.core.serve import cli as root
from mindmem.core.serve.cli import EXIT_CODES, Commands, cli

Run = Callable[..., Result]


@pytest.fixture
def run(home: Path) -> Run:
    """Return a function that runs the command line on a store of its own."""
    return lambda *words, **given: CliRunner().invoke(cli, ["--home", str(home), *words], **given)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs the command line on a store that holds two claims; tests only read it."""
    store = tmp_path_factory.mktemp("told")

    def on_it(*words: str, **given: str) -> Result:
        return CliRunner().invoke(cli, ["--home", str(store), *words], **given)

    for day, words in (("2024-01-05", "I live in Berlin."), ("2024-03-05", "I live in Porto now.")):
        done = on_it("add", words, "--user", "ann", "--name", "Ann", "--time", f"{day}T10:00:00+00:00")
        assert done.exit_code == 0, done.stderr
    return on_it


def mindmem(*words: str, **given: object) -> "subprocess.CompletedProcess[str]":
    """Run the installed command in a process of its own."""
    command = [Path(sys.executable).with_name("mindmem"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **given)  # type: ignore[call-overload,no-any-return]


class TestHelp:
    def test_lists_every_command_with_a_line_of_help(self) -> None:
        begun = time.perf_counter()
        done = mindmem("--help")
        print(f"mindmem --help took {time.perf_counter() - begun:.2f} s")  # noqa: T201
        assert done.returncode == 0
        for name in ("add", "bench", "demo", "doctor", "history", "list", "search", "status", "undo"):
            assert f"\n  {name} " in done.stdout
        assert "can't be loaded" not in done.stdout

    def test_documents_every_exit_code(self) -> None:
        text = CliRunner().invoke(cli, ["--help"]).output
        for code, meaning in EXIT_CODES.items():
            assert f"{code:<4} {meaning}" in text

    @pytest.mark.parametrize("name", ["add", "demo", "doctor", "history", "list", "search", "status", "undo"])
    def test_of_a_command_documents_its_json(self, name: str) -> None:
        text = CliRunner().invoke(cli, [name, "--help"]).output
        assert "JSON:" in text
        assert "--home" in text

    def test_of_the_root_loads_no_heavy_library(self) -> None:
        code = (
            "import sys\nfrom mindmem.core.serve.cli import cli\n"
            "try: cli.main(['--help'])\nexcept SystemExit: pass\n"
            "print({'polars', 'onnxruntime', 'sqlalchemy', 'deltalake', 'prefect', 'numpy'} & set(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.rstrip().endswith("set()")


class TestAdd:
    def test_prints_what_was_remembered_and_how_to_take_it_back(self, run: Run) -> None:
        done = run("add", "I have two cats.", "--user", "ann", "--name", "Ann")
        assert done.exit_code == 0, done.stderr
        assert "two cats" in done.stdout
        assert "mindmem undo chg_" in done.stdout

    def test_reads_standard_input_for_a_dash(self, run: Run) -> None:
        done = run("add", "-", "--user", "ann", "--json", input="I play the cello.\n")
        [action] = json.loads(done.stdout)["actions"]
        assert "cello" in action["memory"]["content"]

    def test_with_the_same_key_writes_once(self, run: Run) -> None:
        words = ("add", "I play the cello.", "--user", "ann", "--key", "k1", "--json")
        first, second = json.loads(run(*words).stdout), json.loads(run(*words).stdout)
        assert (first["repeated"], second["repeated"]) == (False, True)
        assert first["change_ids"] == second["change_ids"]

    def test_without_a_user_is_wrong_usage(self, run: Run) -> None:
        done = run("add", "I play the cello.")
        assert done.exit_code == 2
        assert "--user" in done.stderr

    def test_without_a_time_counts_as_said_now_and_prints_the_date(self, run: Run) -> None:
        before = datetime.now(UTC)
        done = run("add", "I live in Porto.", "--user", "ann", "--json")
        [action] = json.loads(done.stdout)["actions"]
        assert datetime.fromisoformat(action["memory"]["observed_at"]) >= before.replace(microsecond=0)
        assert action["memory"]["recorded_at"]
        assert action["memory"]["change_id"]

    def test_with_a_key_and_no_time_can_be_repeated(self, run: Run) -> None:
        words = ("add", "I live in Porto.", "--user", "ann", "--key", "k", "--json")
        assert [json.loads(run(*words).stdout)["repeated"] for _ in range(2)] == [False, True]


class TestSearch:
    def test_shows_score_entity_property_time_and_evidence(self, told: Run) -> None:
        done = told("search", "Where does Ann live?", "--user", "ann", "-k", "1")
        assert done.exit_code == 0, done.stderr
        assert "Porto" in done.stdout
        assert "Ann · lives_in · " in done.stdout
        assert "“I live in Porto now.” — Ann, 2024-03-05 10:00" in done.stdout
        assert "Berlin" not in done.stdout

    def test_as_json_has_hits_with_scores_between_0_and_1(self, told: Run) -> None:
        found = json.loads(told("search", "Where does Ann live?", "--user", "ann", "--json").stdout)
        assert found.keys() == {"query", "hits", "notes"}
        assert all(0 <= hit["score"] <= 1 for hit in found["hits"])
        assert found["hits"][0]["evidence"][0]["content"] == "I live in Porto now."

    def test_as_of_an_earlier_time_finds_what_was_true_then(self, told: Run) -> None:
        words = ("search", "Where does Ann live?", "--user", "ann", "--as-of", "2024-02-01", "--json")
        assert "Berlin" in json.loads(told(*words).stdout)["hits"][0]["memory"]["content"]

    def test_explain_shows_the_parts_of_the_score(self, told: Run) -> None:
        assert "lexical 0." in told("search", "Where does Ann live?", "--user", "ann", "--explain").stdout

    def test_of_another_user_finds_nothing(self, told: Run) -> None:
        assert "Nothing is remembered" in told("search", "Where does Ann live?", "--user", "bob").stdout

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (("--filter", "{"), "--filter expects a JSON object"),
            (("--filter", '{"colour": 1}'), "colour"),
            (("--as-of", "yesterday"), "--as-of expects a date or time"),
        ],
    )
    def test_with_a_bad_option_says_what_was_expected_in_one_line(
        self, told: Run, words: tuple[str, str], part: str
    ) -> None:
        done = told("search", "Where does Ann live?", "--user", "ann", *words)
        assert done.exit_code == 2
        assert part in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stderr.endswith("[invalid_argument]\n")


class TestListHistoryAndUndo:
    def test_list_pages_through_all_memories_once(self, told: Run) -> None:
        both = '{"status": {"in": ["active", "archived"]}}'
        first = json.loads(told("list", "--user", "ann", "--filter", both, "--limit", "1", "--json").stdout)
        cursor = first["next_cursor"]
        rest = told("list", "--user", "ann", "--filter", both, "--limit", "9", "--cursor", cursor, "--json")
        contents = [memory["content"] for memory in first["memories"] + json.loads(rest.stdout)["memories"]]
        assert len(contents) == len(set(contents)) == 2

    def test_history_shows_the_timeline_with_the_old_value_closed(self, told: Run) -> None:
        [now] = json.loads(told("list", "--user", "ann", "--json").stdout)["memories"]
        done = told("history", now["memory_id"], "--json")
        timeline = json.loads(done.stdout)["timeline"]
        assert [(claim["value"], claim["status"]) for claim in timeline] == [
            ("Berlin", "archived"),
            ("Porto", "active"),
        ]
        assert timeline[0]["valid_to"] is not None
        assert "Berlin" in told("history", now["memory_id"]).stdout

    def test_history_of_an_unknown_id_exits_with_3(self, told: Run) -> None:
        done = told("history", "mem_nothing")
        assert (done.exit_code, done.stdout) == (3, "")
        assert done.stderr.endswith("[not_found]\n")

    def test_undo_of_the_last_change_brings_the_old_value_back(self, run: Run) -> None:
        run("add", "I live in Berlin.", "--user", "ann", "--name", "Ann")
        run("add", "I live in Porto now.", "--user", "ann", "--name", "Ann")
        done = run("undo", "--last", "--user", "ann", "--json")
        assert json.loads(done.stdout)["kind"] == "undo"
        [left] = json.loads(run("list", "--user", "ann", "--json").stdout)["memories"]
        assert left["value"] == "Berlin"

    def test_undo_without_an_id_lists_the_changes(self, told: Run) -> None:
        listed = json.loads(told("undo", "--user", "ann", "--json").stdout)["changes"]
        assert [change["kind"] for change in listed] == ["add", "add"]
        assert listed[0]["change_id"] in told("undo").stdout

    def test_undo_of_an_id_and_the_last_at_once_is_wrong_usage(self, told: Run) -> None:
        assert told("undo", "chg_x", "--last").exit_code == 2


class TestOperating:
    def test_status_counts_memories_and_lag(self, told: Run) -> None:
        state = json.loads(told("status", "--json").stdout)
        assert state["active"] == 1
        assert (state["lag_index"], state["lag_tables"]) == (0, 0)
        assert state["bytes"]["tables"] > 0

    def test_doctor_finds_a_sound_store_sound(self, told: Run) -> None:
        done = told("doctor", "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout) == {"ok": True, "repaired": False, "findings": [], "ledger": None}

    def test_doctor_names_what_is_wrong_and_repairs_it(self, run: Run, home: Path) -> None:
        run("add", "I have two cats.", "--user", "ann")
        lose_index_rows(home)
        sick = run("doctor", "--json")
        assert sick.exit_code == 1
        assert json.loads(sick.stdout)["findings"]
        well = run("doctor", "--repair", "--json")
        assert well.exit_code == 0
        assert json.loads(well.stdout) == {"ok": True, "repaired": True, "findings": [], "ledger": None}

    def test_doctor_makes_a_lost_ledger_anew_from_the_tables(self, run: Run, home: Path) -> None:
        run("add", "I have two cats.", "--user", "ann")
        before = json.loads(run("list", "--json").stdout)
        for file in home.glob("ledger.db*"):
            file.unlink()
        done = run("doctor", "--rebuild-ledger", "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(run("list", "--json").stdout) == before


class TestErrors:
    def test_a_home_that_is_a_file_is_one_line_and_exit_1(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.write_text("x")
        done = mindmem("list", "--home", str(file))
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr
        assert done.stderr.endswith("[store_unavailable]\n")

    def test_with_json_an_error_is_a_json_line(self, told: Run) -> None:
        done = told("history", "mem_nothing", "--json")
        error = json.loads(done.stderr)["error"]
        assert (error["code"], error["transient"]) == ("not_found", False)

    def test_with_debug_an_error_shows_its_traceback(self, told: Run) -> None:
        assert "Traceback" in told("history", "mem_nothing", "--debug").stderr

    def test_a_bug_exits_with_70_and_says_so(self, monkeypatch: pytest.MonkeyPatch, told: Run) -> None:
        # A setting of a wrong kind past all checks stands for any mistake of ours.
        monkeypatch.setattr("mindmem.core.serve.console.Session.settings", lambda _: None)
        done = told("list")
        assert done.exit_code == 70
        assert "This is a bug in MindMem" in done.stderr

    def test_an_unknown_command_is_wrong_usage(self) -> None:
        done = mindmem("remember")
        assert done.returncode == 2
        assert "No such command 'remember'" in done.stderr

    def test_an_unknown_setting_is_named(self) -> None:
        done = mindmem("list", env={**os.environ, "MINDMEM_COLOUR": "blue"})
        assert done.returncode == 2
        assert "MINDMEM_COLOUR" in done.stderr

    def test_a_command_that_cannot_be_loaded_does_not_take_the_others_along(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken = EntryPoint("broken", "no.such.module:command", root.GROUP)
        found = {**Commands._registered(), "broken": broken}
        monkeypatch.setattr(Commands, "_registered", staticmethod(lambda: found))
        group = Commands("mindmem", params=cli.params, callback=cli.callback)
        assert "broken" in CliRunner().invoke(group, ["--help"]).output
        done = CliRunner().invoke(group, ["broken", "--whatever"])
        assert done.exit_code == 1
        assert "No module named 'no'" in done.stderr

    def test_an_interrupt_ends_with_130_and_no_traceback(self, home: Path) -> None:
        command = [Path(sys.executable).with_name("mindmem"), "add", "-", "--user", "ann", "--home", str(home)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(1)  # it waits for input that never comes
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
        assert errors == "Interrupted.\n"


def lose_index_rows(home: Path) -> None:
    """Take the rows out of the index's files, as a disk that lost pages would."""
    import sqlite3

    for file in (home / "index").rglob("*"):
        if file.is_file() and file.read_bytes()[:15] == b"SQLite format 3":
            with sqlite3.connect(file) as database:
                database.execute("delete from documents")
            database.close()


class TestDamagedIndex:
    @pytest.fixture
    def damaged(self, run: Run, home: Path) -> Run:
        """Return the command line on a store whose index file was overwritten."""
        assert run("add", "I live in Porto.", "--user", "ann").exit_code == 0
        [file] = (home / "index").glob("*.sqlite")
        with file.open("r+b") as handle:
            handle.write(bytes(range(256)) * 8)
        return run

    @pytest.mark.parametrize("repair", ["rebuild-index --direct", "doctor --repair"])
    def test_is_repaired_by_the_commands_for_it(self, damaged: Run, repair: str) -> None:
        refused = damaged("search", "Porto", "--user", "ann")
        assert refused.exit_code == 1
        assert "is damaged" in refused.stderr
        assert "run: mindmem rebuild-index" in refused.stderr
        done = damaged(*repair.split())
        assert done.exit_code == 0, done.stderr
        assert "Porto" in damaged("search", "Where do I live?", "--user", "ann").stdout

    def test_doctor_says_that_it_repaired_it(self, damaged: Run) -> None:
        assert json.loads(damaged("--json", "doctor", "--repair").stdout) == {
            "ok": True, "repaired": True, "findings": [], "ledger": None,
        }  # fmt: skip

"""The flows from end to end, on a real Prefect server and a real store."""

import asyncio
import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, Log, TaskRun
from prefect.flow_engine import run_flow
from prefect.server.events.ordering import PRECEDING_EVENT_LOOKBACK
from prefect.states import Scheduled

from mindmem.core import failpoints
from mindmem.core.errors import StoreBusy
from mindmem.core.memory import Memory
from mindmem.core.serve.cli import cli
from mindmem.deployments.automations import ENDS, SILENCE, apply_automations
from mindmem.flows.ingest import Unfinished, ingest
from mindmem.flows.maintain import maintain
from mindmem.flows.rebuild_index import rebuild_index

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

SECRET = "Zanzibar"


def said(content: str, session: str = "s", **more: object) -> str:
    return json.dumps(
        {"user_id": "ann", "session_id": session, "role": "user", "name": "Ann", "content": content, **more}
    )


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """Return an inbox with a good file and one with good and broken lines."""
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "good.jsonl").write_text(
        "\n".join([said("I live in Oslo."), said(f"I moved here from {SECRET}."), said("My bicycle is green.")])
    )
    (folder / "mixed.jsonl").write_text(
        "\n".join([
            said("I work at Initech.", "t"),
            f'{{"user_id": "{SECRET}", "content"',
            json.dumps({"user_id": "ann", "role": "user", "note": SECRET}),
            said("My dog is called Rex.", "t", metadata={"place": SECRET}),
            said("hi", "t", timestamp=f"on the day of {SECRET}"),
        ])
    )  # fmt: skip
    return folder


@pytest.fixture
def point() -> Iterator[Callable[[str, Callable[[], None]], None]]:
    """Do something at a named failpoint, until the test ends."""

    def at(name: str, act: Callable[[], None]) -> None:
        failpoints.arm(lambda reached: act() if reached == name else None)

    yield at
    failpoints.arm(None)


@dataclass
class Seen:
    """What the API shows of the last run of a flow."""

    run: FlowRun
    tasks: list[TaskRun]
    artifacts: dict[str, Any]
    text: str

    def task(self, name: str) -> TaskRun:
        [found] = [task for task in self.tasks if task.name == name]
        return found


async def seen(flow_name: str, tasks: int, log: str = "") -> Seen:
    """Read back the newest run, once its tasks have ended and its log holds a text."""
    async with get_client() as client:
        runs = [run for run in await client.read_flow_runs() if (await client.read_flow(run.flow_id)).name == flow_name]
        run = max(runs, key=lambda one: one.created or datetime.min.replace(tzinfo=UTC))
        recorded: list[TaskRun] = []
        logs: list[Log] = []
        for _ in range(150):  # the server records tasks and logs a little later than they happen
            recorded = [task for task in await client.read_task_runs() if task.flow_run_id == run.id]
            logs = [entry for entry in await client.read_logs() if entry.flow_run_id == run.id]
            ended = sum(task.state is not None and task.state.is_final() for task in recorded)
            if ended >= tasks and (not log or any(log in entry.message for entry in logs)):
                break
            await asyncio.sleep(0.2)
        artifacts = [one for one in await client.read_artifacts() if one.flow_run_id == run.id]
    shown = [run, *recorded, *artifacts, *logs]
    return Seen(
        run,
        recorded,
        {one.key: one.data for one in artifacts if one.key},
        "\n".join(one.model_dump_json() for one in shown),
    )


def contents(home: Path) -> list[str]:
    with Memory(home) as memory:
        return sorted(found.content for found in memory.list(user_id="ann", page_size=100).memories)


async def test_ingest_takes_what_is_good_names_what_is_not_and_a_second_run_adds_nothing(
    inbox: Path, home: Path
) -> None:
    summary = await ingest(inbox, home=home)
    assert (summary.messages, summary.set_aside_total, summary.unfinished) == (5, 3, 0)
    assert [(item.file, item.line) for item in summary.set_aside] == [
        ("mixed.jsonl", 2), ("mixed.jsonl", 3), ("mixed.jsonl", 5),
    ]  # fmt: skip
    with Memory(home) as memory:
        assert memory.search("Where does Ann live?", user_id="ann").hits
        assert {item.quarantine_id for item in memory.services.ledger.quarantined()} == {
            item.quarantine_id for item in summary.set_aside
        }
        changes = memory.status().last_seq
    before = contents(home)

    again = await ingest(inbox, home=home)
    assert (again.messages, again.set_aside_total) == (0, 0)
    assert [file.state for file in again.files] == ["known", "known"]
    with Memory(home) as memory:
        assert memory.status().last_seq == changes
    assert contents(home) == before


async def test_a_run_is_shown_with_tasks_and_artifacts_and_without_a_word_of_what_was_said(
    inbox: Path, home: Path, prefect_server: Path
) -> None:
    await ingest(inbox, home=home)
    shown = await seen("ingest", tasks=4, log="added 2 messages")
    assert shown.run.name == "ingest inbox"
    assert {task.name for task in shown.tasks} == {
        "find files in " + str(inbox), "add good.jsonl lines 1-3", "add mixed.jsonl lines 1-5",
        "fold the ledger into the tables",
    }  # fmt: skip
    assert set(shown.artifacts) == {"ingest-progress", "ingest-summary", "ingest-files", "ingest-quarantine"}
    assert float(shown.artifacts["ingest-progress"]) == 100
    assert "5 messages" in shown.artifacts["ingest-summary"]
    rows = json.loads(shown.artifacts["ingest-quarantine"])
    assert [(row["file"], row["line"]) for row in rows] == [("mixed.jsonl", 2), ("mixed.jsonl", 3), ("mixed.jsonl", 5)]
    assert "content is missing." in {row["reason"] for row in rows}
    assert "added 3 messages in 1 batches" in shown.text, "the log of the run holds MindMem's own lines"
    assert SECRET not in shown.text
    for file in prefect_server.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), f"{file.name} holds what was said"
    assert SECRET in " ".join(contents(home)), "the word is one that memory keeps"


async def test_an_error_that_may_pass_is_retried(
    inbox: Path, home: Path, monkeypatch: pytest.MonkeyPatch, point: Callable[[str, Callable[[], None]], None]
) -> None:
    monkeypatch.setenv("MINDMEM_STORE__LOCK_TIMEOUT", "0.2")
    (inbox / "mixed.jsonl").unlink()
    blocker = sqlite3.connect(":memory:", check_same_thread=False)
    blocked = threading.Event()

    def block() -> None:
        nonlocal blocker
        if not blocked.is_set():
            blocked.set()
            blocker.close()
            blocker = sqlite3.connect(home / "ledger.db", check_same_thread=False)
            blocker.execute("BEGIN IMMEDIATE")
            threading.Timer(1.0, blocker.rollback).start()

    point("ingest.decided", block)
    try:
        summary = await ingest(inbox, home=home)
    finally:
        blocker.close()
    assert blocked.is_set()
    assert (summary.messages, summary.unfinished) == (3, 0)
    assert summary.counts["messages"] == 3
    task = (await seen("ingest", tasks=3)).task("add good.jsonl lines 1-3")
    assert (task.run_count, task.state and task.state.type.value) == (2, "COMPLETED")


async def test_another_error_is_not_retried_stops_nothing_else_and_the_next_run_completes(
    inbox: Path, home: Path, point: Callable[[str, Callable[[], None]], None]
) -> None:
    reached = 0

    def break_first() -> None:
        nonlocal reached
        reached += 1
        if reached == 1:
            raise RuntimeError(f"this quotes {SECRET}")

    point("ingest.decided", break_first)
    with pytest.raises(Unfinished) as caught:
        await ingest(inbox, home=home)
    summary = caught.value.summary
    assert (summary.messages, summary.unfinished) == (2, 1)
    assert [(file.name, file.state) for file in summary.files] == [("good.jsonl", "pending"), ("mixed.jsonl", "taken")]
    shown = await seen("ingest", tasks=4, log="Finished in state Failed")
    assert shown.run.state is not None
    assert shown.run.state.type.value == "FAILED"
    task = shown.task("add good.jsonl lines 1-3")
    assert (task.run_count, task.state and task.state.type.value) == (1, "FAILED")
    assert SECRET not in shown.text

    done = await ingest(inbox, home=home)
    assert (done.messages, done.unfinished) == (3, 0)
    undisturbed = home.with_name("undisturbed")
    await ingest(inbox, home=undisturbed)
    assert contents(home) == contents(undisturbed)


async def test_a_file_whose_end_cannot_be_noted_is_reported_and_taken_once(
    inbox: Path, home: Path, point: Callable[[str, Callable[[], None]], None]
) -> None:
    def busy() -> None:
        raise StoreBusy("the ledger is locked")

    point("ingest.file_done", busy)
    with pytest.raises(Unfinished) as caught:
        await ingest(inbox, home=home)
    assert [file.state for file in caught.value.summary.files] == ["pending", "pending"]
    shown = await seen("ingest", tasks=4)
    assert "note of what was taken" in shown.artifacts["ingest-summary"]
    before = contents(home)
    assert "Ann lives in Oslo." in before

    failpoints.arm(None)
    done = await ingest(inbox, home=home)
    assert (done.failed, done.unfinished) == (False, 0)
    assert contents(home) == before


async def test_queued_adds_are_worked_off(home: Path) -> None:
    with Memory(home) as memory:
        for text in ("I play the cello.", "I have two cats."):
            memory.enqueue(text, user_id="ann")
    summary = await ingest(home=home)
    assert (summary.queued, summary.pending, summary.files) == (2, 0, ())
    assert contents(home) == ["I have two cats.", "I play the cello."]


async def test_queued_adds_whose_episode_goes_on_are_no_failure(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDMEM_INGEST__MODE", "schema")
    with Memory(home) as memory:
        for text in ("I play the cello.", "By the way, I have two cats."):
            memory.enqueue(text, user_id="ann")
    summary = await ingest(home=home)
    assert (summary.queued, summary.pending, summary.buffered, summary.failed) == (0, 0, 2, False)
    monkeypatch.setenv("MINDMEM_INGEST__EPISODE_MINUTES", "0.0001")
    summary = await ingest(home=home)
    assert (summary.queued, summary.episodes, summary.pending, summary.buffered) == (2, 1, 0, 0)


async def test_maintain_and_rebuild_index_report_what_they_did_and_leave_everything_findable(
    inbox: Path, home: Path
) -> None:
    await ingest(inbox, home=home)
    report = await maintain(home=home)
    assert report.findings == ()
    shown = await seen("maintain", tasks=1)
    assert set(shown.artifacts) == {"maintain-report"}
    built = await rebuild_index(home=home)
    assert built.active == len(contents(home))
    assert built.indexed_seq == built.last_seq
    assert "active memories" in (await seen("rebuild-index", tasks=1)).artifacts["rebuild-index-report"]
    with Memory(home) as memory:
        assert memory.search("bicycle", user_id="ann").hits


@pytest.mark.parametrize(("late", "state"), [(timedelta(hours=3), "SkippedStale"), (timedelta(minutes=5), "Completed")])
async def test_a_scheduled_run_that_comes_too_late_leaves_its_work_to_the_next(
    home: Path, prefect_server: Path, late: timedelta, state: str
) -> None:
    async with get_client() as client:
        due = Scheduled(scheduled_time=datetime.now(UTC) - late)
        made = await client.create_flow_run(ingest, parameters={"home": str(home)}, state=due)
        with closing(sqlite3.connect(prefect_server / "prefect-test.db")) as database, database:
            # What the server's scheduler does for the run of a schedule.
            database.execute("UPDATE flow_run SET auto_scheduled = 1 WHERE id = ?", (str(made.id),))
        made = await client.read_flow_run(made.id)
    done = await run_flow(ingest, flow_run=made, parameters={"home": home}, return_type="state")
    assert done.name == state


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.mark.parametrize("how", [[], ["--direct"]], ids=["flow", "direct"])
def test_the_command_prints_json_and_its_second_run_adds_nothing(inbox: Path, home: Path, how: list[str]) -> None:
    first = run("ingest", inbox, "--home", home, "--json", *how)
    assert first.exit_code == 0, first.output
    told = json.loads(first.stdout)
    assert (told["messages"], told["set_aside_total"], told["pending"]) == (5, 3, 0)
    again = run("ingest", inbox, "--home", home, *how)
    assert again.exit_code == 0
    assert "0 messages in 0 batches from 2 files" in again.stdout


@pytest.mark.parametrize("how", [[], ["--direct"]], ids=["flow", "direct"])
def test_the_command_exits_with_1_when_something_stays_pending(
    inbox: Path, home: Path, how: list[str], point: Callable[[str, Callable[[], None]], None]
) -> None:
    def break_it() -> None:
        raise RuntimeError("broken")

    point("ingest.decided", break_it)
    done = run("ingest", inbox, "--home", home, *how)
    assert done.exit_code == 1, done.output
    assert "stay pending" in done.stdout
    assert SECRET not in done.output


@pytest.mark.parametrize("how", [[], ["--direct"]], ids=["flow", "direct"])
def test_the_commands_maintain_and_rebuild_index_print_what_they_did(home: Path, how: list[str]) -> None:
    with Memory(home) as memory:
        memory.add("I live in Oslo.", user_id="ann")
    assert json.loads(run("maintain", "--home", home, "--json", *how).stdout)["findings"] == []
    assert json.loads(run("rebuild-index", "--home", home, "--json", *how).stdout)["active"] == 1
    assert "active memories" in run("rebuild-index", "--home", home, *how).stdout


async def test_a_run_that_falls_silent_is_crashed_by_one_automation_however_often_it_is_applied() -> None:
    for _ in range(2):
        await apply_automations()
    async with get_client() as client:
        [made] = (await client.request("POST", "/automations/filter")).json()
        # as an earlier version made it, and somebody switched it off
        earlier = {**made, "trigger": {**made["trigger"], "within": 300}, "enabled": False}
        kept = {name: earlier[name] for name in ("name", "description", "enabled", "trigger", "actions")}
        await client.request("PUT", f"/automations/{made['id']}", json=kept)
        await apply_automations()
        [again] = (await client.request("POST", "/automations/filter")).json()
    assert (made["enabled"], made["trigger"]["posture"]) == (True, "Proactive")
    assert made["actions"][0]["state"] == "CRASHED"
    assert (again["id"], again["enabled"]) == (made["id"], False)
    assert again["trigger"]["within"] == made["trigger"]["within"]


def test_a_run_that_ended_is_not_waited_for_longer_than_its_server_holds_the_end_back() -> None:
    assert SILENCE > PRECEDING_EVENT_LOOKBACK, "the end of a run may arrive that late"


def test_every_end_that_a_flow_names_is_known_as_an_end() -> None:
    flows = Path(__file__).parents[2] / "flows"
    named = {name for file in flows.glob("*.py") for name in re.findall(r'Completed\(name="(\w+)"', file.read_text())}
    assert named, "some flows name their end"
    assert named <= set(ENDS)

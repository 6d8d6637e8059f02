"""`mindmem up` as a person has it: ready, seen from outside, killed in every part, stopped, and started again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from mindmem.deployments.api import Api
from mindmem.deployments.catch_up import CAUGHT_UP
from mindmem.deployments.registry import SPECS
from mindmem.deployments.watch import WORK_WAITS

pytestmark = [pytest.mark.faults, pytest.mark.prefect, pytest.mark.slow, pytest.mark.timeout(900)]

MINDMEM = str(Path(sys.executable).with_name("mindmem"))
NAMES = {"prefect", "dashboard", "flows", "watch"}


class Up:
    """A running `mindmem up`, the lines that it prints, and what can be asked of it."""

    def __init__(self, home: Path, ports: tuple[int, int]) -> None:
        self.home, self.ports = home, ports
        self.lines: list[str] = []
        given = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MINDMEM_"))}
        self.process = subprocess.Popen(
            self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=given,
            start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.api = Api(f"http://127.0.0.1:{ports[0]}/api")

    def command(self) -> list[str]:
        prefect, dashboard = map(str, self.ports)
        return [MINDMEM, "up", "--home", str(self.home), "--prefect-port", prefect, "--dashboard-port", dashboard]

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as printed:
            self.lines.extend(line.rstrip() for line in printed)

    def said(self, words: str) -> int:
        return sum(words in line for line in self.lines)

    def until(self, true: Callable[[], Any], what: str, seconds: float = 240.0) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(Exception):
                if found := true():
                    return found
            assert self.process.poll() is None, "\n".join(self.lines)
            time.sleep(0.2)
        raise AssertionError(f"in {seconds:.0f} s it did not happen that {what}:\n" + "\n".join(self.lines[-60:]))

    def ready(self) -> None:
        self.until(lambda: self.said("mindmem: Ready after"), "it is ready")

    def children(self) -> dict[str, int]:
        """Return the pids of its children by name."""
        known = {"deployments.server": "prefect", "streamlit": "dashboard", "deployments.serve ": "flows",
                 "deployments.watch": "watch"}  # fmt: skip
        found = {}
        for pid in belongings(self.home, self.ports):
            line = command_line(pid)
            if parent(pid) == self.process.pid:
                found.update({name: pid for words, name in known.items() if words in line})
        return found

    def stop(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(120)
        self._reader.join(60)
        return code


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def belongings(home: Path, ports: tuple[int, int]) -> list[int]:
    """Return every process that works on the home or for its server, runs of flows among them."""
    marks = (str(home), f"--port {ports[0]}", f"--server.port {ports[1]}")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        with suppress(OSError):
            told = command_line(pid) + (folder / "environ").read_bytes().decode(errors="replace")
            if pid != os.getpid() and any(mark in told for mark in marks):
                found.append(pid)
    return found


@pytest.fixture(scope="module")
def ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@contextmanager
def running(home: Path, ports: tuple[int, int]) -> Iterator[Up]:
    up = Up(home, ports)
    try:
        yield up
    finally:
        if up.process.poll() is None:
            up.stop(signal.SIGINT)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up") / "home"


@pytest.fixture(scope="module")
def up(place: Path, ports: tuple[int, int]) -> Iterator[Up]:
    with running(place, ports) as started:
        started.ready()
        yield started


def taken(up: Up, name: str, content: str) -> list[str]:
    """Put a message into the inbox, wait for the run that takes it, and return that run's tags."""
    inbox = up.api.deployment("ingest/inbox")["id"]
    before = {run["id"] for run in up.api.runs(inbox, ("COMPLETED",))}
    line = json.dumps({"user_id": "ann", "session_id": name, "role": "user", "content": content})
    (up.home / "inbox" / name).write_text(line + "\n", encoding="utf-8")
    done = up.until(
        lambda: [run for run in up.api.runs(inbox, ("COMPLETED",)) if run["id"] not in before], "a run took it"
    )
    return list(done[0]["tags"])


def state(up: Up, run: str) -> str:
    return str(up.api.get(f"flow_runs/{run}")["state_type"])


def test_it_says_where_everything_answers(up: Up) -> None:
    prefect, dashboard = up.ports
    told = up.lines[-3:] if up.said("watch |") else up.lines
    assert any(re.fullmatch(rf"mindmem:   Prefect +http://127\.0\.0\.1:{prefect}", line) for line in told)
    assert any(re.fullmatch(rf"mindmem:   Dashboard +http://127\.0\.0\.1:{dashboard}", line) for line in told)
    with urlopen(f"http://127.0.0.1:{dashboard}/_stcore/health", timeout=30) as answer:
        assert answer.read() == b"ok"
    assert (up.home / "prefect" / "prefect.db").exists()


def test_the_api_lists_all_deployments_each_scheduled_one_with_its_next_run(up: Up) -> None:
    for spec in SPECS:
        deployment = up.api.deployment(spec.full_name)
        up.until(lambda n=spec.full_name: up.api.deployment(n)["status"] == "READY", "somebody runs it", 90)
        assert not deployment["paused"]
        assert deployment["parameters"]["home"] == str(up.home)
        if spec.cron:
            next_run = up.until(lambda d=deployment: up.api.runs(d["id"], ("SCHEDULED",)), "it has a next run", 90)
            assert next_run[0]["auto_scheduled"]


def test_the_server_tells_nobody_and_shows_no_advertisement(up: Up) -> None:
    server = up.api.get("admin/settings")["server"]
    assert server["analytics_enabled"] is False
    assert server["ui"]["show_promotional_content"] is False
    assert server["ui"]["v2_enabled"] is False


def test_a_run_that_is_started_through_the_api_completes(up: Up) -> None:
    run = up.api.start(up.api.deployment("maintain/daily")["id"], "by-hand")
    up.until(lambda: state(up, run) == "COMPLETED", "the run completes")


def test_a_file_in_the_inbox_is_taken_at_once_by_one_run(up: Up) -> None:
    if WORK_WAITS not in taken(up, "one.jsonl", "I live in Oslo."):  # the sweep of the quarter of an hour was quicker
        assert WORK_WAITS in taken(up, "more.jsonl", "My dog is called Rex.")
    started = up.said("Work waits")
    time.sleep(8)  # two looks: nothing waits any more
    assert up.said("Work waits") == started
    artifacts = up.api.post("artifacts/filter", {"artifacts": {"key": {"any_": ["ingest-summary"]}}})
    assert f"http://127.0.0.1:{up.ports[1]}/ingestion" in artifacts[0]["data"]
    assert "Oslo" not in json.dumps(artifacts)


def test_a_second_one_on_the_same_home_is_refused_with_the_addresses(up: Up) -> None:
    second = subprocess.run(up.command(), capture_output=True, text=True, timeout=120, check=False)
    assert second.returncode == 4
    assert f"Prefect at http://127.0.0.1:{up.ports[0]}, Dashboard at http://127.0.0.1:{up.ports[1]}" in second.stderr


def test_a_second_one_on_another_home_names_the_port_that_is_taken(up: Up, tmp_path: Path) -> None:
    command = [str(tmp_path / "other") if part == str(up.home) else part for part in up.command()]
    second = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert second.returncode == 4
    assert f"Port {up.ports[0]} is taken by" in second.stderr
    assert "--prefect-port" in second.stderr


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_child_that_is_killed_comes_back(up: Up, name: str) -> None:
    before = up.children()
    assert set(before) == NAMES
    os.kill(before[name], signal.SIGKILL)
    up.until(lambda: up.children().get(name) not in {None, before[name]}, f"{name} is back")
    if name in {"prefect", "dashboard"}:
        path = "api/health" if name == "prefect" else "_stcore/health"
        port = up.ports[0] if name == "prefect" else up.ports[1]
        up.until(lambda: urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5).status == 200, f"{name} answers")


def test_after_all_that_work_is_still_taken_in(up: Up) -> None:
    taken(up, "two.jsonl", "My bicycle is green.")
    listed = subprocess.run(
        [MINDMEM, "list", "--home", str(up.home), "--json"], capture_output=True, text=True, timeout=120, check=True
    )
    assert "My bicycle is green" in listed.stdout
    assert listed.stdout.count("Oslo") >= 1, "nothing was lost"


def test_ctrl_c_leaves_no_process_and_no_lock_and_kill_9_no_orphan(up: Up) -> None:
    assert up.stop(signal.SIGINT) == 0
    assert up.lines[-1] == "mindmem: Everything has stopped."
    assert belongings(up.home, up.ports) == []
    assert not (up.home / "up.lock").exists()

    with running(up.home, up.ports) as again:
        again.ready()
        run = again.api.start(again.api.deployment("maintain/daily")["id"], "by-hand")
        again.until(lambda: state(again, run) == "RUNNING", "the run is on its way")
        again.stop(signal.SIGKILL)
        deadline = time.monotonic() + 20
        while belongings(up.home, up.ports) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [command_line(pid) for pid in belongings(up.home, up.ports)] == []

    with running(up.home, up.ports) as third:
        third.ready()
        assert state(third, run) == "CRASHED", "a run whose process is gone does not look alive"
        assert CAUGHT_UP not in third.api.get(f"flow_runs/{run}")["tags"]
        later = third.api.start(third.api.deployment("maintain/daily")["id"], "by-hand")
        third.until(lambda: state(third, later) == "COMPLETED", "no place is taken by the dead run")
        assert third.stop(signal.SIGTERM) == 0
    assert belongings(up.home, up.ports) == []

"""Children are kept running and stopped in order, and nothing outlives the one that keeps them, however it ends."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mindmem.deployments.children import Child, Says
from mindmem.deployments.supervise import Supervisor

SLEEPS = "import time; print('here', flush=True); time.sleep(600)"


def child(name: str, code: str, *needs: str) -> Child:
    return Child(name=name, argv=(sys.executable, "-I", "-c", code), ready=Says("here"), needs=needs)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


async def until(true: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if true():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"in {seconds:.0f} s it did not happen that {what}")


async def supervised(
    children: list[Child], act: Callable[[Supervisor, list[tuple[str, str]]], Awaitable[None]], *, grace: float = 20.0
) -> list[tuple[str, str]]:
    """Run children until ``act`` is done, then stop them; return what was said."""
    said: list[tuple[str, str]] = []
    supervisor = Supervisor(children, lambda name, line: said.append((name, line)), grace=grace)
    running = asyncio.create_task(supervisor.run(lambda: said.append(("", "all are ready"))))
    try:
        await act(supervisor, said)
    finally:
        supervisor.stop()
        await asyncio.wait_for(running, 60)
    return said


def pids(said: list[tuple[str, str]], name: str) -> list[int]:
    return [int(line.split()[-1]) for who, line in said if who == name and line.startswith("here")]


TELLS = "import os, time; print('here', os.getpid(), flush=True); time.sleep(600)"


@pytest.mark.faults
async def test_a_killed_child_is_started_again_and_the_others_go_on() -> None:
    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: ("", "all are ready") in said, "all are ready")
        os.kill(pids(said, "one")[0], signal.SIGKILL)
        await until(lambda: len(pids(said, "one")) == 2, "it is back")
        assert alive(pids(said, "two")[0])

    said = await supervised([child("one", TELLS), child("two", TELLS)], act)
    assert ("", "one was killed by SIGKILL; it starts again in 1 s.") in said
    assert len(pids(said, "two")) == 1
    assert not any(alive(pid) for name in ("one", "two") for pid in pids(said, name))


@pytest.mark.faults
async def test_what_a_killed_child_had_started_ends_before_its_successor_begins() -> None:
    code = (
        "import os, subprocess, sys, time\n"
        "inner = subprocess.Popen([sys.executable, '-I', '-c', 'import time; time.sleep(600)'])\n"
        "print('inner', inner.pid, flush=True); print('here', os.getpid(), flush=True); time.sleep(600)"
    )

    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: pids(said, "one"), "it runs")
        os.kill(pids(said, "one")[0], signal.SIGKILL)
        await until(lambda: len(pids(said, "one")) == 2, "it is back")
        inner = next(int(line.split()[1]) for _, line in said if line.startswith("inner"))
        assert not alive(inner)

    await supervised([child("one", code)], act)


async def test_one_that_keeps_ending_is_reported_once_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindmem.deployments.supervise._LONGEST_PAUSE", 0.05)

    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: sum(line == "no, never" for _, line in said) > 7, "it was tried often")
        assert alive(pids(said, "good")[0])

    said = await supervised([child("good", TELLS), child("bad", "print('no, never'); raise SystemExit(3)")], act)
    assert ("", "bad ended with exit code 3; it starts again in 0 s.") in said
    assert len([line for name, line in said if not name and "bad keeps ending" in line]) == 1
    assert ("", "all are ready") not in said


async def test_a_program_that_is_not_there_is_reported() -> None:
    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: any("can't be started" in line for _, line in said), "it is reported")

    await supervised([Child(name="gone", argv=("/nowhere/at/all",), ready=Says("here"))], act)


async def test_what_needs_another_is_stopped_before_it() -> None:
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n    print('bye', flush=True); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end); print('here', flush=True)\n"
        "while True: time.sleep(0.05)"
    )

    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: ("", "all are ready") in said, "all are ready")

    said = await supervised(
        [child("server", code), child("runner", code, "server"), child("watcher", code, "server", "runner")], act
    )
    assert [name for name, line in said if line == "bye"] == ["watcher", "runner", "server"]


@pytest.mark.faults
async def test_one_that_does_not_stop_is_killed_after_a_while() -> None:
    code = f"import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {TELLS}"

    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: pids(said, "stubborn"), "it runs")

    said = await supervised([child("stubborn", code)], act, grace=0.3)
    assert ("", "stubborn did not stop within 0 s and was killed.") in said
    assert not alive(pids(said, "stubborn")[0])


async def test_lines_of_any_length_and_any_bytes_are_passed_on() -> None:
    code = (
        "import sys, time\n"
        "sys.stdout.buffer.write(b'\\xff broken\\n' + b'x' * 3_000_000 + b'\\n' + b'y' * 900_000 + b'\\n')\n"
        "print('here', flush=True); time.sleep(600)"
    )

    async def act(_: Supervisor, said: list[tuple[str, str]]) -> None:
        await until(lambda: any(line == "here" for _, line in said), "the last line comes")

    said = await supervised([child("one", code)], act)
    assert ("one", "\ufffd broken") in said
    assert ("one", "y" * 900_000) in said


HOST = f"""
import asyncio, sys
from mindmem.deployments.children import Child, Says
from mindmem.deployments.supervise import Supervisor
INNER = 'import subprocess, sys; p = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])'
CODE = INNER + '; print("inner", p.pid, flush=True); ' + {TELLS!r}
one = Child(name="one", argv=(sys.executable, "-I", "-c", CODE), ready=Says("here"))
kept = Supervisor([one], lambda name, line: print(line, flush=True))
async def main():
    running = asyncio.ensure_future(kept.run(lambda: print("guard", kept._guard._process.pid, flush=True)))
    await running
asyncio.run(main())
"""


@pytest.mark.faults
@pytest.mark.parametrize("guard_first", [False, True], ids=["alone", "after its guard was killed"])
def test_a_kill_9_of_the_one_that_keeps_them_leaves_no_child_and_no_grandchild(guard_first: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        found: dict[str, int] = {}
        while len(found) < 3:
            name, _, number = host.stdout.readline().partition(" ")
            found[name] = int(number)
        if guard_first:
            os.kill(found.pop("guard"), signal.SIGKILL)
            time.sleep(1.0)  # it is started again
        host.kill()
        host.wait()
        for _ in range(200):
            if not any(alive(pid) for pid in found.values()):
                break
            time.sleep(0.05)
        assert {name: alive(pid) for name, pid in found.items()} == dict.fromkeys(found, False)

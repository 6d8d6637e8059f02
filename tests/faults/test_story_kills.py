"""A store that was killed anywhere is, after the next run, the store that was never killed."""

import asyncio
import os
import random
import signal
import time
from pathlib import Path

import pytest
from support.forks import KILLED, alone, outcome, start
from support.stores import Contents, contents, run_story

from mindmem.core import failpoints
from mindmem.core.reason.port import Envelope
from mindmem.core.reason.rules.extract import RulesExtractor
from mindmem.core.records import Message, Scope, Window

pytestmark = pytest.mark.faults

POINTS = [
    name
    for name in failpoints.FAILPOINTS
    if name not in ("ingest.file_done", "ingest.claimed") and not name.startswith(("dream.", "feedback."))
]
"""Files are read by the inbox, adds claimed from the queue, dreams dreamt; tests of their own kill these."""
CASES = [(point, hit) for point in POINTS for hit in (1, 2) if hit == 1 or not point.startswith("rebuild.")]
"""The first and the second time that the story passes a point; it rebuilds once."""
RANDOM_KILLS = 5


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Let the forked children find the rules' patterns compiled."""
    scope = Scope.of("ann")
    said = Message("m", scope, 0, "user", "Ann", "I live in Oslo. 我住在上海。", None, "UTC", "a")
    envelope = Envelope(scope=scope, window=Window(0, (said,), (), (), 9), timezone="UTC")
    asyncio.run(RulesExtractor().extract([envelope]))


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    home = tmp_path_factory.mktemp("whole") / "home"
    alone(lambda: run_story(home))
    whole = alone(lambda: contents(home))
    assert whole.findings == ()
    assert all(whole.found), "each question of the story has an answer"
    return whole


def _until_killed(home: Path, point: str, hit: int) -> None:
    left = hit

    def kill(name: str) -> None:
        nonlocal left
        if name == point:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    failpoints.arm(kill)
    run_story(home)


@pytest.mark.parametrize(("point", "hit"), CASES)
def test_killed_at_a_named_point_the_next_run_completes_it(
    point: str, hit: int, tmp_path: Path, uninterrupted: Contents
) -> None:
    code = outcome(start(lambda: _until_killed(tmp_path / "home", point, hit)))
    assert code == KILLED, f"the story passes {point} fewer than {hit} times"
    alone(lambda: run_story(tmp_path / "home"))
    assert alone(lambda: contents(tmp_path / "home")) == uninterrupted


@pytest.mark.parametrize("number", range(RANDOM_KILLS))
def test_killed_at_any_moment_the_next_run_completes_it(number: int, tmp_path: Path, uninterrupted: Contents) -> None:
    moment = random.Random(number).uniform(0.02, 1.2)
    pid = start(lambda: run_story(tmp_path / "home"))
    time.sleep(moment)
    os.kill(pid, signal.SIGKILL)
    assert outcome(pid) in (KILLED, 0)
    alone(lambda: run_story(tmp_path / "home"))
    assert alone(lambda: contents(tmp_path / "home")) == uninterrupted

"""A dream that was killed anywhere is, after the next run, the dream that was never killed."""

import asyncio
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from support.dreams import USER, dream_store, say, tell
from support.forks import KILLED, alone, outcome, start
from support.stores import patiently

from mindmem.core import failpoints
from mindmem.core.memory import Memory
from mindmem.core.reason.port import Envelope
from mindmem.core.reason.rules.dream.family import rules_dream_reasoner
from mindmem.core.reason.rules.extract import RulesExtractor
from mindmem.core.records import Message, Partition, Scope, Window

pytestmark = pytest.mark.faults

POINTS = (
    *((name, 1) for name in failpoints.FAILPOINTS if name.startswith("dream.")),
    ("dream.cluster", 2),
    *((name, hit) for name in ("commit.begun", "commit.heads", "commit.seq", "commit.durable") for hit in (1, 2)),
    *((name, 1) for name in ("project.read", "project.applied", "project.durable")),
)


def _prepare(home: Path) -> None:
    with dream_store(home, window=4, lease_seconds=1.0) as memory:
        say(memory, "I live in Oslo.", "I have two cats.")
        say(memory, "I live in Rome.", "I own two cats.")
        places = [f"Bay{number} Tolva" for number in range(8)]
        tell(memory, [f"The mayor of {place} is Keeper Grubb{number}." for number, place in enumerate(places)])
        tell(memory, [f"The mayor of {place} is Warden Marn{number}." for number, place in enumerate(places)])


def _dream(home: Path) -> None:
    with dream_store(home, window=4, lease_seconds=1.0) as memory:
        patiently(_whole, memory)


def _whole(memory: Memory) -> None:
    report = memory.dream()
    while report.failed:  # the lease of the one that was killed has to run out
        time.sleep(0.2)
        report = memory.dream()


def _until_killed(home: Path, point: str, hit: int) -> None:
    left = hit

    def kill(name: str) -> None:
        nonlocal left
        if name == point:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    failpoints.arm(kill)
    _dream(home)


def _contents(home: Path) -> tuple[object, ...]:
    """What the store holds, by the memories' words: their ids come of the random ids of adds."""
    owner = Partition("default", USER)
    with dream_store(home) as memory:
        reader = memory.services.reader
        memories = reader.memories(owner)
        words = {one.memory_id: one.content for one in memories}
        told = sorted((one.content, one.revision, one.status, one.reinforcement_count) for one in memories)
        edges = sorted(
            (words[one.src], one.relation, words.get(one.dst, ""), one.kind) for one in reader.edges(owner)
            if one.src in words
        )  # fmt: skip
        adds = reader.fresh(["consolidations"]).rows("consolidations").select("add_id").unique().collect().height
        found = [hit.memory.content for hit in memory.search("Where does Ann live?", user_id=USER).hits]
        return told, edges, adds, found, memory.verify()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy, told what is to be dreamt over. It is made in a child: Polars has threads, and no fork may
    follow where they run."""
    scope = Scope.of(USER)
    said = Message("m", scope, 0, "user", "Ann", "I live in Oslo.", None, "UTC", "a")
    envelope = Envelope(scope=scope, window=Window(0, (said,), (), (), 9), timezone="UTC")
    asyncio.run(RulesExtractor().extract([envelope]))  # the children find the rules' patterns compiled
    rules_dream_reasoner().survey.survey([])
    home = tmp_path_factory.mktemp("told") / "home"
    alone(lambda: _prepare(home))
    return home


@pytest.fixture(scope="module")
def expected(told: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    home = tmp_path_factory.mktemp("never-killed") / "home"
    shutil.copytree(told, home)
    alone(lambda: _dream(home))
    whole = alone(lambda: _contents(home))
    assert whole[2] == 4, "every add is consolidated"
    assert whole[4] == ()
    return whole


@pytest.fixture
def home(told: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(told, tmp_path / "home"))


@pytest.mark.parametrize(("point", "hit"), POINTS)
def test_killed_at_a_named_point_the_next_run_completes_it(
    point: str, hit: int, home: Path, expected: tuple[object, ...]
) -> None:
    code = outcome(start(lambda: _until_killed(home, point, hit)))
    assert code == KILLED, f"the dream passes {point} fewer than {hit} times"
    alone(lambda: _dream(home))
    assert alone(lambda: _contents(home)) == expected


@pytest.mark.parametrize("number", range(3))
def test_killed_at_any_moment_the_next_run_completes_it(number: int, home: Path, expected: tuple[object, ...]) -> None:
    pid = start(lambda: _dream(home))
    time.sleep(random.Random(number).uniform(0.05, 0.5))
    os.kill(pid, signal.SIGKILL)
    assert outcome(pid) in (KILLED, 0)
    alone(lambda: _dream(home))
    assert alone(lambda: _contents(home)) == expected


def _resumed(home: Path) -> tuple[set[str], set[str], int]:
    with dream_store(home, window=4, lease_seconds=1.0) as memory:
        first = {change.run_id for change in memory.changes(user_id=USER) if change.kind == "dream"}
        patiently(_whole, memory)
        later = {change.run_id for change in memory.changes(user_id=USER) if change.kind == "dream"}
        for run_id in later:
            memory.undo_run(run_id)
        return first, later, len(memory.list(user_id=USER, page_size=50).memories)


def test_a_run_that_was_killed_goes_on_under_its_own_id_and_is_taken_back_whole(
    home: Path, expected: tuple[list[object], ...]
) -> None:
    outcome(start(lambda: _until_killed(home, "dream.cluster", 1)))
    first, later, left = alone(lambda: _resumed(home))
    assert first == later
    assert left == len(expected[0]), "every memory is active again"

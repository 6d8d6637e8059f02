"""A dream that was killed anywhere is, after the next run, the dream that was never killed."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from support.dreams import USER, dream_store, say, tell
from support.forks import KILLED, alone, outcome, start
from support.stores import patiently

from mindmem.core import failpoints
from mindmem.core.memory import Memory
from mindmem.core.records import Partition

pytestmark = pytest.mark.faults

POINTS = (
    *((name, 1) for name in failpoints.FAILPOINTS if name.startswith("dream.")),
    ("dream.cluster", 2),
    *((name, hit) for name in failpoints.FAILPOINTS if name.startswith("commit.") and name != "commit.key" for hit in (1, 2)),
    *((name, hit) for name in failpoints.FAILPOINTS if name.startswith("project.") for hit in (1, 2)),
)  # fmt: skip


def _prepare(home: Path) -> None:
    with dream_store(home, window=4) as memory:
        say(memory, "I live in Oslo.", "I have two cats.")
        say(memory, "I live in Rome.", "I own two cats.")
        places = [f"Bay{number} Tolva" for number in range(8)]
        tell(memory, [f"The mayor of {place} is Keeper Grubb{number}." for number, place in enumerate(places)])
        tell(memory, [f"The mayor of {place} is Warden Marn{number}." for number, place in enumerate(places)])


def _dream(home: Path) -> None:
    with dream_store(home, window=4) as memory:
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
    owner = Partition("default", USER)
    with dream_store(home) as memory:
        reader = memory.services.reader
        memories = sorted(
            (one.memory_id, one.revision, one.status, one.reinforcement_count, one.sources)
            for one in reader.memories(owner)
        )
        edges = sorted((one.src, one.relation, one.dst, one.kind, one.start) for one in reader.edges(owner))
        adds = reader.fresh(["consolidations"]).rows("consolidations").select("add_id").unique().collect().height
        found = [hit.memory.content for hit in memory.search("Where does Ann live?", user_id=USER).hits]
        return memories, edges, adds, found, memory.verify()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    home = tmp_path_factory.mktemp("whole") / "home"
    alone(lambda: _prepare(home))
    alone(lambda: _dream(home))
    whole = alone(lambda: _contents(home))
    assert whole[2] == 4, "every add is consolidated"
    assert whole[4] == ()
    return whole


def _forget_ids(contents: tuple[object, ...], home: Path) -> tuple[object, ...]:
    """Memory ids hold the random ids of adds: compare what they stand for by its words."""
    with dream_store(home) as memory:
        words = {one.memory_id: one.content for one in memory.services.reader.memories(Partition("default", USER))}
    memories, edges, *rest = contents
    told = sorted((words[name], revision, status, count) for name, revision, status, count, _ in memories)  # type: ignore[attr-defined]
    joined = sorted(
        (words[src], relation, words.get(dst, relation), kind) for src, relation, dst, kind, _ in edges if src in words  # type: ignore[attr-defined]
    )
    return told, joined, *rest


@pytest.fixture(scope="module")
def expected(uninterrupted: tuple[object, ...], tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    [home] = tmp_path_factory.getbasetemp().glob("whole*/home")
    return alone(lambda: _forget_ids(uninterrupted, home))


@pytest.mark.parametrize(("point", "hit"), POINTS)
def test_killed_at_a_named_point_the_next_run_completes_it(
    point: str, hit: int, tmp_path: Path, expected: tuple[object, ...]
) -> None:
    home = tmp_path / "home"
    alone(lambda: _prepare(home))
    code = outcome(start(lambda: _until_killed(home, point, hit)))
    assert code == KILLED, f"the dream passes {point} fewer than {hit} times"
    alone(lambda: _dream(home))
    assert alone(lambda: _forget_ids(_contents(home), home)) == expected


@pytest.mark.parametrize("number", range(3))
def test_killed_at_any_moment_the_next_run_completes_it(
    number: int, tmp_path: Path, expected: tuple[object, ...]
) -> None:
    home = tmp_path / "home"
    alone(lambda: _prepare(home))
    pid = start(lambda: _dream(home))
    time.sleep(random.Random(number).uniform(0.05, 0.8))
    os.kill(pid, signal.SIGKILL)
    assert outcome(pid) in (KILLED, 0)
    alone(lambda: _dream(home))
    assert alone(lambda: _forget_ids(_contents(home), home)) == expected


def test_a_run_that_was_killed_goes_on_under_its_own_id(tmp_path: Path) -> None:
    home = tmp_path / "home"
    alone(lambda: _prepare(home))
    outcome(start(lambda: _until_killed(home, "dream.cluster", 1)))
    with dream_store(home, window=4) as memory:
        first = [change.run_id for change in memory.changes(user_id=USER) if change.kind == "dream"]
        patiently(_whole, memory)
        later = {change.run_id for change in memory.changes(user_id=USER) if change.kind == "dream"}
        assert later == set(first)
        assert memory.undo_run(first[0])
        assert len([one for one in memory.list(user_id=USER, page_size=50).memories]) == 20

"""A store whose disk is read-only or full: what can be read is read, what can't be written is refused with the way out,
nothing is lost, and everything goes on when there is a disk again."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.forks import KILLED, alone, outcome, start
from support.mounts import filled, own_mounts, read_only, refusal, small_disk
from support.stores import open_store

from mindmem.core import failpoints
from mindmem.core.errors import StoreUnavailable
from mindmem.core.memory import Memory

pytestmark = pytest.mark.faults

QUERY, SAID = "Where do I live?", "I live in Oslo."


@pytest.fixture(autouse=True, scope="module")
def _mounts(tmp_path_factory: pytest.TempPathFactory) -> None:
    why = alone(partial(refusal, tmp_path_factory.mktemp("probe")))
    if why:
        pytest.skip(why)


def refused(call: Callable[[], object], home: Path, advice: str) -> None:
    """Check that a call is refused with an error that names the store's folder and says what to do."""
    with pytest.raises(StoreUnavailable) as told:
        call()
    assert str(home) in str(told.value)
    assert advice in str(told.value)
    assert not told.value.transient


def found(memory: Memory, query: str = QUERY) -> list[str]:
    return [hit.memory.content for hit in memory.search(query, user_id="ann").hits]


def made(home: Path, *, folded: bool, kill_at: str = "") -> None:
    """Make a store with one memory, its last process ended cleanly or killed at a point."""

    def kill(name: str) -> None:
        if name == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    memory = open_store(home)
    failpoints.arm(kill)
    memory.add(SAID, user_id="ann", idempotency_key="first")
    if folded:
        memory.fold()
    memory.close()


WRITES: list[Callable[[Memory], object]] = [
    lambda memory: memory.add("I have two cats.", user_id="ann"),
    lambda memory: memory.enqueue("I have two cats.", user_id="ann"),
    lambda memory: memory.update(memory.list(user_id="ann").memories[0].memory_id, content="I live in Bergen."),
    lambda memory: memory.delete_all(user_id="ann"),
    lambda memory: memory.undo(memory.changes(user_id="ann")[0].change_id),
    Memory.fold,
    Memory.maintain,
    Memory.rebuild_index,
]


@pytest.mark.parametrize("folded", [True, False])
def test_a_store_on_a_read_only_disk_is_searched_refuses_writes_and_goes_on_when_it_is_writable(
    folded: bool, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    alone(partial(made, home, folded=folded))

    def read_then_write() -> None:
        own_mounts()
        with read_only(home):
            memory = open_store(home)
            assert found(memory) == [SAID]
            [one] = memory.list(user_id="ann", include_total=True).memories
            assert memory.get(one.memory_id) == memory.history(one.memory_id)[0]
            assert [message.content for message in memory.evidence(one.memory_id)] == [SAID]
            assert SAID in memory.context(QUERY, user_id="ann")
            assert memory.verify() == ()
            for write in WRITES:
                refused(partial(write, memory), home, "writable")
            assert memory.status().last_seq == 1
            assert memory.process_pending() == ()
        memory.add("I have two cats.", user_id="ann")
        assert SAID in found(memory)
        assert "I have two cats." in found(memory, "cats")
        memory.fold()
        assert memory.verify() == ()
        memory.close()

    alone(read_then_write)


def test_a_store_that_was_killed_is_read_through_its_write_ahead_log(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert outcome(start(partial(made, home, folded=False, kill_at="ingest.projected"))) == KILLED

    def look() -> None:
        own_mounts()
        with read_only(home):
            memory = open_store(home)
            assert found(memory) == [SAID]
            memory.close()

    alone(look)


def test_an_index_that_lags_on_a_read_only_disk_says_so_and_catches_up_when_it_is_writable(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert outcome(start(partial(made, home, folded=False, kill_at="ingest.committed"))) == KILLED

    def look() -> None:
        own_mounts()
        with read_only(home):
            memory = open_store(home)
            refused(partial(found, memory), home, "right to write")
        assert found(memory) == [SAID]
        memory.close()

    alone(look)


def test_what_is_written_elsewhere_is_read_from_a_read_only_mount(tmp_path: Path) -> None:
    home, mount = tmp_path / "home", tmp_path / "mount"
    alone(partial(made, home, folded=True))
    mount.symlink_to(home)

    def look() -> None:
        own_mounts()
        other = tmp_path / "other"
        other.mkdir()
        with read_only(home, at=other):
            reader, writer = open_store(other), open_store(home)
            assert found(reader) == [SAID]
            writer.add("I have two cats.", user_id="ann")
            assert found(reader, "cats") == ["I have two cats."]
            writer.add("I play the cello.", user_id="ann")
            writer.close()
            assert found(reader, "cello") == ["I play the cello."]
            reader.close()

    alone(look)


def test_a_read_only_place_is_no_place_for_a_new_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()

    def begin() -> None:
        own_mounts()
        with read_only(home):
            refused(lambda: open_store(home), home, "writable")
            refused(lambda: open_store(home / "below"), home, "Give another")

    alone(begin)


def test_a_full_disk_refuses_writes_keeps_what_was_said_and_goes_on_when_there_is_space(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()

    def fill() -> None:
        own_mounts()
        small_disk(home, 8 << 20)
        memory = open_store(home)
        memory.add(SAID, user_id="ann")
        long = [f"Shelf {number} holds {number * 7} boxes of model {number}." for number in range(900)]
        with filled(home, 100_000):
            refused(lambda: memory.add(long, user_id="ann", idempotency_key="long"), home, "space")
            assert found(memory) == [SAID]
            assert memory.status().last_seq == 1
            assert memory.process_pending() == ()
        assert not memory.add(long[:300], user_id="ann", idempotency_key="long").repeated
        with filled(home, 8192):
            refused(memory.fold, home, "space")
            refused(memory.rebuild_index, home, "space")
        memory.fold()
        assert memory.verify() == ()
        assert memory.list(user_id="ann", include_total=True).total == 301
        memory.close()

    alone(fill)


def test_a_full_disk_is_no_place_for_a_new_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()

    def begin() -> None:
        own_mounts()
        small_disk(home, 2 << 20)
        with filled(home, 16_384):
            refused(lambda: open_store(home), home, "space")
        memory = open_store(home)
        memory.add(SAID, user_id="ann")
        assert found(memory) == [SAID]
        memory.close()

    alone(begin)


def test_an_add_that_only_the_index_has_no_space_for_is_kept_and_found_when_there_is_space(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "index").mkdir(parents=True)

    def fill() -> None:
        own_mounts()
        small_disk(home / "index", 1 << 20)
        memory = open_store(home)
        with filled(home / "index", 0):
            said = [SAID, *(f"Shelf {number} holds {number} boxes." for number in range(200))]
            receipt = memory.add(said, user_id="ann")
            assert receipt.counts["add"] == 201
            refused(partial(found, memory), home / "index", "space")
            refused(lambda: memory.add("I have two cats.", user_id="ann"), home / "index", "space")
        assert SAID in found(memory)
        assert memory.status().last_seq == 1
        memory.close()

    alone(fill)


def test_a_store_whose_files_may_only_be_read_is_searched_and_refuses_writes(tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root may write whatever the rights say")
    home = tmp_path / "home"
    alone(partial(made, home, folded=True))
    places = [home, *home.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)

    def look() -> None:
        memory = open_store(home)
        assert found(memory) == [SAID]
        refused(lambda: memory.add("I have two cats.", user_id="ann"), home, "writable")
        memory.close()

    try:
        alone(look)
    finally:
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)

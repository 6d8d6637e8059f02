"""Replies stay on disk within a bound, survive what happens to processes and files, and can be forgotten by user."""

import json
import os
from functools import partial
from pathlib import Path

import pytest
from support.forks import KILLED, outcome, start, together

from mindmem.core.llm.cache import ReplyCache
from mindmem.core.records import Partition

ANN = Partition("default", "ann")
BOB = Partition("default", "b/o:b 🦊")
KEY = "0" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "llm"


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_a_reply_comes_back_to_its_owner_in_any_process(folder: Path) -> None:
    ReplyCache(folder, 10_000).put(ANN, KEY, "an {answer} 我 🦊")
    assert ReplyCache(folder, 10_000).get(ANN, KEY) == "an {answer} 我 🦊"
    assert ReplyCache(folder, 10_000).get(BOB, KEY) is None
    assert ReplyCache(folder, 10_000).get(ANN, "1" * 40) is None


@pytest.mark.parametrize("harm", ["", "{", "[]", "{}", '{"text": 1, "digest": ""}', "[" * 5000, "\xff\x00", None])
def test_a_damaged_file_is_a_miss_and_is_written_anew(folder: Path, harm: str | None) -> None:
    cache = ReplyCache(folder, 10_000)
    cache.put(ANN, KEY, "right")
    (file,) = files(folder)
    file.write_bytes(file.read_bytes()[:-9] if harm is None else harm.encode("latin-1"))
    assert cache.get(ANN, KEY) is None
    cache.put(ANN, KEY, "right")
    assert cache.get(ANN, KEY) == "right"


def test_another_replys_file_under_this_name_is_a_miss(folder: Path) -> None:
    cache = ReplyCache(folder, 10_000)
    cache.put(ANN, KEY, "right")
    (file,) = files(folder)
    held = json.loads(file.read_text())
    file.write_text(json.dumps({**held, "text": "wrong"}))
    assert cache.get(ANN, KEY) is None


def test_the_longest_unused_go_when_the_bound_is_reached(folder: Path) -> None:
    cache = ReplyCache(folder, 10_000)
    for number in range(30):
        cache.put(ANN, f"{number:040}", "x" * 900)
        place = next(file for file in files(folder) if f"{number:040}" in file.name)
        os.utime(place, (number, number))
        assert cache.get(ANN, KEY) == "x" * 900, "what is used stays"
    assert sum(file.stat().st_size for file in files(folder)) <= 10_500
    assert cache.get(ANN, f"{29:040}") is not None
    assert cache.get(ANN, f"{1:040}") is None


def test_a_bound_of_zero_keeps_nothing(folder: Path) -> None:
    cache = ReplyCache(folder, 0)
    cache.put(ANN, KEY, "x")
    assert not folder.exists()


def test_a_users_replies_can_be_forgotten_alone(folder: Path) -> None:
    cache = ReplyCache(folder, 10_000)
    cache.put(ANN, KEY, "ann's words")
    cache.put(BOB, KEY, "bob's words")
    cache.forget(ANN)
    cache.forget(ANN)
    assert (cache.get(ANN, KEY), cache.get(BOB, KEY)) == (None, "bob's words")
    assert not any(b"ann" in file.read_bytes() for file in files(folder))


def test_no_name_tells_whose_words_they_are(folder: Path) -> None:
    ReplyCache(folder, 10_000).put(BOB, KEY, "x")
    (file,) = files(folder)
    assert "o:b" not in str(file.relative_to(folder))
    assert len(file.relative_to(folder).parts) == 3


def test_a_folder_that_can_not_be_written_costs_no_run(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    cache = ReplyCache(tmp_path / "cache", 10_000)
    cache.put(ANN, KEY, "x")
    assert cache.get(ANN, KEY) is None


def test_processes_that_write_and_sweep_at_once_see_whole_replies_only(folder: Path) -> None:
    def work(seed: int) -> int:
        cache = ReplyCache(folder, 20_000)
        wrong = 0
        for number in range(60):
            key = f"{number * (seed + 1) % 20:040}"
            found = cache.get(ANN, key)
            wrong += found is not None and found != key * 20
            cache.put(ANN, key, key * 20)
        return wrong

    assert together([partial(work, seed) for seed in range(4)]) == [0, 0, 0, 0]


def test_a_killed_writer_leaves_a_miss_or_the_whole_reply(folder: Path) -> None:
    def die_in_the_write() -> None:
        Path.replace = lambda *_: os.kill(os.getpid(), 9)  # type: ignore[assignment, method-assign]
        ReplyCache(folder, 10_000).put(ANN, KEY, "x" * 500)

    assert outcome(start(die_in_the_write)) == KILLED
    cache = ReplyCache(folder, 600)
    assert cache.get(ANN, KEY) is None
    (left,) = files(folder)
    os.utime(left, (1, 1))
    cache.put(ANN, KEY, "y" * 300)
    assert files(folder) != [left], "the next sweep takes what was left"
    assert len(files(folder)) == 1

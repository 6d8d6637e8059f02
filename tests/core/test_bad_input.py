"""Bad input over whole stores: a typed error or a quarantined item with line and reason; the rest goes through."""

import json
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.forks import together
from support.stores import open_store

from mindmem.core.errors import Conflict, CorruptStore, InvalidInput, MindMemError, StoreUnavailable
from mindmem.core.ingest.inbox.batches import Source
from mindmem.core.ingest.inbox.deliver import deliver
from mindmem.core.ingest.inbox.files import InboxFile, find_files
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.ingest.inbox.reading import Reading
from mindmem.core.ledger.sql import sqlite_url
from mindmem.core.memory import Memory
from mindmem.core.settings import Settings


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = open_store(home)
    yield opened
    opened.close()


def take_in(memory: Memory, path: Path) -> None:
    """Ingest a file or folder as the flow does, without Prefect."""
    ledger, source = memory.services.ledger, Source()
    log = InboxLog(ledger, source)
    for file in find_files(path):
        assert isinstance(file, InboxFile)
        reading = Reading(file, source, log)
        for chunk in reading.chunks():
            reading.keep(deliver(chunk.items, memory, ledger))
        reading.close(complete=True)


def active(memory: Memory, user: str = "ann") -> list[str]:
    return sorted(one.content for one in memory.list(user_id=user, page_size=1000).memories)


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "user"}, {"role": "user", "content": None}, {"role": "user", "content": 5}, {"content": "who?"},
        {"role": "boss", "content": "a"}, {"role": "user", "content": "a", "timestamp": "soon"}, 42, b"raw", None,
        {"role": "user", "content": "a", "timezone": "Mars/Base"}, {"role": "user", "content": "x" * 10_000_001},
    ],
)  # fmt: skip
def test_one_bad_message_refuses_the_add_by_its_place_and_writes_nothing(memory: Memory, wrong: object) -> None:
    with pytest.raises(InvalidInput, match=r"messages\[1\]") as caught:
        memory.add(["I like tea.", wrong], user_id="ann")  # type: ignore[list-item]  # the point of the test
    assert len(str(caught.value)) < 500
    assert (active(memory), memory.status().last_seq) == ([], 0)
    memory.add(["I like tea."], user_id="ann")
    assert active(memory) == ["I like tea."]


def test_an_idempotency_key_and_labels_are_bounded_and_512_characters_are_fine(memory: Memory) -> None:
    for name in ("idempotency_key", "run_id", "actor"):
        for value in ("k" * 513, 5, "a\x00b", "a\ud83d"):
            with pytest.raises(InvalidInput, match=name):
                memory.add("I like tea.", user_id="ann", **{name: value})  # type: ignore[arg-type]
    assert memory.add("I like tea.", user_id="ann", idempotency_key="k" * 512).memory_ids
    with pytest.raises(Conflict):
        memory.add("I like rum.", user_id="ann", idempotency_key="k" * 512)


def test_limits_thresholds_cursors_and_patches_of_another_type_are_refused(memory: Memory) -> None:
    [found] = memory.add("I like tea.", user_id="ann").memory_ids
    for call in (
        lambda: memory.search("tea", user_id="ann", score_threshold=float("nan")),
        lambda: memory.search("tea", user_id="ann", score_threshold="high"),  # type: ignore[arg-type]
        lambda: memory.changes(limit=-1),
        lambda: memory.process_pending(0),
        lambda: memory.scroll(cursor=5),  # type: ignore[arg-type]
        lambda: memory.context("tea", user_id="ann", token_budget=True),
        lambda: memory.update(found, metadata=5),  # type: ignore[arg-type]
        lambda: memory.update(found, content="x" * 10_000_001),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert memory.search("tea", user_id="ann", score_threshold=0.1).hits
    assert memory.get(found).revision == 1


@pytest.mark.slow
def test_ten_megabytes_of_one_message_are_taken_in_bounded_time_and_found_at_their_end(memory: Memory) -> None:
    text = "x1 " * 3_333_000 + "The notary is called Quintessa."
    start = time.process_time()
    memory.add(text, user_id="ann")
    assert time.process_time() - start < 60
    [hit, *_] = memory.search("notary Quintessa", user_id="ann").hits
    assert "Quintessa" in hit.memory.content


def test_an_inbox_of_good_and_broken_files_gives_what_is_good_and_names_the_rest(
    memory: Memory, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    line = '{"user_id": "ann", "role": "user", "content": %s, "timestamp": "2025-05-10 10:00", "timezone": "%s"}'
    good = [line % (json.dumps("I play the cello."), "Asia/Tokyo"), line % (json.dumps("I play the tuba."), "UTC")]
    (inbox / "a.jsonl").write_text("\n".join([good[0], '{"user_id": "ann", "role"', "", "[1]", good[1]]))
    (inbox / "b.parquet").write_bytes(b"PAR1 no parquet")
    (inbox / "c.jsonl").touch()
    take_in(memory, inbox)
    assert active(memory) == ["I play the cello.", "I play the tuba."]
    hours = {(one.content, one.observed_at.hour) for one in memory.list(user_id="ann").memories if one.observed_at}
    assert hours == {("I play the cello.", 1), ("I play the tuba.", 10)}
    items = memory.services.ledger.quarantined("default")
    assert sorted(item.line for item in items) == [0, 2, 4]
    assert all(item.reason for item in items)
    take_in(memory, inbox)
    assert [one.reinforcement_count for one in memory.list(user_id="ann").memories] == [1, 1]


@pytest.mark.slow
def test_a_file_of_many_messages_goes_through_in_bounded_memory(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    with path.open("w") as stream:
        for number in range(10_000):
            content = f"Shelf {number} holds the map of town {number}." if number % 10 == 0 else "ok!"
            stream.write(json.dumps({"user_id": f"u{number % 50}", "role": "user", "content": content}) + "\n")
        stream.write("{broken\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    take_in(memory, path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert memory.list(include_total=True).total == 1000
    assert [item.line for item in memory.services.ledger.quarantined("default")] == [10_001]
    assert grown < 300, f"{grown} MiB more"


def test_a_full_disk_is_a_typed_error_and_what_was_there_stays(home: Path) -> None:
    store = open_store(home)
    store.add("I play the cello.", user_id="ann")
    store.close()

    def fill() -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        memory = open_store(home)
        size = max(path.stat().st_size for path in home.rglob("*") if path.is_file())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, resource.RLIM_INFINITY))
        try:
            for number in range(50):
                memory.add(f"Shelf {number}: {'book ' * 2000}", user_id="ann")
        except MindMemError as error:
            return f"{error.code}: {error}"
        return "no error"

    [outcome] = together([fill])
    assert outcome.startswith("store_unavailable"), outcome
    again = open_store(home)
    assert "I play the cello." in active(again)
    assert again.verify() == ()
    again.add("I play the tuba.", user_id="ann")
    assert "I play the tuba." in active(again)
    again.close()


def test_a_home_that_cannot_be_made_or_is_a_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for wrong in (tmp_path / "file", tmp_path / "file" / "inner"):
        with pytest.raises(StoreUnavailable, match="MINDMEM_HOME"):
            open_store(wrong)
    open_store(tmp_path / "folder").close()


@pytest.mark.parametrize(("variable", "said"), [("MINDMEM_HOME", "empty"), ("MINDMEM_PROJECT_ID", "empty")])
def test_an_empty_setting_is_refused_by_name(variable: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"{variable}.*{said}"):
        Settings.load({variable: ""})


def test_tables_of_an_unknown_scheme_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'ftp'; known: file, s3"):
        open_store(tmp_path / "home", tables_uri="ftp://example.org/tables")


def test_tables_that_lie_elsewhere_are_pointed_at_by_the_message(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "ledger.db")
    store = open_store(tmp_path / "one", url)
    store.add("I play the cello.", user_id="ann")
    store.fold()
    store.close()
    with pytest.raises(CorruptStore, match="MINDMEM_STORE__TABLES_URI"):
        open_store(tmp_path / "other", url)


def test_garbage_in_the_ledgers_place_names_the_command_that_makes_it_anew(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "ledger.db").write_bytes(bytes(range(256)) * 32)
    with pytest.raises(StoreUnavailable, match="mindmem doctor --rebuild-ledger"):
        open_store(home)

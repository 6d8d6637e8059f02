"""The public API over a whole store: lifecycle, scopes, time travel, undo, repeated and refused adds."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.stores import open_store

from mindmem.core.async_memory import AsyncMemory
from mindmem.core.errors import (
    Conflict,
    CorruptStore,
    EmbedderMismatch,
    InvalidInput,
    NotFound,
    StoreUnavailable,
)
from mindmem.core.ledger.sql import sqlite_url
from mindmem.core.memory import Memory
from mindmem.core.reason.port import Failed
from mindmem.core.services import rules_reasoner


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = open_store(home)
    yield opened
    opened.close()


def _said(memory: Memory, user: str = "ann") -> list[str]:
    return sorted(one.content for one in memory.list(user_id=user, page_size=1000).memories)


def test_a_receipt_names_what_was_written_and_it_can_be_read_at_once(memory: Memory) -> None:
    receipt = memory.add("The boiler was serviced by Hansen.", user_id="ann")
    [found] = receipt.memory_ids
    assert memory.get(found).content.startswith("The boiler")
    assert [hit.memory.memory_id for hit in memory.search("boiler", user_id="ann").hits] == [found]
    assert receipt.changes[0].counts["add"] == 1
    assert [action.memory for action in receipt.actions] == [memory.get(found)]


def test_ids_stay_the_same_through_fold_rebuild_and_restart(memory: Memory, home: Path) -> None:
    [found] = memory.add("The boiler was serviced by Hansen.", user_id="ann").memory_ids
    memory.fold()
    memory.rebuild_index()
    memory.close()
    again = open_store(home)
    assert again.get(found).memory_id == found
    assert again.verify() == ()
    again.close()


def test_the_same_claim_said_again_reinforces_and_after_another_value_is_a_new_memory(memory: Memory) -> None:
    [first] = memory.add("I live in Berlin.", user_id="ann").memory_ids
    memory.add("I live in Berlin.", user_id="ann")
    assert memory.get(first).reinforcement_count == 2
    memory.add("I live in Paris.", user_id="ann")
    memory.add("I live in Berlin.", user_id="ann")
    [active] = memory.list(user_id="ann").memories
    assert active.memory_id != first
    assert [(one.value, one.status) for one in memory.timeline(active.memory_id)] == [
        ("Berlin", "archived"),
        ("Paris", "archived"),
        ("Berlin", "active"),
    ]


def test_a_repeated_key_writes_nothing_and_answers_with_the_first_receipt(memory: Memory) -> None:
    first = memory.add("I have two cats.", user_id="ann", idempotency_key="k1")
    again = memory.add("I have two cats.", user_id="ann", idempotency_key="k1")
    assert again.repeated
    assert again.memory_ids == first.memory_ids
    assert memory.get(first.memory_ids[0]).reinforcement_count == 1
    with pytest.raises(Conflict, match="other messages"):
        memory.add("I have three cats.", user_id="ann", idempotency_key="k1")


def test_a_session_brought_again_with_more_adds_only_what_is_new(memory: Memory) -> None:
    said = [
        {"role": "user", "content": "I play the cello.", "timestamp": "2026-01-05T10:00:00Z"},
        {"role": "user", "content": "I grew up in Ghent.", "timestamp": "2026-01-05T10:01:00Z"},
    ]
    memory.add(said, user_id="ann", session_id="s")
    again = memory.add(said, user_id="ann", session_id="s")
    assert again.repeated
    more = memory.add(
        [*said, {"role": "user", "content": "My bike is green.", "timestamp": "2026-01-05T10:02:00Z"}],
        user_id="ann",
        session_id="s",
    )
    assert more.counts["messages"] == 1
    assert all(one.reinforcement_count == 1 for one in memory.list(user_id="ann").memories)


def test_without_any_place_the_same_words_are_a_new_utterance(memory: Memory) -> None:
    [first] = memory.add("I play the cello.", user_id="ann").memory_ids
    assert not memory.add("I play the cello.", user_id="ann").repeated
    assert memory.get(first).reinforcement_count == 2


def test_update_writes_a_revision_and_delete_leaves_history(memory: Memory) -> None:
    [found] = memory.add("I live in Rome.", user_id="ann").memory_ids
    memory.update(found, content="I live in Rome, near the river.", metadata={"checked": True})
    memory.update(found, metadata={"checked": None, "by": "me"})
    memory.delete(found)
    assert [one.revision for one in memory.history(found)] == [1, 2, 3, 4]
    assert memory.get(found).metadata == {"by": "me"}
    assert memory.search("Rome", user_id="ann").hits == ()
    memory.update(found, status="active")
    assert memory.search("river", user_id="ann").hits


def test_update_refuses_what_another_active_memory_says(memory: Memory) -> None:
    [first] = memory.add("My bike is green.", user_id="ann").memory_ids
    [second] = memory.add("The harbour opens at nine.", user_id="ann").memory_ids
    with pytest.raises(Conflict, match=first):
        memory.update(second, content="My bike is green.")
    with pytest.raises(InvalidInput, match="Nothing to update"):
        memory.update(second)
    with pytest.raises(NotFound):
        memory.update("mem_none", content="x")


@pytest.mark.parametrize("user", ["a:b", "a/b", "🦊", "a b'\"; drop table", "АНЯ", "a%_b"])
def test_ids_of_any_characters_keep_to_themselves(memory: Memory, user: str) -> None:
    memory.add("I play the cello.", user_id=user)
    memory.add("I play the tuba.", user_id="a")
    assert _said(memory, user) == ["I play the cello."]
    assert memory.delete_all(user_id=user).counts["archive"] == 1
    assert _said(memory, "a") == ["I play the tuba."]


def test_projects_see_nothing_of_each_other(home: Path) -> None:
    one, other = open_store(home), open_store(home)
    other.services.settings = other.services.settings.model_copy(update={"project_id": "other"})
    [found] = one.add("I play the cello.", user_id="ann").memory_ids
    assert other.search("cello").hits == ()
    assert other.list(user_id="ann").memories == ()
    with pytest.raises(NotFound):
        other.get(found)
    with pytest.raises(NotFound):
        other.delete(found)
    with pytest.raises(NotFound):
        other.undo(one.changes()[0].change_id)
    one.close()
    other.close()


def test_delete_all_takes_every_row_of_that_scope_only(memory: Memory) -> None:
    lines = [
        {"role": "user", "content": f"Shelf {number} holds the book about topic {number}."} for number in range(1001)
    ]
    memory.add(lines, user_id="ann")
    memory.add("I play the tuba.", user_id="ben")
    assert memory.list(user_id="ann", include_total=True).total == 1001
    assert memory.delete_all(user_id="ann").counts["archive"] == 1001
    assert memory.list(user_id="ann").memories == ()
    assert _said(memory, "ben") == ["I play the tuba."]


def test_scrolling_sees_each_memory_once_while_others_are_added(memory: Memory) -> None:
    for number in range(7):
        memory.add(f"Shelf {number} holds a map.", user_id="ann")
    seen: list[str] = []
    cursor = None
    while True:
        page = memory.scroll(user_id="ann", limit=2, cursor=cursor)
        seen += [one.content for one in page.memories]
        memory.add(f"New note {len(seen)} about the harbour.", user_id="ann")
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(text for text in seen if text.startswith("Shelf")) == [f"Shelf {n} holds a map." for n in range(7)]
    assert len(seen) == len(set(seen))


def test_as_of_tells_what_was_true_then(memory: Memory) -> None:
    def at(day: int, content: str) -> None:
        message = {"role": "user", "content": content, "timestamp": f"2025-06-{day:02d}T12:00:00Z"}
        memory.add(message, user_id="ann")

    at(1, "I live in Oslo.")
    at(10, "I live in Rome.")
    [now] = memory.search("Where do I live?", user_id="ann").hits
    assert now.memory.value == "Rome"
    [then] = memory.search("Where do I live?", user_id="ann", as_of=datetime(2025, 6, 5, tzinfo=UTC)).hits
    assert then.memory.value == "Oslo"
    assert memory.search("Where do I live?", user_id="ann", as_of=datetime(2025, 5, 1, tzinfo=UTC)).hits == ()
    with pytest.raises(InvalidInput, match="time zone"):
        memory.search("x", user_id="ann", as_of=datetime(2025, 6, 5))  # noqa: DTZ001 (naive on purpose)


def test_known_at_tells_what_the_store_knew_then(memory: Memory) -> None:
    first = memory.add("I live in Oslo.", user_id="ann").changes[0]
    second = memory.add("I live in Rome.", user_id="ann").changes[0]
    before = second.recorded_at - timedelta(microseconds=1)
    [then] = memory.search("Where do I live?", user_id="ann", known_at=before).hits
    assert (then.memory.value, then.memory.revision) == ("Oslo", 1)
    assert first.recorded_at < second.recorded_at
    [now] = memory.search("Where do I live?", user_id="ann", known_at=second.recorded_at).hits
    assert now.memory.value == "Rome"


def test_an_ended_validity_is_not_found_and_is_swept(memory: Memory) -> None:
    words = "My parking permit is valid until 5 January 2026."
    message = {"role": "user", "content": words, "timestamp": "2025-12-01T09:00:00Z"}
    [found] = memory.add(message, user_id="ann").memory_ids
    assert memory.get(found).valid_to is not None
    assert memory.search("parking permit", user_id="ann").hits == ()
    assert memory.search("parking permit", user_id="ann", as_of=datetime(2025, 12, 24, tzinfo=UTC)).hits
    assert memory.maintain().expired == 1
    assert memory.get(found).status == "archived"


def test_undo_takes_an_update_back_and_cascade_what_came_after(memory: Memory) -> None:
    memory.add("I live in Oslo.", user_id="ann")
    before = _said(memory)
    update = memory.add("I live in Rome.", user_id="ann").changes[0]
    [active] = memory.list(user_id="ann").memories
    memory.update(active.memory_id, content="I live in Rome, by the river.")
    undone = memory.undo(update.change_id, cascade=True)
    assert undone.undoes == update.change_id
    assert _said(memory) == before
    assert [hit.memory.value for hit in memory.search("Where do I live?", user_id="ann").hits] == ["Oslo"]


def test_undo_refuses_a_change_whose_only_memory_was_changed_again(memory: Memory) -> None:
    added = memory.add("My bike is green.", user_id="ann")
    memory.update(added.memory_ids[0], content="My bike is teal.")
    with pytest.raises(Conflict, match=added.memory_ids[0]):
        memory.undo(added.changes[0].change_id)
    assert _said(memory) == ["My bike is teal."]


def test_undo_of_what_was_taken_back_already_says_so(memory: Memory) -> None:
    change = memory.add("I live in Rome.", user_id="ann").changes[0]
    undone = memory.undo(change.change_id)
    with pytest.raises(Conflict, match=f"taken back already, by {undone.change_id}"):
        memory.undo(change.change_id)
    memory.undo(undone.change_id)
    [found] = memory.list(user_id="ann").memories
    memory.update(found.memory_id, content="I live in Rome, near the river.")
    with pytest.raises(Conflict, match="changed again since"):
        memory.undo(change.change_id)


def test_undo_is_whole_or_refused_with_what_is_in_its_way(memory: Memory) -> None:
    memory.add("I live in Oslo.", user_id="ann")
    moved = memory.add("I live in Bergen.", user_id="ann").changes[0]
    [active] = memory.list(user_id="ann").memories
    later = memory.update(active.memory_id, metadata={"checked": True})
    with pytest.raises(Conflict, match=f"{active.memory_id}; by {later.change_id}"):
        memory.undo(moved.change_id)
    assert _said(memory) == ["I live in Bergen."]
    memory.undo(moved.change_id, cascade=True)
    assert _said(memory) == ["I live in Oslo."]


def test_cascade_also_takes_back_what_is_in_the_way_of_later_changes(memory: Memory) -> None:
    first = memory.add("My bike is green.", user_id="ann")
    memory.add("I have two cats.", user_id="ann")
    memory.delete_all(user_id="ann")
    [cats] = [one for one in memory.list(user_id="ann", filters={"status": "archived"}).memories if "cats" in one.value]
    memory.update(cats.memory_id, status="active")
    memory.undo(first.changes[0].change_id, cascade=True)
    assert _said(memory) == ["I have two cats."]


def test_a_cascade_is_one_change_that_can_be_taken_back_itself(memory: Memory) -> None:
    memory.add("I live in Oslo.", user_id="ann")
    moved = memory.add(["I live in Bergen.", "I have two cats."], user_id="ann").changes[0]
    memory.add("I live in Rome.", user_id="ann")
    [cats] = [one for one in memory.list(user_id="ann").memories if "cats" in one.content]
    memory.update(cats.memory_id, content="I have two old cats.")
    before, status = _said(memory), memory.status()
    undone = memory.undo(moved.change_id, cascade=True)
    assert _said(memory) == ["I live in Oslo."]
    assert undone.seq == status.last_seq + 1 == memory.status().last_seq
    assert "after it of" in undone.reason
    assert memory.verify() == ()
    memory.undo(undone.change_id)
    assert _said(memory) == before
    assert memory.verify() == ()


def test_undo_of_a_change_of_many_memories_brings_all_of_them_back(memory: Memory) -> None:
    plants = [f"My plant number {number} is a fern." for number in range(60)]
    memory.add([{"role": "user", "content": words} for words in plants], user_id="ann")
    before = _said(memory)
    gone = memory.delete_all(user_id="ann")
    assert gone.counts["archive"] == len(before) > 1
    memory.undo(gone.change_id)
    assert _said(memory) == before


SAYINGS = (
    "I live in Oslo.", "I live in Rome.", "I have 2 cats.", "I love jazz.", "I hate jazz.", "My bike is green.",
    "I work at Initech.", "I just joined Globex.",
)  # fmt: skip


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(SAYINGS), min_size=1, max_size=6))
def test_undoing_the_last_change_restores_the_active_set(
    tmp_path_factory: pytest.TempPathFactory, said: list[str]
) -> None:
    memory = open_store(tmp_path_factory.mktemp("undo"))

    def state() -> list[tuple[str, str, int]]:
        rows = memory.list(user_id="ann", page_size=100).memories
        return sorted((one.memory_id, one.content, one.reinforcement_count) for one in rows)

    states = [state()]
    changes = []
    for text in said:
        changes.append(memory.add(text, user_id="ann").changes[0].change_id)
        states.append(state())
    for change_id in reversed(changes):
        assert state() == states.pop()
        memory.undo(change_id)
    assert state() == states.pop() == []
    assert memory.verify() == ()
    memory.close()


def test_a_failed_extraction_writes_nothing_and_stays_pending(memory: Memory) -> None:
    class Broken:
        async def extract(self, envelopes: object) -> list[Failed]:
            return [Failed("the model is away", transient=True)]

    whole = memory.services.reasoner
    memory.services.reasoner = replace(whole, extract=Broken())
    memory.enqueue("I play the cello.", user_id="ann")
    assert memory.process_pending() == ()
    assert memory.status().pending == 1
    assert memory.list(user_id="ann").memories == ()
    with pytest.raises(Exception, match="the model is away"):
        memory.add("I play the cello.", user_id="ann")
    assert memory.status().last_seq == 0
    memory.services.reasoner = whole


def test_a_queued_add_that_can_never_work_is_set_aside_with_its_words(memory: Memory) -> None:
    class Broken:
        async def extract(self, envelopes: object) -> list[Failed]:
            return [Failed("not a dialogue", transient=False, raw="???")]

    memory.services.reasoner = replace(rules_reasoner(), extract=Broken())
    memory.enqueue("I play the cello.", user_id="ann")
    [receipt] = memory.process_pending()
    kept = {item.quarantine_id: item for item in memory.services.ledger.quarantined("default")}
    item, reply = (kept.pop(quarantine_id) for quarantine_id in receipt.quarantined)
    assert kept == {}
    assert "I play the cello." in item.raw
    assert "not a dialogue" in item.reason
    assert reply.raw == "???"
    assert memory.status().pending == 0


def test_many_small_windows_give_the_same_memories_as_one_large_one(tmp_path: Path) -> None:
    lines = [
        {"role": "user", "name": "Ann", "content": f"I live in {city}.", "timestamp": f"2026-01-{day:02d}T10:00:00Z"}
        for day, city in enumerate(["Oslo", "Rome", "Oslo", "Bergen", "Ghent", "Turin"], start=1)
    ]
    states = []
    for tokens, windows in ((16, 3), (1_000, 1)):
        memory = open_store(tmp_path / f"{tokens}")
        whole = memory.services.settings
        narrow = whole.ingest.model_copy(update={"soft_tokens": tokens, "hard_tokens": 2 * tokens})
        memory.services.settings = whole.model_copy(update={"ingest": narrow})
        receipt = memory.add(lines, user_id="ann", session_id="s")
        assert receipt.counts["windows"] == windows
        [active] = memory.list(user_id="ann").memories
        states.append(
            [(one.memory_id, one.value, one.status, one.valid_to) for one in memory.timeline(active.memory_id)]
        )
        memory.close()
    assert states[0] == states[1]
    assert [value for _, value, *_ in states[0]] == ["Oslo", "Rome", "Oslo", "Bergen", "Ghent", "Turin"]


def test_the_async_twin_does_the_same_from_several_tasks(home: Path) -> None:
    async def main() -> tuple[int, bool]:
        memory = AsyncMemory(services=open_store(home).services)
        await asyncio.gather(*(memory.add(f"Shelf {n} holds a map of Ghent.", user_id="ann") for n in range(8)))
        page = await memory.list(user_id="ann", include_total=True)
        found = await memory.search("map of Ghent", user_id="ann")
        await memory.close()
        return page.total or 0, bool(found.hits)

    assert asyncio.run(main()) == (8, True)


def test_the_async_twin_has_every_method_of_the_store() -> None:
    methods = {name for name, value in vars(Memory).items() if callable(value) and not name.startswith("_")}
    assert methods == {name for name, value in vars(AsyncMemory).items() if callable(value) and name[0] != "_"}


def test_an_argument_that_no_scope_has_is_refused_by_name(memory: Memory) -> None:
    calls: list[Callable[..., object]] = [memory.add, memory.search, memory.delete_all]
    for call, text in zip(calls, (["Hello"], ["Hello"], []), strict=True):
        with pytest.raises(TypeError, match=r"unexpected argument 'team_id'; .* app_id, agent_id, session_id"):
            call(*text, user_id="ann", team_id="red")
    with pytest.raises(TypeError, match="unexpected argument 'project_id'"):
        calls[1]("Hello", user_id="ann", project_id="other")


def test_a_lost_index_is_built_anew_from_the_tables(memory: Memory, home: Path) -> None:
    memory.add("I play the cello.", user_id="ann")
    memory.fold()
    memory.close()
    for file in (home / "index").iterdir():
        file.unlink()
    again = open_store(home)
    assert [hit.memory.value for hit in again.search("cello", user_id="ann").hits] == ["the cello"]
    assert again.verify() == ()
    again.close()


def test_another_embedder_is_refused_until_everything_is_embedded_again(memory: Memory, home: Path) -> None:
    memory.add("I play the cello.", user_id="ann")
    memory.close()
    with pytest.raises(EmbedderMismatch, match="mindmem reembed"):
        open_store(home, version="2")
    replacing = open_store(home, version="2", any_index=True)
    replacing.reembed()
    replacing.close()
    again = open_store(home, version="2")
    [hit] = again.search("cello", user_id="ann").hits
    assert hit.explanation["dense"] > 0
    assert again.verify() == ()
    again.close()


def test_machines_that_share_ledger_and_tables_each_have_their_own_index(home: Path, tmp_path: Path) -> None:
    shared = {"ledger_url": sqlite_url(tmp_path / "ledger.db"), "tables_uri": str(tmp_path / "tables")}
    one, other = (open_store(home / name, **shared) for name in ("one", "other"))
    one.add("I play the cello.", user_id="ann")
    one.fold()
    other.add("My bike is green.", user_id="ann")
    one.rebuild_index()
    for machine in (one, other):
        assert machine.search("cello", user_id="ann").hits[0].memory.value == "the cello"
        assert _said(machine) == ["I play the cello.", "My bike is green."]
        assert machine.verify() == ()
        machine.close()


def _damage(home: Path, *, at: int) -> None:
    """Overwrite part of the index's only file; ``at`` 0 hits what is read when it is opened."""
    [file] = (home / "index").glob("*.sqlite")
    with file.open("r+b") as handle:
        handle.seek(at)
        handle.write(bytes(range(256)) * 8 if at == 0 else b"\xff" * max(0, file.stat().st_size - at))


def test_a_damaged_index_is_refused_with_the_command_that_repairs_it(memory: Memory, home: Path) -> None:
    memory.add("I play the cello.", user_id="ann")
    memory.fold()
    memory.close()
    _damage(home, at=0)
    with pytest.raises(CorruptStore, match="run: mindmem rebuild-index"):
        open_store(home)
    repairing = open_store(home, any_index=True)
    repairing.rebuild_index()
    repairing.close()
    again = open_store(home)
    assert [hit.memory.value for hit in again.search("cello", user_id="ann").hits] == ["the cello"]
    assert again.verify() == ()
    again.close()


def test_damage_that_shows_only_on_reading_is_repaired_by_a_rebuild(memory: Memory, home: Path) -> None:
    memory.add("I play the cello.", user_id="ann")
    memory.fold()
    memory.close()
    _damage(home, at=2 * 8192)
    repairing = open_store(home, any_index=True)
    repairing.rebuild_index()
    repairing.close()
    again = open_store(home)
    assert [hit.memory.value for hit in again.search("cello", user_id="ann").hits] == ["the cello"]
    again.close()


@pytest.mark.parametrize("use", ["search", "add", "get", "status", "verify", "undo", "fold", "rebuild_index"])
def test_a_closed_memory_says_so_whatever_is_asked_of_it(memory: Memory, use: str) -> None:
    memory.add("I play the cello.", user_id="ann")
    memory.close()
    calls: dict[str, Callable[[], object]] = {
        "search": lambda: memory.search("cello", user_id="ann"),
        "add": lambda: memory.add("I have two cats.", user_id="ann"),
        "get": lambda: memory.get("mem_x"),
        "undo": lambda: memory.undo("chg_x"),
        "status": memory.status,
        "verify": memory.verify,
        "fold": memory.fold,
        "rebuild_index": memory.rebuild_index,
    }
    with pytest.raises(StoreUnavailable, match="This Memory is closed"):
        calls[use]()


def test_a_key_enqueued_twice_is_one_pending_add(memory: Memory) -> None:
    first, again = (memory.enqueue("I play the cello.", user_id="ann", idempotency_key="k") for _ in range(2))
    assert first == again
    assert memory.status().pending == 1
    assert memory.enqueue("I play the cello.", user_id="ben", idempotency_key="k") != first
    assert memory.enqueue("I play the cello.", user_id="ann") != memory.enqueue("I play the cello.", user_id="ann")


def test_a_key_enqueued_with_other_messages_is_refused_while_it_waits_and_afterwards(memory: Memory) -> None:
    def enqueue(text: str, **more: str) -> str:
        return memory.enqueue(text, user_id="ann", idempotency_key="k", **more)

    enqueue("I play the cello.")
    with pytest.raises(Conflict, match="'k' was used for other messages"):
        enqueue("I play the tuba.")
    assert memory.status().pending == 1
    memory.process_pending()
    with pytest.raises(Conflict, match="'k' was used for other messages"):
        enqueue("I play the tuba.")
    assert memory.status().pending == 0
    enqueue("I play the cello.", timezone="Europe/Oslo")
    assert [receipt.repeated for receipt in memory.process_pending()] == [True]
    assert [one.value for one in memory.list(user_id="ann").memories] == ["the cello"]

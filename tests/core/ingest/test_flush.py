"""Queued adds in schema mode: taken by whole episodes, each message once; nothing is lost or waits for ever."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.dialogues import ENGLISH, read
from support.embedders import WordEmbedder
from support.scripted import WaitingExtractor, waiting

from mindmem.core import failpoints
from mindmem.core.ingest import queue
from mindmem.core.ingest.request import AddRequest
from mindmem.core.memory import Memory
from mindmem.core.reason.port import Failed
from mindmem.core.records import Receipt, Scope
from mindmem.core.reports.ingest import headline
from mindmem.core.services import open_services
from mindmem.core.settings import Settings
from mindmem.flows.direct import ingest_directly

DIALOGUE = read(ENGLISH["cat, holiday, bicycle"])
"""Fourteen turns with episodes at 5 and 10."""
TALK = [{"role": "user", "name": turn.messages[0].name, "content": turn.messages[0].content} for turn in DIALOGUE.turns]

Open = Callable[..., Any]


@contextmanager
def store(home: Path, *, reasoner: Any = None, **ingest: Any) -> Iterator[Memory]:
    settings = Settings.load({}, home=home, embedder="none", ingest={"mode": "schema", **ingest})
    services = open_services(settings, embedder=WordEmbedder("1"), reasoner=reasoner)
    with Memory(services=services) as memory:
        yield memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with store(tmp_path / "home") as opened:
        yield opened


def say(memory: Memory, messages: Sequence[dict[str, str]], *, size: int = 1, user: str = "ann", **more: Any) -> None:
    for place in range(0, len(messages), size):
        memory.enqueue(list(messages[place : place + size]), user_id=user, **more)


def stored(memory: Memory, user: str = "ann") -> list[str]:
    """The contents of all messages that were taken, in the order in which they were."""
    memory.fold()
    rows = memory.services.tables.scan("messages").collect().sort("seq", "position").to_dicts()
    return [row["content"] for row in rows if row["user_id"] == user]


def queued_adds(receipts: Sequence[Receipt]) -> list[int]:
    return [1 + len(receipt.joined) for receipt in receipts]


def test_an_episode_is_carried_out_as_one_change_once_the_next_begins(memory: Memory) -> None:
    say(memory, TALK[:5])
    assert memory.process_pending() == ()
    assert stored(memory) == []
    say(memory, TALK[5:])
    receipts = memory.process_pending()
    assert queued_adds(receipts) == [5, 5]
    assert [len(receipt.changes) for receipt in receipts] == [1, 1]
    assert stored(memory) == [turn["content"] for turn in TALK[:10]]
    assert memory.process_pending() == ()
    assert memory.status().pending == 4


def test_the_end_of_a_session_alone_ends_no_episode(memory: Memory) -> None:
    for place, said in enumerate(TALK):
        memory.enqueue([said], user_id="ann", session_id="first" if place < 3 else "second")
    [first, second] = memory.process_pending()
    assert queued_adds([first, second]) == [5, 5]
    memory.fold()
    rows = memory.services.tables.scan("messages").filter(change_id=first.changes[0].change_id).collect()
    assert sorted(rows["session_id"].to_list()) == ["first"] * 3 + ["second"] * 2


def test_what_waits_is_counted_and_not_found_yet(memory: Memory) -> None:
    say(memory, [{"role": "user", "name": "Ann", "content": "I live in Oslo."}])
    status = memory.status()
    assert (status.pending, status.buffered) == (1, 1)
    assert any("1 messages of 1 queued adds wait" in note for note in status.notes)
    assert memory.search("Where does Ann live?", user_id="ann").hits == ()
    [receipt] = memory.flush(user_id="ann")
    assert receipt.changes
    assert [hit.memory.value for hit in memory.search("Where does Ann live?", user_id="ann").hits] == ["Oslo"]
    assert (memory.status().pending, memory.status().buffered) == (0, 0)


def test_two_messages_are_taken_when_nothing_follows_for_a_while(tmp_path: Path) -> None:
    with store(tmp_path / "home", episode_minutes=0.005) as memory:
        say(memory, TALK[:2], size=2)
        assert memory.process_pending() == ()
        time.sleep(0.35)
        assert queued_adds(memory.process_pending()) == [1]
        assert stored(memory) == [turn["content"] for turn in TALK[:2]]


@pytest.mark.parametrize("limit", [{"episode_turns": 4}, {"episode_messages": 4}])
def test_an_episode_is_taken_when_it_holds_as_much_as_it_may(tmp_path: Path, limit: dict[str, int]) -> None:
    lines = [{"role": "user", "name": "AB"[n % 2], "content": f"The tomatoes grew {n} leaves."} for n in range(6)]
    with store(tmp_path / "home", **limit) as memory:
        say(memory, lines[:3])
        assert memory.process_pending() == ()
        say(memory, lines[3:])
        assert queued_adds(memory.process_pending()) == [4]
        assert memory.status().buffered == 2


@pytest.mark.parametrize("soft", [16, 26_000])
def test_an_add_is_extracted_in_windows_that_follow_its_episodes(tmp_path: Path, soft: int) -> None:
    extractor = WaitingExtractor()
    reasoner = replace(waiting(extractor), recalls=False)
    with store(tmp_path / "home", reasoner=reasoner, soft_tokens=soft) as memory:
        memory.add(TALK, user_id="ann")
    [envelopes] = extractor.calls
    sizes = [len(envelope.window.evidence) for envelope in envelopes]
    assert sizes == ([5, 5, 4] if soft == 16 else [14])


def test_users_and_agents_have_buffers_of_their_own(memory: Memory) -> None:
    for place, said in enumerate(TALK):
        memory.enqueue([said], user_id="ann", agent_id="coder" if place % 2 else None)
        memory.enqueue([said], user_id="ben")
    memory.process_pending()
    memory.flush(user_id="ann", agent_id="coder")
    assert sorted(stored(memory)) == sorted(turn["content"] for turn in TALK[1::2])
    assert stored(memory, "ben") == [turn["content"] for turn in TALK[:10]]
    memory.flush()
    assert sorted(stored(memory)) == sorted(turn["content"] for turn in TALK)
    assert stored(memory, "ben") == [turn["content"] for turn in TALK]
    assert memory.status().pending == 0


def test_every_key_of_an_episode_is_known_afterwards(memory: Memory) -> None:
    for place, said in enumerate(TALK[:4]):
        memory.enqueue([said], user_id="ann", idempotency_key=f"k{place}")
    [receipt] = memory.flush(user_id="ann")
    before = stored(memory)
    for place, said in enumerate(TALK[:4]):
        again = memory.add([said], user_id="ann", idempotency_key=f"k{place}")
        assert again.repeated
        assert again.changes == receipt.changes
        memory.enqueue([said], user_id="ann", idempotency_key=f"k{place}")
    assert all(one.repeated for one in memory.flush(user_id="ann"))
    assert stored(memory) == before
    assert memory.status().pending == 0
    with pytest.raises(Exception, match="used for other messages"):
        memory.enqueue([TALK[7]], user_id="ann", idempotency_key="k2")


def test_what_was_added_in_the_meantime_is_not_taken_twice(memory: Memory) -> None:
    placed = [{**said, "session_id": "s", "position": at} for at, said in enumerate(TALK[:4])]
    for said in placed:
        memory.enqueue([said], user_id="ann")
    memory.add(placed[1:3], user_id="ann")
    memory.flush(user_id="ann")
    assert sorted(stored(memory)) == sorted(turn["content"] for turn in TALK[:4])
    assert memory.status().pending == 0


@pytest.mark.parametrize("which", range(3))
def test_what_is_added_while_its_episode_is_judged_is_not_taken_twice(memory: Memory, which: int) -> None:
    for place, said in enumerate(TALK[:3]):
        memory.enqueue([said], user_id="ann", idempotency_key=f"k{place}")
    reached: list[str] = []

    def hook(name: str) -> None:
        if name == "ingest.extracted" and not reached:
            reached.append(name)
            thread = Thread(target=lambda: memory.add([TALK[which]], user_id="ann", idempotency_key=f"k{which}"))
            thread.start()
            thread.join()

    failpoints.arm(hook)
    try:
        memory.flush(user_id="ann")
    finally:
        failpoints.arm(None)
    assert reached
    assert sorted(stored(memory)) == sorted(turn["content"] for turn in TALK[:3])
    assert memory.status().pending == 0


def test_blank_messages_leave_the_queue_too(memory: Memory) -> None:
    say(memory, [{"role": "user", "content": " "}, TALK[0], {"role": "user", "content": "\n"}])
    say(memory, [{"role": "user", "content": " "}], user="ben")
    memory.flush()
    assert stored(memory) == [TALK[0]["content"]]
    assert memory.status().pending == 0


def test_adds_with_other_metadata_keep_theirs(memory: Memory) -> None:
    says = ["I live in Oslo.", "I have two cats.", "I play the cello."]
    for place, said in enumerate(says):
        memory.enqueue(
            [{"role": "user", "name": "Ann", "content": said}], user_id="ann", metadata={"source": place // 2}
        )
    assert queued_adds(memory.flush(user_id="ann")) == [2, 1]
    sources = {
        word: {one.metadata["source"] for one in memory.list(user_id="ann").memories if word in one.content}
        for word in ("Oslo", "cats", "cello")
    }
    assert sources == {"Oslo": {0}, "cats": {0}, "cello": {1}}


def test_one_that_can_t_be_done_sets_aside_itself_only(tmp_path: Path) -> None:
    def script(envelope: Any) -> Any:
        said = [message.content for message in envelope.window.evidence]
        return Failed("unreadable", transient=False, raw="?") if any("poison" in one for one in said) else None

    reasoner = replace(waiting(WaitingExtractor(script=script)), recalls=False)
    with store(tmp_path / "home", reasoner=reasoner) as memory:
        say(memory, [TALK[0], {"role": "user", "content": "poison"}, TALK[1]])
        receipts = memory.flush(user_id="ann")
        assert stored(memory) == [TALK[0]["content"], TALK[1]["content"]]
        assert sum(bool(receipt.quarantined) for receipt in receipts) == 1
        assert memory.status().pending == 0
        assert memory.status().quarantined >= 1


def test_one_that_failed_for_now_is_not_overtaken(tmp_path: Path) -> None:
    away = [True]

    def script(_: Any) -> Any:
        return Failed("away", transient=True) if away[0] else None

    reasoner = replace(waiting(WaitingExtractor(script=script)), recalls=False)
    with store(tmp_path / "home", reasoner=reasoner) as memory:
        say(memory, TALK[:3])
        assert memory.flush(user_id="ann") == ()
        away[0] = False
        say(memory, TALK[3:])
        assert memory.process_pending() == ()
        assert memory.status().buffered == 0
        ledger = memory.services.ledger
        for add in [f"{one.add_id}" for one in _rows(memory)]:
            ledger.requeue(add, "now")
        assert queued_adds(memory.process_pending()) == [5, 5]
        assert stored(memory) == [turn["content"] for turn in TALK[:10]]


def _rows(memory: Memory) -> Any:
    from sqlalchemy import select

    from mindmem.core.ledger import schema

    with memory.services.ledger._store.read() as connection:  # type: ignore[attr-defined]  # no port tells of delayed adds
        return connection.execute(select(schema.pending).where(schema.pending.c.last_error != "")).all()


def test_three_who_append_at_once_lose_nothing(tmp_path: Path) -> None:
    """G3: parallel appends, and two workers beside them."""
    home = tmp_path / "home"
    names = ("one", "two", "three")
    with store(home) as memory, store(home) as beside:

        def append(name: str) -> None:
            for number in range(12):
                said = f"The {name} boat has {number} oars."
                memory.enqueue([{"role": "user", "name": name, "content": said}], user_id="ann")

        def work(worker: Memory) -> None:
            for _ in range(6):
                worker.process_pending()
                time.sleep(0.02)

        threads = [Thread(target=append, args=(name,)) for name in names]
        threads += [Thread(target=work, args=(worker,)) for worker in (memory, beside)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        memory.flush(user_id="ann")
        taken = stored(memory)
        assert len(taken) == len(set(taken)) == 36
        for name in names:
            mine = [said for said in taken if f" {name} " in said]
            assert mine == [f"The {name} boat has {number} oars." for number in range(12)]


def test_a_store_that_turns_back_to_vanilla_takes_what_waits(tmp_path: Path) -> None:
    with store(tmp_path / "home") as memory:
        say(memory, TALK[:3])
        assert memory.process_pending() == ()
    with store(tmp_path / "home", mode="vanilla") as memory:
        assert memory.status().buffered == 0
        assert len(memory.process_pending()) == 3
        assert stored(memory) == [turn["content"] for turn in TALK[:3]]


def test_vanilla_flush_takes_one_user_s_adds_alone(tmp_path: Path) -> None:
    with store(tmp_path / "home", mode="vanilla") as memory:
        say(memory, TALK[:3])
        say(memory, TALK[:2], user="ben")
        assert queued_adds(memory.flush(user_id="ben")) == [1, 1]
        assert memory.status().pending == 3


def test_looking_at_what_waits_writes_nothing(memory: Memory) -> None:
    say(memory, TALK[:3])
    before = [(row.attempts, row.due_at) for row in _all(memory)]
    memory.process_pending()
    assert [(row.attempts, row.due_at) for row in _all(memory)] == before


def _all(memory: Memory) -> Any:
    from sqlalchemy import select

    from mindmem.core.ledger import schema

    with memory.services.ledger._store.read() as connection:  # type: ignore[attr-defined]  # to see that it is untouched
        return connection.execute(select(schema.pending)).all()


def test_a_long_queue_is_taken_in_parts_and_up_to_a_limit(memory: Memory) -> None:
    lines = [{"role": "user", "name": "AB"[n % 2], "content": f"Line {n}."} for n in range(60)]
    say(memory, lines)
    first = memory.process_pending(limit=10)
    assert queued_adds(first) == [15]
    memory.flush(user_id="ann")
    assert stored(memory) == [line["content"] for line in lines]


def test_a_queued_payload_that_is_no_longer_understood_goes_to_quarantine_alone(memory: Memory) -> None:
    say(memory, TALK[:2])
    broken = {
        "messages": [{"role": "nobody", "content": "x"}],
        "metadata": {},
        "key": "",
        "timezone": None,
        "actor": "",
    }
    memory.services.ledger.enqueue("add_broken", Scope.of("ann"), json.dumps(broken))
    say(memory, TALK[2:4])
    memory.flush(user_id="ann")
    assert stored(memory) == [turn["content"] for turn in TALK[:4]]
    assert (memory.status().pending, memory.status().quarantined) == (0, 1)


def test_a_run_says_what_it_flushed_and_what_still_waits(tmp_path: Path) -> None:
    with store(tmp_path / "home") as memory:
        say(memory, TALK)
        settings = memory.services.settings
    first = ingest_directly(settings, None)
    assert (first.queued, first.episodes, first.pending, first.buffered, first.failed) == (10, 2, 0, 4, False)
    assert "10 queued adds in 2 episodes" in headline(first)
    assert "4 messages wait for the end of their episode" in headline(first)
    later = settings.model_copy(update={"ingest": settings.ingest.model_copy(update={"episode_minutes": 0.0001})})
    second = ingest_directly(later, None)
    assert (second.queued, second.episodes, second.buffered) == (4, 1, 0)


def test_a_limit_of_nothing_takes_nothing(memory: Memory) -> None:
    say(memory, TALK)
    assert asyncio.run(queue.process_pending(memory.services, 0)) == []
    assert isinstance(AddRequest(messages="x", scope=Scope.of("ann")).joined, tuple)

"""A model that fails in every way it can: nothing is lost, nothing doubled, and what it wrote instead is kept."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from support.careful_model import HEALED, USERS, cut, failing, inbox_of_lockers, lockers, model_store
from support.model_server import (
    ModelServer,
    cut_body,
    cut_headers,
    empty,
    html,
    huge,
    left_open,
    refusal,
    reply,
    slow,
    status,
)  # fmt: skip

from mindmem.core.ingest.inbox.batches import Batch, Rejected
from mindmem.core.ingest.inbox.deliver import Delivered, Undelivered, deliver
from mindmem.core.memory import Memory

pytestmark = pytest.mark.faults

FAULTS = (
    *HEALED,
    cut,
    lambda _: reply({"memories": "none", "decisions": 7}, name="wrong_schema"),
    lambda _: reply('{"memories": [{"type": "fact", "content": "half \\ud83d', name="broken_json"),
    lambda _: empty(),
    lambda _: refusal(),
    lambda _: huge(300_000),
    lambda answer: slow(3.0, reply(answer)),
    lambda answer: cut_body(reply(answer)),
    lambda _: cut_headers(),
    lambda answer: left_open(reply(answer)),
    lambda _: status(429),
    lambda _: status(429, retry_after=0.02),
    lambda _: status(500),
    lambda _: status(503),
    lambda _: html(),
)


def taken(memory: Memory, items: Iterable[Batch | Rejected], run_id: str = "r") -> Delivered:
    return deliver(items, memory, memory.services.ledger, run_id=run_id)


def values(memory: Memory) -> list[int]:
    found = [
        int(one.value)
        for user in range(USERS)
        for one in memory.list(user_id=f"user{user}", page_size=200).memories
        if one.property_name == "locker"
    ]
    return sorted(found)


def test_two_hundred_batches_with_thirty_percent_faults_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    items = inbox_of_lockers(tmp_path / "inbox", 200)
    runs, raws = 0, dict[str, str]()
    with ModelServer(failing(lockers, FAULTS, 0.3)) as server:
        memory = model_store(tmp_path / "home", server.url, concurrency=16, timeout=1.0, retries=2)
        ledger = memory.services.ledger
        done = None
        while done is None:
            runs += 1
            assert runs < 12
            with suppress(Undelivered):
                done = taken(memory, items, f"run{runs}")
            raws.update({
                item.quarantine_id: item.raw
                for item in ledger.quarantined("default", limit=1000)
                if item.reason.startswith("extraction_failed")
            })  # fmt: skip
        assert done.batches == 200
        assert values(memory) == list(range(200))
        assert runs > 1, "some failures were final for their run"
        calls = ledger.spent("default")
        named = Counter(server.served)
    assert {"fenced", "chatter", "lone_surrogate", "bad_item", "truncated", "wrong_schema", "broken_json", "refusal",
            "huge", "slow", "cut_body", "cut_headers", "left_open", "status_429", "status_500", "status_503", "html",
            "reply"} <= named.keys()  # fmt: skip
    open_items = ledger.quarantined("default", limit=1000)
    assert all("an item that lacks all else" in item.raw for item in open_items), "only bad items are an open matter"
    assert raws
    assert all(raws.values()), "what a model wrote instead of an answer is kept"
    assert calls.calls >= 200
    assert memory.verify() == ()
    memory.close()


def test_without_faults_one_run_asks_once_for_each_batch(tmp_path: Path) -> None:
    """The control: the same inbox and a model that makes no mistakes."""
    items = inbox_of_lockers(tmp_path / "inbox", 20)
    with ModelServer(lambda request: reply(lockers(request))) as server:
        memory = model_store(tmp_path / "home", server.url)
        assert taken(memory, items).batches == 20
        asked = Counter(request.prompt for request in server.requests)
        assert set(asked.values()) == {1}
        assert taken(memory, items, "again").repeated == 20
        assert len(server.requests) == asked.total(), "what is in memory is not asked for again"
    assert memory.status().quarantined == 0
    memory.close()

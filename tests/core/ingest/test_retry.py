"""An add in quarantine goes back into the queue, once, under its own key."""

import json
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core.errors import InvalidInput, NotFound
from mindmem.core.ingest.retry import retry
from mindmem.core.ledger.port import Quarantined
from mindmem.core.memory import Memory
from mindmem.core.records import Scope


def set_aside(memory: Memory, key: str | None = None) -> str:
    """Queue an add and put it into quarantine, as a worker does; return its id there."""
    add_id = memory.enqueue("I play the cello.", user_id="ann", idempotency_key=key)
    ledger = memory.services.ledger
    [waiting] = ledger.claim("default", 1, "test", 60.0)
    ledger.quarantine([Quarantined("q1", waiting.scope, f"queue:{add_id}", 0, "a model was away", waiting.payload)])
    ledger.drop_pending(add_id)
    return "q1"


def test_it_is_carried_out_by_the_next_worker(home: Path) -> None:
    with open_store(home) as memory:
        add_id = retry(memory.services, set_aside(memory))
        [receipt] = memory.process_pending()
        assert receipt.add_id == add_id
        assert receipt.memory_ids
        assert memory.status().quarantined == 0


def test_a_second_failure_is_seen_again(home: Path) -> None:
    with open_store(home) as memory:
        found = set_aside(memory)
        first = memory.services.ledger.quarantined("default")[0].origin
        assert f"queue:{retry(memory.services, found)}" != first


@pytest.mark.parametrize("key", [None, "lesson-1"])
def test_an_add_that_was_done_meanwhile_adds_nothing(home: Path, key: str | None) -> None:
    with open_store(home) as memory:
        found = set_aside(memory, key)
        [item] = memory.services.ledger.quarantined("default")
        memory.add(
            "I play the cello.",
            user_id="ann",
            idempotency_key=json.loads(item.raw)["key"] or item.origin.replace("queue", "queued"),
        )
        retry(memory.services, found)
        [receipt] = memory.process_pending()
        assert receipt.repeated
        assert memory.status().pending == 0


def test_what_is_no_queued_add_stays_with_what_to_do(home: Path) -> None:
    with open_store(home) as memory:
        ledger = memory.services.ledger
        ledger.quarantine([Quarantined("q2", Scope(user_id="ann"), "chat.jsonl", 3, "not JSON", "{")])
        with pytest.raises(InvalidInput, match="ingest that again"):
            retry(memory.services, "q2")
        assert memory.status().quarantined == 1
        with pytest.raises(NotFound, match="q9"):
            retry(memory.services, "q9")

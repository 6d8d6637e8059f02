"""Secrets reach no part of a store: not the queue, not names, captions or metadata, not an id."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core.ingest.normalise import check_metadata, normalise
from mindmem.core.memory import Memory
from mindmem.core.records import Scope

SESSION = Scope(user_id="ann", session_id="s1")
LINES = [
    "My password is: correct horse battery staple. I live in Oslo.",
    {"role": "user", "content": " "},
    {"role": "user", "name": "Ann (pin is 4821)", "content": "I have two cats.", "timestamp": "2024-03-05T00:30+13:00"},
    {"role": "user", "content": "", "caption": "a note: pw: Tr0ub4dor&3", "position": 7},
    {"file_name": "plan.pdf", "file_type": "application/pdf"},
]
SECRETS = ("horse", "4821", "Tr0ub4dor", "Frog-Lake", "hunter22", "Blue-Horse-9")


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = open_store(home)
    yield opened
    opened.close()


def test_the_queue_keeps_no_secret_and_gives_the_ids_of_a_direct_add(memory: Memory) -> None:
    metadata = {"note": "wifi key is Frog-Lake-77", "deep": [{"password": "hunter22"}]}
    add_id = memory.enqueue(LINES, user_id="ann", session_id="s1", metadata=metadata)
    [waiting] = memory.services.ledger.claim("default", 1, "tester", 0.0)
    assert "Oslo" in waiting.payload
    assert not [secret for secret in SECRETS if secret in waiting.payload]
    memory.services.ledger.requeue(add_id, "", 0.0)
    [queued] = memory.process_pending()
    direct = normalise(LINES, waiting.scope, zone="UTC", add_id=add_id).messages
    heard = {source.message_id for action in queued.actions for source in action.memory.sources}
    assert heard
    assert heard <= {message.message_id for message in direct}
    kept = memory.services.ledger.heads("message", [message.message_id for message in direct])
    assert set(kept) == {message.message_id for message in direct}


def test_what_was_normalised_for_the_queue_normalises_to_the_same_messages() -> None:
    first = normalise(LINES, SESSION, zone="UTC", add_id="a")
    again = normalise(list(first.given), SESSION, zone="Asia/Tokyo", add_id="a")
    assert again == first
    assert not [secret for secret in SECRETS if secret in str(first)]


def test_metadata_is_redacted_at_any_depth_and_by_its_keys() -> None:
    given = {"wifi password": "Blue-Horse-9", "list": ["pw: hunter22", {"token count": "1200", "n": 3}], "topic": "pin"}
    assert check_metadata(given) == {
        "wifi password": "[redacted password]",
        "list": ["pw: [redacted password]", {"token count": "1200", "n": 3}],
        "topic": "pin",
    }
    assert check_metadata(check_metadata(given)) == check_metadata(given)

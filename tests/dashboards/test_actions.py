"""Pages write only where the settings let them, only after asking, and only through Memory."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from support.pages import Open, settings, words

from mindmem.core.errors import StoreUnavailable
from mindmem.core.ledger.port import Quarantined
from mindmem.core.memory import Memory
from mindmem.core.records import Scope
from mindmem.dashboards.store import open_existing

WRITES = {"writes": True}


@pytest.fixture
def told(tmp_path: Path) -> tuple[Path, str]:
    """Return the home of a store with one memory, and its id."""
    with Memory(settings=settings(tmp_path)) as memory:
        [found] = memory.add("I have two cats.", user_id="ann").memory_ids
    return tmp_path, found


def click(app: AppTest, label: str) -> AppTest:
    [button] = [one for one in app.button if one.label == label]
    return button.click().run()


def status(home: Path, memory_id: str) -> tuple[str, str]:
    with Memory(settings=settings(home)) as memory:
        found = memory.get(memory_id)
    return found.status, found.content


def test_nothing_can_be_written_unless_it_is_switched_on(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    app = shown("memories", home, memory=memory_id)
    assert {one.label for one in app.button} == {"All memories"}
    assert "MINDMEM_DASHBOARD__WRITES=true" in words(app)


def test_pages_read_a_ledger_that_refuses_to_be_written(told: tuple[Path, str]) -> None:
    store = open_existing(settings(told[0]))
    with pytest.raises(StoreUnavailable, match="read-only"):
        store.ledger.set_meta("name", "value")
    assert store.ledger.last_seq() == 1
    store.close()


def test_archiving_asks_first(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    app = shown("memories", home, WRITES, memory=memory_id)
    assert "It leaves search and lists at once." in words(app)
    assert status(home, memory_id)[0] == "active"
    click(app, "Archive this memory")
    assert status(home, memory_id)[0] == "archived"


def test_correcting_asks_for_the_words_and_keeps_the_old_ones(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    app = shown("memories", home, WRITES, memory=memory_id)
    app.text_area[0].set_value("I have three cats.")
    click(app, "Save")
    assert status(home, memory_id) == ("active", "I have three cats.")


def test_a_change_is_taken_back_after_asking(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    app = shown("memories", home, WRITES, memory=memory_id)
    assert status(home, memory_id)[0] == "active"
    click(app, "Take it back")
    assert status(home, memory_id)[0] == "archived"


def test_an_input_in_quarantine_is_shown_with_its_reason_and_dismissed_after_asking(
    shown: Open, tmp_path: Path
) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        memory.services.ledger.quarantine([Quarantined("q1", Scope(user_id="ann"), "chat.jsonl", 7, "not JSON", "{")])
    app = shown("ingestion", tmp_path, WRITES)
    assert "chat.jsonl, line 7" in words(app)
    assert not [one for one in app.button if one.label == "Queue it"]
    click(app, "Dismiss it")
    with Memory(settings=settings(tmp_path)) as memory:
        assert memory.status().quarantined == 0


def test_a_queued_add_in_quarantine_is_tried_again(shown: Open, tmp_path: Path) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        add_id = memory.enqueue("I play the cello.", user_id="ann")
        ledger = memory.services.ledger
        [waiting] = ledger.claim("default", 1, "test", 60.0)
        item = Quarantined("q1", waiting.scope, f"queue:{add_id}", 0, "a model was away", waiting.payload)
        ledger.quarantine([item])
        ledger.drop_pending(add_id)
    app = click(shown("ingestion", tmp_path, WRITES), "Queue it")
    assert not app.exception
    with Memory(settings=settings(tmp_path)) as memory:
        assert (memory.status().quarantined, memory.status().pending) == (0, 1)
        [receipt] = memory.process_pending()
        assert receipt.memory_ids


def test_what_can_not_be_done_is_told_in_its_place(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    before = status(home, memory_id)
    app = shown("memories", home, WRITES, memory=memory_id)
    app.text_area[0].set_value("   ")
    app = click(app, "Save")
    assert not app.exception
    assert "That could not be done" in app.error[0].value
    assert status(home, memory_id) == before

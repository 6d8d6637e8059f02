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


def click(app: AppTest, label: str, key: str = "") -> AppTest:
    [button] = [one for one in app.button if one.label == label and (not key or one.key == key)]
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
    app = click(shown("memories", home, WRITES, memory=memory_id), "Archive")
    assert status(home, memory_id)[0] == "active"
    click(app, "Archive", "archive.yes")
    assert status(home, memory_id)[0] == "archived"


def test_correcting_asks_for_the_words_and_keeps_the_old_ones(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    app = click(shown("memories", home, WRITES, memory=memory_id), "Correct")
    app.text_area[0].set_value("I have three cats.").run()
    click(app, "Save", "correct.yes")
    assert status(home, memory_id) == ("active", "I have three cats.")


def test_a_change_is_taken_back_after_asking(shown: Open, told: tuple[Path, str]) -> None:
    home, memory_id = told
    app = click(shown("memories", home, WRITES, memory=memory_id), "Take this change back")
    assert status(home, memory_id)[0] == "active"
    click(app, "Take it back", "undo.yes")
    assert status(home, memory_id)[0] == "archived"


def test_an_input_in_quarantine_is_shown_with_its_reason_and_dismissed_after_asking(
    shown: Open, tmp_path: Path
) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        memory.services.ledger.quarantine([Quarantined("q1", Scope(user_id="ann"), "chat.jsonl", 7, "not JSON", "{")])
    app = shown("ingestion", tmp_path, WRITES)
    assert "chat.jsonl, line 7" in words(app)
    assert not [one for one in app.button if one.label == "Try again"]
    click(click(app, "Dismiss", "drop q1"), "Dismiss", "drop.yes")
    with Memory(settings=settings(tmp_path)) as memory:
        assert memory.status().quarantined == 0

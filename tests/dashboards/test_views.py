"""What pages tell of the demo's story."""

import re
from datetime import date
from pathlib import Path

import pytest
from support.pages import Open, settings, words

from mindmem.core.memory import Memory
from mindmem.core.records import Memory as Record


@pytest.fixture(scope="module")
def home_of_mara(demo: Path) -> Record:
    with Memory(settings=settings(demo)) as memory:
        found = memory.list(page_size=100).memories
    return next(one for one in found if one.entity_name == "Mara" and one.property_name == "lives_in")


def test_the_overview_counts_what_the_store_holds(shown: Open, demo: Path) -> None:
    with Memory(settings=settings(demo)) as memory:
        state = memory.status()
    told = re.sub(r"<[^>]+>", " ", words(shown("overview", demo)))
    assert re.search(rf"Active memories\s+{state.active}\s", told)
    assert re.search(r"Waiting adds\s+1\s", told)
    assert "Undo: 1 archived" in told


def test_the_overview_of_one_user_counts_that_user(shown: Open, demo: Path) -> None:
    told = words(shown("overview", demo, user="nobody"))
    assert "This user has no memories" in told


def test_a_timeline_shows_past_values_and_what_was_true_on_a_day(shown: Open, demo: Path, home_of_mara: Record) -> None:
    app = shown("timelines", demo, entity=home_of_mara.entity_id)
    [lives_in] = [one.label for one in app.expander if "lives in" in one.label]
    assert lives_in == "**lives in**: Porto · 2 versions"
    app = app.slider[0].set_value(date(2024, 3, 10)).run()
    assert "**lives in**: Lisbon · 2 versions" in [one.label for one in app.expander]


def test_timelines_quote_the_words_that_each_version_rests_on(shown: Open, demo: Path, home_of_mara: Record) -> None:
    told = words(shown("timelines", demo, entity=home_of_mara.entity_id))
    assert "<mark>I moved to Lisbon last month</mark>" in told


def test_search_finds_explains_and_renders_what_an_agent_gets(shown: Open, demo: Path) -> None:
    app = shown("search", demo, q="Where does Mara live?", user="mara")
    told = words(app)
    assert "Mara lives in Porto now, since May 1st." in told
    assert 'aria-label="lexical' in told
    assert "Porto" in app.code[0].value


def test_search_narrows_by_type_and_by_day(shown: Open, demo: Path) -> None:
    app = shown("search", demo, q="Where does Mara live?", user="mara")
    app.selectbox(key="search.kind").set_value("profile").run()
    assert "Big news" not in re.sub(r"<blockquote.*?</blockquote>", "", words(app))
    app.date_input[0].set_value(date(2024, 3, 10)).run()
    assert ">Lisbon<" not in words(app)
    assert "Lisbon" in words(app)


def test_memories_are_filtered_by_words_state_and_property(shown: Open, demo: Path) -> None:
    app = shown("memories", demo)
    assert len(app.dataframe[0].value) == 12
    app.text_input[0].set_value("locker").run()
    assert len(app.dataframe[0].value) == 4
    app.text_input[1].set_value("locker_number").run()
    assert len(app.dataframe[0].value) == 2
    app.selectbox[0].set_value("archived").run()
    assert "No memory fits" in words(app)


def test_memories_are_paged_both_ways(shown: Open, tmp_path: Path) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        for number in range(30):
            memory.add(f"I own {number} red bicycles in town number {number}.", user_id="ann")
        total = memory.list(include_total=True).total
    assert total is not None
    app = shown("memories", tmp_path)
    first = app.dataframe[0].value["memory"].tolist()
    older, newer = (next(one for one in app.button if one.label == label) for label in ("Older", "Newer"))
    assert newer.disabled
    app = older.click().run()
    second = app.dataframe[0].value["memory"].tolist()
    assert (len(first), len(second)) == (25, total - 25)
    assert not set(first) & set(second)
    app = next(one for one in app.button if one.label == "Newer").click().run()
    assert app.dataframe[0].value["memory"].tolist() == first


def test_a_memorys_page_shows_its_dialogue_with_the_source_marked(
    shown: Open, demo: Path, home_of_mara: Record
) -> None:
    told = words(shown("memories", demo, memory=home_of_mara.memory_id))
    assert "How is life by the sea?" in told
    assert "<mark>I live in Porto now, since May 1st</mark>" in told
    assert "Revision 1" in told
    assert home_of_mara.change_id in told


def test_ingestion_shows_who_waits_and_the_files_of_the_inbox(shown: Open, demo: Path) -> None:
    inbox = demo / "inbox"
    inbox.mkdir(exist_ok=True)
    (inbox / "chat.jsonl").write_text("{}\n")
    app = shown("ingestion", demo)
    assert "jonas" in words(app)
    assert "1 add, 1 message" in words(app)
    assert app.dataframe[0].value["file"].tolist() == ["chat.jsonl"]


def test_the_schema_page_shows_the_active_schema_and_differences(shown: Open, demo: Path) -> None:
    app = shown("schema", demo)
    assert "general@0" in words(app)
    app.selectbox(key="schema.before").set_value("dialogue@0").run()
    assert app.code[0].value

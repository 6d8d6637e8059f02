"""Every page of every store is shown without an exception, and content never acts."""

from html import escape
from pathlib import Path
from shutil import rmtree

import pytest
from support.pages import HOSTILE, PAGES, Open, elements, settings, words

from mindmem.core.memory import Memory
from mindmem.dashboards.page import discover

MARKDOWN = {"markdown", "caption", "title", "header", "subheader", "metric", "expandable", "tab", "button", "toggle"}


def test_the_pages_are_the_files_of_the_folder_in_their_order() -> None:
    assert tuple(discover()) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_without_a_store_each_page_says_how_to_get_one_and_makes_none(page: str, shown: Open, tmp_path: Path) -> None:
    app = shown(page, tmp_path / "nowhere")
    assert not app.exception
    assert "There is no store here yet" in words(app)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_store_is_shown_with_what_to_do(page: str, shown: Open, empty: Path) -> None:
    app = shown(page, empty)
    assert not app.exception
    assert not app.error
    assert "mm-empty" in words(app) or page == "schema"


@pytest.mark.parametrize("page", PAGES)
def test_the_demo_is_shown(page: str, shown: Open, demo: Path) -> None:
    app = shown(page, demo, q="Where does Mara live?")
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1


@pytest.mark.parametrize("page", PAGES)
def test_hostile_content_is_text_everywhere(page: str, shown: Open, hostile: Path) -> None:
    app = shown(page, hostile, {"writes": True}, q="Where do I live?")
    assert not app.exception
    for kind, said in elements(app):
        if kind == "html" and not said.startswith("<style>"):
            assert "<img" not in said
            assert "<script" not in said
        if kind in MARKDOWN:
            assert not {"<img", "**bold**", "](", ":red[", "$x$"} & set(said.split())
            assert HOSTILE not in said


def test_a_hostile_memorys_own_page_shows_its_words(shown: Open, hostile: Path) -> None:
    with Memory(settings=settings(hostile)) as memory:
        [found] = memory.list(page_size=1).memories
    app = shown("memories", hostile, memory=found.memory_id)
    assert not app.exception
    assert escape("<img src=x onerror=alert(1)>") in words(app)
    assert all(HOSTILE not in said for kind, said in elements(app) if kind in MARKDOWN)


def test_an_unknown_memory_or_entity_in_the_address_is_answered_calmly(shown: Open, demo: Path) -> None:
    assert "There is no such memory" in words(shown("memories", demo, memory="mem_nobody"))
    app = shown("timelines", demo, entity="ent_nobody")
    assert not app.exception
    assert app.selectbox[0].value


@pytest.mark.parametrize("page", ["overview", "timelines"])
def test_tables_whose_files_are_gone_are_an_error_that_says_what_to_do(page: str, shown: Open, tmp_path: Path) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        memory.add("I live in Oslo.", user_id="ann")
        memory.fold()
    rmtree(tmp_path / "tables")
    app = shown(page, tmp_path)
    assert not app.exception
    assert "mindmem doctor" in words(app)


def test_a_ledger_that_does_not_answer_is_an_error_that_says_what_to_do(shown: Open, tmp_path: Path) -> None:
    away = {"ledger_url": "postgresql+psycopg://nobody@127.0.0.1:1/nowhere"}
    app = shown("dreaming", tmp_path, store=away)
    assert not app.exception
    assert "can't be shown now" in app.error[0].value


def test_ids_in_the_address_that_nothing_has_are_answered_calmly(shown: Open, dreamt: Path) -> None:
    for page in PAGES:
        app = shown(page, dreamt, run="<b>", proposal="](x)", strategy="none", user="nobody")
        assert not app.exception
        assert not app.error


def test_a_store_that_can_not_be_read_is_an_error_that_says_what_to_do(shown: Open, tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"no database at all" * 100)
    app = shown("overview", tmp_path)
    assert not app.exception
    assert "can't be shown now" in app.error[0].value

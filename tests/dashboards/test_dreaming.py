"""What the pages tell of dreams and feedback, and what people may do about them."""

import doctest
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from support.pages import Open, dream_in, settings, words

from mindmem.core.memory import Memory
from mindmem.dashboards import diff, memory_page

WRITES = {"writes": True}


def told(app: AppTest) -> str:
    return re.sub(r"<[^>]+>", " ", words(app))


def click(app: AppTest, label: str) -> AppTest:
    button = next(one for one in app.button if one.label == label)
    app = button.click().run()
    assert not app.exception
    assert not app.error
    return app


@pytest.fixture
def home(tmp_path: Path) -> Path:
    dream_in(tmp_path)
    return tmp_path


def contents(home: Path, user: str) -> set[str]:
    with Memory(settings=settings(home)) as memory:
        return {one.content for one in memory.list(user_id=user).memories}


def test_a_run_is_shown_with_its_measures_and_what_it_archived_in_favour_of_what(shown: Open, dreamt: Path) -> None:
    app = shown("dreaming", dreamt, user="ann")
    assert not app.exception
    said = told(app)
    assert re.search(r"AMCR\s+50.0%\s+1 archived of 2 active", said)
    assert re.search(r"−\s+Ann lives in Rome.", said)
    assert re.search(r"=\s+Ann lives in Oslo", said)
    assert app.dataframe[0].value["AMCR"].tolist() == [0.5]


def test_a_proposal_shows_what_would_be_done_and_offers_nothing_unless_writing_is_on(shown: Open, dreamt: Path) -> None:
    app = shown("dreaming", dreamt, user="ben")
    said = told(app)
    assert "1 of 2 active memories would be archived" in said
    assert re.search(r"−\s+Ben lives in Bonn", said)
    assert not app.button


def test_a_proposal_is_carried_out_after_asking_and_the_run_is_taken_back(shown: Open, home: Path) -> None:
    app = shown("dreaming", home, WRITES, user="ben")
    assert len(contents(home, "ben")) == 2
    click(app, "Carry it out")
    assert contents(home, "ben") == {"Ben lives in Kiel now."}
    app = shown("dreaming", home, WRITES, user="ben")
    assert "Nothing waits for a word" in told(app)
    app = click(app, "Take the run back")
    assert len(contents(home, "ben")) == 2
    assert "All of this was taken back." in told(shown("dreaming", home, WRITES, user="ben"))


def test_a_rejected_proposal_is_not_carried_out_and_stays_on_record(shown: Open, home: Path) -> None:
    click(shown("dreaming", home, WRITES, user="ben"), "Turn it down")
    assert len(contents(home, "ben")) == 2
    assert "Rejected: 1 line, 1 to archive" in told(shown("dreaming", home, user="ben"))


def test_what_somebody_else_decided_meanwhile_is_told_in_its_place(shown: Open, home: Path) -> None:
    app = shown("dreaming", home, WRITES, user="ben")
    with Memory(settings=settings(home)) as memory:
        memory.reject(memory.proposals()[0].proposal_id)
    button = next(one for one in app.button if one.label == "Carry it out")
    app = button.click().run()
    assert not app.exception
    assert len(contents(home, "ben")) == 2


def test_feedback_is_shown_with_the_words_what_holds_what_went_and_its_condition(shown: Open, dreamt: Path) -> None:
    app = shown("feedback", dreamt)
    said = told(app)
    assert "No, I meant Bergen, not Oslo." in said
    assert re.search(r"noted\s+Ann lives in Bergen", said)
    assert re.search(r"replaced\s+Ann lives in Oslo", said)
    assert "only: For emails to my boss" in said
    assert "ann" in said
    assert "ben" in said


def test_feedback_is_taken_back_after_asking(shown: Open, home: Path) -> None:
    before = contents(home, "ann")
    app = shown("feedback", home, WRITES)
    [*_, oldest] = [one for one in app.button if one.label == "Take it back"]
    app = oldest.click().run()
    assert not app.exception
    assert contents(home, "ann") != before
    assert any("Oslo" in one for one in contents(home, "ann"))
    assert "taken back" in told(shown("feedback", home))


def test_the_overview_draws_the_trend_over_runs(shown: Open, dreamt: Path) -> None:
    app = shown("overview", dreamt)
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 3


def test_agentic_search_shows_its_rounds(shown: Open, demo: Path) -> None:
    app = shown("search", demo, q="Where does Mara live?", user="mara", strategy="agentic")
    assert not app.exception
    said = told(app)
    assert "Round 1: search for" in said
    assert "Mara lives in Porto now, since May 1st." in said


def test_each_strategy_finds_the_answer_and_an_unknown_one_in_the_address_is_the_fast_one(
    shown: Open, demo: Path
) -> None:
    for strategy in ("fast", "balanced", "deep", "bogus"):
        app = shown("search", demo, q="Where does Mara live?", user="mara", strategy=strategy)
        assert not app.exception
        assert "Mara lives in Porto now, since May 1st." in told(app)


def test_what_a_dream_put_aside_leads_to_what_took_its_place(shown: Open, dreamt: Path) -> None:
    with Memory(settings=settings(dreamt)) as memory:
        [gone] = memory.list(user_id="ann", filters={"status": "archived", "content": {"icontains": "Rome"}}).memories
        [new] = memory.services.reader.memories(gone.scope.partition, ids=[gone.memory_id])
    app = shown("memories", dreamt, memory=new.memory_id)
    assert re.search(r"took its place\s+Ann lives in Oslo", told(app))


@pytest.mark.parametrize("module", [diff, memory_page])
def test_the_examples_in_the_docstrings_run(module: object) -> None:
    outcome = doctest.testmod(module)  # type: ignore[arg-type]
    assert outcome.attempted
    assert not outcome.failed

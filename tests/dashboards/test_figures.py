"""Aggregates agree with what comes of reading every revision."""

import doctest
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.pages import settings

from mindmem.core.memory import Memory
from mindmem.dashboards import figures, login, markup, widgets


@pytest.mark.parametrize("folded", [True, False])
def test_growth_ends_with_what_is_active_and_counts_every_coming_and_going(tmp_path: Path, folded: bool) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        [cats] = memory.add("I have two cats.", user_id="ann").memory_ids
        memory.add("I live in Rome.", user_id="ann")
        memory.add("I live in Oslo.", user_id="ben")
        if folded:
            memory.fold()
        memory.delete(cats)
        memory.update(cats, status="active")
        memory.delete(cats)
        reader = memory.services.reader
        whole = figures.growth(reader, "default")
        assert whole["active"][0] == 0
        assert whole["active"][-1] == memory.status().active
        assert (whole["added"].sum(), whole["archived"].sum()) == (memory.status().active + 2, 2)
        found = figures.entities(reader, memory.services.settings.project_id)
        assert found["memories"].sum() == memory.status().active
        assert figures.growth(reader, "another project").is_empty()


@pytest.mark.parametrize(
    ("span", "step"),
    [(timedelta(seconds=5), "1s"), (timedelta(hours=1), "1m"), (timedelta(days=1), "1h"), (timedelta(days=90), "1d"),
     (timedelta(days=900), "1w"), (timedelta(days=9_000), "1mo")],
)  # fmt: skip
def test_the_step_grows_with_the_span(span: timedelta, step: str) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    assert figures.step_of(begin, begin + span) == step


def test_a_superseded_version_holds_until_its_end_and_a_withdrawn_one_never(tmp_path: Path) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        for day, words in ((1, "I live in Rome now."), (9, "I live in Oslo now."), (20, "I have two cats.")):
            said = {"role": "user", "name": "Ann", "content": words, "timestamp": f"2026-02-{day:02d}T10:00:00Z"}
            receipt = memory.add([said], user_id="ann")
        memory.delete(receipt.memory_ids[0])
        [entity] = figures.entities(memory.services.reader, "default")["entity_id"].to_list()
        frame = figures.versions(memory.services.reader, "default", entity)

    def lived(day: int) -> list[str]:
        then = figures.held_at(frame, datetime(2026, 2, day, 12, tzinfo=UTC))
        return [row["value"] for row in then.iter_rows(named=True) if row["property_name"] == "lives_in"]

    assert (lived(5), lived(15)) == (["Rome"], ["Oslo"])
    assert "withdrawn" in frame["state"].to_list()
    withdrawn = frame.row(by_predicate=figures.pl.col("state") == "withdrawn", named=True)
    assert withdrawn["memory_id"] not in figures.held_at(frame, datetime(2026, 3, 1, tzinfo=UTC))["memory_id"]


@pytest.mark.parametrize("module", [login, markup, widgets])
def test_the_examples_in_the_docstrings_run(module: object) -> None:
    outcome = doctest.testmod(module)  # type: ignore[arg-type]
    assert outcome.attempted
    assert not outcome.failed


def test_only_elements_make_markup() -> None:
    assert markup.element("p", "<b>x</b>", class_='a"b') == '<p class="a&quot;b">&lt;b&gt;x&lt;/b&gt;</p>'
    with pytest.raises(ValueError, match="script"):
        markup.element("script", "alert(1)")
    assert markup.highlighted("a<b>c", [(-3, 1), (1, 2), (4, 99), (3, 3)]) == ("<mark>a&lt;</mark>b&gt;<mark>c</mark>")

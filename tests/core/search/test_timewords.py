"""Time words of a question."""

from datetime import UTC, datetime

import pytest

from mindmem.core.records import Memory, Scope
from mindmem.core.search.timewords import OUTSIDE, asked_times, time_factor

NOW = datetime(2024, 6, 20, 12, tzinfo=UTC)


def memory(
    valid_from: datetime | None = None, observed_at: datetime | None = None, valid_to: datetime | None = None
) -> Memory:
    return Memory(
        memory_id="m", revision=1, scope=Scope(), mem_type="fact", content="x", content_hash="",
        valid_from=valid_from, valid_to=valid_to, observed_at=observed_at,
    )  # fmt: skip


def test_a_month_in_the_question_is_a_stretch_of_time() -> None:
    (asked,) = asked_times("What did Ann do in May 2023?", NOW, "UTC")
    assert (asked.start, asked.end) == (datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC))


def test_yesterday_is_read_in_the_asker_s_zone() -> None:
    (asked,) = asked_times("What happened yesterday?", datetime(2024, 6, 20, 23, 30, tzinfo=UTC), "Asia/Tokyo")
    assert asked.start == datetime(2024, 6, 19, 15, tzinfo=UTC)


@pytest.mark.parametrize("query", ["What does Ann do now?", "Is port 9077 open?", "Where does she live?"])
def test_a_question_without_a_day_month_or_year_asks_for_no_time(query: str) -> None:
    assert asked_times(query, NOW, "UTC") == ()


def test_what_lies_elsewhere_in_time_steps_back_and_the_rest_does_not() -> None:
    asked = asked_times("What did Ann do in May 2023?", NOW, "UTC")
    assert time_factor(memory(datetime(2023, 5, 9, tzinfo=UTC)), asked) == 1.0
    assert time_factor(memory(datetime(2022, 5, 9, tzinfo=UTC)), asked) == OUTSIDE


def test_when_it_was_said_counts_as_well_as_when_it_was_true() -> None:
    asked = asked_times("What did Ann tell me in May 2023?", NOW, "UTC")
    assert time_factor(memory(datetime(2020, 1, 1, tzinfo=UTC), datetime(2023, 5, 9, tzinfo=UTC)), asked) == 1.0


def test_a_memory_that_was_true_throughout_touches_the_time() -> None:
    asked = asked_times("Where did Ann live in May 2023?", NOW, "UTC")
    long = memory(datetime(2019, 1, 1, tzinfo=UTC), valid_to=datetime(2024, 1, 1, tzinfo=UTC))
    assert time_factor(long, asked) == 1.0


def test_a_memory_without_a_time_and_a_question_without_one_change_nothing() -> None:
    assert time_factor(memory(), asked_times("in May 2023", NOW, "UTC")) == 1.0
    assert time_factor(memory(datetime(2020, 1, 1, tzinfo=UTC)), ()) == 1.0


def test_the_edges_of_the_calendar_do_not_overflow() -> None:
    asked = asked_times("in the year 9999", NOW, "UTC")
    assert time_factor(memory(datetime(2020, 1, 1, tzinfo=UTC)), asked) in (1.0, OUTSIDE)

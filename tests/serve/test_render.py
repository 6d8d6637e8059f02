"""Memories as text: times to their precision, in the reader's zone."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from mindmem.core.records import Memory, Message, Scope
from mindmem.core.serve import render

CLAIM = Memory(
    memory_id="mem_1",
    revision=1,
    scope=Scope(user_id="ann"),
    mem_type="profile",
    content="Ann lives in Oslo.",
    content_hash="",
    entity_name="Ann",
    property_name="lives_in",
    recorded_at=datetime(2024, 3, 9, tzinfo=UTC),
)
MAY = datetime(2024, 4, 30, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("precision", "shown"),
    [("year", "2024"), ("month", "2024-05"), ("day", "2024-05-01"), ("instant", "2024-05-01 00:00")],
)
def test_an_event_time_is_shown_to_its_precision_in_the_zone(precision: str, shown: str) -> None:
    claim = replace(CLAIM, valid_from=MAY, time_precision=precision)
    assert render.period(claim, ZoneInfo("Europe/Lisbon")) == shown


def test_without_an_event_time_it_says_when_it_was_said_or_else_noted() -> None:
    assert render.period(replace(CLAIM, observed_at=MAY)) == "said 2024-04-30"
    assert render.period(CLAIM) == "noted 2024-03-09"


def test_a_closed_value_shows_its_end() -> None:
    claim = replace(CLAIM, valid_from=datetime(2024, 1, 1, tzinfo=UTC), valid_to=MAY, time_precision="month")
    assert render.period(claim) == "2024-01 to 2024-04-30"


def test_facts_name_state_repetition_and_flags_only_where_there_is_something_to_say() -> None:
    assert render.facts(CLAIM).plain == "Ann · lives_in · noted 2024-03-09 · profile"
    odd = replace(CLAIM, status="archived", reinforcement_count=3, flags=("redacted",))
    assert render.facts(odd).plain.endswith(" · archived · said 3 times · redacted")


def test_a_long_quote_is_cut_and_its_white_space_folded() -> None:
    message = Message("msg_1", Scope(), 0, "user", "Ann", "a\n b " + "x" * 500, MAY, "UTC", "add_1")
    text = render.quote(message).plain
    assert text.startswith("“a b xxx")
    assert text.endswith("x…” — Ann, 2024-04-30 23:00")
    assert len(text) < 200

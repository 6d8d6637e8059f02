"""When a project dreams: once a local date from two in the morning on, with catch-up by the same rule."""

from datetime import UTC, datetime

import pytest

from mindmem.core.dream.due import is_due, latest_night


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_it_is_due_once_a_local_date() -> None:
    assert is_due(at("2026-03-10T01:05"), "Europe/Berlin", at("2026-03-09T01:05"))
    assert not is_due(at("2026-03-10T02:05"), "Europe/Berlin", at("2026-03-10T01:05"))
    assert not is_due(at("2026-03-10T00:55"), "Europe/Berlin", at("2026-03-09T01:05")), "it is not two yet"


def test_a_night_that_was_slept_through_is_made_up_for_at_once() -> None:
    assert is_due(at("2026-03-10T15:05"), "UTC", at("2026-03-08T02:05"))
    assert not is_due(at("2026-03-10T16:05"), "UTC", at("2026-03-10T15:05"))
    assert is_due(at("2026-03-11T02:05"), "UTC", at("2026-03-10T15:05"))


def test_a_project_that_never_dreamt_is_due() -> None:
    assert is_due(at("2026-03-10T15:05"), "UTC", None)


@pytest.mark.parametrize(
    ("now", "night"),
    [
        ("2026-03-29T01:30", "2026-03-29T01:00"),  # two o'clock doesn't exist in Berlin that night
        ("2026-10-25T00:30", "2026-10-25T00:00"),  # it comes twice: the first one counts
        ("2026-03-10T00:30", "2026-03-09T01:00"),
    ],
)
def test_two_in_the_morning_is_that_of_the_zone_when_clocks_change_too(now: str, night: str) -> None:
    assert latest_night(at(now), "Europe/Berlin") == at(night)

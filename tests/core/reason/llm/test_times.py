"""Dates as models write them: read on the message's calendar, or not at all."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindmem.core.reason.llm.times import read_time

SAID = datetime(2024, 3, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", "2024-01-01", "2025-01-01"),
        ("2024-02", "2024-02-01", "2024-03-01"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("2024/2/9", "2024-02-09", "2024-02-10"),
        ("2024-02-09T10:30Z", "2024-02-09T10:30", "2024-02-09T10:31"),
        ("2024-02-09 10:30:59.5 +0530", "2024-02-09T05:00", "2024-02-09T05:01"),
        ("last month", "2024-02-01", "2024-03-01"),
        ("昨天", "2024-03-14", "2024-03-15"),
        ("0001", "0001-01-01", "0002-01-01"),
    ],
)
def test_a_time_is_a_stretch_as_long_as_it_is_exact(text: str, start: str, end: str) -> None:
    found = read_time(text, SAID, "UTC")
    assert found is not None
    assert (found.start, found.end) == tuple(datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (start, end))


@pytest.mark.parametrize(
    "text", ["", "0000", "10000", "2024-00", "2024-2-30", "2024-01-01T24:61", "1 May or 2 May", "soon"]
)
def test_what_is_no_one_time_is_none(text: str) -> None:
    assert read_time(text, SAID, "UTC") is None


def test_words_need_to_know_when_they_were_said() -> None:
    assert read_time("last month", None, "UTC") is None
    assert read_time("2024-02", None, "UTC") is not None


@given(st.one_of(st.text(max_size=30), st.from_regex(r"\d{1,5}[-/]\d{1,3}([-/T ]\d{1,3}(:\d\d)?)?Z?", fullmatch=True)))
def test_no_text_raises(text: str) -> None:
    for zone in ("UTC", "Pacific/Kiritimati", "-12:00"):
        found = read_time(text, SAID, zone)
        assert found is None or found.start < found.end

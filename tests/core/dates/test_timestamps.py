"""Message times in the forms that callers give."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindmem.core.dates import find_times, resolve_timestamp
from mindmem.core.errors import InvalidInput


def test_milliseconds_seconds_and_iso_denote_the_same_moment() -> None:
    wanted = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    forms = (1683554160000, 1683554160, "1683554160000", "2023-05-08T13:56:00Z", "2023-05-08T15:56+02:00", wanted)
    assert {resolve_timestamp(form, "America/New_York") for form in forms} == {wanted}


def test_a_naive_time_is_local_to_the_zone() -> None:
    assert resolve_timestamp("2023-05-08T13:56", "Asia/Shanghai") == datetime(2023, 5, 8, 5, 56, tzinfo=UTC)
    assert resolve_timestamp("2023-05-08T13:56", "UTC") == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_a_skipped_hour_and_a_repeated_hour_are_read_with_the_offset_before_the_change() -> None:
    assert resolve_timestamp("2025-03-09 02:30", "America/New_York") == datetime(2025, 3, 9, 7, 30, tzinfo=UTC)
    assert resolve_timestamp("2025-11-02 01:30", "America/New_York") == datetime(2025, 11, 2, 5, 30, tzinfo=UTC)
    assert resolve_timestamp("2025-11-02 02:30", "America/New_York") == datetime(2025, 11, 2, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(("text", "hour"), [("2025-03-09 02:30", 7), ("2025-11-02 01:30", 5)])
def test_text_reads_skipped_and_repeated_hours_the_same_way(text: str, hour: int) -> None:
    (span,) = find_times(f"The job ran at {text}.", None, "America/New_York")
    assert span.valid_from is not None
    assert span.valid_from.hour == hour


def test_nothing_stays_nothing() -> None:
    assert resolve_timestamp(None, "UTC") is None


@pytest.mark.parametrize(
    "value",
    ["", "soon", "0000-01-01", "10000-01-01", 9077, "9077", -1, True, 10**20, float("nan"), "2023-02-30", [1]],
)
def test_other_values_are_refused_with_the_expected_forms_named(value: object) -> None:
    with pytest.raises(InvalidInput, match="13 digits"):
        resolve_timestamp(value, "UTC")  # type: ignore[arg-type]  # wrong types are the point


def test_a_moment_that_utc_can_not_hold_is_refused() -> None:
    with pytest.raises(InvalidInput):
        resolve_timestamp(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), "UTC")


@pytest.mark.parametrize(
    ("said", "zone", "yesterday"),
    [
        ("2023-05-09T07:30:00+00:00", "Etc/GMT+8", "2023-05-07"),  # 23:30 on the 8th, eight hours west
        ("2023-05-08T10:30:00+00:00", "Pacific/Kiritimati", "2023-05-08"),  # 00:30 on the 9th, fourteen hours east
        ("2023-05-09T07:30:00+00:00", "UTC", "2023-05-08"),
    ],
)
def test_yesterday_is_the_speakers_yesterday(said: str, zone: str, yesterday: str) -> None:
    (span,) = find_times("I did it yesterday.", datetime.fromisoformat(said), zone)
    assert span.valid_from == resolve_timestamp(yesterday, zone)


def test_a_day_with_a_clock_change_is_23_or_25_hours_long() -> None:
    (short,) = find_times("on 9 March 2025", None, "America/New_York")
    (long,) = find_times("on 2 November 2025", None, "America/New_York")
    assert short.valid_from and short.valid_to and long.valid_from and long.valid_to  # noqa: PT018 - narrowing
    assert (short.valid_to - short.valid_from, long.valid_to - long.valid_from) == (
        timedelta(hours=23),
        timedelta(hours=25),
    )


@given(
    st.text(max_size=80), st.datetimes(timezones=st.just(UTC)), st.sampled_from(["UTC", "Asia/Tokyo", "America/Lima"])
)
def test_any_text_at_any_time_gives_ordered_spans_or_none(text: str, reference: datetime, zone: str) -> None:
    words = text + " yesterday, 3 years ago, next month, 昨天 三年前 on 31 December 9999"
    end = 0
    for span in find_times(words, reference, zone):
        assert end <= span.start < span.end <= len(words)
        assert span.valid_from is None or span.valid_to is None or span.valid_from < span.valid_to
        end = span.end

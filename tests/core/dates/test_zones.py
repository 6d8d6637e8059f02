"""Zones by name and by offset, and which of them a timestamp tells."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from mindmem.core.dates import find_times, told_zone, zone_of
from mindmem.core.errors import InvalidInput


@pytest.mark.parametrize(("name", "minutes"), [("+13:00", 780), ("-03:30", -210), ("+00:00", 0), ("Asia/Tokyo", 540)])
def test_a_zone_is_named_by_its_iana_name_or_its_offset(name: str, minutes: int) -> None:
    assert datetime(2024, 3, 5, tzinfo=zone_of(name)).utcoffset() == timedelta(minutes=minutes)


@pytest.mark.parametrize("name", ["", "Mars/Base", "+24:00", "+9", "13:00", "+13:60", "UTC+2", "../UTC", "+１３:00"])
def test_any_other_name_is_refused_with_both_forms_named(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"IANA name .* offset '\+13:00'"):
        zone_of(name)


@pytest.mark.parametrize(
    ("stamp", "told"),
    [
        ("2024-03-05T00:30:00+13:00", "+13:00"),
        ("2024-03-04 23:30-08:00", "-08:00"),
        ("2024-03-04T23:30:00-0330", "-03:30"),
        ("2024-03-04T23:30:00Z", ""),
        ("2024-03-04T23:30:00+00:00", ""),
        ("2024-03-04T23:30:00", ""),
        (datetime(2024, 3, 4, tzinfo=timezone(timedelta(hours=2))), "+02:00"),
        (datetime(2024, 3, 4, tzinfo=ZoneInfo("Europe/Lisbon")), "Europe/Lisbon"),
        (datetime(2024, 3, 4, tzinfo=ZoneInfo("UTC")), ""),
        (datetime(2024, 3, 4, tzinfo=UTC), ""),
        (1709551800000, ""),
        ("soon", ""),
        (None, ""),
    ],
)
def test_an_offset_other_than_zero_tells_the_zone_of_a_timestamp(stamp: object, told: str) -> None:
    assert told_zone(stamp) == told


@pytest.mark.parametrize(
    ("stamp", "text", "utc"),
    [
        ("2024-03-05T00:30:00+13:00", "I met Ola yesterday.", "2024-03-03T11:00"),
        ("2024-03-05T00:30:00+13:00", "The exam is tomorrow at 9am.", "2024-03-05T20:00"),
        ("2024-03-04T23:30-08:00", "The exam is tomorrow at 9am.", "2024-03-05T17:00"),
        ("2024-03-04T23:30-08:00", "I fly at 14:30 today.", "2024-03-04T22:30"),
    ],
)
def test_words_are_read_on_the_days_of_an_offset(stamp: str, text: str, utc: str) -> None:
    (span,) = find_times(text, datetime.fromisoformat(stamp), told_zone(stamp))
    assert span.valid_from is not None
    assert span.valid_from.isoformat()[:16] == utc

"""Dates without a year: the clause that holds the date says whether it is past or to come."""

from datetime import UTC, datetime

import pytest

from mindmem.core.dates import find_times

MONDAY = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)


def first(text: str) -> str:
    """Return the first day of a text's first time."""
    start = find_times(text, MONDAY, "UTC")[0].valid_from
    return start.date().isoformat() if start else "unplaced"


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("I'm moving to Munich in May, I signed the lease yesterday.", "2026-05-01"),
        ("We are getting married in June, we booked the church.", "2026-06-01"),
        ("She is starting school in September.", "2026-09-01"),
        ("She is moving to the 5th grade in September.", "2026-09-01"),
        ("Sunday works better for me, the dentist has moved to Friday as well.", "2026-03-15"),
        ("In August, we're flying to Oslo, I found cheap seats.", "2026-08-01"),
        ("He sold his flat because he is leaving in October.", "2026-10-01"),
        ("The recital is on Thursday, I ironed the shirt.", "2026-03-12"),
        ("The dentist has moved to Friday.", "2026-03-13"),
        ("The survey is booked for Wednesday.", "2026-03-11"),
        ("We kept the tickets and are driving there on Saturday.", "2026-03-14"),
        ("Tuesday suits us, we cancelled the other visit.", "2026-03-10"),
    ],
)
def test_a_plan_lies_ahead_whatever_the_clause_beside_it_tells(text: str, begins: str) -> None:
    assert first(text) == begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("I moved to Munich in May, I love it.", "2025-05-01"),
        ("She was starting school in September when we met her.", "2025-09-01"),
        ("I'm loving the bike that I got in May.", "2025-05-01"),
        ("In August, we flew to Oslo, I am still tired.", "2025-08-01"),
        ("I am leaving the flat we bought in October.", "2025-10-01"),
        ("We bought bread and milk on Thursday.", "2026-03-05"),
        ("The recital was on Thursday, I will wash the shirt.", "2026-03-05"),
        ("He moved to Bonn in June and is looking for work.", "2025-06-01"),
        ("We were hiking and swimming on Saturday.", "2026-03-07"),
        ("On Friday, the dentist moved my chair.", "2026-03-06"),
        ("They got married in June, they are expecting a child.", "2025-06-01"),
        ("The survey was done on Wednesday, it is fine.", "2026-03-04"),
    ],
)
def test_what_a_clause_tells_as_past_stays_past_beside_a_present_or_a_plan(text: str, begins: str) -> None:
    assert first(text) == begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("The party is on Sunday 15 March, the Adler was double booked.", "2026-03-15"),
        ("We booked the hall, Sunday, March 15.", "2026-03-15"),
        ("We met on Saturday 15 March.", "2025-03-15"),
        ("We met on 15 March.", "2025-03-15"),
    ],
)
def test_a_weekday_beside_a_day_decides_the_year(text: str, begins: str) -> None:
    assert first(text) == begins

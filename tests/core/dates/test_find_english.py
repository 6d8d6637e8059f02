"""English time expressions, each beside a wording that must be read the other way."""

from datetime import UTC, datetime

import pytest

from mindmem.core.dates import TimeSpan, find_times
from mindmem.core.errors import InvalidInput

FRIDAY = datetime(2023, 10, 20, 14, 0, tzinfo=UTC)


def only(text: str, reference: datetime | None = FRIDAY, zone: str = "UTC") -> TimeSpan:
    """Return the one span of a text."""
    spans = find_times(text, reference, zone)
    assert len(spans) == 1, [text[span.start : span.end] for span in spans]
    return spans[0]


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("I went to the dentist yesterday.", "2023-10-19", "2023-10-20", "day"),
        ("We ate there last night.", "2023-10-19", "2023-10-20", "day"),
        ("I moved two weeks ago.", "2023-10-06", "2023-10-07", "day"),
        ("We met last Friday.", "2023-10-13", "2023-10-14", "day"),
        ("The course begins next month.", "2023-11-01", "2023-12-01", "month"),
        ("I was ill last week.", "2023-10-09", "2023-10-16", "month"),
        ("We hiked two weekends ago.", "2023-10-07", "2023-10-09", "day"),
        ("I lived in Lyon in 2019.", "2019-01-01", "2020-01-01", "year"),
        ("We met 3 years ago.", "2020-01-01", "2021-01-01", "year"),
        ("It broke a couple of months ago.", "2023-08-01", "2023-09-01", "month"),
        ("The exam is on 8 May 2024.", "2024-05-08", "2024-05-09", "day"),
        ("The exam is on Monday, May 8th, 2023.", "2023-05-08", "2023-05-09", "day"),
        ("It happened in May 2021.", "2021-05-01", "2021-06-01", "month"),
        ("I was there between 2015 and 2018.", "2015-01-01", "2019-01-01", "year"),
        ("The fair runs from 3 June 2024 to 9 June 2024.", "2024-06-03", "2024-06-10", "day"),
        ("I was in Rome the week before 9 June 2023.", "2023-05-29", "2023-06-05", "unknown"),
        ("We left the Sunday before 25 May 2023.", "2023-05-21", "2023-05-22", "day"),
        ("Last March we met.", "2023-03-01", "2023-04-01", "month"),
        ("It will arrive on Tuesday.", "2023-10-24", "2023-10-25", "day"),
        ("It arrived on Tuesday.", "2023-10-17", "2023-10-18", "day"),
        ("My birthday was on October 25.", "2022-10-25", "2022-10-26", "day"),
        ("My birthday is coming up on October 25.", "2023-10-25", "2023-10-26", "day"),
        ("Released 2023-05-08.", "2023-05-08", "2023-05-09", "day"),
        ("Wir sahen uns am 8. Mai 2023.", "2023-05-08", "2023-05-09", "day"),
        ("Мы встретились 8 мая 2023.", "2023-05-08", "2023-05-09", "day"),
    ],
)
def test_an_expression_denotes_the_whole_stretch_that_it_names(
    text: str, first: str, last: str, precision: str
) -> None:
    span = only(text)
    assert (span.valid_from, span.valid_to, span.precision, span.resolved) == (day(first), day(last), precision, True)


@pytest.mark.parametrize(
    "text",
    [
        "The service listens on port 9077.",
        "We did it in room 2024.",
        "Meet me in room 2024 of the annex.",
        "You may march now.",
        "may I come in?",
        "Upgrade to version 2023.10.1 or v2.0.1 first.",
        "Call +1 415 555 2671 or 555-2019.",
        "I walked it in 2000 steps.",
        "He is 3 years old.",
        "I play chess every Monday, never on Tuesdays.",
        "The server is at 10.0.0.1:8080.",
        "I read it in two weeks and loved it.",
        "I will be in the second row.",
    ],
)
def test_numbers_and_verbs_that_look_like_dates_are_none(text: str) -> None:
    assert find_times(text, FRIDAY, "UTC") == []


@pytest.mark.parametrize(
    "text",
    [
        "a few days ago",
        "the other day",
        "It was ill the week before.",
        "05/08/2023",
        "in the year 0",
        "in the year 12024",
        "30 February 2023",
        "from 5 May 2023 to 3 May 2023",
    ],
)
def test_what_can_not_be_placed_is_found_and_marked_unresolved(text: str) -> None:
    span = only(text)
    assert (span.valid_from, span.valid_to, span.precision, span.resolved) == (None, None, "unknown", False)


@pytest.mark.parametrize("text", ["yesterday", "last Friday", "3 years ago", "next month", "on 8 May", "since March"])
def test_relative_words_without_a_reference_are_unresolved(text: str) -> None:
    assert not only(text, reference=None).resolved


def test_absolute_dates_need_no_reference() -> None:
    assert only("on 8 May 2023", reference=None).valid_from == day("2023-05-08")


def test_the_first_and_the_last_year_of_the_calendar_are_resolved() -> None:
    assert only("the year 9999").valid_from == day("9999-01-01")
    assert only("the year 1", zone="Asia/Tokyo").resolved


def test_offsets_point_at_the_words() -> None:
    text = "I flew to Oslo on 8 May 2023 and came back three days ago."
    spans = find_times(text, FRIDAY, "UTC")
    assert [text[span.start : span.end] for span in spans] == ["8 May 2023", "three days ago"]


def test_since_has_no_end_and_until_has_no_beginning() -> None:
    since, until = only("I have lived here since March."), only("My pass expires on 3 May 2024.")
    assert (since.role, since.valid_from, since.valid_to) == ("since", day("2023-03-01"), None)
    assert (until.role, until.valid_from, until.valid_to) == ("until", None, day("2024-05-04"))
    assert only("The concert was on 3 May 2023.").role == "at"


def test_how_long_something_has_lasted_says_since_when() -> None:
    span = only("I have lived in Porto for three years.")
    assert (span.role, span.valid_from, span.precision) == ("since", day("2020-01-01"), "year")
    assert find_times("I lived in Porto for three years.", FRIDAY, "UTC") == []


def test_a_time_of_day_makes_an_instant() -> None:
    assert only("The call is tomorrow at 5pm.").valid_from == datetime(2023, 10, 21, 17, tzinfo=UTC)
    assert only("1:56 pm on 8 May, 2023").valid_from == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert only("The call is tomorrow.").precision == "day"


def test_a_weekday_that_may_be_past_or_coming_is_not_guessed() -> None:
    assert not only("Yoga on Monday").resolved
    assert only("We did yoga on Monday").resolved


def test_summer_is_in_january_where_it_is() -> None:
    assert only("the summer of 2022", zone="Europe/Rome").valid_from == datetime(2022, 5, 31, 22, tzinfo=UTC)
    south = only("the summer of 2022", zone="Australia/Sydney")
    assert south.valid_from is not None
    assert south.valid_from.month == 11


def test_a_long_text_is_read_in_linear_time() -> None:
    spans = find_times("we met on 3 May 2023 and again " * 3000, FRIDAY, "UTC")
    assert len(spans) == 3000


def test_a_naive_reference_and_an_unknown_zone_are_refused() -> None:
    with pytest.raises(InvalidInput, match="aware"):
        find_times("today", datetime(2023, 1, 1), "UTC")  # noqa: DTZ001 - the point of the test
    with pytest.raises(InvalidInput, match="IANA"):
        find_times("today", FRIDAY, "Mars/Olympus")

"""English that is easily misread: several destinations, appointments, examples, manners, bare corrections, spelling."""

from datetime import UTC, datetime

import pytest
from support.extraction import extract, said

DAY = datetime(2024, 5, 15, 8, tzinfo=UTC)  # a Wednesday


async def _read(*texts: str) -> list[tuple[str, str, datetime | None, str]]:
    found = (await extract(*(said(text, at=DAY) for text in texts))).candidates
    return [
        (one.property_name, one.value, one.valid_from, one.time_precision)
        for one in found
        if one.mem_type != "episodic"
    ]


async def test_each_destination_of_a_journey_has_its_own_time() -> None:
    assert await _read("I moved from Bonn to Ulm in 2019 and then to Jena last year.") == [
        ("lives_in", "Ulm", datetime(2019, 1, 1, tzinfo=UTC), "year"),
        ("lives_in", "Jena", datetime(2023, 1, 1, tzinfo=UTC), "year"),
    ]
    assert [each[1] for each in await _read("I moved to Ulm in 2019, later to Jena in 2021 and to Kiel in 2023.")] == [
        "Ulm", "Jena", "Kiel",
    ]  # fmt: skip


async def test_a_single_move_stays_one_statement() -> None:
    assert await _read("I moved from Bonn to Ulm in 2019.") == [
        ("lives_in", "Ulm", datetime(2019, 1, 1, tzinfo=UTC), "year")
    ]


@pytest.mark.parametrize(
    ("text", "name", "value", "begins", "precision"),
    [
        ("My flight is tomorrow at 9am.", "flight", "tomorrow at 9am", datetime(2024, 5, 16, 9, tzinfo=UTC), "instant"),
        ("My exam is in two weeks.", "exam", "in two weeks", datetime(2024, 5, 29, tzinfo=UTC), "day"),
        ("My dentist appointment is next Tuesday.", "dentist_appointment", "next Tuesday",
         datetime(2024, 5, 21, tzinfo=UTC), "day"),
        ("My appointment is next Tuesday at 3pm.", "appointment", "next Tuesday at 3pm",
         datetime(2024, 5, 21, 15, tzinfo=UTC), "instant"),
        ("My deadline is 2024-06-01.", "deadline", "2024-06-01", datetime(2024, 6, 1, tzinfo=UTC), "day"),
        ("In three days I fly to Oslo.", "flies_to", "Oslo", datetime(2024, 5, 18, tzinfo=UTC), "day"),
    ],
)  # fmt: skip
async def test_what_is_appointed_has_the_time_that_its_words_denote(
    text: str, name: str, value: str, begins: datetime, precision: str
) -> None:
    assert await _read(text) == [(name, value, begins, precision)]


@pytest.mark.parametrize("text", ["My birthday is on June 3rd.", "I live in Rome.", "I love jazz."])
async def test_a_value_that_is_a_date_of_every_year_and_a_plain_present_begin_at_no_told_time(text: str) -> None:
    assert [each[2:] for each in await _read(text)] == [(None, "unknown")]


async def test_an_appointment_of_a_day_that_nobody_can_place_says_so() -> None:
    (found,) = (await extract(said("My flight is tomorrow.", at=None))).candidates
    assert "unresolved_time" in found.flags


@pytest.mark.parametrize(
    ("told", "value"),
    [("I work in a bank.", "a bank"), ("I work in a small team.", "a small team"), ("I work in finance.", "finance")],
)
async def test_where_somebody_works_is_kept(told: str, value: str) -> None:
    assert value in [each[1] for each in await _read(told)]


@pytest.mark.parametrize(
    "told",
    ["I work in a hurry.", "I work in pairs.", "For example, my email is a@b.com.", "For instance, I live in Rome."],
)
async def test_manners_and_examples_state_nothing(told: str) -> None:
    assert await _read(told) == []


async def test_a_bare_correction_takes_the_place_of_the_value_of_its_form_said_right_before() -> None:
    assert [each[:2] for each in await _read("My phone number is 555-0199.", "No wait, it's 555-0177.")] == [
        ("phone", "555-0199"), ("phone", "555-0177"),
    ]  # fmt: skip


@pytest.mark.parametrize("before", ["I live in Oslo.", "My email is a@b.com."])
async def test_a_bare_correction_leaves_values_of_another_form(before: str) -> None:
    assert len(await _read(before, "No wait, it's 555-0177.")) == 1


async def test_british_and_american_spelling_name_one_property() -> None:
    assert {each[0] for each in await _read("My favorite color is blue.", "My favourite colour is green now.")} == {
        "favorite_color"
    }


async def test_each_of_two_verbs_gives_its_own_sentence() -> None:
    found = (await extract(said("I love jazz but hate country music.", name="Ann", at=DAY))).candidates
    assert [one.content for one in found] == ["Ann loves jazz.", "Ann hates country music."]
    found = (await extract(said("I'm from Poland but live in Malta.", name="Ann", at=DAY))).candidates
    assert [one.content for one in found] == ["Ann is from Poland.", "Ann lives in Malta."]

"""English sentences to statements: what is claimed, of whom, and what is no claim at all."""

from datetime import UTC, datetime

import pytest
from support.extraction import extract, only, said, texts, typed


@pytest.mark.parametrize(
    ("text", "property_name", "value", "polarity"),
    [
        ("My name is Anna.", "name", "Anna", 1),
        ("I am 34 years old.", "age", "34", 1),
        ("I live in Oslo.", "lives_in", "Oslo", 1),
        ("I moved to Oslo.", "lives_in", "Oslo", 1),
        ("I no longer live in Oslo.", "lives_in", "Oslo", -1),
        ("I used to live in Oslo.", "lives_in", "Oslo", -1),
        ("I work for Equinor.", "works_at", "Equinor", 1),
        ("I just joined Microsoft.", "works_at", "Microsoft", 1),
        ("I'm a nurse.", "occupation", "a nurse", 1),
        ("I'm allergic to peanuts.", "allergic_to", "peanuts", 1),
        ("I'm vegetarian.", "diet", "vegetarian", 1),
        ("I love Chinese food.", "likes", "Chinese food", 1),
        ("I hate Chinese food.", "likes", "Chinese food", -1),
        ("I can't stand loud music.", "likes", "loud music", -1),
        ("I don't speak Spanish.", "speaks", "Spanish", -1),
        ("I speak English, French and German.", "speaks", "English, French and German", 1),
        ("I have two cats.", "has_cat", "two cats", 1),
        ("I have a dog named Rex.", "has_dog", "a dog named Rex", 1),
        ("My sister's name is Clara.", "sister", "Clara", 1),
        ("My birthday is on 3 May.", "birthday", "3 May", 1),
        ("My favorite color is blue.", "favorite_color", "blue", 1),
        ("I never eat meat.", "eats", "meat", -1),
        ("I prefer short answers.", "prefers", "short answers", 1),
        ("I sculpt marble busts.", "sculpts", "marble busts", 1),
    ],
)
async def test_what_the_user_says_of_themselves_is_their_profile(
    text: str, property_name: str, value: str, polarity: int
) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.entity_name, candidate.entity_type) == ("profile", "user", "person")
    assert (candidate.property_name, candidate.value, candidate.polarity) == (property_name, value, polarity)
    assert candidate.content == text


@pytest.mark.parametrize(
    ("text", "entity", "property_name", "value"),
    [
        ("The capital of France is Paris.", "France", "capital", "Paris"),
        ("Paris is the capital of France.", "France", "capital", "Paris"),
        ("Acme Labs was founded by Jane Doe.", "Acme Labs", "founded_by", "Jane Doe"),
        ("Priya Rao works at Acme.", "Priya Rao", "works_at", "Acme"),
        ("Tom is married to Anna.", "Tom", "married_to", "Anna"),
        ("Tom's wife is Anna.", "Tom", "wife", "Anna"),
        ("Anna is Tom's sister.", "Tom", "sister", "Anna"),
        ("The firm that makes the Corolla is Toyota.", "Corolla", "firm_that_makes", "Toyota"),
        ("The headquarters of Acme is located in Berlin.", "Acme", "headquarters_located_in", "Berlin"),
        ("Dr. Rao chairs the ethics board.", "Dr. Rao", "chairs", "the ethics board"),
        ("Kestrel orbits Mars.", "Kestrel", "orbits", "Mars"),
        ("We use PostgreSQL for billing.", "team", "uses_for_billing", "PostgreSQL"),
        ("Our database is PostgreSQL.", "team", "database", "PostgreSQL"),
    ],
)
async def test_a_claim_about_something_named_is_a_fact_by_its_own_words(
    text: str, entity: str, property_name: str, value: str
) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.entity_name) == ("fact", entity)
    assert (candidate.property_name, candidate.value) == (property_name, value)


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Oslo?",
        "I live in Oslo?",
        "If I live in Oslo I will take the tram.",
        "I might move to Oslo.",
        "I would love to live in Oslo.",
        "I wish I had a dog named Rex.",
        "I think Tom works at Acme.",
        "Tom said he lives in Rome.",
        '"I live in Oslo", it said on the poster.',
        "I'm tired of Oslo.",
        "I love it there in Oslo.",
        "My mom is sick.",
        "The best part of Oslo is the food.",
        "I have a headache.",
        "I didn't move to Oslo.",
    ],
)
async def test_questions_wishes_hearsay_and_moods_are_kept_as_said_and_no_more(text: str) -> None:
    extraction = await extract(text)
    assert typed(extraction) == []
    assert texts(extraction, "episodic") == [text]


async def test_one_sentence_may_make_several_statements_each_with_its_characters() -> None:
    text = "I'm Anna, I'm 34 and I live in Oslo."
    extraction = await extract(text)
    assert [row[2:4] for row in typed(extraction)] == [("name", "Anna"), ("age", "34"), ("lives_in", "Oslo")]
    places = [(c.sources[0].start, c.sources[0].end) for c in extraction.candidates]
    assert [text[start:end] for start, end in places] == ["I'm Anna", "I'm 34", "I live in Oslo"]


async def test_a_named_speaker_stands_in_the_sentence_and_an_unnamed_one_does_not() -> None:
    extraction = await extract(said("I live in Oslo.", name="Mia"), said("My dog's name is Rex.", name="Mia"))
    assert texts(extraction, "profile") == ["Mia lives in Oslo.", "Mia's dog's name is Rex."]
    assert {c.entity_name for c in extraction.candidates} == {"Mia"}
    assert texts(await extract("I live in Oslo."), "profile") == ["I live in Oslo."]


async def test_a_pronoun_stands_for_the_one_person_named_before_and_else_for_nobody() -> None:
    one = await extract("My brother Tom lives in Rome. His wife is Anna. He works at Acme.")
    assert ("fact", "Tom", "wife", "Anna", 1) in typed(one)
    assert "Tom works at Acme." in texts(one, "fact")
    assert ("fact", "Anna", "works_at", "Acme", 1) in typed(await extract("My wife is Anna. She works at Acme."))
    two = await extract("My brother Tom met my friend Jack. He works at Acme.")
    assert typed(two) == []


async def test_whether_a_new_value_replaces_the_old_one_follows_from_grammar() -> None:
    sentences = ("I live in Oslo.", "I work at Acme.", "I speak Dutch.", "I like tea.", "I have a dog.")
    found = {(await _single(text)) for text in sentences}
    assert found == {("lives_in", True), ("works_at", True), ("speaks", False), ("likes", False), ("has_dog", False)}


async def _single(text: str) -> tuple[str, bool | None]:
    candidate = only(await extract(text))
    return candidate.property_name, candidate.single_valued


async def test_a_correction_is_marked_and_keeps_its_words() -> None:
    candidate = only(await extract("Actually, we use MySQL for billing."))
    assert candidate.content == "Actually, we use MySQL for billing."
    assert (candidate.single_valued, candidate.flags) == (True, ("correction",))
    assert only(await extract("We use MySQL for billing.")).flags == ()


async def test_what_a_sentence_says_beyond_its_statement_is_kept_too() -> None:
    extraction = await extract("I live in Oslo because the air is clean.")
    assert typed(extraction) == [("profile", "user", "lives_in", "Oslo", 1)]
    assert texts(extraction, "episodic") == ["I live in Oslo because the air is clean."]
    assert texts(await extract("I live in Oslo."), "episodic") == []


async def test_a_time_before_the_subject_says_when_the_state_began() -> None:
    candidate = only(await extract(said("Last year I joined Acme.", name="Mia")))
    assert (candidate.content, candidate.value) == ("Last year Mia joined Acme.", "Acme")
    assert (candidate.valid_from, candidate.time_precision) == (datetime(2023, 1, 1, tzinfo=UTC), "year")
    since = only(await extract("Since January I live in Oslo."))
    assert since.valid_from == datetime(2024, 1, 1, tzinfo=UTC)


async def test_a_change_tells_the_new_value_and_that_it_replaces() -> None:
    candidate = only(await extract("We switched from PostgreSQL to MySQL for billing."))
    assert (candidate.property_name, candidate.value) == ("uses_for_billing", "MySQL")
    assert (candidate.single_valued, candidate.flags) == (True, ("correction",))
    moved = only(await extract("I moved from Berlin to Paris."))
    assert (moved.property_name, moved.value) == ("lives_in", "Paris")


async def test_what_was_and_what_is_now_are_two_statements() -> None:
    extraction = await extract("I used to work at Google but now I work at Microsoft.")
    assert [row[2:] for row in typed(extraction)] == [("works_at", "Google", -1), ("works_at", "Microsoft", 1)]


async def test_a_denial_keeps_its_denial() -> None:
    denied = typed(await extract("Tom is not married to Anna. Berlin isn't the capital of Austria."))
    assert denied == [
        ("fact", "Tom", "married_to", "Anna", -1),
        ("fact", "Austria", "capital", "Berlin", -1),
    ]


async def test_list_items_and_lines_are_sentences_of_their_own() -> None:
    extraction = await extract("1. The capital of Peru is Lima.\n2. Hamlet was written by William Shakespeare.")
    assert [row[1:4] for row in typed(extraction)] == [
        ("Peru", "capital", "Lima"),
        ("Hamlet", "written_by", "William Shakespeare"),
    ]
    assert texts(extraction, "episodic") == []

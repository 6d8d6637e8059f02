"""Claims under the types and properties of a schema, without losing what they ask."""

import pytest
from support.extraction import extract, said

from mindmem.core.reason.port import Candidate, Judged
from mindmem.core.reason.rules.schema.bind import RulesBinder
from mindmem.core.reason.schema_port import SchemaBound, SchemaRequest
from mindmem.core.records import Scope
from mindmem.core.schema.questions import schema_property
from mindmem.core.schema.registry import preset


async def _bound(*texts: str, catch_all: bool = True) -> SchemaBound:
    messages = tuple(said(text, name="Sam") for text in texts)
    found = await extract(*messages)
    request = SchemaRequest(
        scope=Scope.of("ann"), schema=preset("general"), messages=messages, candidates=found.candidates
    )
    [verdict] = await RulesBinder(catch_all=catch_all).bind([request])
    assert isinstance(verdict, Judged)
    assert len(verdict.value.candidates) == len(found.candidates)
    return verdict.value


async def _claim(text: str) -> Candidate:
    return (await _bound(text)).candidates[0]


@pytest.mark.parametrize(
    ("text", "prop"),
    [
        ("I live in Oslo.", "residence"),
        ("I moved to Rome.", "residence"),
        ("I work at Acme Corp.", "occupation"),
        ("I work as a nurse.", "occupation"),
        ("My favorite color is blue.", "preference"),
        ("I love jazz.", "preference"),
        ("I am allergic to nuts.", "health"),
        ("I have two cats.", "pet"),
        ("My phone number is 555-1234.", "contact"),
        ("I'm 34 years old.", "identity"),
        ("Yesterday we went camping in the mountains and saw deer.", "travel"),
        ("I feel so stressed about the exam.", "feeling"),
    ],
)
async def test_a_claim_falls_under_the_property_that_its_name_or_words_tell(text: str, prop: str) -> None:
    claim = await _claim(text)
    assert (claim.entity_type, schema_property(claim.property_name)) == ("person", prop)


async def test_wordings_of_one_question_share_a_timeline_and_other_questions_keep_their_own() -> None:
    lives, moves, employer, trade = [
        await _claim(text)
        for text in ("I live in Oslo.", "I moved to Rome.", "I work at Acme Corp.", "I work as a nurse.")
    ]
    assert lives.property_name == moves.property_name == "residence"
    assert lives.single_valued
    assert moves.single_valued
    assert employer.property_name != trade.property_name


async def test_what_is_worked_on_never_replaces_what_else_is_worked_on() -> None:
    claim = await _claim("I'm working on a novel about lighthouses.")
    assert schema_property(claim.property_name) == "work_in_progress"
    assert claim.single_valued is not True


async def test_a_story_about_a_home_is_no_value_of_the_residence() -> None:
    bound = await _bound("We painted the whole apartment last weekend, what a mess that house was.")
    [story] = bound.candidates
    assert story.mem_type == "episodic"
    assert story.single_valued is None
    assert story.property_name != "residence"


async def test_what_fits_nowhere_is_kept_under_the_catch_all_property_or_its_own_name() -> None:
    text = "I ran my first marathon last Sunday!"
    assert (await _bound(text)).candidates[0].property_name == "default_property"
    assert (await _bound(text, catch_all=False)).candidates[0].property_name == ""


async def test_an_episode_says_who_spoke_of_what_when_and_quotes_what_was_said() -> None:
    bound = await _bound(
        "I finally signed up for the Graz Marathon!", "Training for the marathon is hard, my knees hurt every evening."
    )
    assert "Sam" in bound.title
    assert bound.summary.startswith("On 15 March 2024 Sam spoke of ")
    quoted = bound.summary.split("“")[1].rstrip("”")
    assert quoted in ("I finally signed up for the Graz Marathon!",
                      "Training for the marathon is hard, my knees hurt every evening.")  # fmt: skip


async def test_a_chinese_episode_is_told_in_chinese() -> None:
    bound = await _bound("我昨天参加了北京马拉松，训练很辛苦。")
    assert bound.summary.startswith("2024年3月15日，Sam谈到")
    assert "马拉松" in bound.title

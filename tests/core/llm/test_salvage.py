"""A reply counts when it is whole and valid; else its good items survive and the bad ones come with reason and raw."""

import json
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from mindmem.core.llm.salvage import read_reply


class Fact(BaseModel):
    model_config = ConfigDict(strict=True)
    content: str = Field(min_length=1)
    confidence: float = Field(ge=0, le=1)
    kind: Literal["fact", "wish"] = "fact"
    aliases: tuple[str, ...] = ()


class Facts(BaseModel):
    facts: list[Fact]
    note: str = ""


class Verdict(BaseModel):
    correct: bool
    reasons: tuple[str, ...] = ()


def fact(content: str, **fields: object) -> dict[str, object]:
    return {"content": content, "confidence": 0.9, **fields}


GOOD = [fact("Ann lives in Oslo"), fact("安喜欢茶", kind="wish", aliases=["安"])]


def contents(value: Facts | None) -> list[str]:
    assert value is not None
    return [one.content for one in value.facts]


def test_a_whole_valid_reply_has_no_trouble() -> None:
    reading = read_reply(json.dumps({"facts": GOOD, "note": "x"}), Facts, "facts")
    assert (reading.trouble, reading.problem, reading.rejected) == ("", "", ())
    assert contents(reading.value) == ["Ann lives in Oslo", "安喜欢茶"]


def test_an_empty_list_is_a_valid_reply() -> None:
    reading = read_reply('```json\n{"facts": []}\n```', Facts, "facts")
    assert (reading.trouble, contents(reading.value)) == ("", [])


def test_one_invalid_item_among_many_is_rejected_alone() -> None:
    bad = fact("Bob", confidence=7)
    reading = read_reply(json.dumps({"facts": [GOOD[0], bad, "words", GOOD[1]]}), Facts, "facts")
    assert (reading.trouble, reading.kept) == ("invalid", 2)
    assert contents(reading.value) == ["Ann lives in Oslo", "安喜欢茶"]
    assert [json.loads(one.raw) for one in reading.rejected] == [bad, "words"]
    assert reading.rejected[0].reason == "confidence: Input should be less than or equal to 1"


def test_what_is_wrong_is_told_without_quoting_it() -> None:
    reading = read_reply(json.dumps({"facts": [fact("secret words", confidence="secret")] * 7}), Facts, "facts")
    assert reading.problem.startswith("facts.0.confidence: Input should be a valid number; facts.1.confidence")
    assert reading.problem.endswith("and 2 more")
    assert "secret" not in reading.problem


def test_a_lone_surrogate_in_one_item_costs_no_other() -> None:
    text = '{"facts": [{"content": "她喜欢\\ud83d音乐", "confidence": 0.9}, {"content": "B", "confidence": 0.9}]}'
    reading = read_reply(text, Facts, "facts")
    assert (reading.trouble, contents(reading.value)) == ("", ["她喜欢音乐", "B"])


def test_items_before_the_break_survive_and_the_rest_is_handed_over() -> None:
    text = json.dumps({"facts": GOOD}, ensure_ascii=False)[:-12]
    reading = read_reply(text, Facts, "facts")
    assert (reading.trouble, contents(reading.value)) == ("broken_off", ["Ann lives in Oslo"])
    (rest,) = reading.rejected
    assert rest.reason == "The reply ends before its JSON is closed."
    assert rest.raw.startswith('{"content": "安喜欢茶"')


def test_the_reason_of_a_known_break_is_told() -> None:
    reading = read_reply(json.dumps({"facts": GOOD})[:-2], Facts, "facts", broken_off="cut at 9 tokens")
    assert reading.problem == reading.rejected[0].reason == "cut at 9 tokens"


def test_a_break_behind_the_whole_reply_costs_nothing() -> None:
    text = json.dumps({"facts": GOOD}) + "\n" * 100
    assert read_reply(text, Facts, "facts", broken_off="cut at 9 tokens").trouble == ""


@pytest.mark.parametrize(
    "text",
    [
        '{"facts": [{"content": "ha',
        '{"facts": ',
        '{"facts": [{"content": 1}]}',
        '{"facts": 7}',
        '{"facts": [], "note": 7}',
    ],
)
def test_where_no_item_is_left_nothing_is_kept(text: str) -> None:
    reading = read_reply(text, Facts, "facts")
    assert (reading.value, reading.rejected, reading.kept) == (None, (), 0)
    assert reading.trouble in {"broken_off", "invalid"}


def test_a_wrong_field_beside_the_items_costs_only_itself() -> None:
    reading = read_reply(json.dumps({"facts": GOOD, "note": ["odd"]}), Facts, "facts")
    assert len(contents(reading.value)) == 2
    assert [one.raw for one in reading.rejected] == ['["odd"]']


def test_a_bare_list_stands_for_the_items() -> None:
    assert len(contents(read_reply(json.dumps(GOOD), Facts, "facts").value)) == 2


def test_items_that_stand_whole_in_broken_json_are_kept_with_the_raw_reply() -> None:
    text = '{"facts": [' + json.dumps(GOOD[0]) + ', {"content": "said "hi" to", "confidence": 1.0}]}'
    reading = read_reply(text, Facts, "facts")
    assert (reading.trouble, contents(reading.value)) == ("no_json", ["Ann lives in Oslo"])
    assert [one.raw for one in reading.rejected] == [text]


def test_the_same_object_twice_counts_once() -> None:
    text = json.dumps({"facts": GOOD})
    reading = read_reply(f"{text}\n{text}", Facts, "facts")
    assert (reading.trouble, len(contents(reading.value))) == ("", 2)


def test_an_object_that_began_to_repeat_itself_counts_once() -> None:
    text = json.dumps({"facts": GOOD})
    reading = read_reply(f"{text}\n{text}\n{text[:40]}", Facts, "facts", broken_off="cut at 9 tokens")
    assert (reading.trouble, len(contents(reading.value))) == ("", 2)


def test_two_different_objects_are_not_chosen_between() -> None:
    text = json.dumps({"facts": GOOD[:1]}) + json.dumps({"facts": GOOD[1:]})
    reading = read_reply(text, Facts, "facts")
    assert (reading.trouble, reading.value) == ("ambiguous", None)
    assert "2 different JSON objects" in reading.problem


def test_json_in_chatter_that_is_no_reply_is_passed_over() -> None:
    reading = read_reply('As {"asked": 1} and [1] say: {"facts": []}', Facts, "facts")
    assert reading.trouble == ""


@pytest.mark.parametrize(
    "text", ['{"correct": true', '{"correct": true, "reasons": ["a", "b"', "[]", '{"correct": "x"}']
)
def test_without_items_it_is_all_or_nothing(text: str) -> None:
    assert read_reply(text, Verdict).value is None
    assert read_reply('{"correct": true}', Verdict).value == Verdict(correct=True)


@pytest.mark.parametrize(
    ("text", "trouble"), [("", "empty"), ("  \n", "empty"), ("I can't.", "no_json"), ("{}", "invalid")]
)
def test_the_kind_of_trouble_is_told(text: str, trouble: str) -> None:
    assert read_reply(text, Facts, "facts").trouble == trouble

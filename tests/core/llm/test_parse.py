"""Forms are forgiven, values never guessed; what breaks off keeps what is complete, and no text makes it raise."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindmem.core.llm.parse import MAX_DEPTH, find_json

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def values(text: str) -> list[object]:
    return [one.value for one in find_json(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('```json\n{"a": [1, 2]}\n```', {"a": [1, 2]}),
        ('```\n{"a": 1}', {"a": 1}),
        ('Sure! Here is what you {asked} for:\n\n{"a": "}"}\n\nAnything else? :-}', {"a": "}"}),
        ('<think>Perhaps {"a": 2}? No.</think>\n{"a": 1}', {"a": 1}),
        ('perhaps {"a": 2}? No. {</think>{"a": 1}', {"a": 1}),
        ('{"a": "he wrote <think>{"}', {"a": "he wrote <think>{"}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("{'a': None, 'b': True, \"c\": False}", {"a": None, "b": True, "c": False}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ('{"a": NaN, "b": -Infinity, "c": 1e999}', {"a": None, "b": None, "c": None}),
        ('{"a": "C:\\path\\q"}', {"a": "C:\\path\\q"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": "\\u00e9\\n\\/"}', {"a": "é\n/"}),
        ('{"a": "\\uZZ"}', {"a": "\\uZZ"}),
        ('{"a": "\\ud83d\\ude00 joined"}', {"a": "😀 joined"}),
        ('{"a": "lost\\ud83d half", "b": "我喜欢"}', {"a": "lost half", "b": "我喜欢"}),
        ('{"a": "nul\\u0000"}', {"a": "nul"}),
    ],
)
def test_a_forgivable_form_is_read(text: str, expected: object) -> None:
    assert values(text) == [expected]
    assert all(one.whole for one in find_json(text))


@pytest.mark.parametrize(
    "text",
    [
        "", "no JSON here", "{", "{a: 1}", '{"a" 1}', '{"a": 1 "b": 2}', "{'a': 'don't'}", '{"a": he said}',
        '{"a": 01}', '{"a": +1}', '{"a": 1,, "b": 2}', "{,}", '{"a": undefined}', '<think>{"a": 1}', '{"a": "x" y}',
    ],
)  # fmt: skip
def test_what_would_have_to_be_guessed_is_not_read(text: str) -> None:
    assert [one for one in values(text) if one] == []


@pytest.mark.parametrize(
    ("text", "kept", "rest"),
    [
        ('{"a": [{"b": 1}, {"b": 2', {"a": [{"b": 1}]}, '{"b": 2'),
        ('{"a": [{"b": 1}, {"b": [1, 2', {"a": [{"b": 1}]}, '{"b": [1, 2'),
        ('{"a": ["x", "half', {"a": ["x"]}, '"half'),
        ('{"a": ["x"], "c": "half', {"a": ["x"]}, '"c": "half'),
        ('{"a": {"b": 1}, "c": {"d": [1', {"a": {"b": 1}}, '"c": {"d": [1'),
        ('{"a": [1, 2', {"a": [1]}, "2"),
        ('{"a": [true, fal', {"a": [True]}, "fal"),
        ('{"a": ["x\\', {"a": []}, '"x\\'),
        ('[{"a": 1}, {"a"', [{"a": 1}], '{"a"'),
        ('{"a": ["x"]', {"a": ["x"]}, ""),
    ],
)
def test_of_what_breaks_off_the_complete_items_are_kept(text: str, kept: object, rest: str) -> None:
    (found,) = find_json(text)
    assert (found.value, found.rest) == (kept, rest)
    assert not found.whole


def test_objects_side_by_side_come_in_order_with_their_places() -> None:
    text = 'one {"a": 1} two [2] three {"a": 1}'
    found = find_json(text)
    assert [one.value for one in found] == [{"a": 1}, [2], {"a": 1}]
    assert [text[one.start : one.end] for one in found] == ['{"a": 1}', "[2]", '{"a": 1}']


def test_nesting_beyond_reason_is_not_read() -> None:
    assert values("[" * MAX_DEPTH + "]" * MAX_DEPTH) != []
    assert not any(values("[" * 200_000))
    assert not any(values('{"a":' * 200_000))


def test_numbers_keep_their_value() -> None:
    number = 10**200 + 1
    assert values(f'{{"a": {number}, "b": -0.25, "c": 1e3, "d": 3.0}}') == [
        {"a": number, "b": -0.25, "c": 1e3, "d": 3.0}
    ]


@settings(max_examples=200)
@given(st.text() | st.text("{}[]\"':,\\ n1.-eutdrfaN\n`<think>/", max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    for one in find_json(text):
        assert isinstance(one.value, (dict, list))
        assert not _holds_nan(one.value)


@given(
    st.dictionaries(WORDS, VALUES, max_size=4) | st.lists(VALUES, max_size=4), st.booleans(), st.sampled_from([None, 1])
)
def test_valid_json_comes_back_as_it_is(value: object, escaped: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    (found,) = find_json(text)
    assert found.value == value
    assert found.whole


@given(st.lists(VALUES, min_size=1, max_size=5), st.data())
def test_cut_anywhere_the_items_are_a_beginning_of_the_whole(items: list[object], data: st.DataObject) -> None:
    text = json.dumps({"items": items})
    cut = data.draw(st.integers(len('{"items": ['), len(text) - 1))
    (found,) = find_json(text[:cut])
    kept = found.value["items"]
    assert kept == items[: len(kept)]
    assert not found.whole


def _holds_nan(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_nan, value.values()))
    if isinstance(value, list):
        return any(map(_holds_nan, value))
    return isinstance(value, float) and not math.isfinite(value)

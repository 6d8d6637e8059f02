"""A loop is noticed at the end of a reply, one occurrence is left, and people's own repetitions are no loop."""

import time

import pytest

from mindmem.core.llm.repetition import loop_start


@pytest.mark.parametrize(
    "unit", ["a", "no ", "the same line again\n", '{"content": "Ann lives in Oslo"}, ', "我喜欢茶。"]
)
@pytest.mark.parametrize("ending", ["", "]}", '"}]}\n```'])
def test_a_loop_is_cut_so_that_one_occurrence_is_left(unit: str, ending: str) -> None:
    head = "This is what was there before: "
    text = head + unit * (500 // len(unit) + 1) + ending
    start = loop_start(text)
    assert start is not None
    assert unit.rstrip() in text[len(head) : start]
    assert start <= len(head) + 2 * len(unit)


def test_a_loop_that_ends_within_its_unit_is_one() -> None:
    text = "before " + "round and round we go; " * 30
    assert loop_start(text[:-9]) is not None


@pytest.mark.parametrize(
    "text",
    [
        "", "ha ha ha ha ha", "-" * 80, "|---|" * 20,
        "".join(f'{{"number": {number}, "content": "reading"}}, ' for number in range(200)),
        "the same words " * 100 + "and then something quite different came of it",
        "this long unit is said only three times, which is no loop: " + "x" * 0 + "abcdefghij " * 5,
    ],
)  # fmt: skip
def test_what_people_and_lists_repeat_is_no_loop(text: str) -> None:
    assert loop_start(text) is None


def test_a_huge_loop_is_measured_quickly_to_its_beginning() -> None:
    text = "before: " + "again and " * 100_000
    began = time.perf_counter()
    start = loop_start(text)
    assert start is not None
    assert start < 40
    assert time.perf_counter() - began < 5

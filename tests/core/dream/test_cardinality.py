"""Cardinality: one value at a time or several, by words, by subjects, and by the other properties."""

from collections import Counter

import pytest

from mindmem.core.reason.rules.dream.cardinality import Evidence, cardinalities


def judged(
    counts: list[int], cues: dict[bool | None, int] | None = None, lean: float = 0.0, **others: list[int]
) -> bool | None:
    seen = {"it": Evidence(counts, Counter(cues or {None: sum(counts)}), lean)}
    seen.update({name: Evidence(told, Counter({None: sum(told)})) for name, told in others.items()})
    return cardinalities(seen).get("it")


def test_nearly_one_value_each_over_many_subjects_is_one_at_a_time() -> None:
    assert judged([1] * 38 + [2] * 2) is True


def test_many_second_values_and_no_third_are_changes() -> None:
    assert judged([1] * 10 + [2] * 10) is True


def test_third_and_fourth_values_add_up() -> None:
    assert judged([1] * 10 + [2] * 5 + [3] * 5) is not True
    assert judged([1] * 5 + [2] * 5 + [3] * 5 + [4] * 5) is False


def test_a_corpus_that_contradicts_the_grammar_leaves_it_open() -> None:
    assert judged([1] * 10 + [2] * 5 + [4] * 5, {True: 40}) is None


@pytest.mark.parametrize("counts", [[2, 1, 1], [2, 2, 2, 2], [1, 1, 1, 1]])
def test_few_subjects_tell_nothing(counts: list[int]) -> None:
    assert judged(counts) is None
    assert judged(counts, peer=[1] * 20 + [2] * 20) is None, "nor do other properties alone"


def test_a_property_of_few_subjects_borrows_from_the_others() -> None:
    assert judged([1, 1, 1, 2, 2, 2]) is None
    peers = {f"peer{number}": [1] * 8 + [2] * 8 for number in range(5)}
    assert judged([1, 1, 1, 2, 2, 2], **peers) is True
    heaps = {f"heap{number}": [1, 2, 3, 4] * 4 for number in range(5)}
    assert judged([1, 1, 1, 2, 2, 2], **heaps) is not True, "where values add up it says nothing"


def test_a_weak_cue_tips_the_balance_and_no_more() -> None:
    counts = [1] * 6 + [2] * 4
    assert judged(counts, lean=0.7) is True
    assert judged(counts, lean=-1.1) is None
    assert judged([1, 2, 3, 4] * 4, lean=0.7) is False


def test_what_the_words_say_outweighs_what_they_lean_to() -> None:
    assert judged([1] * 10 + [2] * 10, {False: 30}) is False
    assert judged([1, 2], {True: 3}, lean=-1.1) is True


def test_thirds_keep_values_apart_however_many_stop_at_two() -> None:
    peers = {f"peer{number}": [1] * 7 + [2] * 7 for number in range(12)}
    assert judged([1] * 2 + [2] * 12, **peers) is True
    assert judged([1] * 2 + [2] * 9 + [3] * 2 + [4], **peers) is not True

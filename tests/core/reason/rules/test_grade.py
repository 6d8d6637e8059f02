"""The grader without a model: what counts as the same answer, and what never does."""

import pytest

from mindmem.core.reason.port import GradeRequest, Judged
from mindmem.core.reason.rules.grade import THRESHOLD, RulesGrader, f1, holds, tokens


async def graded(expected: str, given: str) -> bool:
    [verdict] = await RulesGrader().grade([GradeRequest("?", expected, given)])
    assert isinstance(verdict, Judged)
    return verdict.value.correct


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("Berlin", "berlin."),
        ("Berlin", "She lives in Berlin now"),
        ("two cats", "2 cats"),
        ("12 April 2022", "April 12, 2022"),
        ("12 April 2022", "2022-04-12"),
        ("a red bicycle", "the red bicycles"),
        ("hiking and painting", "painting and hiking"),
        ("Yes", "Yes, she does."),
        ("No", "no"),
        ("上海", "她住在上海。"),
        ("三只猫", "3只猫"),
        ("2022年4月12日", "2022-04-12"),
    ],
)
async def test_the_same_answer_in_other_words_is_right(expected: str, given: str) -> None:
    assert await graded(expected, given)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("Berlin", "Paris"),
        ("Berlin", ""),
        ("Berlin", "..."),
        ("12 April 2022", "13 April 2022"),
        ("12 April 2022", "April 2022"),
        ("two cats", "three cats"),
        ("No", "Yes, she does."),
        ("Yes", "I don't know"),
        ("she eats meat", "she does not eat meat"),
        ("a red bicycle from her aunt", "a red car"),
        ("上海", "北京"),
    ],
)
async def test_another_answer_is_wrong_however_many_words_agree(expected: str, given: str) -> None:
    assert not await graded(expected, given)


async def test_each_request_gets_its_own_grade_in_order() -> None:
    verdicts = await RulesGrader().grade([GradeRequest("?", "a1", "a1"), GradeRequest("?", "a1", "b2")])
    assert [isinstance(one, Judged) and one.value.correct for one in verdicts] == [True, False]


def test_measures_over_tokens() -> None:
    assert tokens("The Three dogs") == ("3", "dog")
    assert holds(("x", "a", "b"), ("a", "b"))
    assert not holds(("a", "x", "b"), ("a", "b"))
    assert not holds(("a",), ())
    assert f1(("a", "b", "c"), ("a", "b", "d")) == pytest.approx(2 / 3)
    assert f1(("a", "b", "c"), ("a", "b", "d")) < THRESHOLD
    assert f1((), ("a",)) == 0.0

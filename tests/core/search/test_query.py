"""Questions are checked and cleaned before anything looks at them."""

import pytest

from mindmem.core.errors import InvalidInput
from mindmem.core.search.query import MAX_QUERY, normalise_query, says_something


@pytest.mark.parametrize("query", ["", "  \n\t ", "\0", "\ud83d"])
def test_a_blank_question_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        normalise_query(query)


@pytest.mark.parametrize("query", [None, 3, ["where"]])
def test_a_question_that_is_no_text_is_refused_with_its_type(query: object) -> None:
    with pytest.raises(InvalidInput, match="must be a string"):
        normalise_query(query)  # type: ignore[arg-type]  # the wrong type is the point


def test_a_question_beyond_the_limit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="100001"):
        normalise_query("x" * (MAX_QUERY + 1))


def test_lone_surrogates_and_nul_are_dropped_and_the_rest_is_kept() -> None:
    assert normalise_query(" wh\0ere \ud83dis Ann? ") == "where is Ann?"


@pytest.mark.parametrize(
    "query", ["`|/", "...", "?!", "-", "the", "of the and", "и", "und die", "的", "是我的", "什么"]
)
def test_symbols_and_a_few_stop_words_alone_say_nothing(query: str) -> None:
    assert not says_something(query)


@pytest.mark.parametrize(
    "query", ["42", "Москва", "カフェ", "서울", "🎉", "war", "the war", "to be or not to be", "我的猫"]
)
def test_words_numbers_and_emoji_of_any_script_say_something(query: str) -> None:
    assert says_something(query)

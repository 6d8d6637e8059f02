"""Scores of answers: what normalisation forgives, how lists and signs count."""

import pytest

from mindmem.core.bench.scoring import exact_match, locomo_f1, normalise, sub_em, token_f1, tokens


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  The Cello! ", "cello"),
        ("An apple, a day", "apple day"),
        ("another theory", "another theory"),
        ("Ｏｓｌｏ。", "oslo"),
        ("“Blue” — $5", "blue 5"),
    ],
)
def test_case_punctuation_articles_and_spaces_do_not_count(text: str, same: str) -> None:
    assert normalise(text) == same


def test_an_answer_that_holds_the_expected_one_is_a_sub_match_but_not_an_exact_one() -> None:
    assert sub_em("They met in the old harbour.", "Old Harbour") == 1.0
    assert exact_match("They met in the old harbour.", "Old Harbour") == 0.0
    assert sub_em("harbour", "the old harbour") == 0.0


def test_an_expected_answer_of_an_article_alone_is_not_in_everything() -> None:
    assert sub_em("anything", "A") == 0.0
    assert sub_em("a", "A") == 1.0


def test_no_answer_scores_nothing() -> None:
    assert (exact_match("", "cello"), sub_em("", "cello"), token_f1("", "cello")) == (0.0, 0.0, 0.0)
    assert locomo_f1("", "cello, flute", "multi_hop") == 0.0


def test_repeated_words_count_as_often_as_both_sides_have_them() -> None:
    assert token_f1("no no no", "no") == pytest.approx(0.5)


def test_f1_is_the_same_from_both_sides() -> None:
    assert token_f1("red wooden boat", "boat") == token_f1("boat", "red wooden boat") == 0.5


def test_chinese_is_scored_sign_by_sign() -> None:
    assert tokens("她住在上海。") == ["她", "住", "在", "上", "海"]
    assert token_f1("上海", "她住在上海") == pytest.approx(4 / 7)
    assert sub_em("她住在上海。", "上海") == 1.0


def test_inflected_words_match_only_when_stemmed() -> None:
    assert token_f1("painted", "painting") == 0.0
    assert token_f1("painted", "painting", stemmed=True) == 1.0


def test_parts_of_a_list_are_scored_one_by_one_in_any_order() -> None:
    assert locomo_f1("flute, cello", "Cello, flute", "multi_hop") == 1.0
    assert locomo_f1("cello", "cello, flute", "multi_hop") == 0.5
    assert locomo_f1("cello", "cello, flute", "single_hop") == pytest.approx(2 / 3)


def test_a_comment_after_a_semicolon_is_no_part_of_an_open_domain_answer() -> None:
    assert locomo_f1("likely no", "Likely no; he fears heights", "open_domain") == 1.0
    assert locomo_f1("likely no", "Likely no; he fears heights", "single_hop") < 1.0

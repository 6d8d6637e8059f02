"""Text analysis: every word of every script becomes a term under which both sides find it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindmem.core.text import MAX_TERM, analyse, normalise_name, query_terms, stop_words, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running runs", ["run", "run"]),
        ("It costs 1,000.50 at 10:30", ["it", "cost", "1000.50", "at", "10:30"]),
        ("2023-05-07", ["2023", "05", "07"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("node.js ann@example.org snake_case", ["node.js", "ann@example.org", "snake_case"]),
        ("Ann's", ["ann"]),
        ("don’t", ["don't"]),
        ("CAFÉ München", ["cafe", "munchen"]),
        ("カフェ", ["カフ", "フェ"]),
        ("ｶﾌｪ", ["カフ", "フェ"]),
        ("茶", ["茶"]),
        ("서울", ["서울"]),
        ("हिन्दी", ["हिन्दी"]),
        ("🍕✅", ["🍕", "✅"]),
        ("``` | / -- …", []),
        ("", []),
    ],
)
def test_primary_terms(text: str, expected: list[str]) -> None:
    assert analyse(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cafe", "café"),
        ("munchen", "München"),
        ("cafe\u0301", "café"),
        ("Москва", "Москве"),
        ("ещё", "еще"),
        ("العَرَبِيَّة", "العربية"),
        ("서울", "서울에서"),
        ("茶", "茉莉花茶"),
        ("node", "node.js"),
        ("follow up", "follow-up"),
        ("example", "ann@example.org"),
        ("STRASSE", "straße"),
        ("1000", "1,000"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert set(query_terms(one)) & {term.text for term in terms(other)}
    assert set(query_terms(other)) & {term.text for term in terms(one)}


@pytest.mark.parametrize(
    ("one", "other"), [("42", "24"), ("Berlin", "Bern"), ("C", "C++"), ("9077", "907"), ("上海", "海上")]
)
def test_different_words_have_different_primary_terms(one: str, other: str) -> None:
    assert not set(analyse(one)) & set(analyse(other))


@given(st.text(max_size=200))
def test_any_text_finds_itself_and_no_letter_or_digit_is_lost(text: str) -> None:
    found = query_terms(text)
    assert set(found) == {term.text for term in terms(text)}
    assert all(0.0 < weight <= 1.0 for weight in found.values())
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = set("".join(words(text)))
    assert {character for character in folded if character.isalnum()} <= kept


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=100))
def test_plain_text_has_the_same_words_on_the_short_way(text: str) -> None:
    long_way = [word for word in words(text + " é") if word != "é"]
    assert words(text) == long_way


def test_stop_words_weigh_little_beside_others_and_in_full_alone() -> None:
    assert query_terms("the cello")["the"] < 0.1 < query_terms("the cello")["cello"]
    assert query_terms("to be or not to be") == dict.fromkeys(("to", "be", "or", "not"), 1.0)
    assert query_terms("他在上海")["在"] < 0.1
    assert query_terms("在")["在"] == 1.0


def test_a_stop_word_of_another_language_is_a_word_here() -> None:
    assert query_terms("when did the war begin")["war"] == 1.0
    assert query_terms("wann war der Hund da")["war"] < 0.1
    assert "war" not in stop_words(words("when did the war begin"))


def test_a_page_of_one_word_is_one_short_term() -> None:
    assert analyse("x" * 10_000) == ["x" * MAX_TERM]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("José  Álvarez", "jose alvarez", True),
        ("Dr. Ann", "dr ann", True),
        ("ANN", "ann", True),
        ("Ann", "Anna", False),
        ("李雷", "韩梅梅", False),
        ("", " . ", True),
    ],
)
def test_names_in_two_spellings(one: str, other: str, same: bool) -> None:
    assert (normalise_name(one) == normalise_name(other)) is same

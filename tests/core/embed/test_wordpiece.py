"""WordPiece: what the model reads, and what stays whole because it can't."""

import pytest

from mindmem.core.embed.wordpiece import VOCABULARY_SIZE, bundled_wordpiece, split_words


def texts(text: str) -> list[str]:
    return [piece.text for piece in bundled_wordpiece().pieces(text)]


def test_english_words_become_the_pieces_that_bert_was_trained_on() -> None:
    assert texts("Hello World! unaffable") == ["hello", "world", "!", "una", "##ffa", "##ble"]


def test_piece_ids_are_the_vocabulary_s() -> None:
    assert [piece.token for piece in bundled_wordpiece().pieces("Ann lives in Berlin.")] == [
        5754,
        3268,
        1999,
        4068,
        1012,
    ]


def test_every_piece_id_lies_in_the_vocabulary() -> None:
    assert all(0 <= piece.token < VOCABULARY_SIZE for piece in bundled_wordpiece().pieces("x² naïve ŁÓDŹ 42 ½"))


def test_marks_are_stripped_and_case_is_folded() -> None:
    assert texts("CAFÉ") == texts("cafe")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我喜欢Docker", ["我", "喜", "欢", "docker"]),
        ("Москва", ["москва"]),
        ("서울에서", ["서울에서"]),
        ("great😊!", ["great", "😊", "!"]),
        ("snake_case", ["snake", "_", "case"]),
        (" \t\n", []),
        ("a\x00b\x07", ["a", "b"]),
    ],
)
def test_words_are_cut_at_scripts_and_cjk_characters_stand_alone(text: str, words: list[str]) -> None:
    assert list(split_words(text)) == words


@pytest.mark.parametrize("text", ["我", "москва", "서울", "😊", "ن", "x" * 101])
def test_what_the_model_cannot_read_stays_whole_and_is_marked_foreign(text: str) -> None:
    (piece,) = bundled_wordpiece().pieces(text)
    assert piece.foreign
    assert piece.text == text


@pytest.mark.parametrize("text", ["!", "...", "`|/", "。", "$"])
def test_punctuation_and_symbols_alone_are_bare(text: str) -> None:
    assert all(piece.bare for piece in bundled_wordpiece().pieces(text))


def test_a_letter_or_number_is_not_bare() -> None:
    assert not any(piece.bare for piece in bundled_wordpiece().pieces("a 7"))

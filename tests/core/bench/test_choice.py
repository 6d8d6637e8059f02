"""Multiple choice: which option an answer names, and which one memories support."""

import pytest
from support.builders import memory
from support.embedders import WordEmbedder

from mindmem.core.bench.choice import best_supported, chosen
from mindmem.core.embed.port import Embedder

OPTIONS = {"a": "You like long walks by the sea.", "b": "You like long evenings at the piano."}


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("(a)", "a"),
        ("The best one is ( B ).", "b"),
        ("b) You like long evenings at the piano.", "b"),
        ("Answer: a", "a"),
        ("you like long walks by the sea", "a"),
        ("A walk by the sea", ""),
        ("(a) and (b)", ""),
        ("(z)", ""),
        ("", ""),
    ],
)
def test_an_answer_names_one_option_or_none(answer: str, letter: str) -> None:
    assert chosen(answer, OPTIONS) == letter


@pytest.mark.parametrize("embedder", [None, WordEmbedder()], ids=["words", "late interaction"])
def test_the_option_is_chosen_that_memories_speak_of(embedder: Embedder | None) -> None:
    told = [memory("Ann owns a piano."), memory("Ann likes long books.")]
    assert best_supported(OPTIONS, told, embedder) == "b"
    assert best_supported(OPTIONS, [memory("Ann walks to the sea.")], embedder) == "a"


def test_nothing_is_chosen_without_memories() -> None:
    assert best_supported(OPTIONS, [], None) == ""


def test_options_of_the_same_words_are_equal_and_the_first_is_taken() -> None:
    assert best_supported({"a": "Tea.", "b": "Tea."}, [memory("Ann drinks tea.")], WordEmbedder()) == "a"

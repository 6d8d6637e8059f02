"""Long memories are cut to what a question is about."""

import pytest

from mindmem.core.search.excerpt import excerpt
from mindmem.core.search.tokens import estimate_tokens

FILLER = "The harbour keeps boats and ropes in the third hall. " * 400


@pytest.mark.parametrize("place", [0, 200, 400])
def test_the_stretch_that_the_question_is_about_is_kept(place: int) -> None:
    sentences = FILLER.split(". ")
    text = ". ".join([*sentences[:place], "The notary is called Quintessa", *sentences[place:]])
    cut = excerpt(text, "Who is the notary?", 100)
    assert "The notary is called Quintessa" in cut
    assert estimate_tokens(cut) <= 110
    assert cut.startswith("… ") == (place > 0)
    assert "Quintessa" not in excerpt(text, "Where are the boats?", 100)


def test_what_fits_stays_as_it_is() -> None:
    assert excerpt("Ann likes tea.", "tea", 100) == "Ann likes tea."


def test_without_a_word_of_the_question_the_beginning_is_kept() -> None:
    assert excerpt("Once there was a boat. " + FILLER, "zebra", 50).startswith("Once there was a boat.")


def test_text_without_spaces_is_cut_too() -> None:
    text = "我住在海边" * 3000 + "公证人叫李小龙" + "我喜欢喝茶" * 3000
    cut = excerpt(text, "谁是公证人", 60)
    assert "公证人" in cut
    assert estimate_tokens(cut) <= 70

"""The rules of dreaming: topics in comparable names, cardinality by grammar and corpus, paraphrases, joining."""

import pytest
from support.builders import memory

from mindmem.core.reason.dream_port import Survey
from mindmem.core.reason.rules.dream.alike import paraphrases
from mindmem.core.reason.rules.dream.joining import joined
from mindmem.core.reason.rules.dream.reading import topic_of
from mindmem.core.records import Memory


def verbatim(content: str) -> Memory:
    return memory(content, about="Ann", prop="", value="", mem_type="episodic")


@pytest.mark.parametrize(
    "content",
    [
        "The designer of Tolva Bridge is Kim Grubb.",
        "Tolva Bridge was designed by Kim Grubb.",
        "Tolva Bridge's designer is Kim Grubb.",
    ],
)
def test_one_property_is_one_topic_in_whatever_form_it_is_told(content: str) -> None:
    topic = topic_of(verbatim(content))
    assert topic is not None
    assert (topic.subject, topic.property_name, topic.value) == ("||tolva bridge", "design", "kim grubb")
    assert topic.cue is True


@pytest.mark.parametrize(
    ("content", "cue"),
    [
        ("The emblem of Tolva is a heron.", True),
        ("The rivers of Tolva are Alna and Bolna.", False),
        ("One of the rivers of Tolva is Alna.", False),
        ("Kim also plays chess.", False),
        ("Kim plays chess.", False),
        ("Kim is moored at Tolva.", None),
        ("Kim's son is Marn.", None),
    ],
)
def test_grammar_tells_what_is_one_of_a_kind(content: str, cue: bool | None) -> None:
    topic = topic_of(verbatim(content))
    assert topic is not None
    assert topic.cue is cue


@pytest.mark.parametrize("content", ["I went to Rome.", "Was Kim there?", "Kim, who knows Marn, left."])
def test_what_is_no_plain_statement_about_somebody_else_has_no_topic(content: str) -> None:
    assert topic_of(verbatim(content)) is None


def test_what_is_denied_or_past_tells_no_present_value() -> None:
    said = memory("Ann lives in Oslo.", about="Ann", prop="lives_in", value="Oslo")
    assert topic_of(said) is not None
    assert topic_of(memory("Ann left.", about="Ann", prop="lives_in", value="Oslo", flags=("past",))) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ann has two cats.", "Ann owns two cats.", True),
        ("Ann has two cats.", "Ann has three cats.", False),
        ("Ann likes jazz.", "I'm a big fan of jazz.", True),
        ("Ann likes jazz.", "Ann doesn't like jazz.", False),
        ("Ann plays chess with Kim.", "Ann plays chess with Marn.", False),
        ("On May 1 Ann weighed 80 kg.", "On May 8 Ann weighed 79 kg.", False),
    ],
)
def test_paraphrases_are_told_from_what_differs(one: str, other: str, same: bool) -> None:
    first, second = memory(one, about="Ann", prop="", value=""), memory(other, about="Ann", prop="", value="")
    assert paraphrases(first, second, Survey()) is same
    assert paraphrases(second, first, Survey()) is same


def test_two_ends_of_one_beginning_are_joined_only_if_nothing_can_be_misread() -> None:
    assert joined("Ann works at Acme as a nurse.", "Ann works at Acme in Bergen.") == (
        "Ann works at Acme as a nurse in Bergen."
    )
    assert joined("Ann works at Acme in Rome.", "Ann works at Acme because of Kim.") == ""
    assert joined("Ann works at Acme.", "Ann works at Initech.") == ""

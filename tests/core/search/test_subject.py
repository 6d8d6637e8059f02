"""Whom a question asks about."""

import pytest

from mindmem.core.index.port import People
from mindmem.core.search.subject import subject_of

KNOWN = People(
    speakers=frozenset({"ann", "bob", "will", "jose alvarez", "小明"}), others=frozenset({"lucy", "maria lee", "小红"})
)


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("Where does Ann live?", "ann"),
        ("why is ann's car red", "ann"),
        ("Who is Bob’s boss?", "bob"),
        ("Does José like it?", "jose alvarez"),
        ("where does maria work", "maria lee"),
        ("小明喜欢什么？", "小明"),
    ],
)
def test_one_known_person_is_the_subject(query: str, subject: str) -> None:
    assert subject_of(query, KNOWN) == subject


@pytest.mark.parametrize("query", ["Where did Ann meet Bob?", "小明和Ann见面了吗", "Where is it?", "Where is Zoe?", ""])
def test_several_persons_or_none_are_no_subject(query: str) -> None:
    assert subject_of(query, KNOWN) == ""


def test_a_speaker_goes_before_persons_who_are_spoken_of() -> None:
    assert subject_of("What does Ann's daughter Lucy like?", KNOWN) == "ann"


def test_a_word_that_is_a_name_as_well_counts_only_where_it_is_written_like_one() -> None:
    assert subject_of("When will Ann go?", KNOWN) == "ann"
    assert subject_of("What did Will say?", KNOWN) == "will"


def test_a_full_name_is_not_two_persons() -> None:
    people = People(frozenset({"ann", "ann lee"}), frozenset())
    assert subject_of("Where does Ann Lee live?", people) == "ann lee"

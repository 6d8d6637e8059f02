"""Denials in a user's words: what they deny is archived on record, the rest stays, a receipt says why."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core.memory import Memory
from mindmem.core.reason.rules.feedback.denial import at_odds, opposed


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_store(tmp_path / "home") as opened:
        yield opened


def _add(memory: Memory, words: str) -> list[str]:
    said = {"role": "user", "name": "Eva", "content": words}
    return list(memory.add([said], user_id="eva").memory_ids)


def _active(memory: Memory) -> set[str]:
    return {one.content for one in memory.list(user_id="eva", page_size=100).memories}


@pytest.mark.parametrize(
    ("known", "said", "value"),
    [
        ("I'm allergic to nuts.", "I'm not allergic to nuts any more.", "nuts"),
        ("I'm allergic to nuts.", "No, I'm not allergic to nuts.", "nuts"),
        ("My sister lives in Rome.", "My sister doesn't live in Rome.", ""),
        ("我住在巴黎。", "我不住在巴黎了。", "巴黎"),
        ("我妹妹住在罗马。", "我妹妹不住在罗马。", ""),
    ],
)
def test_what_is_denied_is_archived_with_the_denial_in_its_place_and_undo_brings_it_back(
    memory: Memory, known: str, said: str, value: str
) -> None:
    [old] = _add(memory, known)
    before = _active(memory)
    receipt = memory.feedback(said, user_id="eva", name="Eva")
    [done] = receipt.corrections
    assert (done.op, done.targets, memory.get(old).status, memory.get(done.memory_id).value) == (
        "update", (old,), "archived", value,
    )  # fmt: skip
    assert _active(memory) == {said.removeprefix("No, ")}
    memory.undo(receipt.changes[0].change_id)
    assert _active(memory) == before
    assert memory.verify() == ()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I eat nuts.", "I don't eat nuts on Mondays."),
        ("My sister is allergic to nuts.", "I'm not allergic to nuts."),
        ("I'm allergic to nuts.", "My sister isn't allergic to nuts."),
        ("I'm allergic to nuts.", "I'm not only allergic to nuts."),
        ("I live in Oslo.", "Ben doesn't live in Oslo."),
        ("I live in Oslo.", "Do I not live in Oslo?"),
        ("My brother lives in Rome.", "My sister doesn't live in Rome."),
        ("我妹妹住在罗马。", "我不住在罗马。"),
    ],
)
def test_a_denial_of_something_else_leaves_what_is_known(memory: Memory, known: str, said: str) -> None:
    _add(memory, known)
    before = _active(memory)
    memory.feedback(said, user_id="eva", name="Eva")
    assert before <= _active(memory)


def test_a_denial_of_what_is_not_known_is_kept(memory: Memory) -> None:
    [done] = memory.feedback("I'm not allergic to nuts.", user_id="eva", name="Eva").corrections
    assert (done.op, _active(memory)) == ("add", {"I'm not allergic to nuts."})


def test_that_is_wrong_takes_back_the_one_memory_at_hand(memory: Memory) -> None:
    [oslo] = _add(memory, "I live in Oslo.")
    [cat] = _add(memory, "I'm allergic to nuts.")
    receipt = memory.feedback("That's wrong.", user_id="eva", name="Eva", recalled=[oslo])
    assert [(one.op, one.targets) for one in receipt.corrections] == [("delete", (oslo,))]
    assert [memory.get(one).status for one in (oslo, cat)] == ["archived", "active"]


@pytest.mark.parametrize(("said", "status"), [("No, it's not Bonn.", "archived"), ("No, it's not far.", "active")])
def test_a_denied_value_is_taken_back_only_where_it_was_just_said(memory: Memory, said: str, status: str) -> None:
    [bonn] = _add(memory, "I live in Bonn.")
    asked = [{"role": "assistant", "content": "You live in Bonn, right?"}]
    memory.feedback(said, user_id="eva", name="Eva", messages=asked)
    assert memory.get(bonn).status == status


@pytest.mark.parametrize("at_hand", [0, 2])
def test_that_is_wrong_without_the_memory_that_is_meant_asks_what(memory: Memory, at_hand: int) -> None:
    known = [*_add(memory, "I live in Oslo."), *_add(memory, "I'm allergic to nuts.")]
    receipt = memory.feedback("That's wrong.", user_id="eva", name="Eva", recalled=known[:at_hand])
    assert receipt.changes == ()
    assert receipt.reason.startswith("wrong what?")


@pytest.mark.parametrize(
    "said",
    ["I live in Oslo and I don't live in Oslo.", "I live in Oslo. I don't live in Oslo.", "我住在巴黎，我不住在巴黎。"],
)
@pytest.mark.parametrize("known", ["I live in Bonn.", "I live in Oslo."])
def test_words_that_contradict_themselves_change_nothing_and_are_told_so(memory: Memory, known: str, said: str) -> None:
    _add(memory, known)
    before = _active(memory)
    receipt = memory.feedback(said, user_id="eva", name="Eva")
    assert (receipt.changes, _active(memory)) == ((), before)
    assert "say which" in receipt.reason


def test_a_denial_that_is_put_right_at_once_leaves_what_is_known(memory: Memory) -> None:
    _add(memory, "I live in Oslo.")
    memory.feedback("I don't live in Oslo. No, I live in Oslo.", user_id="eva", name="Eva")
    assert _active(memory) == {"Eva lives in Oslo."}


@pytest.mark.parametrize("said", ["Forget everything.", "No.", "Delete everything you know about me."])
def test_words_that_change_nothing_are_answered_with_what_to_do(memory: Memory, said: str) -> None:
    _add(memory, "I live in Oslo.")
    receipt = memory.feedback(said, user_id="eva", name="Eva")
    assert (receipt.changes, _active(memory)) == ((), {"Eva lives in Oslo."})
    assert "delete_all" in receipt.reason


def test_sentences_oppose_each_other_only_in_the_same_order_and_by_one_denial() -> None:
    assert opposed("My sister doesn't live in Rome.", "Eva's sister lives in Rome.", "Eva")
    assert not opposed("Ann doesn't love Ben.", "Ben loves Ann.", "Eva")
    assert not opposed("I don't live in Rome.", "Eva doesn't live in Rome.", "Eva")
    assert at_odds("I like tea but I don't like tea.")
    assert not at_odds("I like tea but I don't like milk.")

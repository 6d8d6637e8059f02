"""What users of other memory layers ran into with corrections (FIELD_CASES), each with a control, in both modes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.embedders import WordEmbedder
from support.stores import NOW

from mindmem.core.clock import FixedClock
from mindmem.core.memory import Memory
from mindmem.core.services import open_services
from mindmem.core.settings import Settings


@pytest.fixture(params=["vanilla", "schema"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    settings = Settings.load(
        {}, home=tmp_path, embedder="none", ingest={"mode": request.param}, store={"fold_on_close": False}
    )
    services = open_services(settings, clock=FixedClock(NOW), embedder=WordEmbedder("1"))
    with Memory(services=services) as opened:
        yield opened


def known(memory: Memory, *words: str, user: str = "ann") -> list[str]:
    return [name for text in words for name in memory.add(text, user_id=user).memory_ids]


def correct(memory: Memory, text: str, before: str = "", user: str = "ann") -> None:
    memory.feedback(text, user_id=user, messages=[{"role": "assistant", "content": before}] if before else ())


def active(memory: Memory, user: str = "ann") -> set[str]:
    assert memory.verify() == ()
    return {one.content for one in memory.list(user_id=user, page_size=100).memories if one.order == 1}


# -- C1 (mem0 4536): a taste that turned left the store empty


@pytest.mark.parametrize(
    ("old", "said", "new"),
    [
        ("I love Chinese food.", "Actually no, I hate Chinese food.", "I hate Chinese food."),
        ("我喜欢吃辣。", "不对，我不喜欢吃辣。", "我不喜欢吃辣。"),
    ],
)
def test_c1_exactly_the_new_taste_is_active_and_the_history_has_both(
    memory: Memory, old: str, said: str, new: str
) -> None:
    [before] = known(memory, old)
    correct(memory, said)
    assert active(memory) == {new}
    assert [one.status for one in memory.history(before)] == ["active", "archived"]


def test_c1_control_a_taste_for_something_else_replaces_none(memory: Memory) -> None:
    known(memory, "I love Chinese food.")
    correct(memory, "Actually, I hate olives.")
    assert "I love Chinese food." in active(memory)


# -- C3 (graphiti 1728): facts that have nothing to do with each other retire each other


OTHERS = (
    "I live in Bonn.", "I work at Initech.", "I have two cats.", "My sister plays chess.", "I speak Dutch.",
    "The printer listens on port 9077.", "I am allergic to nuts.",
)  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        "Please don't suggest steak again.", "Actually, I prefer tea.", "From now on, always answer in English.",
        "No, I meant the blue one, not the red one.", "When I'm at work, keep your answers short.",
        "Forget that I like sushi.",
    ],
)  # fmt: skip
def test_c3_feedback_on_something_else_retires_nothing(memory: Memory, said: str) -> None:
    known(memory, *OTHERS)
    before = active(memory)
    correct(memory, said)
    assert before <= active(memory)


def test_c3_control_feedback_on_one_of_them_retires_that_one_alone(memory: Memory) -> None:
    known(memory, *OTHERS)
    before = active(memory)
    correct(memory, "That's wrong, I work at Globex.")
    assert before - active(memory) == {"I work at Initech."}


# -- C6 (TencentDB 1278): two that contradict each other in one batch were both kept


def test_c6_of_two_corrections_in_one_message_the_later_one_holds(memory: Memory) -> None:
    known(memory, "I live in Bonn.")
    correct(memory, "No, I live in Ghent. Sorry, I mean I live in Bruges.")
    assert {one for one in active(memory) if "live" in one} == {"I live in Bruges."}


def test_c6_control_two_corrections_of_different_things_both_hold(memory: Memory) -> None:
    known(memory, "I live in Bonn.", "I work at Initech.")
    correct(memory, "No, I live in Ghent. Actually, I work at Globex.")
    assert active(memory) == {"I live in Ghent.", "I work at Globex."}


# -- C7 (memoria 88, 89, 214): a correction left both values


def test_c7_a_correction_closes_the_old_value_with_its_end(memory: Memory) -> None:
    [old] = known(memory, "The project uses PostgreSQL.")
    correct(memory, "That's wrong, the project uses MySQL.")
    assert active(memory) == {"The project uses MySQL."}
    assert memory.get(old).valid_to is not None
    [hit] = memory.search("Which database does the project use?", user_id="ann").hits
    assert hit.memory.content == "The project uses MySQL."


def test_c7_control_the_same_property_of_another_subject_stays(memory: Memory) -> None:
    known(memory, "The project uses PostgreSQL.")
    correct(memory, "Actually, the archive uses MySQL.")
    assert "The project uses PostgreSQL." in active(memory)


# -- H7 (MemOS 1242): the corrected one was archived and nothing retrievable was left


@pytest.mark.parametrize("said", ["No, I meant Ghent, not Bonn.", "It's Ghent, not Bonn.", "No, Ghent, not Bonn."])
def test_h7_a_correction_leaves_a_successor_that_search_finds(memory: Memory, said: str) -> None:
    known(memory, "I live in Bonn.")
    correct(memory, said, "You live in Bonn, right?")
    assert "I live in Ghent." in active(memory)
    found = [hit.memory.content for hit in memory.search("Where do I live?", user_id="ann").hits]
    assert found[0] == "I live in Ghent."
    assert "I live in Bonn." not in found


def test_h7_control_what_is_only_taken_back_has_no_successor_and_stays_on_record(memory: Memory) -> None:
    [old] = known(memory, "I like sushi.")
    correct(memory, "Forget that I like sushi.")
    assert active(memory) == set()
    assert memory.get(old).status == "archived"


# -- H3, H4 (rockbot 506, LaPis 281): no way back; gone although the replacement never came


def test_h3_a_correction_can_be_taken_back_whole(memory: Memory) -> None:
    known(memory, *OTHERS)
    before = active(memory)
    receipt = memory.feedback("That's wrong, I work at Globex.", user_id="ann")
    assert len({action.memory.change_id for action in receipt.actions}) == 1, "old and new change together"
    memory.undo(receipt.changes[0].change_id)
    assert active(memory) == before


# -- B2, B8 (mem0 5850, hindsight 1566): the same wish in ever new words grew without bound


def test_b8_a_wish_that_is_repeated_is_kept_once(memory: Memory) -> None:
    for said in ("Please don't suggest steak again.", "Don't suggest steak again!", "please don't suggest steak again"):
        for _ in range(4):
            correct(memory, said)
    assert len([one for one in active(memory) if "steak" in one]) == 1


def test_b8_control_wishes_about_different_things_are_all_kept(memory: Memory) -> None:
    for dish in ("steak", "tofu", "ramen"):
        correct(memory, f"Please don't suggest {dish} again.")
    assert active(memory) == {f"Don't suggest {dish} again." for dish in ("steak", "tofu", "ramen")}


# -- A15 (rockbot 495): one scope's trouble aborted the whole run


def test_a15_the_corrections_of_one_user_touch_no_other(memory: Memory) -> None:
    for user in ("ann", "ben"):
        known(memory, "I live in Bonn.", user=user)
    correct(memory, "No, I live in Ghent.", user="ann")
    assert (active(memory, "ann"), active(memory, "ben")) == ({"I live in Ghent."}, {"I live in Bonn."})

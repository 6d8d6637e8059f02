"""Values that nothing said contradicts stay current: denials of others, the past, idioms, other people's word."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mindmem import Memory
from mindmem.core import records

DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)


def _told(home: Path, *texts: str | tuple[str, str]) -> dict[str, list[records.Memory]]:
    """Say one text a day, by a named speaker or the user, and return the structured memories by status."""
    with Memory(home) as memory:
        for day, each in enumerate(texts):
            name, text = each if isinstance(each, tuple) else ("", each)
            message = {"role": "user", "content": text, "timestamp": DAY + timedelta(days=day)}
            memory.add([{**message, "name": name} if name else message], user_id="ann")
        return {
            status: [
                one
                for one in memory.list(user_id="ann", filters={"status": status}).memories
                if one.mem_type != "episodic"
            ]
            for status in ("active", "archived")
        }


@pytest.mark.parametrize(
    ("true", "said"),
    [
        ("I live in Cologne.", "I don't live in Bonn."),
        ("I work at Bosch.", "I don't work at SAP anymore."),
        ("I work at Bosch.", "I used to work at SAP."),
        ("My favorite color is blue.", "My favorite color was red."),
        ("I live in Madrid.", "I live in the moment."),
        ("I live in Madrid.", "I live in a small flat near the river."),
        ("I live in Madrid.", "# I live in Tokyo"),
        ("I work at Bosch.", "I work at night."),
        ("My wife is Anna.", "My wife is a nurse."),
        ("I have two cats.", "I have three cats."),
        ("I have two cats.", "I have a dog now."),
        ("My gate is B12.", "Sorry, the bus is 14."),
        ("我住在北京。", "我不住在上海。"),
        ("我在腾讯工作。", "我以前在百度工作。"),
        ("我住在北京。", "我住在恐惧中。"),
        ("我住在北京。", "我住在朋友家。"),
        ("I live in Rome.", "I live in a tiny studio in Milan."),
        ("I work at Bosch.", "I work part-time at Aldi."),
        ("我有两只猫。", "我有三只猫。"),
        ("我的生日是5月3日。", "我的生日不是5月13日。"),
        ("我的生日是5月3日。", "不对，是绿色。"),
        ("我的生日是5月3日。", "是5月13日。"),
        ("我对花生过敏。", "我对牛奶不过敏。"),
    ],
)
def test_what_says_nothing_of_a_value_leaves_it_current(tmp_path: Path, true: str, said: str) -> None:
    told = _told(tmp_path, true, said)
    assert not told["archived"]
    assert true in [one.content for one in told["active"]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Cologne.", "I don't live in Cologne anymore."),
        ("I live in Cologne.", "I live in Bonn."),
        ("I have two cats.", "I have three cats now."),
        ("I have two cats.", "I have no cats anymore."),
        ("I have two cats.", "Actually, I have three cats."),
        ("I have no cats.", "I have two cats now."),
        ("My flight is LH1234.", "Sorry, the flight is LH1243."),
        ("我住在上海。", "我不住在上海了。"),
        ("我有两只猫。", "我现在有三只猫。"),
        ("我有两只猫。", "我现在没有猫了。"),
    ],
)
def test_a_denial_of_the_very_value_a_new_count_and_a_correction_close_it(tmp_path: Path, old: str, new: str) -> None:
    told = _told(tmp_path, old, new)
    assert [one.content for one in told["archived"]] == [old]
    assert [one.content for one in told["active"]] == [new]


@pytest.mark.parametrize(
    ("text", "past", "present", "since"),
    [
        ("I used to live in Madrid before I moved to Valencia in 2019.", "Madrid", "Valencia", 2019),
        ("我以前住在北京，三年前搬到上海。", "北京", "上海", 2023),
    ],
)
def test_the_past_of_a_sentence_ends_where_its_present_begins(
    tmp_path: Path, text: str, past: str, present: str, since: int
) -> None:
    told = {one.value: one for one in _told(tmp_path, text)["active"]}
    assert told[present].valid_to is None
    assert told[present].valid_from is not None
    assert told[present].valid_from.year == since
    assert told[past].valid_to == told[present].valid_from


def test_a_move_told_beside_the_denial_of_the_old_place_is_current(tmp_path: Path) -> None:
    told = _told(tmp_path, "我住在上海。", "我不住上海了，上周搬到了苏州。")
    assert [(one.value, one.flags) for one in told["archived"]] == [("上海", ())]
    [moved] = [one for one in told["active"] if one.value == "苏州"]
    assert moved.valid_to is None


def test_anothers_word_stands_beside_what_somebody_said_of_themselves(tmp_path: Path) -> None:
    told = _told(tmp_path, ("Ben", "My phone number is 555-1234."), ("Ann", "Ben's phone number is 555-4321."))
    assert not told["archived"]
    sure = {one.value: one.confidence for one in told["active"]}
    assert sure["555-4321"] < sure["555-1234"]


def test_a_persons_own_word_replaces_their_old_one_and_anothers(tmp_path: Path) -> None:
    told = _told(
        tmp_path,
        ("Ben", "I live in Rome."),
        ("Ann", "Ben lives in Paris."),
        ("Ben", "I moved to Oslo."),
    )
    assert [one.value for one in told["active"]] == ["Oslo"]


def _contents(told: dict[str, list[records.Memory]]) -> dict[str, set[str]]:
    return {status: {one.content for one in found} for status, found in told.items()}


def test_a_namesake_told_through_another_person_is_never_replaced(tmp_path: Path) -> None:
    told = _contents(_told(tmp_path, ("Ann", "My sister Eva lives in Rome."), ("Bob", "My sister Eva lives in Kiel.")))
    assert told == {"active": {"Ann's sister Eva lives in Rome.", "Bob's sister Eva lives in Kiel."}, "archived": set()}


def test_of_two_namesakes_a_newer_word_moves_the_speakers_own(tmp_path: Path) -> None:
    told = _contents(
        _told(
            tmp_path,
            ("Ann", "My sister Eva lives in Rome."),
            ("Bob", "My sister Eva lives in Kiel."),
            ("Ann", "My sister Eva lives in Oslo."),
            ("Bob", "Eva lives in Bonn."),
        )
    )
    assert told["archived"] == {"Ann's sister Eva lives in Rome.", "Bob's sister Eva lives in Kiel."}
    assert told["active"] == {"Ann's sister Eva lives in Oslo.", "Eva lives in Bonn."}


def test_the_same_owners_later_word_of_a_relative_still_counts(tmp_path: Path) -> None:
    told = _contents(_told(tmp_path, ("Ann", "My sister Eva lives in Rome."), ("Ann", "My sister Eva lives in Kiel.")))
    assert told == {"active": {"Ann's sister Eva lives in Kiel."}, "archived": {"Ann's sister Eva lives in Rome."}}


def test_a_bare_value_that_could_correct_two_memories_corrects_neither(tmp_path: Path) -> None:
    told = _told(tmp_path, "我的生日是5月3日，我女儿的生日是6月1日。", "不对，是5月13日。")
    assert not told["archived"]
    assert _told(tmp_path / "long_ago", "我的生日是5月3日。", "我喜欢茶。", "不对，是5月13日。")["archived"] == []

"""Newer values through the public API: one property has one value, and unrelated facts never retire each other."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest

from mindmem import Memory

DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)


def _said(text: str, day: int, **more: str) -> dict[str, object]:
    return {"role": "user", "content": text, "timestamp": DAY + timedelta(days=day), **more}


def _told(home: Path, *texts: str) -> dict[str, list[str]]:
    """Say one text a day and return the contents by status."""
    with Memory(home) as memory:
        for day, text in enumerate(texts):
            memory.add([_said(text, day)], user_id="ann")
        return {
            status: sorted(one.content for one in memory.list(user_id="ann", filters={"status": status}).memories)
            for status in ("active", "archived")
        }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Google.", "I started a new job at Bosch."),
        ("I work at Google.", "I'm now at Bosch."),
        ("I work at Google.", "I left Google for Bosch."),
        ("I work at Google.", "I switched from Google to Oracle."),
        ("I work at Google.", "I joined Microsoft last month."),
        ("I work at Google.", "I've been working at Tesla since March."),
        ("I work at Google.", "I recently moved on to a new role at Tesla."),
        ("I live in Paris.", "I moved to Rome last week."),
        ("I live in Paris.", "I'm based in Rome these days."),
        ("I live in Paris.", "My home is now in Rome."),
        ("My email is a@x.com.", "My email changed to b@x.com."),
        ("My phone number is 555-1000.", "I changed my phone number to 555-2000."),
        ("I am 34.", "I just had my 35th birthday."),
        ("I'm vegetarian.", "I'm vegan now."),
        ("I'm a vegetarian.", "I'm not a vegetarian anymore."),
        ("We use PostgreSQL for billing.", "We switched to MySQL for billing."),
        ("The project uses PostgreSQL.", "Correction: the project uses MySQL."),
        ("The meeting is at 3pm.", "The meeting was moved to 4pm."),
        ("数据库是PostgreSQL。", "更正：数据库是MySQL。"),
        ("My phone number is 555-1000.", "My new phone number is 555-2000."),
        ("I'm 34.", "I turned 35."),
        ("I'm a teacher.", "I'm a nurse now."),
        ("I live in Hamburg.", "We relocated to Lyon."),
        ("I live at 1 Main Street.", "My new address is 2 Oak Road."),
        ("I live in Bonn.", "Sorry, I meant Ghent, not Bonn."),
        ("The deadline is Friday.", "The deadline moved to Monday."),
        ("My deadline is 2026-03-20.", "My deadline moved to 2026-03-27."),
        ("My deadline is 2026-03-20.", "My deadline moved to 2026-03-13."),
        ("My favorite color is blue.", "My favourite colour is green now."),
        ("I love running.", "I don't like running anymore."),
        ("Always answer in French.", "Always answer in German."),
        ("我在腾讯工作。", "我刚加入阿里巴巴。"),
        ("我们用的是PostgreSQL。", "更正：我们用的是MySQL。"),
        ("我们用的是PostgreSQL。", "不是PostgreSQL，是MySQL。"),
        ("我的电话是13800000000。", "我的手机号换成了13900000000。"),
        ("截止日期是周五。", "截止日期改到下周一了。"),
        ("我的生日是5月3日。", "不对，是5月13日。"),
        ("我最喜欢的颜色是蓝色。", "我说错了，是绿色。"),
        ("我最喜欢的颜色是蓝色。", "我现在最喜欢的颜色是绿色。"),
        ("我的手机号是13912345678。", "我现在的手机号是13812345678。"),
        ("我的生日是5月3日。", "我的生日不是5月3日。"),
    ],
)
def test_the_newer_value_closes_the_older_in_whatever_words(tmp_path: Path, old: str, new: str) -> None:
    assert _told(tmp_path, old, new) == {"active": [new], "archived": [old]}


def test_a_new_job_after_a_change_closes_the_old_one_in_chinese(tmp_path: Path) -> None:
    told = _told(tmp_path, "我在腾讯工作。", "我换工作了，现在在阿里巴巴。")
    assert told["archived"] == ["我在腾讯工作。"]
    assert "我现在在阿里巴巴。" in told["active"]


@pytest.mark.parametrize(
    "texts",
    [
        ("I like tea.", "I like coffee.", "I love running.", "I enjoy chess."),
        ("My hobby is chess.", "My hobby is tennis."),
        ("My friend is Tom.", "My friend is Anna."),
        ("I work as a nurse.", "I work as a tutor on weekends."),
        ("I have a cat.", "I have a dog.", "I have a parrot."),
        ("I speak French.", "I speak Dutch."),
        ("I work at Google.", "I live in Berlin.", "I'm 34.", "My phone number is 555-1000."),
        ("I live in Berlin.", "I left Google for Bosch."),
        ("I work at Google.", "I'm now at the airport."),
        ("I work at Google.", "I joined Oak Lane Tennis Club."),
        ("I'm a teacher.", "I'm a runner now."),
        ("I live in Berlin.", "Sorry, I meant Ghent, not Bonn."),
        ("Tom works at Google.", "I started a new job at Bosch."),
        ("The deadline is Friday.", "The launch moved to Monday."),
        ("My phone number is 555-1000.", "My new address is 2 Oak Road."),
        ("I work at Google.", "I joined Tom for lunch."),
        ("I work at Google.", "We joined Tom and Anna at the beach."),
        ("I work at Google.", "I started a new position at Oxfam as a volunteer."),
        ("I live in Paris.", "I moved to Slack."),
        ("I live in Paris.", "It's a game, not Paris."),
        ("I'm 34.", "My son turned 5."),
        ("我在腾讯工作。", "我加入了一个合唱团。"),
        ("I like tea.", "My email changed to b@x.com."),
        ("The project uses PostgreSQL.", "Correction: Tom plays the violin."),
        ("The project uses PostgreSQL.", "The project uses MySQL."),
        ("I work at Google.", "Tom joined Microsoft last month."),
        ("Don't use emojis with me.", "Always use metric units."),
        ("我喜欢茶。", "我喜欢咖啡。"),
        ("我养了一只猫。", "我养了一只狗。"),
        ("我在北京工作。", "我刚加入阿里巴巴。"),
        ("我们用的是PostgreSQL。", "我们用的是Kafka。"),
        ("我住在上海。", "不是PostgreSQL，是MySQL。"),
    ],
)
def test_other_facts_and_further_values_stay_beside_each_other(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert _told(tmp_path, *texts) == {"active": sorted(texts), "archived": []}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_was_said_again_later_is_current_in_whatever_order_it_arrives(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    said = [("I live in Berlin.", 0), ("I live in Paris.", 365), ("I live in Berlin.", 730)]
    with Memory(tmp_path) as memory:
        for place in order:
            memory.add([_said(*said[place])], user_id="ann")
        active = memory.list(user_id="ann").memories
        [paris] = [
            one
            for one in memory.list(user_id="ann", filters={"status": "archived"}).memories
            if one.content == "I live in Paris."
        ]
    assert [one.content for one in active] == ["I live in Berlin."]
    assert paris.valid_to == DAY + timedelta(days=730)


def test_a_move_told_late_counts_though_the_old_home_was_named_since(tmp_path: Path) -> None:
    told = _told(tmp_path, "I live in Berlin.", "I live in Berlin.", "I moved to Paris yesterday.")
    assert told == {"active": ["I moved to Paris yesterday."], "archived": ["I live in Berlin."]}


def test_a_repeated_memory_spans_its_first_and_last_saying(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for day in (0, 5, 400):
            memory.add([_said("I live in Berlin.", day)], user_id="ann")
        [one] = memory.list(user_id="ann").memories
        edges = memory.services.reader.edges(one.scope.partition, src=[one.memory_id])
        times = sorted(edge.valid_from for edge in edges if edge.relation == "EXTRACTED_FROM" and edge.valid_from)
    assert (one.reinforcement_count, one.observed_at) == (3, DAY)
    assert (times[0], times[-1]) == (DAY, DAY + timedelta(days=400))


def test_more_sayings_than_a_row_holds_keep_the_last_one(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for day in range(12):
            memory.add([_said("I live in Berlin.", day)], user_id="ann")
        [one] = memory.list(user_id="ann").memories
        spoken = [message.timestamp for message in memory.evidence(one.memory_id)]
    assert (spoken[0], spoken[-1]) == (DAY, DAY + timedelta(days=11))

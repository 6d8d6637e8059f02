"""Whose days relative words count: of the zone that was stated, else of the offset in which the time was told."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core.memory import Memory


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = open_store(home)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("stamp", "zone", "text", "utc"),
    [
        ("2024-03-05T00:30:00+13:00", None, "I met Ola yesterday.", datetime(2024, 3, 3, 11, tzinfo=UTC)),
        ("2024-03-05T00:30:00+13:00", "UTC", "I met Ola yesterday.", datetime(2024, 3, 3, tzinfo=UTC)),
        ("2024-03-04T11:30:00Z", "+13:00", "I met Ola yesterday.", datetime(2024, 3, 3, 11, tzinfo=UTC)),
        ("2024-03-05T00:30:00+13:00", None, "I have an exam tomorrow at 9am.", datetime(2024, 3, 5, 20, tzinfo=UTC)),
        ("2024-03-04T23:30-08:00", None, "I have an exam tomorrow at 9am.", datetime(2024, 3, 5, 17, tzinfo=UTC)),
        ("2024-03-04T23:30-08:00", None, "I fly at 14:30 today.", datetime(2024, 3, 4, 22, 30, tzinfo=UTC)),
    ],
)
def test_days_are_those_of_the_offset_unless_a_zone_is_stated(
    memory: Memory, stamp: str, zone: str | None, text: str, utc: datetime
) -> None:
    line = {"role": "user", "content": text, "timestamp": stamp}
    [found] = memory.add([line], user_id="ann", timezone=zone).memory_ids
    assert memory.get(found).valid_from == utc
    [heard] = memory.evidence(found)
    assert heard.timezone == (zone or stamp[-6:])


@pytest.mark.parametrize("offset", ["+13:00", "+01:00", "-05:00", "-10:00"])
def test_a_prompt_names_the_speakers_day_and_month(memory: Memory, offset: str) -> None:
    lines = [
        {"role": "user", "content": text, "timestamp": f"2024-03-05T12:00{offset}"}
        for text in ("I moved to Oslo last month.", "I met Ola yesterday.")
    ]
    memory.add(lines, user_id="ann")
    prompt = memory.context("Oslo Ola", user_id="ann")
    assert "[2024-02] " in prompt
    assert "[2024-03-04] " in prompt

"""Boundaries between sub-topics by rules: found where people would put them, never between question and answer."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from support.dialogues import CHINESE, ENGLISH, ONE_TOPIC, matched, read, turn_of

from mindmem.core.reason.port import Judged
from mindmem.core.reason.rules.segment import RulesSegmenter
from mindmem.core.reason.schema_port import SegmentRequest
from mindmem.core.records import Turn


def boundaries(turns: Sequence[Turn], before: Sequence[Turn] = ()) -> list[int]:
    request = SegmentRequest(tuple(turns), tuple(before))
    [verdict] = asyncio.run(RulesSegmenter().segment([request]))
    assert isinstance(verdict, Judged)
    assert all(boundary.reason for boundary in verdict.value)
    return [boundary.at for boundary in verdict.value]


def said(*lines: str, minutes: Sequence[float] = ()) -> tuple[Turn, ...]:
    """Turns by A and B in turn; ``minutes`` are the times at which they are said."""
    start = datetime(2025, 5, 1, 9, tzinfo=UTC)
    times = [start + timedelta(minutes=at) for at in minutes or range(len(lines))]
    return tuple(turn_of(place, "AB"[place % 2], line, times[place]) for place, line in enumerate(lines))


@pytest.mark.parametrize(("language", "dialogues"), [("English", ENGLISH), ("Chinese", CHINESE)])
def test_boundaries_are_found_where_people_put_them(
    language: str, dialogues: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    read_ones = [read(text) for text in dialogues.values()]
    found = [boundaries(one.turns) for one in read_ones]
    hits = sum(matched(places, one.boundaries) for places, one in zip(found, read_ones, strict=True))
    precision = hits / sum(map(len, found))
    recall = hits / sum(len(one.boundaries) for one in read_ones)
    with capsys.disabled():
        print(f"\n{language}: {len(read_ones)} dialogues, precision {precision:.2f}, recall {recall:.2f}")  # noqa: T201
    assert precision >= 0.75
    assert recall >= 0.7


@pytest.mark.parametrize("name", ONE_TOPIC)
def test_one_topic_stays_one_episode(name: str) -> None:
    assert boundaries(read(ONE_TOPIC[name]).turns) == []


def test_hours_of_silence_always_part_episodes_even_after_a_question() -> None:
    turns = said("How is the roof?", "Which roof?", "The roof of the barn.", minutes=(0, 1, 9 * 60))
    assert boundaries(turns) == [2]


def test_half_an_hour_parts_episodes_where_the_words_change() -> None:
    lines = ("The violin sounds dull.", "Old strings, I suppose.", "I bought some fish.", "Put it in the fridge.")
    assert boundaries(said(*lines, minutes=(0, 1, 2, 3))) == []
    assert boundaries(said(*lines, minutes=(0, 1, 40, 41))) == [2]


def test_half_an_hour_parts_nothing_where_somebody_replies() -> None:
    lines = ("The violin sounds dull.", "Old strings, I suppose.", "Yes, the strings are old.", "Buy new strings.")
    assert boundaries(said(*lines, minutes=(0, 1, 40, 41))) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did you put the keys?", "By the way, that reminds me: in the blue bowl."),
        ("你把钥匙放哪儿了？", "对了，钥匙在蓝色的碗里。"),
        ("Could you look at it (the small one)?", "Speaking of small, it is broken."),
        ("钥匙在你那里吗", "话说钥匙我早就还给你了。"),
    ],
)
def test_a_question_is_not_cut_from_its_answer(question: str, answer: str) -> None:
    opening = ("The hedge was cut on Monday.", "The hedge looks good.")
    assert boundaries(said(*opening, question, answer, minutes=(0, 1, 2, 60))) in ([], [2])


@pytest.mark.parametrize(
    "cue",
    [
        "By the way, ",
        "Speaking of which, ",
        "On another note, ",
        "One more thing: ",
        "Oh, before I forget, ",
        "Let's change the subject. ",
    ],
)
def test_words_that_announce_another_topic_part_episodes_where_its_words_are_new(cue: str) -> None:
    lines = ("The oven door does not close.", "The oven door needs a new hinge.", "A hinge for the oven is cheap.")
    turns = said(*lines, f"{cue}the choir sings on Sunday.", "The choir sings at noon on Sunday.")
    assert boundaries(turns) == [3]


@pytest.mark.parametrize("cue", ["对了，", "另外，", "话说", "换个话题，", "先不说这个，"])
def test_chinese_words_that_announce_another_topic_part_episodes(cue: str) -> None:
    lines = ("冰箱的门关不严。", "冰箱门的密封条坏了。", "密封条网上就能买。")
    turns = said(*lines, f"{cue}合唱团星期天演出。", "合唱团演出几点开始？")
    assert boundaries(turns) == [3]


def test_an_episode_has_two_turns_at_least_unless_the_pause_is_long() -> None:
    lines = (
        "By the way, the boat leaks.",
        "Speaking of boats, I sold mine.",
        "One more thing: call Rosa.",
        "Anyway, bye.",
    )
    found = [0, *boundaries(said(*lines)), len(lines)]
    assert all(end - start >= 2 for start, end in pairwise(found))


def test_a_tool_s_output_belongs_to_what_called_it() -> None:
    turns = list(
        said("The build fails.", "I run the build.", "By the way, lint is clean.", "Good.", minutes=(0, 1, 50, 51))
    )
    turns[2] = Turn(tuple(replace(message, role="tool") for message in turns[2].messages))
    assert boundaries(turns) == []


def test_what_was_said_before_decides_whether_the_first_turn_begins_an_episode() -> None:
    dialogue = read(ENGLISH["garden, then a job"])
    [place] = dialogue.boundaries
    assert boundaries(dialogue.turns[place:], dialogue.turns[:place]) == [0]
    assert boundaries(dialogue.turns[place:]) == []
    assert boundaries(dialogue.turns[place + 1 :], dialogue.turns[: place + 1]) == []


def test_nothing_and_turns_without_words_or_times_have_no_boundaries() -> None:
    assert boundaries(()) == []
    blank = [turn_of(place, "AB"[place % 2], text, None) for place, text in enumerate(("…", "👍", "   ", "-", "?!"))]
    assert boundaries(blank) == []


def test_twenty_thousand_turns_take_under_five_seconds_and_always_give_the_same() -> None:
    dialogues = [read(text).turns for text in (*ENGLISH.values(), *CHINESE.values(), *ONE_TOPIC.values())]
    turns = [turn for dialogue in dialogues for turn in dialogue]
    many = [turns[place % len(turns)] for place in range(20_000)]
    began = time.process_time()
    found = boundaries(many)
    assert time.process_time() - began < 5
    assert len(found) > 1_000
    assert boundaries(many[:2_000]) == boundaries(many[:2_000])


def test_a_turn_of_ten_million_characters_is_not_read_to_its_end() -> None:
    long = said("word " * 2_000_000, "?" * 1_000_000, "\n" * 1_000_000, "。" * 1_000_000, "Anyway, " * 500_000)
    began = time.process_time()
    boundaries(long)
    assert time.process_time() - began < 1

"""Episodes hold each turn once; windows follow them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.dialogues import ENGLISH, read, turn_of

from mindmem.core.language.words import asks
from mindmem.core.reason.port import Unsure, Verdict
from mindmem.core.reason.rules.segment import RulesSegmenter
from mindmem.core.reason.schema_port import Boundary, SegmentRequest
from mindmem.core.records import Turn
from mindmem.core.schema.segment import cut, episode_windows, segmented


def turns_of(*said: str) -> tuple[Turn, ...]:
    return tuple(turn_of(place, "AB"[place % 2], words, None) for place, words in enumerate(said))


class Doubting:
    """Can't tell anything."""

    async def segment(self, requests: list[SegmentRequest]) -> list[Verdict[tuple[Boundary, ...]]]:
        return [Unsure("no idea") for _ in requests]


@given(
    asked=st.lists(st.booleans(), max_size=60),
    boundaries=st.lists(st.integers(-2, 70), max_size=9),
    most=st.integers(1, 20),
)
def test_episodes_hold_each_turn_once_in_order_within_the_limit(
    asked: list[bool], boundaries: list[int], most: int
) -> None:
    turns = turns_of(*("Is it so?" if one else "It is so." for one in asked))
    episodes = cut(turns, [Boundary(at, "") for at in boundaries], most_turns=most)
    assert [turn for episode in episodes for turn in episode.turns] == list(turns)
    assert all(0 < len(episode.turns) <= most for episode in episodes)
    assert [episode.index for episode in episodes] == list(range(len(episodes)))
    begun = {episode.messages[0].position for episode in episodes}
    assert begun >= {at for at in boundaries if 0 < at < len(turns)}


def test_too_long_an_episode_is_cut_in_about_equal_parts_after_an_answer() -> None:
    turns = turns_of(*("Is it so?", "It is so.") * 9)  # the middle falls between question and answer
    sizes = [len(episode.turns) for episode in cut(turns, [])]
    assert sizes == [8, 10]
    assert not any(asks(episode.messages[-1].content) for episode in cut(turns, []))


async def test_a_segmenter_that_can_t_tell_leaves_one_episode() -> None:
    turns = read(ENGLISH["garden, then a job"]).turns
    assert len(await segmented(Doubting(), turns)) == 1
    assert len(await segmented(RulesSegmenter(), turns)) == 2
    assert await segmented(Doubting(), ()) == ()


@pytest.mark.parametrize("soft", [30, 60, 26_000])
async def test_windows_never_split_an_episode_that_fits(soft: int) -> None:
    dialogue = read(ENGLISH["running, a book, taxes"])
    episodes = await segmented(RulesSegmenter(), dialogue.turns)
    windows = episode_windows(episodes, soft_tokens=soft, hard_tokens=400)
    owner = {message.message_id: window.index for window in windows for message in window.evidence}
    assert len(owner) == len(dialogue.turns)
    for episode in episodes:
        assert len({owner[message.message_id] for message in episode.messages}) == 1
    assert len(windows) == (1 if soft > 400 else 3 if soft == 30 else len(windows))


def test_an_episode_over_the_hard_limit_is_cut_between_messages() -> None:
    turns = turns_of(*("word " * 100,) * 6)
    windows = episode_windows(cut(turns, []), soft_tokens=200, hard_tokens=300)
    assert [len(window.evidence) for window in windows] == [2, 2, 2]
    assert windows[1].before[-1] == windows[0].evidence[-1]


def test_an_episode_that_goes_on_in_another_session_stays_whole() -> None:
    from dataclasses import replace

    turns = list(turns_of("The boat leaks.", "Then caulk the boat."))
    [message] = turns[1].messages
    turns[1] = Turn((replace(message, scope=replace(message.scope, session_id="next")),))
    [episode] = cut(turns, [])
    [window] = episode_windows([episode])
    assert window.evidence == episode.messages

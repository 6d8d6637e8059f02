"""Queued adds are carried out by whole episodes, each once and in order, and none waits for ever."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.dialogues import turn_of

from mindmem.core.reason.schema_port import Boundary
from mindmem.core.schema.buffer import Held, Limits, over, turns_of

LIMITS = Limits(turns=6, messages=100, idle_seconds=60)


def held(*sizes: int, said: str = "It is so.") -> list[Held]:
    """Adds with these numbers of turns."""
    place, adds = 0, []
    for number, size in enumerate(sizes):
        turns = [turn_of(at, "AB"[at % 2], said, None) for at in range(place, place + size)]
        adds.append(Held(f"add_{number}", tuple(turn.messages[0] for turn in turns)))
        place += size
    return adds


def flushed(adds: list[Held], *boundaries: int, limits: Limits = LIMITS, idle: float = 0, everything: bool = False):
    at = [Boundary(place, "") for place in boundaries]
    return over(adds, turns_of(adds), at, limits=limits, idle_seconds=idle, everything=everything)


def test_an_episode_is_over_when_the_next_one_begins() -> None:
    assert flushed(held(2, 2, 2)[:2]) == ()
    assert flushed(held(2, 2, 2), 4) == (("add_0", "add_1"),)
    assert flushed(held(2, 2, 2), 2, 4) == (("add_0",), ("add_1",))


def test_an_add_in_which_the_topic_changes_is_not_divided() -> None:
    assert flushed(held(2, 2, 1), 3) == ()
    assert flushed(held(2, 2, 1), 3, 4) == (("add_0", "add_1"),)


def test_an_episode_is_over_at_its_limits() -> None:
    assert flushed(held(2, 2, 2)) == (("add_0", "add_1", "add_2"),)
    assert flushed(held(2, 2, 2, 2)) == (("add_0", "add_1", "add_2"),)
    assert flushed(held(2, 2), limits=Limits(messages=4)) == (("add_0", "add_1"),)
    assert flushed(held(40)) == (("add_0",),)


def test_a_full_episode_waits_for_the_answer_to_its_last_question() -> None:
    assert flushed(held(3, 3, said="Is it so?")) == ()
    assert flushed(held(3, 3, 6, said="Is it so?")) == (("add_0", "add_1", "add_2"),)


def test_two_messages_are_carried_out_once_nothing_more_comes() -> None:
    assert flushed(held(2), idle=59) == ()
    assert flushed(held(2), idle=60) == (("add_0",),)
    assert flushed(held(2), everything=True) == (("add_0",),)
    assert flushed([], everything=True) == ()


def test_adds_that_differ_in_more_than_their_messages_are_not_carried_out_together() -> None:
    first, second, third = held(1, 1, 1)
    adds = [first, replace(second, alike="import"), replace(third, alike="import")]
    assert flushed(adds) == (("add_0",),)
    assert flushed(adds, everything=True) == (("add_0",), ("add_1", "add_2"))


def test_adds_without_any_message_go_with_those_around_them() -> None:
    assert flushed(held(0, 2, 0), idle=60) == (("add_0", "add_1", "add_2"),)
    assert flushed(held(0), idle=60) == (("add_0",),)


@given(
    sizes=st.lists(st.integers(0, 9), max_size=30),
    boundaries=st.lists(st.integers(0, 90), max_size=12),
    everything=st.booleans(),
)
def test_each_add_is_carried_out_at_most_once_in_order_and_all_when_nothing_may_wait(
    sizes: list[int], boundaries: list[int], everything: bool
) -> None:
    adds = held(*sizes)
    done = [name for group in flushed(adds, *boundaries, everything=everything) for name in group]
    assert done == [one.add_id for one in adds][: len(done)]
    waiting = sum(sizes[len(done) :])
    assert waiting == 0 if everything else waiting < LIMITS.turns

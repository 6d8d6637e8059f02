"""What people say of themselves: a state told on two days is one claim; acts, other things and secrets are not."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.dreams import active, dream_store, say

from mindmem.core.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with dream_store(tmp_path) as opened:
        yield opened


def dreamt(memory: Memory, told: Sequence[str]) -> int:
    for text in told:
        say(memory, text)
    return memory.dream().archived


@pytest.mark.parametrize(
    "told",
    [
        ["I own a Brindle typewriter.", "I have a Brindle typewriter."],
        ["I have a canoe called Skerry.", "I have a canoe named Skerry."],
    ],
)
def test_a_state_that_is_told_twice_in_other_words_is_kept_once(memory: Memory, told: Sequence[str]) -> None:
    assert dreamt(memory, told) == 1


@pytest.mark.parametrize(
    "told",
    [
        ["My phone password is hunter2kestrel!", "My bank password is tr0ub4dorx!"],
        ["I own a Brindle typewriter.", "I own a Corvane typewriter."],
        ["My car is a Brindle.", "My new car is a Corvane."],
        ["I play chess.", "I play the cello."],
        ["I went to Tannery Pool.", "I went to Tannery Pool again."],
        ["I used to own a kiln.", "I own a kiln."],
        ["I own a kiln.", "I used to own a kiln."],
        ["If I move, I will own a boat.", "I own a boat."],
        ["I don't own a boat.", "Eva owns a boat."],
    ],
)
def test_other_things_other_people_and_secrets_are_left_alone(memory: Memory, told: Sequence[str]) -> None:
    assert dreamt(memory, told) == 0
    assert len(active(memory)) == 2

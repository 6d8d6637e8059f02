"""Which queued adds are carried out together: those of one episode, once it is over.

The buffer of a user, app and agent are its queued adds, over all sessions: the end of a session alone ends nothing. An
episode is over where the next one begins, where nothing came for a while, or where it holds as much as it may. Adds are
never divided: one in which the topic changes belongs to the episode that it begins in, and its own episodes are told
apart when it is carried out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mindmem.core.ingest.turns import group_turns
from mindmem.core.language.words import asks
from mindmem.core.reason.schema_port import Boundary
from mindmem.core.records import Message, Turn

__all__ = ["Held", "Limits", "over", "turns_of"]

_PATIENCE: Final = 2
"""Times the limit of turns at which a question no longer waits for its answer."""


@dataclass(frozen=True, slots=True)
class Held:
    """A queued add with its messages; ``alike`` is what adds must share to be carried out together."""

    add_id: str
    messages: tuple[Message, ...]
    alike: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Turns and messages that an episode holds before it is over in any case, and seconds without a new message."""

    turns: int = 15
    messages: int = 1_000
    idle_seconds: float = 1_800.0


def turns_of(held: Sequence[Held], gap_seconds: float = 1_800.0) -> tuple[tuple[Turn, ...], ...]:
    """Return the turns of each add; a turn ends with its add."""
    return tuple(group_turns(one.messages, gap_seconds) for one in held)


def over(
    held: Sequence[Held],
    turns: Sequence[Sequence[Turn]],
    boundaries: Sequence[Boundary],
    *,
    limits: Limits,
    idle_seconds: float = 0.0,
    everything: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """Return the ids of the adds to be carried out now, by episode, oldest first; the others wait.

    Args:
        held: all that waits, in order.
        turns: of each add (``turns_of``).
        boundaries: where episodes begin among all these turns.
        limits: what ends an episode besides the next one.
        idle_seconds: since the newest add.
        everything: nothing may wait.
    """
    begins = {boundary.at for boundary in boundaries}
    groups: list[_Open] = [_Open()]
    place = 0
    for one, said in zip(held, turns, strict=True):
        last = groups[-1]
        if last.held and (place in begins or one.alike != last.held[-1].alike or last.full(limits)):
            groups.append(last := _Open())
        last.held.append(one)
        last.turns.extend(said)
        place += len(said)
    if not (everything or idle_seconds >= limits.idle_seconds or groups[-1].full(limits)):
        groups.pop()
    return tuple(tuple(one.add_id for one in group.held) for group in groups if group.held)


class _Open:
    """The adds of an episode so far."""

    def __init__(self) -> None:
        self.held: list[Held] = []
        self.turns: list[Turn] = []

    def full(self, limits: Limits) -> bool:
        if sum(len(turn.messages) for turn in self.turns) >= limits.messages:
            return True
        if len(self.turns) < limits.turns:
            return False
        answered = not asks(self.turns[-1].messages[-1].content)
        return answered or len(self.turns) >= _PATIENCE * limits.turns

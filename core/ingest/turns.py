"""Turns: successive messages of one session, role and speaker without a long pause."""

from collections.abc import Sequence
from datetime import timedelta

from mindmem.core.records import Message, Turn

__all__ = ["group_turns"]


def group_turns(messages: Sequence[Message], gap_seconds: float = 1_800.0) -> tuple[Turn, ...]:
    """Return the turns, session by session in the order in which the sessions first appear.

    Within a session the order of the messages is kept. A turn ends where the role or the speaker changes and where the
    next message comes more than ``gap_seconds`` later (or earlier: a jump back is a break, too).
    """
    sessions: dict[str, list[Message]] = {}
    for message in messages:
        sessions.setdefault(message.scope.session_id, []).append(message)
    turns: list[Turn] = []
    gap = timedelta(seconds=gap_seconds)
    for session in sessions.values():
        current: list[Message] = []
        for message in session:
            if current and _breaks(current[-1], message, gap):
                turns.append(Turn(tuple(current)))
                current = []
            current.append(message)
        turns.append(Turn(tuple(current)))
    return tuple(turns)


def _breaks(last: Message, message: Message, gap: timedelta) -> bool:
    if (last.role, last.speaker) != (message.role, message.speaker):
        return True
    if last.timestamp is None or message.timestamp is None:
        return False
    return abs(message.timestamp - last.timestamp) > gap

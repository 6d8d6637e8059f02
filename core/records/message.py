"""Message, Turn and Window: what was said, and how it is grouped for extraction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mindmem.core.records.scope import Scope

__all__ = ["Message", "Role", "Turn", "Window"]

Role = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance, verbatim.

    ``position`` is the place in its session (0-based); ``timestamp`` is aware UTC or None when nobody said when;
    ``timezone`` is the zone in which relative words of this message are read, an IANA name or an offset such as
    ``+13:00``; ``caption`` describes shared media.
    """

    message_id: str
    scope: Scope
    position: int
    role: Role
    name: str
    content: str
    timestamp: datetime | None
    timezone: str
    add_id: str
    caption: str = ""

    @property
    def speaker(self) -> str:
        """Return the speaker's name, or the empty string for an unnamed user or assistant."""
        return self.name


@dataclass(frozen=True, slots=True)
class Turn:
    """Successive messages of one speaker without a long pause; the unit that windows never cut."""

    messages: tuple[Message, ...]

    @property
    def role(self) -> Role:
        """Return the role that all messages of the turn share."""
        return self.messages[0].role


@dataclass(frozen=True, slots=True)
class Window:
    """Whole turns that are extracted at once, as evidence, with turns before and after as context only.

    Only ``evidence`` may support a memory. ``tokens`` is an estimate of the evidence's size. Where an over-long message
    was cut, ``evidence`` holds a piece of it under its message_id, and ``offsets`` says, for each message of the
    evidence, at which character of the stored content the piece begins (empty: all whole).
    """

    index: int
    evidence: tuple[Message, ...]
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    tokens: int
    offsets: tuple[int, ...] = ()

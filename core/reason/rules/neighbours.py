"""What stands around a message: the words that are kept beside a memory, for search only."""

from collections.abc import Sequence
from typing import Final

from mindmem.core.reason.rules import junk
from mindmem.core.records import Message
from mindmem.core.redact import redact

__all__ = ["neighbours"]

_CONTEXT: Final = 400  # characters of neighbouring messages kept beside a memory


def neighbours(messages: Sequence[Message], place: int) -> str:
    """Return the end of the message before ``place`` and the beginning of the one after, secrets cut out; without
    system prompts and recalled memories."""
    before = _said(messages[place - 1], tail=True) if place else ""
    after = _said(messages[place + 1], tail=False) if place + 1 < len(messages) else ""
    return redact("\n".join(part for part in (before, after) if part))[0]


def _said(message: Message, *, tail: bool) -> str:
    if message.role == "system":
        return ""
    half = _CONTEXT // 2
    stretches = junk.outside_fences(message.content)
    if not stretches:
        text = ""
    elif tail:
        text = message.content[max(stretches[-1][0], stretches[-1][1] - half) : stretches[-1][1]]
    else:
        text = message.content[stretches[0][0] : min(stretches[0][1], stretches[0][0] + half)]
    caption = f" [image: {message.caption[:100]}]" if message.caption else ""
    words = (" ".join(text.split()) + caption).strip()
    return f"{message.name}: {words}" if message.name and words else words

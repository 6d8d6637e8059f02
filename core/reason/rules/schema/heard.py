"""Which messages of an episode may assert something: one that commands its reader is quoted and tells nothing."""

from collections.abc import Sequence
from typing import Final

from mindmem.core.reason.port import Candidate
from mindmem.core.reason.rules import junk
from mindmem.core.records import Message

__all__ = ["UNTRUSTED", "commanding"]

UNTRUSTED: Final = "instruction_like"
"""Flag of the quoted words of a message that commands its reader."""
_READ: Final = 20_000  # characters that are looked at


def commanding(messages: Sequence[Message], candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the ids of the messages that command their reader, by their words or as whoever extracted them says."""
    quoted = {source.message_id for one in candidates if UNTRUSTED in one.flags for source in one.sources}
    return frozenset(quoted | {one.message_id for one in messages if junk.is_instruction(one.content[:_READ])})

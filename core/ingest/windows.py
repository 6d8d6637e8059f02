"""Windows: whole turns packed for extraction, with the turns around them as context.

A window ends at the soft size, never holds two sessions, and is never larger than the hard size. A turn that is larger
than that is cut between its messages; a message that is larger is cut into pieces at a line, sentence or word end, each
piece in a window of its own, so that what was said at length is extracted and can be found. Beyond ``MAX_PIECES``
pieces (``TOOL_PIECES`` for tool output) the message is compacted: head and tail are kept, with a marked cut between
them. The stored message stays verbatim in any case, and ``Window.offsets`` leads from a piece back to it. All this is
linear in the length of the messages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.language.words import estimate_tokens
from mindmem.core.records import Message, Turn, Window

__all__ = ["MAX_PIECES", "TOOL_PIECES", "pack_windows"]

MAX_PIECES: Final = 16
TOOL_PIECES: Final = 2

_CONTEXT_MESSAGES: Final = 4
_CONTEXT_CHARS: Final = 2_000
_PER_MESSAGE: Final = 4  # tokens that role and name cost in a prompt
_MARK_CHARS: Final = 48  # room for the mark of a cut
_ENDS: Final = ("\n", "。", "！", "？", ". ", "! ", "? ", " ")


@dataclass(frozen=True, slots=True)
class _Part:
    """A message or a piece of one, with its place in the stored content and its estimated size."""

    message: Message
    offset: int
    tokens: int


def pack_windows(turns: Sequence[Turn], *, soft_tokens: int = 26_000, hard_tokens: int = 32_000) -> tuple[Window, ...]:
    """Return the windows of turns in order; every message is evidence of exactly one, or its pieces of several.

    A window is closed once it holds ``soft_tokens`` or when the next turn would take it over ``hard_tokens``.
    """
    hard = max(hard_tokens, _PER_MESSAGE + 1)
    groups: list[list[_Part]] = []
    current: list[_Part] = []
    size = 0
    session: str | None = None
    for turn in turns:
        for parts in _pieces(turn, hard):
            tokens = sum(part.tokens for part in parts)
            here = parts[0].message.scope.session_id
            if current and (here != session or size >= soft_tokens or size + tokens > hard or _same(current, parts)):
                groups.append(current)
                current, size = [], 0
            current.extend(parts)
            size += tokens
            session = here
    if current:
        groups.append(current)
    messages = [[part.message for part in group] for group in groups]
    return tuple(
        Window(
            index=index,
            evidence=tuple(messages[index]),
            before=_context(messages[index - 1], messages[index][0], first=False) if index else (),
            after=_context(messages[index + 1], messages[index][-1], first=True) if index + 1 < len(groups) else (),
            tokens=sum(part.tokens for part in group),
            offsets=tuple(part.offset for part in group) if any(part.offset for part in group) else (),
        )
        for index, group in enumerate(groups)
    )


def _context(messages: Sequence[Message], beside: Message, *, first: bool) -> tuple[Message, ...]:
    """The nearest few messages of a neighbouring window, long ones cut; none from another session."""
    if messages[0].scope.session_id != beside.scope.session_id:
        return ()
    near = messages[:_CONTEXT_MESSAGES] if first else messages[-_CONTEXT_MESSAGES:]
    return tuple(
        message
        if len(message.content) <= _CONTEXT_CHARS
        else replace(message, content=message.content[:_CONTEXT_CHARS] if first else message.content[-_CONTEXT_CHARS:])
        for message in near
    )


def _pieces(turn: Turn, hard: int) -> Iterator[list[_Part]]:
    """The turn as one group of parts, or as several when it is larger than a window may be."""
    group: list[_Part] = []
    size = 0
    for message in turn.messages:
        for part in _parts(message, hard):
            if group and (size + part.tokens > hard or _same(group, [part])):
                yield group
                group, size = [], 0
            group.append(part)
            size += part.tokens
    yield group


def _same(before: Sequence[_Part], parts: Sequence[_Part]) -> bool:
    """Whether pieces of one message meet: in one window their spans could not be told apart."""
    return before[-1].message.message_id == parts[0].message.message_id


def _parts(message: Message, hard: int) -> Iterator[_Part]:
    text = message.content
    whole = _size(message)
    if whole <= hard:
        yield _Part(message, 0, whole)
        return
    # A token is at most one character, four where all are ASCII: a piece of this length always fits, with a caption
    # of a quarter window beside the first one.
    message = replace(message, caption=message.caption[: hard // 4])
    room = max(hard - _PER_MESSAGE - (hard // 4 + 1 if message.caption else 0) - 1, 1)
    cuts = list(_cuts(text, room * 4 if text.isascii() else room))
    most = TOOL_PIECES if message.role == "tool" else MAX_PIECES
    mark = ""
    if len(cuts) > most:
        tail = max(most // 4, 1)
        kept = [*cuts[: most - tail], *cuts[-tail:]]
        start, end = kept[most - tail - 1]
        kept[most - tail - 1] = (start, max(end - _MARK_CHARS, start + 1))
        mark = f"\n[… {kept[most - tail][0] - kept[most - tail - 1][1]} characters left out …]"
        cuts = kept
    for index, (start, end) in enumerate(cuts):
        left_out = mark if index + 1 < len(cuts) and cuts[index + 1][0] > end else ""
        piece = replace(message, content=text[start:end] + left_out, caption="" if index else message.caption)
        yield _Part(piece, start, _size(piece))


def _cuts(text: str, length: int) -> Iterator[tuple[int, int]]:
    """Spans of at most ``length`` characters that cover the text, ending where a line, sentence or word does."""
    start = 0
    while len(text) - start > length:
        end = start + length
        floor = end - length // 5
        for mark in _ENDS:
            found = text.rfind(mark, floor, end)
            if found > start:
                end = found + len(mark)
                break
        yield start, end
        start = end
    yield start, len(text)


def _size(message: Message) -> int:
    caption = estimate_tokens(message.caption) if message.caption else 0
    return estimate_tokens(message.content) + caption + _PER_MESSAGE

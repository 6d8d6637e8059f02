"""A window as a model is shown it: numbered messages as evidence, the others as context, and quotes found again.

Shown is only what may be extracted: no system prompts, no boot files, nothing between fences of recalled memories.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from mindmem.core.dates import zone_of
from mindmem.core.language.words import estimate_tokens, has_substance
from mindmem.core.reason.llm.memories import NOTHING, named, one_line, weekday
from mindmem.core.reason.port import Envelope
from mindmem.core.reason.rules import junk
from mindmem.core.records import Message, Source

__all__ = ["Shown", "evidence_of", "halves", "locate", "render_context", "render_evidence"]

_CONTEXT: Final = 500  # characters of a context message
_NEAR: Final = 4  # context messages on either side
_LEAST_CHARS: Final = 200
"""Shorter messages are not cut any further."""
_SENTENCE_ENDS: Final = ("\n\n", "\n", "。", "！", "？", ". ", "! ", "? ", " ")
_FOLDED: Final = str.maketrans("‹›［］“”„‘’`´", "<>[]\"\"\"''''")
_EDGES: Final = " \t\n\r\"'.,;:!?…。，；：！？"
_LINE_MARK: Final = re.compile(r"(?:\A|\n)\s*\| ?")


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of the evidence, its place among all of the window's messages, and its characters that are shown."""

    message: Message
    place: int
    stretches: tuple[tuple[int, int], ...]

    @property
    def text(self) -> str:
        """Return the characters that are shown."""
        return "".join(self.message.content[start:end] for start, end in self.stretches)

    @property
    def whole(self) -> Source:
        """Return all that is shown as one source."""
        if not self.stretches:
            return Source(self.message.message_id, 0, 0)
        return Source(self.message.message_id, self.stretches[0][0], self.stretches[-1][1])


def evidence_of(envelope: Envelope) -> tuple[tuple[Shown, ...], tuple[tuple[str, str], ...]]:
    """Return the messages to be read, and by message_id why the others, or what is cut from one, are not."""
    shown: list[Shown] = []
    skipped: list[tuple[str, str]] = []
    for place, message in enumerate(envelope.window.evidence, start=len(envelope.window.before)):
        stretches = tuple(junk.outside_fences(message.content))
        if message.role == "system":
            skipped.append((message.message_id, "system prompt"))
        elif not has_substance(message.content) and not has_substance(message.caption):
            skipped.append((message.message_id, "no words"))
        elif message.role != "tool" and junk.is_boot_file(message.content):
            skipped.append((message.message_id, "boot file"))
        elif not has_substance(message.caption) and not any(has_substance(message.content[a:b]) for a, b in stretches):
            skipped.append((message.message_id, junk.RECALLED))
        else:
            shown.append(Shown(message, place, stretches))
            if junk.is_partly_fenced(message.content):
                skipped.append((message.message_id, junk.RECALLED))
    return tuple(shown), tuple(skipped)


def halves(shown: Sequence[Shown]) -> tuple[tuple[Shown, ...], tuple[Shown, ...]] | None:
    """Return the evidence in two parts of about equal size, a lone message cut between sentences; None: too small."""
    if not shown:
        return None
    if len(shown) == 1:
        return _cut(shown[0])
    sizes = [estimate_tokens(one.text) for one in shown]
    half, total, place = sum(sizes) / 2, 0, 0
    while place < len(shown) - 1 and (place == 0 or total + sizes[place] / 2 < half):
        total += sizes[place]
        place += 1
    return tuple(shown[:place]), tuple(shown[place:])


def _cut(shown: Shown) -> tuple[tuple[Shown, ...], tuple[Shown, ...]] | None:
    length = sum(end - start for start, end in shown.stretches)
    if length < 2 * _LEAST_CHARS:
        return None
    content, left = shown.message.content, length // 2
    for place, (start, end) in enumerate(shown.stretches):
        if left > end - start:
            left -= end - start
            continue
        middle = start + left
        reach = min(length // 4, 2_000)
        floor, ceiling = max(start, middle - reach), min(end, middle + reach)
        cut = next(
            (at + len(mark) for mark in _SENTENCE_ENDS if (at := content.rfind(mark, floor, ceiling)) >= 0), middle
        )
        first = (*shown.stretches[:place], (start, cut))
        second = ((cut, end), *shown.stretches[place + 1 :])
        return (replace(shown, stretches=_filled(first)),), (replace(shown, stretches=_filled(second)),)
    return None


def _filled(stretches: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in stretches if end > start)


# ---------------------------------------------------------------------- as text


def render_evidence(shown: Sequence[Shown], zone: str) -> str:
    """Return the messages with their numbers, each line of them marked so that none can pass for a header."""
    return "\n".join(line for number, one in enumerate(shown, start=1) for line in _message(number, one, zone))


def render_context(envelope: Envelope, shown: Sequence[Shown]) -> str:
    """Return the messages around the shown ones, one a line, cut; ``(none)`` when there are none."""
    window = envelope.window
    everything = (*window.before, *window.evidence, *window.after)
    if not shown:
        return NOTHING
    before = _told(everything[: shown[0].place])[-_NEAR:]
    after = _told(everything[shown[-1].place + 1 :])[:_NEAR]
    lines = [*(f"before: {line}" for line in before), *(f"after: {line}" for line in after)]
    return "\n".join(lines) or NOTHING


def _told(messages: Sequence[Message]) -> list[str]:
    told = []
    for message in messages:
        text = "".join(message.content[start:end] for start, end in junk.outside_fences(message.content))
        if message.role != "system" and has_substance(text):
            told.append(f"{_who(message)}: {one_line(text, _CONTEXT)}")
    return told


def _message(number: int, shown: Shown, zone: str) -> Iterator[str]:
    message = shown.message
    yield f"[{number}] {_who(message)}, {_moment(message, zone)}"
    for line in shown.text.splitlines():
        if line.strip():
            yield f"| {line}"
    if has_substance(message.caption):
        yield f"| [image: {one_line(message.caption)}]"


def _who(message: Message) -> str:
    return f"{message.role} {named(message.name)}".strip()


def _moment(message: Message, zone: str) -> str:
    if message.timestamp is None:
        return "time unknown"
    name = message.timezone or zone
    at = _local(message.timestamp, name)
    told = f"{at.isoformat(sep=' ')[:16]} {weekday(at)}"
    return told if name == zone else f"{told}, {name}"


def _local(at: datetime, zone: str) -> datetime:
    try:
        return at.astimezone(zone_of(zone))
    except OverflowError:  # at the ends of time
        return at.astimezone(UTC)


# ---------------------------------------------------------------------- quotes


def locate(quote: str, shown: Shown) -> tuple[Source, bool]:
    """Return the characters of a message that a quote names, and whether it was found; else all that is shown.

    It is looked for as written, then without regard to case, spaces, the form of quotation marks and what a prompt's
    fence had to break.
    """
    content, whole = shown.message.content, shown.whole
    wanted = quote.strip()
    if wanted:
        at = content.find(wanted, whole.start, whole.end)
        if at >= 0:
            return Source(whole.message_id, at, at + len(wanted)), True
        span = _tolerant(_LINE_MARK.sub("\n", wanted), content, whole.start, whole.end)
        if span is not None:
            return Source(whole.message_id, *span), True
        if has_substance(shown.message.caption) and _plain(wanted)[0] in _plain(shown.message.caption)[0]:
            return whole, True
    return whole, False


def _tolerant(quote: str, content: str, start: int, end: int) -> tuple[int, int] | None:
    folded, (text, places) = _plain(quote)[0], _plain(content[start:end])
    for wanted in (folded.strip(), folded.strip(_EDGES)):
        at = text.find(wanted) if wanted else -1
        if at >= 0:
            return start + places[at], start + places[at + len(wanted) - 1] + 1
    return None


@lru_cache(maxsize=16)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """The text folded, and for each character of it the place that it came from."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text.translate(_FOLDED)):
        for folded in unicodedata.normalize("NFKC", sign).casefold():
            if folded.isspace():
                if signs and signs[-1] != " ":
                    signs.append(" ")
                    places.append(place)
            else:
                signs.append(folded)
                places.append(place)
    return "".join(signs), tuple(places)

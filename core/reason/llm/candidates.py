"""From what a model says to candidates: every number, quote, target, date and name checked against what it was shown.

An item without evidence is rejected with its reason; what is only half wrong (an unknown target, a date that doesn't
exist, a quote that isn't there) is taken back to what can be stood by, and flagged.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mindmem.core.dates.spans import Interval
from mindmem.core.ids import content_hash, normalise_claim
from mindmem.core.language.words import content_words, has_substance
from mindmem.core.reason.llm.evidence import Shown, locate
from mindmem.core.reason.llm.replies import ExtractedMemory
from mindmem.core.reason.llm.times import read_time
from mindmem.core.reason.port import Candidate, Envelope, Hint, Mention
from mindmem.core.reason.rules import junk
from mindmem.core.reason.rules.grade import tokens
from mindmem.core.reason.rules.neighbours import neighbours
from mindmem.core.records import MemType, Source
from mindmem.core.records.schema import CATCH_ALL
from mindmem.core.redact import holds_mark, redact

__all__ = ["FALLBACK_FLAG", "Reader", "Refused", "flagged", "without_roles"]

log = logging.getLogger(__name__)

FALLBACK_FLAG: Final = "fallback_rules"
"""Marks what the rules judged because a model's reply stayed unreadable."""
_USER: Final = "user"
_ASSISTANT: Final = "assistant"
_MEANS_SPEAKER: Final = frozenset({"", "speaker", "the speaker", "i", "me", "我"})
_MEANS_USER: Final = frozenset({"user", "the user", "用户", "该用户"})
_MEANS_ASSISTANT: Final = frozenset({"assistant", "the assistant", "ai", "ai assistant", "bot", "助手"})
_KEPT_NAMES: Final[Mapping[MemType, str]] = {
    "episodic": "", "tool_trace": "trace", "experience": "lesson", "skill_candidate": "procedure",
}  # fmt: skip
"""Names that the rules give to properties of what happened; other types without a name get the catch-all."""
_READ: Final = 20_000  # characters that are looked at for instructions
_WORD: Final = re.compile(r"[^\W_]+")
_ROLE: Final = r"(?:user|assistant|system|tool|human|ai)"
_ROLE_AHEAD: Final = re.compile(
    rf"\A(?:\s*(?:\[\s*\d{{1,4}}\s*\]\s*{_ROLE}\b[^:：\n]{{0,80}}[:：\n]|<\|im_start\|>\s*{_ROLE}\b"
    rf"|<\|[^|>]{{0,40}}\|>|\|\s|[\[(]\s*M?\d{{1,4}}\s*[\])]|{_ROLE}\s*[:：]))+\s*",
    re.IGNORECASE,
)
_ROLE_BEHIND: Final = re.compile(
    rf"(?:\s*(?:<\|[^|>]{{0,40}}\|>|\n\s*{_ROLE}\s*[:：]?|(?<=[.!?。！？])\s*{_ROLE}\s*[:：]?))+\s*\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that can't become a candidate, and why; ``known`` when it only repeats what was recalled."""

    reason: str
    known: bool = False


class Reader:
    """Turns the items of one reply into candidates; ``shown`` are the messages that it was asked about."""

    def __init__(self, envelope: Envelope, shown: Sequence[Shown]) -> None:
        window = envelope.window
        self._envelope = envelope
        self._shown = shown
        self._all = (*window.before, *window.evidence, *window.after)
        self._recalled = {memory.content_hash: memory.memory_id for memory in envelope.recalled}
        self._commanding = {one.message.message_id for one in shown if junk.is_instruction(one.text[:_READ])}

    def note_instructions(self, items: Sequence[ExtractedMemory]) -> None:
        """Take a model's word that a message commands its reader: what is only quoted harms nobody."""
        for item in items:
            if item.instruction:
                self._commanding.update(one.message.message_id for one, _, _ in self._sources(item))

    def quoted(self) -> list[Candidate]:
        """Return each message that commands its reader as its own words in quotation marks."""
        return [self._quotation(one) for one in self._shown if one.message.message_id in self._commanding]

    def candidate(self, item: ExtractedMemory) -> Candidate | Refused | None:
        """Return the candidate, why there is none, or None where its messages are quoted instead."""
        sources = self._sources(item)
        if not sources:
            return Refused("names no message of the evidence")
        sources = [one for one in sources if one[0].message.message_id not in self._commanding]
        if not sources:
            return None
        content, secrets = redact(without_roles(item.content))
        if not has_substance(content):
            return Refused("no letter or number")
        found = any(exact for _, _, exact in sources)
        known = self._recalled.get(content_hash(content))
        if known is not None and not found:
            return Refused("repeats a recalled memory without evidence of its own", known=True)
        if not found and (unfounded := self._unfounded(f"{content} {item.value}", [one for one, _, _ in sources])):
            return Refused(unfounded)
        first = next((one for one, _, exact in sources if exact), sources[0][0])
        entity = self._entity(item.entity, first)
        if hearsay := self._hearsay(entity, [one for one, _, _ in sources], item.type):
            return Refused(hearsay)
        return self._made(item, content, entity, first, sources, bool(secrets), known)

    def _made(
        self,
        item: ExtractedMemory,
        content: str,
        entity: str,
        first: Shown,
        sources: Sequence[tuple[Shown, Source, bool]],
        secrets: bool,
        known: str | None,
    ) -> Candidate:
        said = first.message.timestamp
        zone = first.message.timezone or self._envelope.timezone
        start = read_time(item.valid_from, said, zone) if item.valid_from.strip() else None
        end = read_time(item.valid_to, said, zone) if item.valid_to.strip() else None
        unread = (bool(item.valid_from.strip()) and start is None) or (bool(item.valid_to.strip()) and end is None)
        when = _When.of(start, end)
        happened = item.type in _KEPT_NAMES
        if happened and when.start is None:
            at_once = Interval(said, said, "instant") if said is not None else None
            when = _When(at_once, when.end if when.end and (said is None or when.end.end > said) else None)
        past = item.type in ("profile", "fact") and when.end is not None and said is not None and when.end.end <= said
        marks = {
            "unresolved_time": item.unresolved_time or unread,
            "negated": item.polarity == "denied",
            "past": past,
            "redacted": secrets or holds_mark(content),
            "spoken_by_assistant": all(one.message.role == "assistant" for one, _, _ in sources),
            "unlocated": not any(exact for _, _, exact in sources),
            "unverified_number": self._adds_a_number(item.value, [one for one, _, _ in sources], said, zone),
        }
        name = _snake(item.property) or _KEPT_NAMES.get(item.type, CATCH_ALL)
        return Candidate(
            mem_type=item.type,
            content=content,
            entity_name=entity,
            entity_type="person" if entity == _USER else item.entity_type,
            property_name=name,
            value=redact(without_roles(item.value))[0],
            sources=tuple(dict.fromkeys(source for _, source, _ in sources)),
            confidence=item.confidence,
            speaker=first.message.name,
            valid_from=None if when.start is None else when.start.start,
            valid_to=None if when.end is None else when.end.end,
            observed_at=said,
            time_precision=when.start.precision if when.start else when.end.precision if when.end else "unknown",
            mentions=self._mentions(item, content, entity, [one for one, _, _ in sources]),
            single_valued=_single(item, happened or name == CATCH_ALL),
            polarity=-1 if item.polarity == "denied" else 1,
            context=neighbours(self._all, first.place),
            flags=tuple(mark for mark, holds in marks.items() if holds),
            hint=self._hint(item, known),
        )

    def _sources(self, item: ExtractedMemory) -> list[tuple[Shown, Source, bool]]:
        """The messages that an item names, each with the characters that it quotes; what was not shown is left out."""
        found = []
        for named in item.sources:
            if 1 <= named.message <= len(self._shown):
                one = self._shown[named.message - 1]
                found.append((one, *locate(named.quote, one)))
        return found

    def _entity(self, name: str, first: Shown) -> str:
        """Who or what an item is about; the speaker and the user by their names where they have one."""
        name = " ".join(without_roles(name).split())
        message, low = first.message, name.casefold()
        if low in _MEANS_SPEAKER and message.role == "tool":
            return message.name or "tool"
        if low in _MEANS_SPEAKER:
            low = _ASSISTANT if message.role == "assistant" else _USER
        if low in _MEANS_ASSISTANT:
            return message.name if message.role == "assistant" and message.name else _ASSISTANT
        if low in _MEANS_USER:
            return message.name if message.role == "user" and message.name else _USER
        return name

    def _unfounded(self, claim: str, sources: Sequence[Shown]) -> str:
        """Why a claim without a quote that can be found is not believed to come from the messages that it names."""
        if self._commanding:
            return "quotes nothing that was said, beside a message that commands its reader"
        told = {word for one in sources for word in content_words(f"{one.text} {one.message.caption}")}
        return "" if told & set(content_words(claim)) else "nothing of it stands in the messages that it names"

    @staticmethod
    def _adds_a_number(value: str, sources: Sequence[Shown], said: datetime | None, zone: str) -> bool:
        """Whether a value holds a number that its messages don't, in digits or words; a date may be worked out."""
        numbers = {token for token in tokens(value) if token[0].isdigit()}
        if not numbers or read_time(value, said, zone) is not None:
            return False
        told = {token for one in sources for token in tokens(f"{one.text} {one.message.caption}")}
        return not numbers <= told

    def _hearsay(self, entity: str, sources: Sequence[Shown], mem_type: MemType) -> str:
        """Why only an assistant's or a tool's words don't support what only the one it is about can tell."""
        roles = {one.message.role for one in sources}
        if "user" in roles:
            return ""
        own = {normalise_claim(one.message.name or one.message.role) for one in sources}
        users = {normalise_claim(one.name or _USER) for one in self._all if one.role == "user"} | {_USER}
        about = normalise_claim(entity)
        if about in own or not (mem_type == "profile" or (about in users and roles == {"assistant"})):
            return ""
        if "assistant" not in roles and about not in users:
            return ""
        return f"{'an assistant' if 'assistant' in roles else 'a tool'}'s words about somebody else"

    def _mentions(
        self, item: ExtractedMemory, content: str, entity: str, sources: Sequence[Shown]
    ) -> tuple[Mention, ...]:
        said = "\n".join((content, *(one.text for one in sources))).casefold()
        found = {
            name.casefold(): Mention(name, named.type)
            for named in item.mentions
            if has_substance(name := " ".join(named.name.split()))
            and name.casefold() in said
            and normalise_claim(name) != normalise_claim(entity)
        }
        return tuple(found.values())

    def _hint(self, item: ExtractedMemory, known: str | None) -> Hint | None:
        if known is not None:
            return Hint("reinforce", known)
        recalled = self._envelope.recalled
        if not recalled:
            return None
        if item.action == "add":
            return Hint("add")
        if 1 <= item.target <= len(recalled):
            return Hint(item.action, recalled[item.target - 1].memory_id)
        log.warning(
            "%s of unknown memory M%d became an add (%d were recalled)", item.action, item.target, len(recalled)
        )
        return Hint("add")

    def _quotation(self, shown: Shown) -> Candidate:
        message = shown.message
        text, secrets = redact(shown.text.strip() or message.caption)
        name = message.name or (_ASSISTANT if message.role == "assistant" else _USER)
        marks = {
            "instruction_like": True,
            "redacted": bool(secrets) or holds_mark(text),
            "spoken_by_assistant": message.role == "assistant",
        }
        return Candidate(
            mem_type="episodic",
            content=f"“{text}”",
            entity_name=name,
            entity_type="person" if message.name or message.role != "assistant" else "thing",
            property_name="",
            value="",
            sources=(shown.whole,),
            confidence=0.8,
            speaker=message.name,
            valid_from=message.timestamp,
            observed_at=message.timestamp,
            time_precision="instant" if message.timestamp else "unknown",
            context=neighbours(self._all, shown.place),
            flags=tuple(mark for mark, holds in marks.items() if holds),
        )


@dataclass(frozen=True, slots=True)
class _When:
    """Since when and until when; an end that is not after the beginning is none."""

    start: Interval | None
    end: Interval | None

    @classmethod
    def of(cls, start: Interval | None, end: Interval | None) -> "_When":
        return cls(start, None if start and end and end.end <= start.start else end)


def without_roles(text: str) -> str:
    """Return a text without what a transcript puts around an utterance: role labels, numbers, template tokens.

    >>> without_roles("[3] user: Ann likes tea.\\nassistant:")
    'Ann likes tea.'
    """
    return _ROLE_BEHIND.sub("", _ROLE_AHEAD.sub("", text)).strip()


def _snake(name: str) -> str:
    parts = _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))
    return "_".join(part.lower() for part in parts)[:80].strip("_")


def _single(item: ExtractedMemory, adds_up: bool) -> bool | None:
    return item.single_valued if not adds_up else (None if item.single_valued is None else False)


def flagged(candidates: Sequence[Candidate], flag: str) -> tuple[Candidate, ...]:
    """Return the candidates with one more flag."""
    return tuple(replace(one, flags=tuple(dict.fromkeys((*one.flags, flag)))) for one in candidates)

"""The extractor without a model: messages to typed candidates by sentence structure, the rest kept in its own words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mindmem.core.dates import TimeSpan, find_times
from mindmem.core.language.words import has_substance
from mindmem.core.reason.port import Candidate, Envelope, Extraction, Judged, Verdict
from mindmem.core.reason.rules import junk, statements_en, statements_zh
from mindmem.core.reason.rules.entities import TECHNOLOGY, entity_type, mentions
from mindmem.core.reason.rules.procedures import ToolUse, is_lesson, procedure, read_tool, tool_call
from mindmem.core.reason.rules.sentences import Sentence, is_chinese, split
from mindmem.core.reason.rules.statements import OWNER, Statement
from mindmem.core.reason.rules.subjects import People
from mindmem.core.records import Message, Source, TimePrecision
from mindmem.core.redact import Secret, holds_mark, redact

__all__ = ["RulesExtractor"]

USER: Final = "user"
"""The entity of a speaker without a name."""
_STRUCTURED: Final = 0.9
_VERBATIM: Final = 0.8
_CONTEXT: Final = 400  # characters of neighbouring messages kept beside a memory
_READ: Final = 20_000  # characters of a message that are read for structure; all of it is kept
_SENTENCES: Final = 400

_CORRECTING: Final = re.compile(
    r"(?:\w+, )?(?:i meant|correction\b|i misspoke|scratch that|that was wrong|not \w+, but)|(?:不对|更正"
    r"|说错了|我是说|其实不是)",
    re.IGNORECASE,
)
_WE: Final = re.compile(r"(?:\w+, )?we\b", re.IGNORECASE)
_When = tuple[datetime | None, datetime | None, TimePrecision, tuple[str, ...]]


class RulesExtractor:
    """Finds the claims of windows by rules: deterministic, without network, English and Chinese.

    What can't be structured is kept whole as one episodic candidate a message; what carries nothing is skipped by name.
    """

    async def extract(self, envelopes: Sequence[Envelope]) -> list[Verdict[Extraction]]:
        """Return one verdict per envelope, in order; every message gives candidates or a reason."""
        return [Judged(_Window(envelope).extraction()) for envelope in envelopes]


class _Window:
    """One window's messages in order, with their neighbours."""

    def __init__(self, envelope: Envelope) -> None:
        window = envelope.window
        self._envelope = envelope
        self._all = (*window.before, *window.evidence, *window.after)
        self._first = len(window.before)
        self._speakers = frozenset(
            message.name.lower() for message in self._all if message.name and message.role != "tool"
        )
        self._known = self._speakers | TECHNOLOGY
        self._agent = any(message.role == "tool" for message in self._all)
        self._call: tuple[str, str] | None = None
        self._failures: dict[str, tuple[ToolUse, Message]] = {}
        self._people = People(self._speakers)
        self._candidates: list[Candidate] = []
        self._skipped: list[tuple[str, str]] = []

    def extraction(self) -> Extraction:
        """Return what the window's evidence gives."""
        for place, message in enumerate(self._envelope.window.evidence):
            before = len(self._candidates)
            reason = self._read(message, self._first + place)
            if len(self._candidates) == before:
                self._skipped.append((message.message_id, reason or "small talk"))
        return Extraction(tuple(self._candidates), tuple(self._skipped))

    def _read(self, message: Message, place: int) -> str:
        content = message.content
        if message.role == "system":
            return "system prompt"
        if not has_substance(content) and not has_substance(message.caption):
            return "no words"
        if message.role == "tool":
            self._tool(message, place)
            return ""
        if junk.is_boot_file(content):
            return "boot file"
        stretches = junk.outside_fences(content)
        if not stretches and content.strip() and not message.caption:
            return "recalled memories"
        if message.role == "assistant":
            self._call = tool_call(message) if self._agent else None
        elif junk.is_dump(content):
            return "dump"
        return _MessageReader(
            self._envelope,
            message,
            stretches,
            self._people,
            self._speakers,
            self._known,
            self._context(place),
            self._agent,
        ).read(self._candidates, self._previous(place))

    def _tool(self, message: Message, place: int) -> None:
        use = read_tool(message, self._call)
        self._call = None
        text, secrets = redact(use.sentence)
        flags = ("failed",) * use.failed + ("redacted",) * bool(secrets or holds_mark(text))
        common = {
            "entity_type": "technology",
            "speaker": message.name, "observed_at": message.timestamp, "valid_from": message.timestamp,
            "time_precision": "instant" if message.timestamp else "unknown", "context": self._context(place),
        }  # fmt: skip
        source = Source(message.message_id, 0, len(message.content))
        self._candidates.append(
            Candidate(
                mem_type="tool_trace", content=text, entity_name=use.tool, property_name="trace",
                value="failed" if use.failed else "succeeded", sources=(source,), confidence=_STRUCTURED, flags=flags, **common,  # type: ignore[arg-type]  # a literal's keys
            )
        )  # fmt: skip
        if use.failed:
            self._failures[use.tool] = (use, message)
        elif use.tool in self._failures:
            failed, earlier = self._failures.pop(use.tool)
            lesson = f"{use.tool}({failed.arguments}) failed ({failed.outcome}); {use.tool}({use.arguments}) succeeded."
            self._candidates.append(
                Candidate(
                    mem_type="experience", content=redact(lesson)[0], entity_name=use.tool, property_name="lesson",
                    value=redact(use.arguments)[0], sources=(Source(earlier.message_id, 0, len(earlier.content)), source),
                    confidence=_VERBATIM, **common,  # type: ignore[arg-type]  # a literal's keys
                )
            )  # fmt: skip

    def _previous(self, place: int) -> str:
        return self._all[place - 1].content if place else ""

    def _context(self, place: int) -> str:
        parts = []
        if place:
            parts.append(_said(self._all[place - 1], tail=True))
        if place + 1 < len(self._all):
            parts.append(_said(self._all[place + 1], tail=False))
        return redact("\n".join(part for part in parts if part))[0]


def _said(message: Message, *, tail: bool) -> str:
    if message.role == "system":
        return ""
    half = _CONTEXT // 2
    text = message.content[-half:] if tail else message.content[:half]
    caption = f" [image: {message.caption[:100]}]" if message.caption else ""
    words = " ".join(text.split()) + caption
    return f"{message.name}: {words}" if message.name and words else words


@dataclass(frozen=True, slots=True)
class _Read:
    """What the sentences of a message gave, and whether they held all of it."""

    statements: tuple[tuple[Statement, Sentence], ...]
    lessons: tuple[Sentence, ...]
    whole: bool


class _MessageReader:
    """Reads one message of a user or assistant."""

    def __init__(
        self, envelope: Envelope, message: Message, stretches: list[tuple[int, int]], people: People, speakers: frozenset[str], known: frozenset[str], context: str, agent: bool
    ) -> None:  # fmt: skip
        self._message = message
        self._stretches = stretches
        self._people = people
        self._speakers = speakers
        self._known = known
        self._context = context
        self._agent = agent
        self._assistant = message.role == "assistant"
        self._name = message.name or ("assistant" if self._assistant else USER)
        self._zone = message.timezone or envelope.timezone
        self._secrets: tuple[Secret, ...] = redact(message.content)[1]
        self._times = find_times(message.content[:_READ], message.timestamp, self._zone)

    def read(self, candidates: list[Candidate], before: str) -> str:
        """Append the message's candidates; return why there are none."""
        content = self._message.content
        told = "".join(content[start:end] for start, end in self._stretches)
        if junk.is_instruction(content[:_READ]):
            candidates.append(self._episodic("instruction_like"))
            return ""
        substance = (
            junk.carries(told[:_READ], self._speakers) or len(told) > _READ or has_substance(self._message.caption)
        )
        if not substance and not junk.unanswered(told, before):
            return "small talk" if has_substance(told) else "no words"
        self._people.forget()
        read = self._sentences()
        goal = procedure(told) if not self._assistant or self._agent else ""
        if goal:
            candidates.append(self._procedure(goal))
        candidates += [self._lesson(sentence) for sentence in read.lessons]
        candidates += [self._typed(statement) for statement, _ in read.statements]
        if not (read.whole or goal) or self._message.caption:
            candidates.append(self._episodic())
        return ""

    # ------------------------------------------------------------------ reading

    def _sentences(self) -> _Read:
        found: list[tuple[Statement, Sentence]] = []
        lessons: list[Sentence] = []
        whole, count = True, 0
        content = self._message.content
        taken = [(span.start, span.end) for span in self._times]
        for start, end in self._stretches:
            if start >= _READ:
                whole = False
                break
            for prose_start, prose_end in junk.blocks(content, start, min(end, _READ)):
                for sentence in split(content, prose_start, prose_end):
                    count += 1
                    if count > _SENTENCES:
                        return _Read(tuple(found), tuple(lessons), False)
                    whole = self._sentence(sentence, taken, found, lessons) and whole
            prose = sum(last - first for first, last in junk.blocks(content, start, min(end, _READ)))
            whole = whole and prose == end - start
        return _Read(tuple(found), tuple(lessons), whole and bool(found or lessons))

    def _sentence(
        self,
        sentence: Sentence,
        taken: list[tuple[int, int]],
        found: list[tuple[Statement, Sentence]],
        lessons: list[Sentence],
    ) -> bool:
        """Read one sentence and return whether all that it carries is in what was found."""
        if not junk.carries(sentence.text[:2000], self._speakers):
            return True
        if (self._agent or not self._assistant) and is_lesson(sentence.text[:2000]):
            lessons.append(sentence)
            return True
        if self._assistant or self._hidden(sentence):
            return False
        reader: Callable[..., tuple[list[Statement], bool]] = (
            statements_zh.read if is_chinese(sentence.text) else statements_en.read
        )
        statements, whole = reader(sentence, self._people.resolve, taken, self._known)
        if self._message.name and _WE.match(sentence.text):
            statements, whole = [s for s in statements if s.entity != OWNER], False
        found += [(statement, sentence) for statement in statements]
        self._people.heard(sentence.text, statements)
        return whole

    def _hidden(self, sentence: Sentence) -> bool:
        return any(
            secret.start < sentence.end and sentence.start < secret.end for secret in self._secrets
        ) or holds_mark(sentence.text)

    # ------------------------------------------------------------------ candidates

    def _typed(self, statement: Statement) -> Candidate:
        named = bool(self._message.name)
        owner = self._name
        content = statement.named.replace(OWNER, owner) if named else statement.content
        entity = owner if statement.entity == OWNER else statement.entity
        kind = statement.entity_type or entity_type(
            entity, statement.content, statement.content.find(entity), self._speakers
        )
        valid_from, valid_to, precision, flags = self._state_time(statement)
        marks = [*flags]
        marks += (
            ["negated"] * (statement.polarity < 0) + ["past"] * statement.past + ["correction"] * statement.correction
        )
        return Candidate(
            mem_type="profile" if statement.entity == OWNER else "fact",
            content=content,
            entity_name=entity,
            entity_type=kind,
            property_name=statement.property_name,
            value=statement.value,
            sources=(Source(self._message.message_id, statement.start, statement.end),),
            confidence=_STRUCTURED,
            speaker=self._message.name,
            valid_from=valid_from,
            valid_to=valid_to,
            observed_at=self._message.timestamp,
            time_precision=precision,
            mentions=mentions(content, self._speakers),
            single_valued=statement.single_valued,
            polarity=statement.polarity,
            context=self._context,
            flags=tuple(marks),
        )

    def _state_time(self, statement: Statement) -> _When:
        """Return since when and until when a state holds; a time beside a plain present says neither."""
        inside = [span for span in self._times if statement.start <= span.start and span.end <= statement.end]
        valid_from = valid_to = None
        precision: TimePrecision = "unknown"
        for span in inside:
            if not span.resolved:
                continue
            if span.role == "until":
                valid_to = span.valid_to
                precision = span.precision if valid_from is None else precision
            elif span.role == "since" or statement.began or statement.property_name.endswith(("_by", "_in", "_at")):
                valid_from, precision = span.valid_from, span.precision
        if statement.past and valid_to is None:
            valid_to = self._message.timestamp
        if valid_from and valid_to and valid_to <= valid_from:
            valid_to = None
        unresolved = any(not span.resolved for span in inside)
        return valid_from, valid_to, precision, ("unresolved_time",) * unresolved

    def _event_time(self, start: int, end: int) -> _When:
        """Return when what the characters tell happened: the first time named, else when it was said."""
        inside = [span for span in self._times if start <= span.start and span.end <= end]
        flags = ("unresolved_time",) * any(not span.resolved for span in inside)
        resolved = [span for span in inside if span.resolved]
        until = next((span for span in resolved if span.role == "until"), None)
        first = next((span for span in resolved if span.valid_from is not None), None)
        valid_from, precision = _start(first, self._message.timestamp)
        valid_to = until.valid_to if until else None
        if valid_to and valid_from and valid_to <= valid_from:
            valid_from = None
        if first is None and until is not None:
            precision = until.precision
        return valid_from, valid_to, precision, flags

    def _lesson(self, sentence: Sentence) -> Candidate:
        return self._kept("experience", sentence.text, sentence.start, sentence.end, "lesson")

    def _procedure(self, goal: str) -> Candidate:
        start, end = self._stretches[0][0], self._stretches[-1][1]
        return self._kept("skill_candidate", self._message.content[start:end].strip(), start, end, "procedure", goal)

    def _episodic(self, flag: str = "") -> Candidate:
        message = self._message
        start, end = (self._stretches[0][0], self._stretches[-1][1]) if self._stretches else (0, len(message.content))
        text = (
            "".join(message.content[first:last] for first, last in self._stretches).strip()
            if self._stretches
            else message.content
        )
        if flag:
            text = f"“{text}”"
        if message.caption:
            text = f"{text} [image: {message.caption}]".strip()
        return self._kept("episodic", text, start, end, "", flags=(flag,) if flag else ())

    def _kept(
        self, mem_type: str, text: str, start: int, end: int, name: str, value: str = "", flags: tuple[str, ...] = ()
    ) -> Candidate:  # fmt: skip
        content, secrets = redact(text)
        valid_from, valid_to, precision, unresolved = self._event_time(start, end)
        marks = [*flags, *unresolved]
        marks += ["correction"] * (mem_type == "episodic" and _CORRECTING.match(content) is not None)
        marks += ["redacted"] * bool(secrets or holds_mark(content)) + ["spoken_by_assistant"] * self._assistant
        return Candidate(
            mem_type=mem_type,  # type: ignore[arg-type]  # one of the three literals that callers pass
            content=content,
            entity_name=self._name,
            entity_type="person" if not self._assistant or self._message.name else "thing",
            property_name=name,
            value=redact(value)[0],
            sources=(Source(self._message.message_id, start, end),),
            confidence=_VERBATIM,
            speaker=self._message.name,
            valid_from=valid_from,
            valid_to=valid_to,
            observed_at=self._message.timestamp,
            time_precision=precision,
            mentions=mentions(content, self._speakers),
            context=self._context,
            flags=tuple(marks),
        )


def _start(span: TimeSpan | None, said: datetime | None) -> tuple[datetime | None, TimePrecision]:
    if span is not None:
        return span.valid_from, span.precision
    return said, "instant" if said else "unknown"

"""One message of a user or assistant: its statements, lessons, procedures, and the whole where they don't hold it."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from mindmem.core.dates import TimeSpan, find_times
from mindmem.core.language.words import has_substance
from mindmem.core.reason.port import Candidate
from mindmem.core.reason.rules import changes_en, changes_zh, junk, statements_en, statements_zh
from mindmem.core.reason.rules.entities import entity_type, mentions
from mindmem.core.reason.rules.listed import is_list, read_item
from mindmem.core.reason.rules.procedures import is_lesson, procedure
from mindmem.core.reason.rules.sentences import Sentence, is_chinese, split
from mindmem.core.reason.rules.statements import OWNER, Statement
from mindmem.core.reason.rules.subjects import People
from mindmem.core.reason.rules.when import event_time, state_time
from mindmem.core.reason.rules.wishes import wish
from mindmem.core.records import MemType, Message, Source
from mindmem.core.records.memory import SCHEDULED
from mindmem.core.redact import Secret, holds_mark, redact

__all__ = ["Surroundings", "Utterance"]

USER: Final = "user"
"""The entity of a user without a name."""
_STRUCTURED: Final = 0.9
_VERBATIM: Final = 0.8
_READ: Final = 20_000  # characters of a message that are read for structure; all of it is kept
_SENTENCES: Final = 400

_CORRECTING: Final = re.compile(
    r"(?:\w+, )?(?:i meant|correction\b|i misspoke|scratch that|that was wrong)|(?:不对|更正|说错了|我是说|其实不是)",
    re.IGNORECASE,
)
_RETRACTION: Final = (
    r"(?:(?:i|we|he|she|they) (?:used to(?! \w)|no longer do\b|(?:don['’]?t|do not|doesn['’]?t) any ?more\b)"
    r"|not any ?more\b"
    r"|(?:i was |i['’]m |i am )?(?:just |only )?(?:kidding|joking)\b|just a joke\b|never ?mind\b|that was a joke\b"
    r"|(?:那|这)?(?:都?是以前|是过去|是从前)|现在不了|开玩笑|我?骗你|逗你|说着玩)"
)
_RETRACTED: Final = re.compile(
    r"\W*(?:(?:well|ok(?:ay)?|no|wait|oh|haha|lol|hmm|but|actually|or rather|at least|哈哈|不过|其实)\W+)*"
    rf"{_RETRACTION}",
    re.IGNORECASE,
)
"""A sentence that takes the one before back ("Well, I used to."), naming nothing itself."""
_RETRACTED_WITHIN: Final = re.compile(
    rf"[,，;；—–-] ?(?:(?:well|or rather|no|actually|at least|其实|不过)\W+)*{_RETRACTION}(?:\W|$|[的啦了])",
    re.IGNORECASE,
)
_WE: Final = re.compile(r"(?:\w+, )?we\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a message is read in: the window's speakers and known names (lower case), whether an agent works with tools
    in it, the zone of messages that bring none, and the persons named so far."""

    speakers: frozenset[str]
    known: frozenset[str]
    agent: bool
    zone: str
    answered: bool = False
    """Whether an assistant takes part, so that named users may speak to it."""
    people: People = field(default_factory=People)
    stated: list[Candidate] = field(default_factory=list)
    """What was structured so far, for corrections that name a value only."""


class Utterance:
    """Reads one message; ``stretches`` are its characters outside fences, ``before`` what was said right before."""

    def __init__(
        self, message: Message, stretches: list[tuple[int, int]], around: Surroundings, context: str, before: str
    ) -> None:
        self._message = message
        self._stretches = stretches
        self._around = around
        self._context = context
        self._before = before
        self._assistant = message.role == "assistant"
        self._to_assistant = message.role == "user" and (not message.name or around.answered)
        self._name = message.name or ("assistant" if self._assistant else USER)
        self._secrets: tuple[Secret, ...] = redact(message.content)[1]
        self._times: list[TimeSpan] = []
        self._statements: list[Statement] = []
        self._settled = 0  # statements of earlier sentences than the one before
        self._lessons: list[Sentence] = []
        self._corrections: list[tuple[Sentence, str, str]] = []
        self._unread: list[Sentence] = []  # sentences that statements don't hold wholly

    def kept_whole(self) -> list[Candidate]:
        """Return the message in its own words, unread: what is pasted holds no claims, but must be found."""
        return [self._episodic()]

    def read(self) -> tuple[list[Candidate], str]:
        """Return the message's candidates, or why there are none."""
        content = self._message.content
        told = "".join(content[start:end] for start, end in self._stretches)
        heard = told[:_READ]
        if not junk.carries(heard, self._around.speakers) and len(told) <= _READ:
            caption = has_substance(self._message.caption)
            if not caption and not junk.unanswered(told, self._before):
                return [], "small talk" if has_substance(told) else "no words"
        self._times = find_times(content[:_READ], self._message.timestamp, self._message.timezone or self._around.zone)
        if junk.is_instruction(content[:_READ]):
            return [self._episodic("instruction_like")], ""
        whole = self._sentences()
        if not whole and not self._assistant and len(content) <= _READ and is_list(told):
            return self._listed(), ""
        goal = procedure(told) if self._around.agent or not self._assistant else ""
        candidates = [self._procedure(goal)] if goal else []
        candidates += [self._kept("experience", each.text, each.start, each.end, "lesson") for each in self._lessons]
        stated = [self._typed(statement) for statement in self._statements]
        self._around.stated.extend(stated)
        corrected = [found for each in self._corrections if (found := self._corrected(*each)) is not None]
        self._around.stated.extend(corrected)
        stated = [_ended(each, stated) for each in stated]
        candidates += [*stated, *corrected]
        unplaced = self._corrections if not corrected else []
        if not (whole or goal) or self._message.caption or unplaced:
            candidates.append(self._episodic(value=unplaced[0][1] if len(unplaced) == 1 else ""))
        return candidates, ""

    def _listed(self) -> list[Candidate]:
        """Return a claim for each item of a list; one that no statement holds wholly is kept in its own words."""
        held = [
            self._typed(each)
            for each in self._statements
            if not any(sentence.start <= each.start < sentence.end for sentence in self._unread)
        ]
        items = [
            self._item(sentence)
            for sentence in (*self._unread, *(sentence for sentence, _, _ in self._corrections))
            if not sentence.text.endswith((":", "：")) and has_substance(sentence.text)
        ]
        items += [self._kept("experience", each.text, each.start, each.end, "lesson") for each in self._lessons]
        return sorted([*held, *items], key=lambda each: each.sources[0].start)

    def _item(self, sentence: Sentence) -> Candidate:
        item = read_item(sentence)
        kept = self._kept("fact", sentence.text, sentence.start, sentence.end, item.property_name, item.value)
        if not item.entity:
            return kept
        kind = entity_type(item.entity, sentence.text, sentence.text.find(item.entity), self._around.speakers)
        return replace(kept, entity_name=item.entity, entity_type=kind)

    def _corrected(self, sentence: Sentence, new: str, old: str) -> Candidate | None:
        """Return the claim with its new value where exactly one claim of the window had the old one."""
        noun = "" if old else changes_en.restated(sentence.text)[0] or self._alike(new)
        stated = [
            each
            for each in self._around.stated
            if (each.value.casefold() == old.casefold() if old else self._owns(each, noun) or _of_kind(each, new, noun))
        ]
        if len({(each.entity_name, each.property_name) for each in stated}) != 1:
            return None
        return replace(
            stated[-1],
            content=sentence.text,
            value=new,
            sources=(Source(self._message.message_id, sentence.start, sentence.end),),
            speaker=self._message.name,
            valid_from=None,
            valid_to=None,
            observed_at=self._message.timestamp,
            time_precision="unknown",
            mentions=mentions(sentence.text, self._around.speakers),
            single_valued=True,
            polarity=1,
            context=self._context,
            flags=("correction",),
        )

    def _owns(self, stated: Candidate, noun: str) -> bool:
        """Return whether a claim of the window tells of the speaker's ``noun``."""
        return stated.entity_name == self._name and stated.property_name == noun and stated.polarity > 0

    def _alike(self, value: str) -> str:
        """Return the property of the speaker's last claim in the window if its value has the form of this one."""
        claims = [*self._around.stated, *map(self._typed, self._statements)]
        last = next((each for each in reversed(claims) if each.entity_name == self._name), None)
        return last.property_name if last is not None and changes_en.alike(last.value, value) else ""

    # ------------------------------------------------------------------ reading

    def _sentences(self) -> bool:
        """Read the sentences and return whether what was found holds all that they carry."""
        self._around.people.forget()
        content, whole, count = self._message.content, True, 0
        taken = [(span.start, span.end) for span in self._times]
        for start, end in self._stretches:
            prose = junk.blocks(content, start, min(end, _READ)) if start < _READ else []
            whole = whole and sum(last - first for first, last in prose) == end - start
            for first, last in prose:
                for sentence in split(content, first, last):
                    count += 1
                    if count > _SENTENCES:
                        return False
                    if not self._sentence(sentence, taken):
                        self._unread.append(sentence)
                        whole = False
        return whole and bool(self._statements or self._lessons or self._corrections)

    def _sentence(self, sentence: Sentence, taken: list[tuple[int, int]]) -> bool:
        text = sentence.text[:2000]
        if not junk.carries(text, self._around.speakers):
            return True
        if (self._around.agent or not self._assistant) and is_lesson(text):
            self._lessons.append(sentence)
            return True
        if self._assistant or self._hidden(sentence):
            return False
        if self._to_assistant and (wanted := wish(text)) is not None:
            self._statements.append(
                Statement(
                    entity=OWNER,
                    entity_type="person",
                    property_name=wanted.property_name,
                    value=wanted.value,
                    content=text,
                    named=text,
                    start=sentence.start,
                    end=sentence.end,
                    single_valued=wanted.single_valued,
                    polarity=wanted.polarity,
                )
            )
            return True
        chinese = is_chinese(text)
        new, old = (changes_zh if chinese else changes_en).corrected(text)
        if new and new.casefold() != old.casefold():
            self._corrections.append((sentence, new, old))
            return True
        again = changes_zh.restated(text) if chinese else changes_en.restated(text)[1]
        if again:
            self._corrections.append((sentence, again, ""))
            return True
        if not chinese and (value := changes_en.rebound(text)) and self._alike(value):
            self._corrections.append((sentence, value, ""))
            return True
        if _RETRACTED.match(text):
            del self._statements[self._settled :]
            return False
        self._settled = len(self._statements)
        if _RETRACTED_WITHIN.search(text):
            return False
        people = self._around.people
        reader = statements_zh.read if chinese else statements_en.read
        statements, whole = reader(sentence, people.resolve, taken, self._around.known)
        if self._message.name and _WE.match(text):
            statements, whole = [each for each in statements if each.entity != OWNER], False
        self._statements += statements
        people.heard(text, statements)
        return whole

    def _hidden(self, sentence: Sentence) -> bool:
        overlaps = any(secret.start < sentence.end and sentence.start < secret.end for secret in self._secrets)
        return overlaps or holds_mark(sentence.text)

    # ------------------------------------------------------------------ candidates

    def _typed(self, statement: Statement) -> Candidate:
        message, speakers = self._message, self._around.speakers
        content = statement.named.replace(OWNER, self._name) if message.name else statement.content
        entity = self._name if statement.entity == OWNER else statement.entity
        kind = statement.entity_type or entity_type(entity, content, content.find(entity), speakers)
        when = state_time(statement, self._times, message.timestamp, message.content)
        marks = {
            "unresolved_time": when.unresolved,
            "negated": statement.polarity < 0,
            "past": statement.past,
            "correction": statement.correction,
            SCHEDULED: statement.scheduled,
        }
        return Candidate(
            mem_type="profile" if statement.entity == OWNER else "fact",
            content=content,
            entity_name=entity,
            entity_type=kind,
            property_name=statement.property_name,
            value=statement.value,
            sources=(Source(message.message_id, statement.start, statement.end),),
            confidence=_STRUCTURED,
            speaker=message.name,
            valid_from=when.valid_from,
            valid_to=when.valid_to,
            observed_at=message.timestamp,
            time_precision=when.precision,
            mentions=mentions(content, speakers),
            single_valued=statement.single_valued,
            polarity=statement.polarity,
            context=self._context,
            flags=tuple(mark for mark, holds in marks.items() if holds),
        )

    def _procedure(self, goal: str) -> Candidate:
        start, end = self._stretches[0][0], self._stretches[-1][1]
        text = self._message.content[start:end].strip()
        return self._kept("skill_candidate", text, start, end, "procedure", redact(goal)[0])

    def _episodic(self, flag: str = "", value: str = "") -> Candidate:
        """Return the whole message in its own words, without fences; an instruction is quoted.

        ``value`` is what it puts in the place of another value, when it says no more.
        """
        content, stretches = self._message.content, self._stretches or [(0, 0)]
        text = "".join(content[first:last] for first, last in stretches).strip()
        text = f"“{text}”" if flag else text
        if self._message.caption:
            text = f"{text} [image: {self._message.caption}]".strip()
        return self._kept("episodic", text, stretches[0][0], stretches[-1][1], "", value, flag=flag)

    def _kept(
        self, mem_type: MemType, text: str, start: int, end: int, name: str, value: str = "", flag: str = ""
    ) -> Candidate:
        message = self._message
        content, _ = redact(text) if self._secrets or message.caption else (text, ())
        when = event_time(message.content, start, end, self._times, message.timestamp)
        marks = {
            flag: bool(flag),
            "unresolved_time": when.unresolved,
            "correction": mem_type == "episodic" and (bool(value) or _CORRECTING.match(content) is not None),
            "redacted": holds_mark(content),
            "spoken_by_assistant": self._assistant,
        }
        return Candidate(
            mem_type=mem_type,
            content=content,
            entity_name=self._name,
            entity_type="person" if message.name or not self._assistant else "thing",
            property_name=name,
            value=value,
            sources=(Source(message.message_id, start, end),),
            confidence=_VERBATIM,
            speaker=message.name,
            valid_from=when.valid_from,
            valid_to=when.valid_to,
            observed_at=message.timestamp,
            time_precision=when.precision,
            mentions=mentions(content, self._around.speakers),
            context=self._context,
            flags=tuple(mark for mark, holds in marks.items() if holds),
        )


def _of_kind(stated: Candidate, new: str, noun: str) -> bool:
    """Return whether a correction that names no property can be about a claim, by the form of its value."""
    return not noun and stated.polarity > 0 and changes_zh.kind(stated.value) == changes_zh.kind(new) != ""


def _ended(claim: Candidate, stated: list[Candidate]) -> Candidate:
    """Return a past claim ended where what the same message puts in its place begins."""
    if "past" not in claim.flags or claim.valid_to is None or claim.valid_to != claim.observed_at:
        return claim
    after = [
        each.valid_from
        for each in stated
        if each.entity_name == claim.entity_name and each.property_name == claim.property_name
        if each.single_valued and each.polarity > 0 and each.value != claim.value
        if each.valid_from is not None and each.valid_from < claim.valid_to
    ]
    return replace(claim, valid_to=min(after)) if after else claim

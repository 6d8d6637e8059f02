"""RulesSignalDetector: corrections in what users say to an assistant, English and Chinese, by their sentences.

A cue alone makes no signal: what it introduces must be understood by itself, or name what it puts right. Questions,
suppositions, others' words, jokes and talk of code give none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mindmem.core.reason.feedback_port import Signal, SignalRequest
from mindmem.core.reason.port import Judged, Verdict
from mindmem.core.reason.rules import junk
from mindmem.core.reason.rules.feedback import cues_en, cues_zh
from mindmem.core.reason.rules.feedback.reading import Reading
from mindmem.core.reason.rules.feedback.scopes import condition_of, persistence
from mindmem.core.reason.rules.feedback.unmeant import denies, in_jest, laughs, unmeant, unquoted
from mindmem.core.reason.rules.sentences import Sentence, is_chinese, split
from mindmem.core.records import Message

__all__ = ["RulesSignalDetector"]

_READ = 4_000
"""Characters of a message that are read: a correction is short, what is longer was pasted."""


class RulesSignalDetector:
    """The detector that needs no model."""

    async def detect(self, requests: Sequence[SignalRequest]) -> list[Verdict[tuple[Signal, ...]]]:
        """Return one judgement per request, in order."""
        return [Judged(tuple(_signals(request))) for request in requests]


def _signals(request: SignalRequest) -> Iterator[Signal]:
    before = ""
    for message in request.messages:
        if message.message_id in request.heard and message.role == "user":
            yield from _of_message(message, before, explicit=request.explicit)
        if message.role == "assistant":
            before = message.content


def _of_message(message: Message, before: str, *, explicit: bool) -> Iterator[Signal]:
    content = message.content
    if len(content) > _READ or in_jest(content) or junk.is_instruction(content) or junk.is_dump(content):
        return
    opened: Sentence | None = None  # said that something is wrong; what is right may follow
    corrected = False
    for sentence in _sentences(content):
        if unmeant(sentence.text) or (laughs(sentence.text) and not denies(sentence.text)):
            opened = None
            continue
        read = cues_zh.read if is_chinese(sentence.text) else cues_en.read
        wrong = opened is not None
        found = read(sentence.text, before, explicit=explicit or wrong, opened=wrong)
        if found is not None and found.bare:
            opened = opened or sentence
            continue
        if found is None and corrected:  # when something else holds often follows
            found = read(sentence.text, before, explicit=True)
            found = found if found is not None and condition_of(found.statement, directive=found.directive) else None
        if found is not None:
            corrected = True
            if opened is not None and found.kind == "state" and not found.directive:
                found = replace(found, kind="replace")
            yield _signal(message, opened or sentence, sentence, found)
        elif opened is not None and len(sentence.text.split()) <= 4 and not is_chinese(sentence.text):
            found = cues_en.read(f"No, it's {sentence.text}", before, explicit=explicit)
            if found is not None and found.fragment:
                yield _signal(message, opened, sentence, found)
        opened = None
    if opened is not None:
        yield _signal(message, opened, opened, Reading("retract", ""))


def _sentences(content: str) -> Iterator[Sentence]:
    masked = unquoted(content)
    for start, end in junk.outside_fences(content):
        for begin, stop in junk.blocks(content, start, end):
            yield from split(masked, begin, stop)


def _signal(message: Message, first: Sentence, last: Sentence, found: Reading) -> Signal:
    holds, condition = persistence(
        last.text.rstrip(" .!?。！？"), found.statement, directive=found.directive, lasts=found.lasting
    )
    if found.kind == "retract":
        holds, condition = ("task_temporary" if found.directive else "long_term"), ""
    return Signal(
        message_id=message.message_id,
        start=first.start,
        end=last.end,
        kind="instruct" if found.directive and found.kind == "state" else found.kind,
        statement=_sentence(found.statement),
        persistence=holds,
        rejected=found.rejected,
        condition=condition,
        fragment=found.fragment,
    )


def _sentence(words: str) -> str:
    """Words as a sentence: with a capital, and a full stop where they have no end of their own; a value stays as is."""
    text = words.strip(" ,，;；")
    if not text or (len(text.split()) < 3 and not is_chinese(text)):
        return text
    return text[0].upper() + text[1:]

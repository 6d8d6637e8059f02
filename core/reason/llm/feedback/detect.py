"""The signal detector that asks a model: a question for each stretch of a dialogue."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.language.words import estimate_tokens, has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.feedback_port import Signal, SignalDetector, SignalRequest
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.evidence import Shown, render_evidence
from mindmem.core.reason.llm.feedback.replies import SignalsReply
from mindmem.core.reason.llm.feedback.signals import read_signals
from mindmem.core.reason.port import Failed, Judged, Verdict
from mindmem.core.reason.rules import junk
from mindmem.core.records import Message
from mindmem.core.settings import LlmSettings

__all__ = ["LlmSignalDetector"]

_READ: Final = 4_000
"""Characters of a message that is read: a correction is short, what is longer was pasted."""
_BEFORE: Final = 4
"""Messages before the first one to be judged that are shown with it."""
_TOKENS: Final = 4_000
"""Messages are judged together as long as they come to about so much."""


class LlmSignalDetector:
    """Finds corrections by a model. Messages of which none may carry one ask nothing.

    A dialogue whose reply stays unreadable is judged by ``fallback`` where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: SignalDetector | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def detect(self, requests: Sequence[SignalRequest]) -> list[Verdict[tuple[Signal, ...]]]:
        """Return one verdict per request, in order; its signals in the order in which they were said.

        Raises:
            BudgetReached: the model may not be asked any more; what was asked meanwhile is in its cache.
        """
        return await gathered([self._request(request) for request in requests])

    async def _request(self, request: SignalRequest) -> Verdict[tuple[Signal, ...]]:
        verdicts = await gathered([self._stretch(part) for part in _stretches(request)])
        joined = _joined(verdicts)
        if isinstance(joined, Failed) and not joined.transient and self._fallback is not None:
            [joined] = await self._fallback.detect([request])
        return joined

    async def _stretch(self, request: SignalRequest) -> Verdict[tuple[Signal, ...]]:
        messages = request.messages
        shown = [_shown(place, message) for place, message in enumerate(messages)]
        judged = [number for number, one in enumerate(messages, start=1) if _may_carry(one, request)]
        question = load_prompt("feedback_detect").question(
            SignalsReply,
            messages=render_evidence(shown, messages[-1].timezone or "UTC"),
            judged=", ".join(map(str, judged)),
            given="yes" if request.explicit else "no",
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        if cut and len(judged) > 1:
            names = [messages[number - 1].message_id for number in judged]
            parts = (names[: len(names) // 2], names[len(names) // 2 :])
            return _joined(await gathered([self._stretch(replace(request, heard=frozenset(one))) for one in parts]))
        if isinstance(verdict, Failed):
            return verdict
        return Judged(read_signals(verdict.value.value.signals, shown, frozenset(judged)))


def _joined(verdicts: Sequence[Verdict[tuple[Signal, ...]]]) -> Verdict[tuple[Signal, ...]]:
    """The stretches of a dialogue as one; where one of them has failed, so has the dialogue."""
    failed = next((one for one in verdicts if isinstance(one, Failed)), None)
    return failed or Judged(tuple(signal for one in verdicts if isinstance(one, Judged) for signal in one.value))


def _may_carry(message: Message, request: SignalRequest) -> bool:
    """Whether a message is a user's own, new, of words, and no pasted or planted text."""
    return (
        message.message_id in request.heard
        and message.role == "user"
        and has_substance(message.content)
        and len(message.content) <= _READ
        and not junk.is_instruction(message.content)
        and not junk.is_dump(message.content)
    )


def _stretches(request: SignalRequest) -> Iterator[SignalRequest]:
    """Yield the dialogue in stretches of a bounded size that hold something to be judged, each with a few messages
    before it."""
    start, size = 0, 0
    messages = request.messages
    for place, message in enumerate(messages):
        needed = estimate_tokens(message.content[:_READ])
        if size and size + needed > _TOKENS:
            yield from _stretch(request, start, place)
            start, size = place, 0
        size += needed
    yield from _stretch(request, start, len(messages))


def _stretch(request: SignalRequest, start: int, end: int) -> Iterator[SignalRequest]:
    messages = request.messages
    places = [place for place in range(start, end) if _may_carry(messages[place], request)]
    if places:
        judged = frozenset(messages[place].message_id for place in places)
        yield replace(request, messages=messages[max(0, places[0] - _BEFORE) : places[-1] + 1], heard=judged)


def _shown(place: int, message: Message) -> Shown:
    content = message.content
    stretches = [(start, min(end, _READ)) for start, end in junk.outside_fences(content) if start < _READ]
    return Shown(message, place, tuple(stretches))

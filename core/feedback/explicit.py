"""Explicit feedback: a statement, the dialogue around it, and the memories that the assistant had at hand."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.errors import Conflict, InvalidInput, bounded
from mindmem.core.feedback.process import Round, correct, signals_of
from mindmem.core.feedback.receipt import FeedbackReceipt
from mindmem.core.ingest.normalise import MessageInput
from mindmem.core.ingest.request import AddRequest, add_id_of, checked, repeated
from mindmem.core.language.words import is_blank
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.feedback_port import SignalRequest
from mindmem.core.records import Message, Scope
from mindmem.core.services import Services

__all__ = ["FeedbackRequest", "feedback"]

_UNHEARD: Final = (
    "Nothing in the words corrects or asks for anything. Say what is wrong and what is so in its place, in a sentence"
    ' ("I live in Ghent, not Bonn"); to forget all that is known of a user, call delete_all.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRequest:
    """One piece of feedback as a caller states it (see ``Memory.feedback``)."""

    text: str
    scope: Scope
    messages: MessageInput = ()
    recalled: Sequence[str] = ()
    name: str = ""
    key: str = ""
    timezone: str | None = None
    run_id: str = ""
    actor: str = ""


async def feedback(services: Services, request: FeedbackRequest) -> FeedbackReceipt:
    """Correct what is remembered (see ``Memory.feedback``)."""
    _check(request)
    messages = _messages(services, request)
    digest = _digest(request, messages)
    if request.key and (before := services.ledger.by_key(request.scope.project_id, request.key)) is not None:
        if before.digest != digest:
            raise Conflict(f"The idempotency key {request.key!r} was used for something else. Use a new key.")
        known = repeated(services, before.change_id, json.loads(before.result))
        return FeedbackReceipt(changes=known.changes, actions=known.actions, repeated=True)
    heard = messages[-1]
    with charged_to(request.scope, request.run_id):
        [signals] = await signals_of(services, [SignalRequest(messages, frozenset({heard.message_id}), explicit=True)])
    if not signals:
        return FeedbackReceipt(reason=_UNHEARD)
    work = Round(
        scope=request.scope,
        messages=messages,
        signals=signals,
        recalled=tuple(dict.fromkeys(request.recalled)),
        known=bool(services.ledger.heads("message", [heard.message_id])),
    )
    made = Request(actor=request.actor, run_id=request.run_id, key=request.key, digest=digest)
    return await correct(services, work, made)


def _check(request: FeedbackRequest) -> None:
    if not isinstance(request.text, str) or is_blank(request.text):
        raise InvalidInput(
            f"text must say what is wrong or how it shall be, got {bounded(request.text)}.", field="text"
        )
    recalled = request.recalled
    if isinstance(recalled, str | bytes) or not all(isinstance(one, str) and one for one in recalled):
        raise InvalidInput(
            f"recalled must be a sequence of memory ids such as 'mem_…', got {bounded(recalled)}.", field="recalled"
        )


def _messages(services: Services, request: FeedbackRequest) -> tuple[Message, ...]:
    """Return the dialogue, ending with the feedback as the user's own message; nothing of it is written here."""
    given = [request.messages] if isinstance(request.messages, str | Mapping) else list(request.messages)
    last = given[-1] if given else None
    if isinstance(last, Mapping) and last.get("role") == "user" and last.get("content") == request.text:
        given.pop()
    else:
        last = {}
    assert isinstance(last, Mapping)
    said: dict[str, object] = {"role": "user", "content": request.text, "timestamp": services.clock.now(), **last}
    if request.name:
        said["name"] = request.name
    asked = AddRequest(
        messages=[*given, said], scope=request.scope, key=request.key, timezone=request.timezone, add_id="",
    )  # fmt: skip
    normalised, _ = checked(services, AddRequest(
        messages=asked.messages, scope=asked.scope, key=asked.key, timezone=asked.timezone, add_id=add_id_of(asked)
    ))  # fmt: skip
    return normalised.messages


def _digest(request: FeedbackRequest, messages: Sequence[Message]) -> str:
    said = [(message.role, message.name, message.content) for message in messages]
    return ids.digest("feedback", request.scope.key, json.dumps([said, list(request.recalled)], ensure_ascii=False))

"""Implicit feedback: corrections in what users said to the assistant in recent sessions.

Each user's sessions are read once, up to a watermark of their own that moves when all of it succeeded. A correction is
committed under its message's id, so that a pass which was cut off anywhere does nothing twice.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.errors import BudgetReached, MindMemError
from mindmem.core.failpoints import reach
from mindmem.core.feedback.process import Round, correct, signals_of
from mindmem.core.feedback.receipt import FeedbackPass
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.feedback_port import Signal, SignalRequest
from mindmem.core.records import Change, Message, Partition, Scope
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

__all__ = ["feedback_pass"]

log = logging.getLogger(__name__)

_BEFORE: Final = 4
"""Messages before the first new one of a session that are read with it."""


@dataclass(slots=True)
class _Tally:
    scopes: int = 0
    messages: int = 0
    signals: int = 0
    changes: list[Change] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)


async def feedback_pass(
    services: Services, *, user_id: str | None = None, run_id: str = "", actor: str = ""
) -> FeedbackPass:
    """Look for corrections in what was said since the last pass (see ``Memory.feedback_pass``)."""
    caught_up(services)
    tally = _Tally()
    for partition, state in services.ledger.partitions(services.settings.project_id):
        if not partition.user_id or (user_id is not None and partition.user_id != user_id):
            continue
        mark = watermark(partition)
        if services.ledger.watermark(mark) >= state.last_seq:
            continue
        tally.scopes += 1
        try:
            await _scope(services, partition, state.last_seq, tally, run_id, actor)
        except BudgetReached:
            tally.stopped.append(partition.user_id)
            continue
        except MindMemError as error:
            # One user's trouble is no other's; the watermark stays, so that the next pass tries again.
            log.warning("feedback: a scope failed: %s", error.code)
            tally.failed[partition.user_id] = error.code
            continue
        services.ledger.set_watermark(mark, state.last_seq)
    return FeedbackPass(
        scopes=tally.scopes,
        messages=tally.messages,
        signals=tally.signals,
        changes=tuple(tally.changes),
        counts=dict(sorted(tally.counts.items())),
        failed=tally.failed,
        stopped=tuple(tally.stopped),
    )


def watermark(partition: Partition) -> str:
    """Return the name of a user's watermark."""
    return "feedback:" + ids.digest(*partition)


async def _scope(services: Services, partition: Partition, upto: int, tally: _Tally, run_id: str, actor: str) -> None:
    after = services.ledger.watermark(watermark(partition))
    fresh = services.reader.messages_between(partition, after, upto)
    sessions = list(_sessions(services, fresh))
    with charged_to(Scope(*partition), run_id):
        found = await signals_of(
            services,
            [SignalRequest(messages, frozenset(one.message_id for one in new)) for messages, new in sessions],
        )
    for (messages, new), signals in zip(sessions, found, strict=True):
        tally.messages += sum(one.role == "user" for one in new)
        tally.signals += len(signals)
        for work in _rounds(messages, signals):
            key = f"feedback:{work.message.message_id}"
            if services.ledger.by_key(partition.project_id, key) is not None:
                continue
            receipt = await correct(
                services, work, Request(actor=actor, run_id=run_id, key=key, digest=ids.digest("feedback", key))
            )
            reach("feedback.committed")
            tally.changes.extend(receipt.changes)
            tally.counts.update(one.op for one in receipt.corrections)


def _sessions(
    services: Services, fresh: Sequence[Message]
) -> Iterator[tuple[tuple[Message, ...], tuple[Message, ...]]]:
    """Yield each session's messages in order, a few known ones before the new, and the new ones among them."""
    by_session: dict[object, list[Message]] = {}
    for message in fresh:
        by_session.setdefault(message.scope, []).append(message)
    for new in by_session.values():
        new.sort(key=lambda message: message.position)
        known = {message.message_id for message in new}
        around = services.reader.around(new[0], before=_BEFORE, after=0) if new[0].scope.session_id else []
        yield (*(one for one in around if one.message_id not in known), *new), tuple(new)


def _rounds(messages: Sequence[Message], signals: Sequence[Signal]) -> Iterator[Round]:
    for place, message in enumerate(messages):
        here = tuple(one for one in signals if one.message_id == message.message_id)
        if here:
            said = tuple(messages[max(0, place - _BEFORE) : place + 1])
            yield Round(scope=message.scope, messages=said, signals=here, known=True)

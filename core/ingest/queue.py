"""Queued adds: kept durably, worked off by the ingest flow."""

import json
from collections.abc import Sequence
from dataclasses import replace

from mindmem.core import ids
from mindmem.core.cancel import Cancelled
from mindmem.core.errors import BudgetReached, MindMemError
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.ingest.overlap import Outcome, add_wave, stops, unanswered, wave_size
from mindmem.core.ingest.request import AddRequest, add_id_of, checked, identified, other_messages
from mindmem.core.ledger.port import PendingAdd, Quarantined
from mindmem.core.records import Receipt
from mindmem.core.services import Services

__all__ = ["enqueue", "process_pending"]

_CLAIM_SECONDS = 600.0
_LONGEST_DELAY = 600.0


def enqueue(services: Services, request: AddRequest) -> str:
    """Check an add and keep it in the queue; return its add_id, which is the same for the same key in a scope.

    Raises:
        InvalidInput: as an add does.
        Conflict: the key was used for other messages, or waits with them.
    """
    add_id = request.add_id or add_id_of(request)
    normalised, metadata = checked(services, replace(request, add_id=add_id))
    _, digest = identified(request, normalised, metadata)
    done = services.ledger.by_key(request.scope.project_id, request.key) if request.key else None
    if done is not None and done.digest != digest:
        raise other_messages(request.key)
    payload = {
        "messages": normalised.given,
        "metadata": metadata,
        "key": request.key,
        "timezone": request.timezone,
        "actor": request.actor,
        "digest": digest,
    }
    waiting = services.ledger.enqueue(add_id, request.scope, json.dumps(payload))
    if json.loads(waiting).get("digest", digest) != digest:
        raise other_messages(request.key)
    return add_id


async def process_pending(services: Services, limit: int, *, run_id: str = "") -> list[Receipt]:
    """Work off up to ``limit`` queued adds, as many at a time as overlap.

    One that fails for a reason that may pass, or since no model answered, waits for a while; one that can't be done
    goes to quarantine with its reason, and with what a model wrote instead. Once nothing more can be done now, the rest
    is left as it was.

    Raises:
        BudgetReached: not one add could be done within the budget.
    """
    ledger, receipts, left = services.ledger, list[Receipt](), limit
    while left > 0:
        some = min(left, wave_size(services)) if services.reasoner.recalls else left
        claimed = ledger.claim(services.settings.project_id, some, ids.random_id("worker"), _CLAIM_SECONDS)
        if not claimed:
            break
        left -= len(claimed)
        outcomes: list[Outcome] = []
        requests = iter([_queued(waiting, run_id) for waiting in claimed])
        while (wave := await add_wave(services, requests)) and stops(wave) is None:
            outcomes.extend(wave)
        outcomes.extend(wave)
        receipts.extend(_settled(services, claimed, outcomes))
        error = stops(wave)
        if error is not None:
            ledger.unclaim([waiting.add_id for waiting in claimed[len(outcomes) :]])
            if isinstance(error, BudgetReached) and not receipts:
                raise error
            break
    return receipts


def _settled(services: Services, claimed: Sequence[PendingAdd], outcomes: Sequence[Outcome]) -> list[Receipt]:
    """Return the receipts, and put back or aside what failed."""
    receipts, untried, strange = list[Receipt](), list[str](), list[Exception]()
    # Where no add is answered, the key or the address may be wrong, which is no fault of theirs.
    answered = any(isinstance(outcome, Receipt) for outcome in outcomes)
    for waiting, outcome in zip(claimed, outcomes, strict=False):
        match outcome:
            case Receipt():
                receipts.append(outcome)
            case BudgetReached() | Cancelled():
                untried.append(waiting.add_id)
            case MindMemError() if outcome.transient or (unanswered(outcome) and not answered):
                delay = min(_LONGEST_DELAY, 2.0**waiting.attempts)
                services.ledger.requeue(waiting.add_id, f"{outcome.code}: {outcome}", delay)
            case MindMemError():
                receipts.append(_set_aside(services, waiting, outcome))
            case _:
                strange.append(outcome)
    if untried:
        services.ledger.unclaim(untried)
    if strange:
        raise strange[0]
    return receipts


def _queued(waiting: PendingAdd, run_id: str) -> AddRequest:
    stored = json.loads(waiting.payload)
    return AddRequest(
        messages=stored["messages"],
        scope=waiting.scope,
        metadata=stored["metadata"],
        key=stored["key"] or f"queued:{waiting.add_id}",
        timezone=stored["timezone"],
        actor=stored["actor"],
        run_id=run_id,
        add_id=waiting.add_id,
        done=waiting.add_id,
    )


def _set_aside(services: Services, waiting: PendingAdd, error: MindMemError) -> Receipt:
    """Put a queued add that can't succeed into quarantine with its raw payload and reason."""
    item = Quarantined(
        quarantine_id="qua_" + ids.digest("add", waiting.add_id),
        scope=waiting.scope,
        origin=f"queue:{waiting.add_id}",
        line=0,
        reason=f"{error.code}: {error}",
        raw=waiting.payload,
    )
    items = [item]
    if isinstance(error, ExtractionFailed):
        items.append(error.item(waiting.scope, waiting.add_id, f"reply:{waiting.add_id}"))
    services.ledger.quarantine(items)
    services.ledger.drop_pending(waiting.add_id)
    return Receipt(add_id=waiting.add_id, quarantined=tuple(one.quarantine_id for one in items))

"""Queued adds: kept durably, worked off by the ingest flow."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from mindmem.core import ids
from mindmem.core.cancel import Cancelled
from mindmem.core.errors import BudgetReached, MindMemError
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.ingest.flush import claimed
from mindmem.core.ingest.overlap import Outcome, add_wave, stops, unanswered, wave_size
from mindmem.core.ingest.request import AddRequest, Group, add_id_of, checked, identified, other_messages, queued
from mindmem.core.ledger.port import PendingAdd, Quarantined
from mindmem.core.records import Receipt, Scope
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


async def process_pending(
    services: Services, limit: int, *, run_id: str = "", flush: Scope | None = None
) -> list[Receipt]:
    """Work off up to ``limit`` queued adds, as many at a time as overlap.

    In schema mode adds wait until their episode is over, and are carried out with it as one. One that fails for a
    reason that may pass, or since no model answered, waits for a while; one that can't be done goes to quarantine with
    its reason, and with what a model wrote instead. Once nothing more can be done now, the rest is left as it was.

    Args:
        flush: work off what this user, app and agent have queued, as far as they are named; nothing of it waits.

    Raises:
        BudgetReached: not one add could be done within the budget.
    """
    receipts: list[Receipt] = []
    services.ledger.free_claims(services.settings.project_id)
    async with aclosing(_claimed(services, limit, run_id, flush)) as claims:
        async for groups in claims:
            done, error = await _carried_out(services, groups, run_id)
            receipts.extend(done)
            if isinstance(error, BudgetReached) and not receipts:
                raise error
            if error is not None:
                break
    return receipts


async def _claimed(
    services: Services, limit: int, run_id: str, flush: Scope | None
) -> AsyncGenerator[Sequence[Group], None]:
    """Yield claimed adds, by what is carried out together, until nothing is due or ``limit`` adds were claimed."""
    ledger, owner = services.ledger, ids.random_id("worker")
    if services.settings.ingest.mode == "schema" or flush is not None:
        async for groups in claimed(services, limit, run_id, flush, owner=owner, seconds=_CLAIM_SECONDS):
            yield groups
        return
    while limit > 0:
        some = min(limit, wave_size(services)) if services.reasoner.recalls else limit
        adds = ledger.claim(services.settings.project_id, some, owner, _CLAIM_SECONDS)
        if not adds:
            return
        limit -= len(adds)
        yield [(one,) for one in adds]


async def _carried_out(
    services: Services, groups: Sequence[Group], run_id: str
) -> tuple[list[Receipt], Exception | None]:
    """Carry out claimed adds; return their receipts, and the error after which nothing more can be done now.

    Of a group that can't be done together each add is tried alone, so that one sets aside no other.
    """
    outcomes: list[Outcome] = []
    requests = iter([_together(group, run_id) for group in groups])
    while (wave := await add_wave(services, requests)) and stops(wave) is None:
        outcomes.extend(wave)
    outcomes.extend(wave)
    apart = [
        (one,)
        for group, outcome in zip(groups, outcomes, strict=False)
        if len(group) > 1 and _hopeless(outcome, outcomes)
        for one in group
    ]
    receipts = _settled(services, groups, outcomes)
    error = stops(wave)
    if error is not None:
        services.ledger.unclaim([one.add_id for group in groups[len(outcomes) :] for one in group])
    if apart and error is None:
        more, error = await _carried_out(services, apart, run_id)
        receipts.extend(more)
    elif apart:
        services.ledger.unclaim([one.add_id for (one,) in apart])
    return receipts, error


def _hopeless(outcome: Outcome, outcomes: Sequence[Outcome]) -> bool:
    """Return whether a later try can't succeed. Where no add is answered, the key or the address may be wrong, which is
    no fault of theirs."""
    if not isinstance(outcome, MindMemError) or outcome.transient or isinstance(outcome, BudgetReached | Cancelled):
        return False
    return not unanswered(outcome) or any(isinstance(one, Receipt) for one in outcomes)


def _settled(services: Services, groups: Sequence[Group], outcomes: Sequence[Outcome]) -> list[Receipt]:
    """Return the receipts, and put back or aside what failed; a group that is tried apart stays claimed."""
    ledger, receipts, untried, strange = services.ledger, list[Receipt](), list[str](), list[Exception]()
    for group, outcome in zip(groups, outcomes, strict=False):
        match outcome:
            case Receipt():
                receipts.append(outcome)
                if not outcome.changes or outcome.repeated:  # no commit took them out of the queue
                    for one in group:
                        ledger.drop_pending(one.add_id)
            case BudgetReached() | Cancelled():
                untried.extend(one.add_id for one in group)
            case MindMemError() if not _hopeless(outcome, outcomes):
                delay = min(_LONGEST_DELAY, 2.0 ** max(one.attempts for one in group))
                for one in group:
                    ledger.requeue(one.add_id, f"{outcome.code}: {outcome}", delay)
            case MindMemError():
                if len(group) == 1:
                    receipts.append(_set_aside(services, group[0], outcome))
            case _:
                strange.append(outcome)
    if untried:
        ledger.unclaim(untried)
    if strange:
        raise strange[0]
    return receipts


def _together(group: Group, run_id: str) -> AddRequest:
    requests = tuple(queued(one, run_id) for one in group)
    return requests[0] if len(requests) == 1 else replace(requests[0], joined=requests)


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

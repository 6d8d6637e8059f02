"""Queued adds: kept durably, worked off by the ingest flow."""

import json
from dataclasses import replace

from mindmem.core import ids
from mindmem.core.errors import MindMemError
from mindmem.core.ingest.pipeline import add
from mindmem.core.ingest.request import AddRequest, add_id_of, checked
from mindmem.core.ledger.port import PendingAdd, Quarantined
from mindmem.core.records import Receipt
from mindmem.core.services import Services

__all__ = ["enqueue", "process_pending"]

_CLAIM_SECONDS = 600.0


def enqueue(services: Services, request: AddRequest) -> str:
    """Check an add and keep it in the queue; return its add_id, which is the same for the same key in a scope."""
    add_id = request.add_id or add_id_of(request)
    normalised, metadata = checked(services, replace(request, add_id=add_id))
    payload = {
        "messages": normalised.given,
        "metadata": metadata,
        "key": request.key,
        "timezone": request.timezone,
        "actor": request.actor,
    }
    services.ledger.enqueue(add_id, request.scope, json.dumps(payload))
    return add_id


async def process_pending(services: Services, limit: int, *, run_id: str = "") -> list[Receipt]:
    """Work off queued adds. A transient failure puts one back, a terminal one sets it aside with its reason."""
    receipts: list[Receipt] = []
    project = services.settings.project_id
    for waiting in services.ledger.claim(project, limit, ids.random_id("worker"), _CLAIM_SECONDS):
        try:
            receipts.append(await add(services, _queued(waiting, run_id)))
        except MindMemError as error:
            if error.transient:
                services.ledger.requeue(waiting.add_id, f"{error.code}: {error}", min(600.0, 2.0**waiting.attempts))
                continue
            receipts.append(_set_aside(services, waiting, error))
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
    services.ledger.quarantine([item])
    services.ledger.drop_pending(waiting.add_id)
    return Receipt(add_id=waiting.add_id, quarantined=(item.quarantine_id,))

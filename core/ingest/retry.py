"""Retry: an add in quarantine goes back into the queue, once what was wrong has been put right."""

import json

from mindmem.core import ids
from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.ledger.port import Quarantined
from mindmem.core.services import Services

__all__ = ["can_retry", "retry"]

_QUEUE = "queue:"
_MOST = 100_000


def can_retry(item: Quarantined) -> bool:
    """Return whether the input is an add that was queued: lines of files and replies of models don't hold one."""
    return item.origin.startswith(_QUEUE)


def retry(services: Services, quarantine_id: str) -> str:
    """Queue an add anew that lies in quarantine, and mark it as retried; return its new add_id.

    It keeps its idempotency key: an add that was carried out after all adds nothing.

    Raises:
        NotFound: nothing with that id is open in the project's quarantine.
        InvalidInput: it is no queued add; the message says what to do instead.
    """
    project = services.settings.project_id
    opened = services.ledger.quarantined(project, limit=_MOST)
    item = next((one for one in opened if one.quarantine_id == quarantine_id), None)
    if item is None:
        raise NotFound(f"Nothing with the id {bounded(quarantine_id)} is open in quarantine of project {project!r}.")
    if not can_retry(item):
        raise InvalidInput(
            f"What came from {bounded(item.origin)} is no queued add: correct its source and ingest that again.",
            field="quarantine_id",
        )
    payload = json.loads(item.raw)
    payload["key"] = payload["key"] or f"queued:{item.origin.removeprefix(_QUEUE)}"
    # Under its old id a second failure would be taken for the first one, which is closed.
    add_id = ids.random_id("add")
    services.ledger.enqueue(add_id, item.scope, json.dumps(payload))
    services.ledger.resolve_quarantined(quarantine_id, "retried")
    return add_id

"""The request of an add: checked, cleaned, and identified, before any of it is judged."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mindmem.core import ids
from mindmem.core.errors import Conflict, CorruptStore
from mindmem.core.ingest.normalise import MessageInput, Normalised, Origin, check_metadata, normalise
from mindmem.core.ledger.port import PendingAdd
from mindmem.core.records import Action, Receipt, Scope
from mindmem.core.services import Services

__all__ = [
    "AddRequest",
    "Group",
    "add_id_of",
    "checked",
    "earlier",
    "identified",
    "other_messages",
    "queued",
    "repeated",
]

Group: TypeAlias = tuple[PendingAdd, ...]
"""Queued adds that are carried out together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRequest:
    """One add as a caller states it (see ``Memory.add``); ``origin`` names the file and lines it was read from.
    ``joined`` are adds of the same user, app and agent that are carried out as one change; this one then only stands
    for the first of them."""

    messages: MessageInput
    scope: Scope
    metadata: Mapping[str, object] = field(default_factory=dict)
    key: str = ""
    timezone: str | None = None
    run_id: str = ""
    actor: str = ""
    add_id: str = ""
    origin: Origin | None = None
    done: str = ""
    joined: tuple["AddRequest", ...] = ()


def queued(waiting: PendingAdd, run_id: str) -> AddRequest:
    """Return the request that a queued add was made of."""
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


def add_id_of(request: AddRequest) -> str:
    """Return the id of an add that brings none. A repeated add must give its messages the same ids, so that it is known
    again: with a key the id follows from scope and key."""
    return "add_" + ids.digest("add", request.scope.key, request.key) if request.key else ids.random_id("add")


def checked(services: Services, request: AddRequest) -> tuple[Normalised, Mapping[str, object]]:
    """Return the request's messages and its metadata, secrets cut out of both.

    Raises:
        InvalidInput: names the message or field, what was expected and what came.
    """
    metadata = check_metadata(request.metadata)
    normalised = normalise(
        request.messages,
        request.scope,
        zone=services.settings.timezone,
        add_zone=request.timezone or None,
        add_id=request.add_id,
        max_chars=services.settings.ingest.max_message_chars,
        origin=request.origin,
    )
    return normalised, metadata


def identified(request: AddRequest, normalised: Normalised, metadata: Mapping[str, object]) -> tuple[AddRequest, str]:
    """Return the request with the key that it is known by, if by any, and the digest of what it asks for."""
    said = [
        (m.scope.session_id, m.role, m.name, m.content, m.caption, m.timestamp.isoformat() if m.timestamp else "")
        for m in normalised.messages
    ]
    digest = ids.digest("add", request.scope.key, json.dumps([said, metadata], sort_keys=True, default=str))
    if request.key or not normalised.placed or not normalised.messages:
        return request, digest
    places = [message.message_id for message in normalised.messages]
    return replace(request, key="placed:" + ids.digest("places", digest, *places)), digest


def earlier(services: Services, request: AddRequest, digest: str) -> Receipt | None:
    """Return the receipt of the same add, if it was committed before."""
    if not request.key:
        return None
    record = services.ledger.by_key(request.scope.project_id, request.key)
    if record is None:
        return None
    if record.digest != digest:
        raise other_messages(request.key)
    if request.done:
        services.ledger.drop_pending(request.done)
    return repeated(services, record.change_id, json.loads(record.result))


def other_messages(key: str) -> Conflict:
    """Return the error that a key was used for something else."""
    return Conflict(f"The idempotency key {key!r} was used for other messages. Use a new key for a new add.")


def repeated(services: Services, change_id: str, stored: Mapping[str, object]) -> Receipt:
    """Return the receipt of a change that was committed before, from what was stored with its key."""
    change = services.ledger.change(change_id)
    if change is None:
        raise CorruptStore(f"The change {change_id!r} is known but not in the log. Run: mindmem doctor")
    revisions = services.reader.written_by(change_id, change.scope.partition)
    written = {memory.memory_id: memory for memory in revisions}
    wanted = stored.get("actions")
    actions = tuple(
        Action(op, written[memory_id], reason)
        for op, memory_id, reason in (wanted if isinstance(wanted, list) else [])
        if memory_id in written
    )
    services.projector.catch_up(change.seq)
    quarantined = stored.get("quarantined")
    return Receipt(
        add_id=str(stored.get("add_id", "")),
        changes=(change,),
        actions=actions,
        counts=change.counts,
        quarantined=tuple(map(str, quarantined)) if isinstance(quarantined, list) else (),
        repeated=True,
    )

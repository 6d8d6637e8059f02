"""Add, from messages to a committed and searchable change (MindVanilla, design 7.1).

normalise, redact, turns, windows, extract, dedupe; then on the scope's present state: recall, resolve, gate, decide,
apply. The second half is repeated when the scope was changed meanwhile. No lock is held while anything is judged.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from mindmem.core import ids
from mindmem.core.apply import Request, counts_of
from mindmem.core.embed.port import Embedding
from mindmem.core.errors import LeaseTaken, MindMemError, ScopeChanged
from mindmem.core.failpoints import reach
from mindmem.core.index.documents import vector_key
from mindmem.core.ingest.decide import decide
from mindmem.core.ingest.dedupe import Deduped, dedupe
from mindmem.core.ingest.gate import Gated, gate
from mindmem.core.ingest.memories import entity_of_name, new_memory
from mindmem.core.ingest.recall import recall
from mindmem.core.ingest.request import AddRequest, add_id_of, checked, earlier, identified, repeated
from mindmem.core.ingest.turns import group_turns
from mindmem.core.ingest.windows import pack_windows
from mindmem.core.ledger.port import Lease
from mindmem.core.reason.port import Envelope, Extraction, Failed, Judged, Unsure, Verdict
from mindmem.core.records import Change, Memory, Message, Plan, Receipt, Skip, Window
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

__all__ = ["ExtractionFailed", "add"]

log = logging.getLogger(__name__)

_OPTIMISTIC = 3
"""Tries without a lease; after them the scope's lease makes the contenders take turns."""
_TRIES = 60


class ExtractionFailed(MindMemError):
    """A window could not be judged, so nothing of the add was written; it stays with the caller, or pending."""

    code = "extraction_failed"

    def __init__(self, message: str, *, transient: bool, raw: str = "") -> None:
        super().__init__(message)
        self.transient = transient  # type: ignore[misc]  # here the instance knows
        self.raw = raw


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What an add comes to before the store's state is looked at."""

    request: AddRequest
    metadata: Mapping[str, object]
    messages: tuple[Message, ...]
    skips: tuple[Skip, ...]
    candidates: Deduped
    embeddings: Mapping[str, Embedding]
    windows: int
    digest: str


async def add(services: Services, request: AddRequest) -> Receipt:
    """Carry out one add and return its receipt.

    Raises:
        InvalidInput, Conflict, StoreBusy, StoreUnavailable: see ``Memory.add``.
        ExtractionFailed: the reasoner failed; nothing was written.
    """
    request = replace(request, add_id=request.add_id or add_id_of(request))
    normalised, metadata = checked(services, request)
    request, digest = identified(request, normalised, metadata)
    before = earlier(services, request, digest)
    if before is not None:
        return before
    known = services.ledger.heads("message", [message.message_id for message in normalised.messages])
    fresh = tuple(message for message in normalised.messages if message.message_id not in known)
    if known and not fresh:
        changes = [services.ledger.change(change_id) for change_id in {head.change_id for head in known.values()}]
        newest = max((change for change in changes if change), key=lambda change: change.seq)
        return repeated(services, newest.change_id, {"add_id": request.add_id})
    extracted = await _extracted(services, request, fresh, normalised.messages)
    reach("ingest.extracted")
    deduped = dedupe(extracted)
    owners = {message.message_id: message for message in fresh}
    memories = [new_memory(candidate, request.scope, owners, metadata) for candidate in deduped.candidates]
    prepared = _Prepared(
        request=request,
        metadata=metadata,
        messages=fresh,
        skips=(*normalised.skips, *deduped.skips, *(Skip(known_id, "known already") for known_id in known)),
        candidates=deduped,
        embeddings=services.applier.embed(memories),
        windows=len(extracted),
        digest=digest,
    )
    return await _committed(services, prepared)


async def _extracted(
    services: Services, request: AddRequest, fresh: Sequence[Message], said: Sequence[Message]
) -> list[tuple[Window, Extraction]]:
    if not fresh:
        return []
    settings = services.settings.ingest
    turns = group_turns(fresh, settings.turn_gap_seconds)
    windows = pack_windows(turns, soft_tokens=settings.soft_tokens, hard_tokens=settings.hard_tokens)
    if windows and len(fresh) < len(said):
        windows = (replace(windows[0], before=_heard_before(windows[0], fresh, said)), *windows[1:])
    zone = request.timezone or services.settings.timezone
    envelopes = [Envelope(scope=request.scope, window=window, timezone=zone) for window in windows]
    slots = asyncio.Semaphore(settings.concurrency)

    async def judge(envelope: Envelope) -> Verdict[Extraction]:
        async with slots:
            [verdict] = await services.reasoner.extract.extract([envelope])
        return verdict

    verdicts = await asyncio.gather(*map(judge, envelopes))
    return [(window, _judged(verdict)) for window, verdict in zip(windows, verdicts, strict=True)]


def _heard_before(window: Window, fresh: Sequence[Message], said: Sequence[Message]) -> tuple[Message, ...]:
    """Return the last messages that were known already and came right before a window: its context."""
    first = window.evidence[0].message_id
    place = next((i for i, message in enumerate(said) if message.message_id == first), 0)
    new = {message.message_id for message in fresh}
    return tuple(message for message in said[max(0, place - 4) : place] if message.message_id not in new)


def _judged(verdict: Verdict[Extraction]) -> Extraction:
    match verdict:
        case Judged(value):
            return value
        case Unsure(reason):
            raise ExtractionFailed(f"The reasoner could not tell what the messages say: {reason}", transient=False)
        case Failed(reason, transient, raw):
            raise ExtractionFailed(f"Extraction failed: {reason}", transient=transient, raw=raw)


async def _committed(services: Services, prepared: _Prepared) -> Receipt:
    """Decide and apply, and decide again while others change the scope; contenders end up taking turns."""
    lease: Lease | None = None
    name = "scope:" + ids.digest(*prepared.request.scope.partition)
    try:
        for attempt in range(_TRIES):
            if attempt >= _OPTIMISTIC:
                lease = await _in_turn(services, name, lease)
            before = earlier(services, prepared.request, prepared.digest) if attempt else None
            if before is not None:
                return before
            plan = await _decided(services, prepared)
            reach("ingest.decided")
            if not plan.actions and not plan.messages:
                return _receipt(prepared, plan, ())
            try:
                change = services.applier.apply(plan, _commit_of(prepared, plan, lease), embeddings=prepared.embeddings)
            except ScopeChanged:
                log.info("add %s: the scope changed, deciding again (%d)", prepared.request.add_id, attempt + 1)
                continue
            return _receipt(prepared, plan, (change,))
    finally:
        if lease is not None:
            services.ledger.release(lease)
    raise ScopeChanged(f"The scope kept changing over {_TRIES} tries; nothing was written. Try again.")


async def _in_turn(services: Services, name: str, lease: Lease | None) -> Lease | None:
    """Return the scope's lease once it is free, or None to try without it after waiting a while."""
    seconds = services.settings.store.lease_seconds
    if lease is not None:
        return services.ledger.renew(lease, seconds)
    for wait in range(20):
        try:
            return services.ledger.acquire(name, ids.random_id("add"), seconds)
        except LeaseTaken:
            await asyncio.sleep(0.01 * (wait + 1))
    return None


async def _decided(services: Services, prepared: _Prepared) -> Plan:
    """Return the plan on the scope's present state; the base version is read first, so that recall has seen all."""
    request, ledger = prepared.request, services.ledger
    base = ledger.scope_state(request.scope.partition).version
    caught_up(services)
    candidates = prepared.candidates.candidates
    owners = {message.message_id: message for message in prepared.messages}
    memories = [new_memory(candidate, request.scope, owners, prepared.metadata) for candidate in candidates]
    recalled = recall(
        candidates,
        memories,
        request.scope,
        index=services.projector.index,
        claims=ledger.active_claims(request.scope.key, sorted({memory.content_hash for memory in memories})),
        vectors=[_vector(prepared.embeddings, memory) for memory in memories] if prepared.embeddings else None,
        top=services.settings.ingest.recall_top,
    )
    verdicts = await services.reasoner.resolve.resolve(recalled.requests)
    passed: list[Gated] = []
    skips = list(prepared.skips)
    for asked, verdict in zip(recalled.requests, verdicts, strict=True):
        outcome = gate(asked, verdict, services.settings.ingest)
        if isinstance(outcome, Skip):
            skips.append(outcome)
        else:
            passed.append(outcome)
    named = {memory.entity_id for memory in memories} | {
        mention.entity_id or entity_of_name(request.scope, mention.name)
        for candidate in candidates
        for mention in candidate.mentions
    }
    return decide(
        passed,
        scope=request.scope,
        messages=prepared.messages,
        base_version=base,
        timelines=recalled.timelines,
        recorded=ledger.heads("memory", [memory.memory_id for memory in memories]),
        entities=ledger.heads("entity", sorted(named - {""})),
        metadata=prepared.metadata,
        skips=skips,
        now=services.clock.now(),
        said=_said(services, request, passed),
    )


def _said(services: Services, request: AddRequest, gated: Sequence[Gated]) -> dict[str, datetime | None]:
    """Return when the sources of targets were said that were said more than once and may have to give way."""
    wanted: set[str] = set()
    for one in gated:
        if one.resolution.op == "update" and one.candidate.single_valued:
            targets = (memory for memory in one.recalled if memory.memory_id in one.resolution.targets)
            wanted.update(
                source.message_id
                for memory in targets
                if memory.seq and memory.reinforcement_count > 1
                for source in memory.sources
            )
    found = services.reader.messages(request.scope.partition, sorted(wanted)) if wanted else {}
    return {message_id: message.timestamp for message_id, message in found.items()}


def _vector(embeddings: Mapping[str, Embedding], memory: Memory) -> npt.NDArray[np.float32] | None:
    found = embeddings.get(vector_key(memory))
    return None if found is None else found.vector


def _commit_of(prepared: _Prepared, plan: Plan, lease: Lease | None) -> Request:
    request = prepared.request
    result = {
        "add_id": request.add_id,
        "actions": [(action.op, action.memory.memory_id, action.reason) for action in plan.actions],
    }
    return Request(
        actor=request.actor,
        run_id=request.run_id,
        add_id=request.add_id,
        key=request.key,
        digest=prepared.digest,
        result=json.dumps(result, ensure_ascii=False),
        done=request.done,
        fence=None if lease is None else lease.fence,
    )


def _receipt(prepared: _Prepared, plan: Plan, changes: tuple[Change, ...]) -> Receipt:
    counts = Counter(counts_of(plan))
    counts["windows"] = prepared.windows
    actions = plan.actions
    for change in changes:  # one at most
        actions = tuple(replace(action, memory=_recorded(action.memory, change)) for action in actions)
    return Receipt(add_id=prepared.request.add_id, changes=changes, actions=actions, counts=dict(+counts))


def _recorded(memory: Memory, change: Change) -> Memory:
    return replace(memory, recorded_at=change.recorded_at, change_id=change.change_id, seq=change.seq)

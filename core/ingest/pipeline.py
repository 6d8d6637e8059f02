"""Add, from messages to a committed and searchable change (MindVanilla, design 7.1).

Prepare (``prepare.py``): normalise, redact, turns, windows, extract, dedupe, embed. Commit, on the scope's present
state: recall, resolve, gate, decide, apply; this half is repeated when the scope was changed meanwhile. No lock is held
while anything is judged.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mindmem.core import ids
from mindmem.core.apply import Request, counts_of
from mindmem.core.embed.port import Embedding
from mindmem.core.errors import LeaseTaken, NotFound, ScopeChanged
from mindmem.core.failpoints import reach
from mindmem.core.index.documents import vector_key
from mindmem.core.ingest.decide import decide
from mindmem.core.ingest.failure import ExtractionFailed, failure_id
from mindmem.core.ingest.gate import Gated, gate
from mindmem.core.ingest.memories import entity_of_name, new_memory
from mindmem.core.ingest.prepare import Prepared, enveloped, listen, parted, prepare
from mindmem.core.ingest.recall import Timelines, recall
from mindmem.core.ingest.request import AddRequest, earlier
from mindmem.core.ledger.port import Lease
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.port import Failed, Resolution, ResolutionRequest, Verdict
from mindmem.core.records import Change, Memory, Plan, Receipt, Skip
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

if TYPE_CHECKING:
    from mindmem.core.schema.fuse import Fused

__all__ = ["ExtractionFailed", "add", "commit"]

log = logging.getLogger(__name__)

_OPTIMISTIC = 3
"""Tries without a lease; after them the scope's lease makes the contenders take turns."""
_TRIES = 60


async def add(services: Services, request: AddRequest) -> Receipt:
    """Carry out one add and return its receipt.

    Raises:
        InvalidInput, Conflict, StoreBusy, StoreUnavailable: see ``Memory.add``.
        ExtractionFailed: the reasoner failed; nothing was written.
        BudgetReached: the reasoner's model may not be asked any more; nothing was written.
    """
    heard = listen(services, request)
    if isinstance(heard, Receipt):
        return heard
    heard = await parted(services, heard)
    [envelopes] = enveloped(services, [heard])
    return await commit(services, await prepare(services, heard, envelopes))


async def commit(services: Services, prepared: Prepared) -> Receipt:
    """Decide what becomes of a prepared add on the scope's present state, apply it, and return the receipt.

    Raises:
        see ``add``.
    """
    reach("ingest.extracted")
    if prepared.rejected:
        services.ledger.quarantine(prepared.rejected)
    with charged_to(prepared.request.scope, prepared.request.run_id):
        receipt = await _committed(services, prepared)
    if receipt is not None and services.reasoner.recalls and prepared.request.key:
        with suppress(NotFound):  # the useless reply to an earlier try is no open matter any more
            services.ledger.resolve_quarantined(failure_id(prepared.request.scope, prepared.request.key), "retried")
    # Was the same add told in the meantime, its messages are known now: what is left of it, if anything, is heard anew.
    return await add(services, prepared.request) if receipt is None else receipt


async def _committed(services: Services, prepared: Prepared) -> Receipt | None:
    """Decide and apply, and decide again while others change the scope; contenders end up taking turns.

    None where another add has brought some of the messages meanwhile.
    """
    lease: Lease | None = None
    name = "scope:" + ids.digest(*prepared.request.scope.partition)
    try:
        for attempt in range(_TRIES):
            if attempt >= _OPTIMISTIC:
                lease = await _in_turn(services, name, lease)
            if attempt:
                before = None if prepared.joined else earlier(services, prepared.request, prepared.digest)
                if before is not None:
                    return before
                if services.ledger.heads("message", [message.message_id for message in prepared.messages]):
                    return None
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


async def _decided(services: Services, prepared: Prepared) -> Plan:
    """Return the plan on the scope's present state; the base version is read first, so that recall has seen all."""
    request, ledger = prepared.request, services.ledger
    base = ledger.scope_state(request.scope.partition).version
    caught_up(services)
    candidates, memories = prepared.candidates.candidates, prepared.memories
    fused = await _fused(services, prepared)
    if fused is not None:
        owners = {message.message_id: message for message in prepared.messages}
        candidates = fused.candidates
        memories = tuple(new_memory(one, request.scope, owners, prepared.metadata) for one in candidates)
    recalled = recall(
        candidates,
        memories,
        request.scope,
        index=services.projector.index,
        claims=ledger.active_claims(request.scope.key, sorted({memory.content_hash for memory in memories})),
        vectors=[_vector(prepared.embeddings, memory) for memory in memories] if prepared.embeddings else None,
        top=services.settings.ingest.recall_top,
    )
    verdicts = await services.reasoner.resolve.resolve(
        recalled.requests if fused is None else _plain(recalled.requests)
    )
    _refuse_for_now(verdicts)
    passed: list[Gated] = []
    skips = list(prepared.skips)
    for one, verdict in zip(recalled.requests, verdicts, strict=True):
        outcome = gate(one, verdict, services.settings.ingest)
        if isinstance(outcome, Skip):
            skips.append(outcome)
        else:
            passed.append(outcome)
    named = {memory.entity_id for memory in memories} | {
        mention.entity_id or entity_of_name(request.scope, mention.name)
        for candidate in candidates
        for mention in candidate.mentions
    }
    fresh = () if fused is None else (entity.entity_id for entity in fused.entities)
    plan = decide(
        passed,
        scope=request.scope,
        messages=prepared.messages,
        base_version=base,
        timelines=recalled.timelines,
        recorded=ledger.heads("memory", [memory.memory_id for memory in memories]),
        entities={*ledger.heads("entity", sorted(named - {""})), *fresh},
        metadata=prepared.metadata,
        skips=skips,
        now=services.clock.now(),
        said=_said(services, request, passed, recalled.timelines),
    )
    if fused is None or prepared.subgraph is None:
        return plan
    from mindmem.core.schema.adding import completed

    return await completed(services, plan, prepared.subgraph, fused, passed)


def _plain(requests: Sequence[ResolutionRequest]) -> Sequence[ResolutionRequest]:
    from mindmem.core.schema.steps import asked

    return asked(requests)


async def _fused(services: Services, prepared: Prepared) -> "Fused | None":
    """Return which entities the names denote, on the scope's present state; None in vanilla mode."""
    if prepared.subgraph is None:
        return None
    from mindmem.core.schema.adding import fused

    return await fused(services, prepared.request.scope, prepared.subgraph)


def _refuse_for_now(verdicts: Sequence[Verdict[Resolution]]) -> None:
    """Raise where a later try may judge what could not be judged now; the gate takes care of all else."""
    failed = next((one for one in verdicts if isinstance(one, Failed) and one.transient), None)
    if failed is not None:
        raise ExtractionFailed(f"Resolution failed: {failed.reason}", transient=True)


def _said(
    services: Services, request: AddRequest, gated: Sequence[Gated], timelines: Timelines
) -> dict[str, datetime | None]:
    """Return when the sources of memories were said that were said more than once and may have to give way, or to be
    parted by what was true in between."""
    single = [one for one in gated if one.candidate.single_valued]
    targets = [
        memory
        for one in single
        if one.resolution.op == "update"
        for memory in one.recalled
        if memory.memory_id in one.resolution.targets
    ]
    properties = {one.candidate.property_name for one in single}
    beside = [memory for (_, name), stored in timelines.items() if name in properties for memory in stored]
    wanted = {
        source.message_id
        for memory in (*targets, *beside)
        if memory.seq and memory.reinforcement_count > 1
        for source in memory.sources
    }
    found = services.reader.messages(request.scope.partition, sorted(wanted)) if wanted else {}
    return {message_id: message.timestamp for message_id, message in found.items()}


def _vector(embeddings: Mapping[str, Embedding], memory: Memory) -> npt.NDArray[np.float32] | None:
    found = embeddings.get(vector_key(memory))
    return None if found is None else found.vector


def _commit_of(prepared: Prepared, plan: Plan, lease: Lease | None) -> Request:
    request = prepared.request
    result = {
        "add_id": request.add_id,
        "actions": [(action.op, action.memory.memory_id, action.reason) for action in plan.actions],
        "quarantined": [item.quarantine_id for item in prepared.rejected],
    }
    return Request(
        actor=request.actor,
        run_id=request.run_id,
        add_id=request.add_id,
        key=request.key,
        digest=prepared.digest,
        result=json.dumps(result, ensure_ascii=False),
        done=request.done,
        joined=prepared.joined,
        fence=None if lease is None else lease.fence,
    )


def _receipt(prepared: Prepared, plan: Plan, changes: tuple[Change, ...]) -> Receipt:
    counts = Counter(counts_of(plan))
    counts["windows"] = prepared.windows
    actions = plan.actions
    for change in changes:  # one at most
        actions = tuple(replace(action, memory=_recorded(action.memory, change)) for action in actions)
    return Receipt(
        add_id=prepared.request.add_id,
        changes=changes,
        actions=actions,
        counts=dict(+counts),
        quarantined=tuple(item.quarantine_id for item in prepared.rejected),
        joined=tuple(joined.add_id for joined in prepared.request.joined[1:]),
    )


def _recorded(memory: Memory, change: Change) -> Memory:
    return replace(memory, recorded_at=change.recorded_at, change_id=change.change_id, seq=change.seq)

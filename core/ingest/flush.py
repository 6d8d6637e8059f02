"""Queued adds of schema mode: claimed by whole episodes (``schema/buffer.py``); what is to wait is only looked at."""

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from mindmem.core.errors import MindMemError
from mindmem.core.failpoints import reach
from mindmem.core.ingest.overlap import wave_size
from mindmem.core.ingest.request import Group, checked, queued
from mindmem.core.ledger.port import Buffer, PendingAdd, Waiting
from mindmem.core.reason.port import Judged
from mindmem.core.reason.schema_port import Boundary, SegmentRequest
from mindmem.core.records import Scope
from mindmem.core.schema.buffer import Held, Limits, over, turns_of
from mindmem.core.services import Services

__all__ = ["Left", "claimed", "left_in_queue"]

_LOOKED_AT = 500
"""Queued adds of one buffer that are looked at at once."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is in the queue: adds that have to be done, and adds that wait for the end of their episode, as they should,
    with their number of messages."""

    pending: int = 0
    waiting: int = 0
    messages: int = 0


def left_in_queue(services: Services) -> Left:
    """Return what is in the project's queue; in vanilla mode nothing waits for an episode."""
    ledger, project = services.ledger, services.settings.project_id
    if services.settings.ingest.mode == "vanilla":
        return Left(ledger.pending(project))
    buffers = ledger.buffers(project)
    free = [one for one in buffers if one.free]
    return Left(
        sum(one.adds for one in buffers if not one.free),
        sum(one.adds for one in free),
        sum(one.messages for one in free),
    )


async def claimed(
    services: Services, limit: int, run_id: str, flush: Scope | None, *, owner: str, seconds: float
) -> AsyncGenerator[Sequence[Group], None]:
    """Yield the adds of episodes that are over, claimed, until there are no more or ``limit`` adds were claimed.

    Adds of different users overlap. ``flush`` takes all that this user, app and agent have queued.
    """
    ledger = services.ledger
    buffers = iter([one for one in ledger.buffers(services.settings.project_id, flush) if one.free])
    some = list(islice(buffers, wave_size(services)))
    while some and limit > 0:
        looked = [ledger.waiting(one.scope, _LOOKED_AT) for one in some]
        claims: list[Group] = []
        more: list[Buffer] = []
        for buffer, waiting, groups in zip(
            some, looked, await _due(services, looked, run_id, everything=flush is not None), strict=True
        ):
            taken = _within(groups, limit)
            add_ids = [one.add_id for group in taken for one in group]
            if not add_ids or not ledger.claim_these(add_ids, owner, seconds):
                continue
            limit -= len(add_ids)
            claims.extend(taken)
            if len(waiting.adds) == _LOOKED_AT:
                more.append(buffer)
        if claims:
            reach("ingest.claimed")
            yield claims
        some = [*more, *islice(buffers, wave_size(services) - len(more))]


def _within(groups: Iterable[Group], limit: int) -> list[Group]:
    """Return the first groups, of ``limit`` adds or a few more: none is divided."""
    taken: list[Group] = []
    for group in groups:
        if limit <= 0:
            break
        taken.append(group)
        limit -= len(group)
    return taken


async def _due(services: Services, looked: Sequence[Waiting], run_id: str, *, everything: bool) -> list[list[Group]]:
    """Return for each buffer the adds that are carried out now, by episode."""
    settings = services.settings.ingest
    limits = Limits(settings.episode_turns, settings.episode_messages, settings.episode_minutes * 60)
    held = [[_held(services, add, run_id) for add in waiting.adds] for waiting in looked]
    turns = [turns_of(adds, settings.turn_gap_seconds) for adds in held]
    boundaries = await _boundaries(services, [SegmentRequest(tuple(chain.from_iterable(said))) for said in turns])
    due = []
    for waiting, adds, said, begins in zip(looked, held, turns, boundaries, strict=True):
        by_id = {add.add_id: add for add in waiting.adds}
        groups = over(adds, said, begins, limits=limits, idle_seconds=waiting.idle_seconds, everything=everything)
        due.append([tuple(by_id[add_id] for add_id in group) for group in groups])
    return due


def _held(services: Services, add: PendingAdd, run_id: str) -> Held:
    request = queued(add, run_id)
    alike = json.dumps([request.metadata, request.timezone, request.actor], sort_keys=True)
    try:
        normalised, _ = checked(services, request)
    except MindMemError:
        return Held(add.add_id, (), alike=add.add_id)  # it can't be done: no other may wait for it
    return Held(add.add_id, normalised.messages, alike)


async def _boundaries(services: Services, requests: Sequence[SegmentRequest]) -> list[tuple[Boundary, ...]]:
    if services.settings.ingest.mode == "vanilla":
        return [tuple(Boundary(at, "") for at in range(len(request.turns))) for request in requests]
    verdicts = await services.schema_reasoner.segment.segment(requests)
    return [verdict.value if isinstance(verdict, Judged) else () for verdict in verdicts]

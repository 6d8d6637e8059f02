"""Runs: a project's users one by one, each decided whole, then proposed or applied; a night is over when all are."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import get_args

from mindmem.core import ids
from mindmem.core.clock import monotonic
from mindmem.core.dream.plan import Limits
from mindmem.core.dreaming.applying import apply_all, begin, consolidated, end
from mindmem.core.dreaming.deciding import Held, code_of, outcomes
from mindmem.core.dreaming.measures import answered, retention, since, spent, summed
from mindmem.core.dreaming.proposing import dreams_of, opened, propose
from mindmem.core.dreaming.seen import seen
from mindmem.core.errors import LeaseTaken
from mindmem.core.failpoints import reach
from mindmem.core.ledger.port import Lease
from mindmem.core.llm.port import charged_to
from mindmem.core.records import Partition, Scope
from mindmem.core.records.dream import DreamReport, ScopeDream
from mindmem.core.services import Services
from mindmem.core.settings import DreamSettings, Family
from mindmem.core.upkeep import caught_up

__all__ = ["approve", "close_night", "dream", "ended"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Order:
    """What a run was asked to do in each scope; with ``allowed`` only wishes with these keys are carried out."""

    settings: DreamSettings
    run_id: str
    actor: str
    dry_run: bool = False
    family: Family | None = None
    allowed: Collection[tuple[object, ...]] | None = None

    @property
    def guards(self) -> dict[str, float]:
        """The guards, as reports state them."""
        limits = self.settings
        return {"cap": limits.cap, "min_age_hours": limits.min_age_hours, "cap_from": float(limits.cap_from)}


def dream(
    services: Services,
    *,
    user_id: str | None = None,
    dry_run: bool = False,
    limits: DreamSettings | None = None,
    reasoner: Family | None = None,
    run_id: str = "",
    actor: str = "",
) -> DreamReport:
    """Consolidate what was added lately in one user's memories, or in the whole project's (see ``Memory.dream``)."""
    begun = monotonic()
    settings = limits or services.settings.dream
    project = services.settings.project_id
    name = run_id or ids.random_id("run")
    order = _Order(settings, name, actor, dry_run, reasoner)
    scopes = [
        _scope_dream(services, partition, order)
        for partition, state in services.ledger.partitions(project)
        if state.active and user_id in (None, partition.user_id)
    ]
    guards = {**order.guards, "look_back_days": settings.look_back_days}
    seconds = monotonic() - begun
    report = DreamReport(
        run_id=name, project_id=project, dry_run=dry_run, scopes=tuple(scopes), guards=guards, seconds=seconds
    )
    if not dry_run and user_id is None and ended(report):
        close_night(services, report, actor)
    return report


def approve(services: Services, proposal_id: str, *, actor: str = "") -> DreamReport:
    """Carry out a proposal: decided again on today's state, and nothing done that was not shown.

    Raises:
        NotFound: there is no such proposal.
        Conflict: it was approved or rejected already.
    """
    begun = monotonic()
    records = dreams_of(services)
    proposal = opened(records, proposal_id)
    settings = services.settings.dream
    partition = proposal.scope.partition
    shown = frozenset(line.key for line in proposal.lines)
    # Somebody has looked at it: neither the cap nor the age speaks against what was shown.
    free = settings.model_copy(update={"cap": 1.0, "min_age_hours": 0.0})
    family = next((one for one in get_args(Family) if one == proposal.reasoner), None)
    done = _scope_dream(services, partition, _Order(free, proposal.run_id, actor, family=family, allowed=shown))
    if done.state != "failed":
        records.propose(replace(proposal, state="approved"), actor)
    guards = {"cap": 1.0, "min_age_hours": 0.0}
    return DreamReport(
        run_id=proposal.run_id, project_id=partition.project_id, dry_run=False, scopes=(done,), guards=guards,
        seconds=monotonic() - begun,
    )  # fmt: skip


def ended(report: DreamReport) -> bool:
    """Return whether a night is over: every user's memories were looked at, and no budget ended it before its end."""
    return not report.stopped and not any(one.state == "failed" for one in report.scopes)


def close_night(services: Services, report: DreamReport, actor: str) -> None:
    """Record that a whole project was dreamt over: what tells that it isn't due before the next night."""
    whole = ScopeDream(
        scope=Scope(report.project_id),
        state="night",
        active_before=report.active_before,
        archived=report.archived,
        actions=report.total("actions"),
        issues=report.total("issues"),
        clusters=sum(one.clusters for one in report.scopes),
        pending=report.pending,
        adds=sum(one.adds for one in report.scopes),
        probes=sum(one.probes for one in report.scopes),
        retained=sum(one.retained for one in report.scopes),
        seconds=report.seconds,
    )
    dreams_of(services).close(
        whole.scope, report.run_id, whole, adds=(), guards=report.guards, at=services.clock.now(), actor=actor
    )


def _scope_dream(services: Services, partition: Partition, order: _Order) -> ScopeDream:
    begun = monotonic()
    scope = Scope(*partition)
    lease: Lease | None = None
    try:
        if not order.dry_run:
            name = "dream:" + ids.digest(*partition)
            lease = services.ledger.acquire(name, order.run_id, services.settings.store.lease_seconds)
        with charged_to(scope, order.run_id):
            done = _dreamt(services, partition, order, Held(services, lease))
    except LeaseTaken:
        return ScopeDream(scope=scope, state="failed", cause="another run dreams here just now")
    except Exception as error:  # whatever it was, it is no other user's trouble: it stays pending, named
        log.warning("dreaming over one user's memories failed: %s", code_of(error))
        return ScopeDream(scope=scope, state="failed", cause=code_of(error), seconds=monotonic() - begun)
    finally:
        if lease is not None:
            services.ledger.release(lease)
    return replace(done, seconds=monotonic() - begun)


def _dreamt(services: Services, partition: Partition, order: _Order, held: Held) -> ScopeDream:
    paid = spent(services, partition, order.run_id)
    caught_up(services)
    settings = order.settings
    reasoner = services.dream_reasoner if order.family is None else services.dream_reasoner_of(order.family)
    state = seen(services, partition, settings, reasoner)
    refused = () if order.allowed is not None else state.refused
    limits = Limits(services.clock.now(), timedelta(hours=settings.min_age_hours), refused, order.allowed)
    decided = outcomes(services, reasoner, state, limits, window=settings.window, held=held)
    reach("dream.decided")
    before = len(state.active)
    wanted = sum(one.decided.archived for one in decided if one.decided)
    over = before >= settings.cap_from and wanted > settings.cap * before
    if order.dry_run or over:
        cause = f"{wanted} of {before} active memories would be archived, over the cap of {settings.cap:.0%}"
        costs = since(paid, spent(services, partition, order.run_id))
        summary = replace(summed(state, decided, "proposed"), **costs)
        cause = "dry run" if order.dry_run else cause
        return propose(services, summary, order.run_id, cause, order.actor, reasoner.name)
    run_id = begin(services, partition, order.run_id)
    asked = answered(services, state, settings.probes)
    applied, changes, pending = apply_all(services, decided, run_id, order.actor, held)
    probes, retained = retention(services, partition, asked, applied)
    adds = consolidated(state, decided, applied)
    done = replace(
        summed(state, applied, "applied"), pending=tuple(pending), clusters=len(decided),
        change_ids=tuple(change.change_id for change in changes), probes=probes, retained=retained, adds=len(adds),
        **since(paid, spent(services, partition, order.run_id)),
    )  # fmt: skip
    if changes or adds or state.adds:
        dreams_of(services).close(
            state.scope, run_id, done, adds=adds, guards=order.guards, at=services.clock.now(), actor=order.actor
        )
    end(services, partition, run_id)
    reach("dream.marked")
    return done

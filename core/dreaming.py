"""Dreaming, the use case: decide what is to be consolidated, then apply it, propose it, or take it back.

A run goes scope by scope (one user's memories). All clusters of a scope are decided first, so that the cap sees the
whole; then each is applied as a change of its own under the run's id. Killed anywhere, the next run goes on under the
same id: what was applied is no issue any more, and adds are marked last, only where all their clusters succeeded.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, TypedDict, TypeVar, get_args

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.clock import monotonic
from mindmem.core.dream.clusters import Cluster, clusters
from mindmem.core.dream.judging import Wishes, wishes_of
from mindmem.core.dream.measure import Probe, found, probes
from mindmem.core.dream.plan import Decided, Limits, decide, edge_key
from mindmem.core.dream.sayings import Sayings, Told, ordered
from mindmem.core.errors import Conflict, LeaseTaken, MindMemError, NotFound, ScopeChanged
from mindmem.core.failpoints import reach
from mindmem.core.index.filters import Test
from mindmem.core.ingest.failure import reply_aside
from mindmem.core.ledger.port import Lease
from mindmem.core.ledger.proposals import Dreams
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.dream_port import DreamReasoner, Survey
from mindmem.core.reason.port import Failed
from mindmem.core.records import Change, Memory, Partition, Scope, Spent
from mindmem.core.records.dream import DiffLine, DreamReport, Pending, Proposal, ScopeDream
from mindmem.core.retrieve import Request as SearchFor
from mindmem.core.retrieve import search
from mindmem.core.running import run
from mindmem.core.services import Services
from mindmem.core.settings import DreamSettings, Family
from mindmem.core.undo import inverse_of
from mindmem.core.upkeep import caught_up

__all__ = ["approve", "close_night", "dream", "dreams_of", "ended", "proposals", "reject", "undo_run"]

log = logging.getLogger(__name__)

T = TypeVar("T")

_PAGE: Final = 1000
_TRIES: Final = 8
_AT_ONCE: Final = 64
"""Clusters that a reasoner is asked about at once; how many calls of a model are in flight is the model's matter."""
_UNFINISHED: Final = "dream:unfinished:"
"""Named values that hold the id of a run that was begun in a scope and not ended."""


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
    scopes = []
    for partition, state in services.ledger.partitions(project):
        if state.active and user_id in (None, partition.user_id):
            scopes.append(
                _scope_dream(services, partition, settings, name, dry_run=dry_run, actor=actor, reasoner=reasoner)
            )
    guards = {
        "min_age_hours": settings.min_age_hours, "cap": settings.cap, "cap_from": float(settings.cap_from),
        "look_back_days": settings.look_back_days,
    }  # fmt: skip
    seconds = monotonic() - begun
    report = DreamReport(
        run_id=name, project_id=project, dry_run=dry_run, scopes=tuple(scopes), guards=guards, seconds=seconds
    )
    if not dry_run and user_id is None and ended(report):
        close_night(services, report, actor)
    return report


def ended(report: DreamReport) -> bool:
    """Return whether a night is over: every user's memories were looked at, and no budget ended it before its end."""
    return not report.stopped and not any(one.state == "failed" for one in report.scopes)


def dreams_of(services: Services, project_id: str = "") -> Dreams:
    """Return what is on record of a project's dreams; left out: the project of the settings."""
    return Dreams(services.ledger, services.reader, project_id or services.settings.project_id)


def proposals(services: Services, *, user_id: str | None = None, open_only: bool = True) -> tuple[Proposal, ...]:
    """Return the project's proposals, newest first."""
    owner = None if user_id is None else Partition(services.settings.project_id, user_id)
    return tuple(dreams_of(services).proposals(owner, "open" if open_only else None))


def approve(services: Services, proposal_id: str, *, actor: str = "") -> DreamReport:
    """Carry out a proposal: decided again on today's state, and nothing done that was not shown.

    Raises:
        NotFound: there is no such proposal.
        Conflict: it was approved or rejected already.
    """
    begun = monotonic()
    records = dreams_of(services)
    proposal = _open(records, proposal_id)
    settings = services.settings.dream
    partition = proposal.scope.partition
    shown = frozenset(line.key for line in proposal.lines)
    # Somebody has looked at it: neither the cap nor the age speaks against what was shown.
    free = settings.model_copy(update={"cap": 1.0, "min_age_hours": 0.0})
    family = next((one for one in get_args(Family) if one == proposal.reasoner), None)
    done = _scope_dream(
        services, partition, free, proposal.run_id, dry_run=False, actor=actor, allowed=shown, reasoner=family
    )
    if done.state != "failed":
        records.propose(replace(proposal, state="approved"), actor)
    guards = {"cap": 1.0, "min_age_hours": 0.0}
    return DreamReport(
        run_id=proposal.run_id, project_id=partition.project_id, dry_run=False, scopes=(done,), guards=guards,
        seconds=monotonic() - begun,
    )  # fmt: skip


def reject(services: Services, proposal_id: str, *, actor: str = "") -> Proposal:
    """Turn a proposal down: what it held isn't proposed again.

    Raises:
        NotFound: there is no such proposal.
        Conflict: it was approved or rejected already.
    """
    records = dreams_of(services)
    turned = replace(_open(records, proposal_id), state="rejected")
    records.propose(turned, actor)
    return turned


def undo_run(services: Services, run_id: str, *, cascade: bool = False, actor: str = "") -> tuple[Change, ...]:
    """Take back all that a run did, one change for each scope, and remember that it was not wanted.

    Raises:
        NotFound: no change of the project has that run's id.
        Conflict: memories were changed again since, and ``cascade`` is off; nothing was written.
    """
    records = dreams_of(services)
    made = [change for change in records.changes_of(run_id) if _wrote_memories(change)]
    if not made:
        raise NotFound(f"No dream of project {services.settings.project_id!r} has the id {run_id!r}.")
    owners = sorted({change.scope.partition for change in made})
    taken = [
        _undo_scope(services, [one for one in made if one.scope.partition == owner], cascade=cascade, actor=actor)
        for owner in owners
    ]
    return tuple(taken)


# -- one scope


@dataclass(frozen=True, slots=True)
class _State:
    """A scope as a run saw it: everything that deciding needs."""

    partition: Partition
    active: tuple[Memory, ...]
    survey: Survey
    sayings: Sayings
    texts: Mapping[str, str]
    adds: Mapping[str, str]
    writers: Mapping[str, set[str]]
    clusters: tuple[Cluster, ...]
    refused: frozenset[tuple[object, ...]]


class _Costs(TypedDict):
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A cluster with its plan, or with why there is none."""

    cluster: Cluster
    decided: Decided | None
    failure: str = ""


def _scope_dream(
    services: Services,
    partition: Partition,
    settings: DreamSettings,
    run_id: str,
    *,
    dry_run: bool,
    actor: str,
    allowed: Collection[tuple[object, ...]] | None = None,
    reasoner: Family | None = None,
) -> ScopeDream:
    begun = monotonic()
    scope = Scope(*partition)
    lease: Lease | None = None
    try:
        if not dry_run:
            name = "dream:" + ids.digest(*partition)
            lease = services.ledger.acquire(name, run_id, services.settings.store.lease_seconds)
        paid = _spent(services, partition, run_id)
        with charged_to(scope, run_id):
            done = _dreamt(
                services,
                partition,
                settings,
                run_id,
                dry_run=dry_run,
                actor=actor,
                allowed=allowed,
                lease=lease,
                family=reasoner,
                paid=paid,
            )
    except LeaseTaken:
        return ScopeDream(scope=scope, state="failed", cause="another run dreams here just now")
    except Exception as error:  # whatever it was, it is no other user's trouble: it stays pending, named
        log.warning("dreaming over one user's memories failed: %s", _code(error))
        return ScopeDream(scope=scope, state="failed", cause=_code(error), seconds=monotonic() - begun)
    finally:
        if lease is not None:
            services.ledger.release(lease)
    return replace(done, seconds=monotonic() - begun)


def _dreamt(
    services: Services,
    partition: Partition,
    settings: DreamSettings,
    run_id: str,
    *,
    dry_run: bool,
    actor: str,
    allowed: Collection[tuple[object, ...]] | None,
    lease: Lease | None,
    family: Family | None,
    paid: Spent,
) -> ScopeDream:
    caught_up(services)
    reasoner = services.dream_reasoner if family is None else services.dream_reasoner_of(family)
    state = _state(services, partition, settings, reasoner)
    refused = () if allowed is not None else state.refused
    limits = Limits(services.clock.now(), timedelta(hours=settings.min_age_hours), refused, allowed)
    kept_lease = _Held(services, lease)
    outcomes: list[_Outcome] = []
    for start in range(0, len(state.clusters), _AT_ONCE):
        some = state.clusters[start : start + _AT_ONCE]
        wishes = wishes_of(reasoner, some, state.survey, state.sayings, settings.window)
        wanted_of = run(kept_lease.while_(wishes))
        outcomes += [
            _decide(services, cluster, wanted, state, limits) for cluster, wanted in zip(some, wanted_of, strict=True)
        ]
    reach("dream.decided")
    scope = Scope(*partition)
    before = len(state.active)
    wanted = sum(one.decided.archived for one in outcomes if one.decided)
    over = before >= settings.cap_from and wanted > settings.cap * before
    costs = _since(paid, _spent(services, partition, run_id))
    summary = replace(_summary(scope, before, outcomes, "proposed" if dry_run or over else "applied"), **costs)
    if dry_run or over:
        cause = (
            "dry run"
            if dry_run
            else (f"{wanted} of {before} active memories would be archived, over the cap of {settings.cap:.0%}")
        )
        return _propose(services, summary, run_id, cause, actor, reasoner.name)
    resumed = _begin(services, partition, run_id)
    asked = _answered(services, partition, state, settings)
    applied, changes, failures = [], [], []
    for one in outcomes:
        if one.decided is None:
            failures.append(Pending(one.cluster.name, one.failure))
            continue
        try:
            change = _apply(services, one.decided, resumed, actor)
        except MindMemError as error:
            log.warning("cluster %s stays pending: %s", one.cluster.name, error.code)
            failures.append(Pending(one.cluster.name, error.code))
            continue
        applied.append(one)
        if change is not None:
            changes.append(change.change_id)
        kept_lease.renew()
        reach("dream.cluster")
    done = replace(
        _summary(scope, before, applied, "applied"), pending=tuple(failures), change_ids=tuple(changes),
        clusters=len(outcomes),
    )  # fmt: skip
    retired = {
        action.memory.memory_id for one in applied if one.decided for action in one.decided.plan.actions
        if action.memory.status == "archived" and action.memory.valid_to is not None
    }  # fmt: skip
    kept = [probe for probe in asked if probe.memory_id not in retired]
    still = found(kept, _searcher(services, partition)) if changes else kept
    adds = _consolidated(state, outcomes, applied)
    costs = _since(paid, _spent(services, partition, run_id))
    done = replace(done, probes=len(kept), retained=len(still), adds=len(adds), **costs)
    if changes or adds or state.adds:
        guards = {"cap": settings.cap, "min_age_hours": settings.min_age_hours, "cap_from": float(settings.cap_from)}
        dreams_of(services).close(scope, resumed, done, adds=adds, guards=guards, at=services.clock.now(), actor=actor)
    _end(services, partition, resumed)
    reach("dream.marked")
    return done


def _state(
    services: Services, partition: Partition, settings: DreamSettings, reasoner: DreamReasoner
) -> _State:  # fmt: skip
    records = dreams_of(services)
    active = _active(services, partition)
    since = services.clock.now() - timedelta(days=settings.look_back_days)
    adds = records.unconsolidated(partition, since)
    writers = records.written_by(partition, adds.values()) if adds else {}
    schema = services.schemas.active().schema if services.settings.ingest.mode == "schema" else None
    survey = reasoner.survey.survey(active, schema) if writers else Survey()
    grown = clusters(active, writers.keys(), survey, settings.window) if writers else []
    sayings, texts = _sayings(services, partition, grown)
    grown = [replace(one, memories=tuple(ordered(one.memories, sayings))) for one in grown]
    refused = records.refused(partition) if grown else frozenset()
    return _State(partition, tuple(active), survey, sayings, texts, adds, writers, tuple(grown), refused)


def _active(services: Services, partition: Partition) -> list[Memory]:
    index = services.projector.index
    memories: list[Memory] = []
    cursor: str | None = None
    while True:
        page = index.scan(partition, Test("status", "eq", "active"), order="id", cursor=cursor, limit=_PAGE)
        memories.extend(one for one in page.memories if one.scope.partition == partition)
        cursor = page.cursor
        if cursor is None:
            return sorted(memories, key=lambda one: (one.seq, one.memory_id))


def _sayings(
    services: Services, partition: Partition, grown: Sequence[Cluster]
) -> tuple[dict[str, Told], dict[str, str]]:  # fmt: skip
    """Return when each message was said that a cluster rests on, and its words."""
    wanted = {source.message_id for one in grown for memory in one.memories for source in memory.sources}
    told: dict[str, Told] = {}
    texts: dict[str, str] = {}
    for message, seq, recorded_at in services.reader.said(partition, sorted(wanted)) if wanted else ():
        texts[message.message_id] = message.content
        told[message.message_id] = Told(
            message.position,
            seq,
            message.timestamp,
            recorded_at,
            tuple(_line_starts(message.content)),
        )
    return told, texts


def _line_starts(content: str) -> Iterator[int]:
    place = 0
    for line in content.splitlines(keepends=True):
        if line.strip():
            yield place
        place += len(line)


class _Held:
    """A run's lease over a scope, None for a run that changes nothing."""

    def __init__(self, services: Services, lease: Lease | None) -> None:
        self._ledger = services.ledger
        self._lease = lease
        self._seconds = services.settings.store.lease_seconds

    def renew(self) -> None:
        """Hold it as long again.

        Raises:
            LeaseLost: another run has taken over.
        """
        if self._lease is not None:
            self._lease = self._ledger.renew(self._lease, self._seconds)

    async def while_(self, work: Coroutine[object, object, T]) -> T:
        """Return what some work comes to; the lease is held meanwhile."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await asyncio.wait({task}, timeout=self._seconds / 3)
            self.renew()
        return task.result()


def _decide(
    services: Services, cluster: Cluster, wishes: Wishes | Failed | BaseException, state: _State, limits: Limits
) -> _Outcome:
    try:
        if isinstance(wishes, BaseException):
            raise wishes
        if isinstance(wishes, Failed):
            _set_aside(services, cluster, state, wishes)
            return _Outcome(cluster, None, wishes.reason)
        ends = {name for _, actions in wishes for action in actions for name in (action.target, action.by) if name}
        edges = services.reader.edges(state.partition, src=sorted(ends)) if ends else []
        standing = {edge_key(edge) for edge in edges if edge.relation in ("NEXT", "RELATED_TO", "MENTIONS")}
        decided = decide(
            wishes, cluster.memories, scope=Scope(*state.partition), sayings=state.sayings, limits=limits,
            standing=standing,
        )  # fmt: skip
    except Exception as error:  # a reasoner may fail in any way; the other clusters go on
        log.warning("cluster %s stays pending: %s", cluster.name, _code(error))
        return _Outcome(cluster, None, _code(error))
    return _Outcome(cluster, decided)


def _set_aside(services: Services, cluster: Cluster, state: _State, failed: Failed) -> None:
    """Keep a reply that can't be used where people look for such."""
    if failed.raw and not failed.transient:
        scope = Scope(*state.partition)
        item = reply_aside(scope, cluster.name, "dream", failed.reason, failed.raw)
        services.ledger.quarantine([item])


def _code(error: Exception) -> str:
    """Return what may be said of an error everywhere: its words may quote a memory."""
    return error.code if isinstance(error, MindMemError) else type(error).__name__


def _apply(services: Services, decided: Decided, run_id: str, actor: str) -> Change | None:
    """Commit a cluster's plan, if the memories that it speaks of are still as they were seen."""
    plan = decided.plan
    if not plan.actions and not plan.edges:
        return None
    for attempt in range(_TRIES):
        version = services.ledger.scope_state(plan.scope.partition).version
        heads = services.ledger.heads("memory", sorted(decided.relied))
        for name, revision in decided.relied.items():
            head = heads.get(name)
            if head is None or head.revision != revision:
                raise ScopeChanged(f"Memory {name!r} was changed while a run looked at it; the next run decides anew.")
        try:
            return services.applier.apply(replace(plan, base_version=version), Request(actor=actor, run_id=run_id))
        except ScopeChanged:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _consolidated(state: _State, outcomes: Sequence[_Outcome], applied: Sequence[_Outcome]) -> list[str]:
    """Return the adds of which nothing is left to do: every cluster that holds a memory of theirs succeeded whole."""
    good = {id(one) for one in applied}
    blocked: set[str] = set()
    for one in outcomes:
        if id(one) in good and one.decided is not None and not one.decided.young:
            continue
        for memory_id in one.cluster.seeds:
            blocked |= state.writers.get(memory_id, set())
    return sorted(add_id for add_id, change_id in state.adds.items() if change_id not in blocked)


def _summary(scope: Scope, before: int, outcomes: Sequence[_Outcome], state: str) -> ScopeDream:
    actions: Counter[str] = Counter()
    issues: Counter[str] = Counter()
    archived = withheld = 0
    lines: list[DiffLine] = []
    for one in outcomes:
        if one.decided is not None:
            actions.update(one.decided.actions)
            issues.update(one.decided.issues)
            archived += one.decided.archived
            withheld += one.decided.withheld
            lines.extend(one.decided.lines)
    return ScopeDream(
        scope=scope,
        state="applied" if state == "applied" else "proposed",
        active_before=before,
        archived=archived,
        actions=dict(sorted(actions.items())),
        issues=dict(sorted(issues.items())),
        clusters=len(outcomes),
        pending=tuple(Pending(one.cluster.name, one.failure) for one in outcomes if one.decided is None),
        withheld=withheld,
        diff=tuple(lines),
    )


def _propose(
    services: Services, summary: ScopeDream, run_id: str, cause: str, actor: str, reasoner: str
) -> ScopeDream:  # fmt: skip
    if not summary.diff:
        return replace(summary, cause=cause)
    records = dreams_of(services)
    keys = [line.key for line in summary.diff]
    for one in records.proposals(summary.scope.partition):
        if [line.key for line in one.lines] == keys:  # asked for before: one word is enough for both
            return replace(summary, cause=one.cause, proposal_id=one.proposal_id)
    proposal = Proposal(
        proposal_id=ids.random_id("prop"),
        run_id=run_id,
        scope=summary.scope,
        state="open",
        cause=cause,
        lines=summary.diff,
        active_before=summary.active_before,
        archived=summary.archived,
        reasoner=reasoner,
    )
    records.propose(proposal, actor)
    return replace(summary, cause=cause, proposal_id=proposal.proposal_id)


# -- the run's id, kept until it has ended


def _unfinished(partition: Partition) -> str:
    return _UNFINISHED + ids.digest(*partition)


def _begin(services: Services, partition: Partition, run_id: str) -> str:
    """Return the id to work under: that of a run which was killed here, else the new one."""
    name = _unfinished(partition)
    earlier = services.ledger.get_meta(name)
    if earlier:
        return earlier
    services.ledger.set_meta(name, run_id)
    return run_id


def _end(services: Services, partition: Partition, run_id: str) -> None:
    services.ledger.set_meta(_unfinished(partition), "", expected=run_id)


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


# -- measures and undo


def _spent(services: Services, partition: Partition, run_id: str) -> Spent:
    return services.ledger.spent(partition.project_id, run_id=run_id, user_id=partition.user_id)


def _since(before: Spent, now: Spent) -> _Costs:
    """Return what was spent meanwhile, as fields of a scope's report."""
    return {
        "input_tokens": now.input_tokens - before.input_tokens,
        "output_tokens": now.output_tokens - before.output_tokens,
        "cost": now.cost - before.cost,
    }  # fmt: skip


def _searcher(services: Services, partition: Partition) -> Callable[[str, int], Sequence[Memory]]:
    def ask(query: str, top: int) -> list[Memory]:
        request = SearchFor(query=query, scope=Scope(*partition), top_k=top)
        return [hit.memory for hit in search(services, request).hits]

    return ask


def _answered(services: Services, partition: Partition, state: _State, settings: DreamSettings) -> list[Probe]:
    """Return the probes that find their source before anything is changed."""
    touched = [memory for one in state.clusters for memory in one.memories]
    asked = probes(touched, state.texts, settings.probes)
    return found(asked, _searcher(services, partition))


def _open(records: Dreams, proposal_id: str) -> Proposal:
    proposal = records.proposal(proposal_id)
    if proposal.state != "open":
        raise Conflict(f"Proposal {proposal_id!r} was {proposal.state} already; see: mindmem changes list --all.")
    return proposal


def _wrote_memories(change: Change) -> bool:
    """Whether a change of a run is a cluster's, not the run's own record."""
    return bool({"archive", "merge", "update", "add", "edges"} & change.counts.keys())


def _undo_scope(services: Services, made: Sequence[Change], *, cascade: bool, actor: str) -> Change:
    newest = max(made, key=lambda change: change.seq)
    for attempt in range(_TRIES):
        caught_up(services)
        plan = inverse_of(made, services.ledger, services.reader, cascade=cascade)
        try:
            change = services.applier.apply(plan, Request(actor=actor, run_id=newest.run_id, undoes=newest.change_id))
            break
        except ScopeChanged:
            if attempt == _TRIES - 1:
                raise
    _remember_undone(services, made, plan.scope, change)
    return change


def _remember_undone(services: Services, made: Sequence[Change], scope: Scope, undone: Change) -> None:
    """Keep what was taken back as refused, so that the next night doesn't do it again."""
    partition = scope.partition
    lines: list[DiffLine] = []
    for change in made:
        edges = services.reader.edges_written_by(change.change_id, partition)
        for memory in services.reader.written_by(change.change_id, partition):
            if memory.status != "archived":
                continue
            led = [edge for edge in edges if edge.dst == memory.memory_id]
            by = [edge.src for edge in led if edge.kind in ("supersedes", "derived_from")]
            lines.append(DiffLine("archive", memory.memory_id, memory.content, "", "undone", tuple(by[:1])))
    if lines:
        run_id = made[0].run_id
        dreams_of(services).propose(
            Proposal(
                proposal_id=ids.random_id("prop"), run_id=run_id, scope=Scope(*partition), state="undone",
                cause=f"undone by {undone.change_id}", lines=tuple(lines), active_before=0, archived=len(lines),
            )
        )  # fmt: skip

"""Undo of a whole run: all that it did is taken back, and remembered as not wanted."""

from collections.abc import Sequence
from typing import Final

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.dreaming.proposing import dreams_of
from mindmem.core.errors import NotFound, ScopeChanged
from mindmem.core.records import Change, Scope
from mindmem.core.records.dream import DiffLine, Proposal
from mindmem.core.services import Services
from mindmem.core.undo import inverse_of
from mindmem.core.upkeep import caught_up

__all__ = ["undo_run"]

_TRIES: Final = 8


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


def _wrote_memories(change: Change) -> bool:
    """Whether a change of a run is a cluster's, not the run's own record."""
    return bool({"archive", "merge", "update", "add", "edges"} & change.counts.keys())

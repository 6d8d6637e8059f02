"""Undo: the inverse plan of a change.

A change is taken back by writing, for each memory whose head is still that change's own, the revision that stood before
it (a memory that the change created is archived). Memories that were changed again since are named as conflicts; with
cascade the later changes are taken back first, newest first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mindmem.core.apply import next_revision
from mindmem.core.errors import Conflict
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Action, Change, Edge, Memory, Plan
from mindmem.core.tables.reader import Reader

__all__ = ["Inverse", "inverse", "later_changes"]


@dataclass(frozen=True, slots=True)
class Inverse:
    """The plan that takes a change back, and the memories that it leaves alone because they changed again since."""

    plan: Plan
    conflicts: tuple[str, ...]


def inverse(change: Change, ledger: Ledger, reader: Reader) -> Inverse:
    """Return the plan that takes ``change`` back on today's state."""
    partition = change.scope.partition
    base = ledger.scope_state(partition).version
    mine: list[Action] = []
    conflicts: list[str] = []
    for memory in reader.written_by(change.change_id, partition):
        revisions = reader.revisions(memory.memory_id, partition)
        # A later change that was itself taken back leaves the same state behind: that is no conflict.
        if _state(revisions[-1]) == _state(memory):
            mine.append(_back(memory, revisions))
        else:
            conflicts.append(memory.memory_id)
    undone = frozenset(action.memory.memory_id for action in mine)
    edges = tuple(
        replace(edge, active=not edge.active)
        for edge in reader.edges_written_by(change.change_id, partition)
        if _touches(edge, undone)
    )
    # Archiving comes first: a claim that is restored must find its place among the active ones free.
    mine.sort(key=lambda action: action.op != "archive")
    left = f"; changed again since and left alone: {', '.join(conflicts)}" if conflicts else ""
    plan = Plan(
        kind="undo",
        scope=change.scope,
        base_version=base,
        actions=tuple(mine),
        edges=edges,
        reason=f"undo of {change.change_id}{left}",
    )
    return Inverse(plan, tuple(conflicts))


def later_changes(conflicts: Sequence[str], change: Change, reader: Reader) -> list[str]:
    """Return the ids of the changes that touched these memories after ``change``, newest first."""
    seen: dict[str, int] = {}
    for memory_id in conflicts:
        for revision in reader.revisions(memory_id, change.scope.partition):
            if revision.seq > change.seq:
                seen[revision.change_id] = revision.seq
    return sorted(seen, key=lambda change_id: -seen[change_id])


def _state(memory: Memory) -> Memory:
    return replace(memory, revision=0, recorded_at=None, change_id="", seq=0)


def _back(memory: Memory, revisions: Sequence[Memory]) -> Action:
    latest = revisions[-1]
    before = next((revision for revision in revisions if revision.revision == memory.revision - 1), None)
    if before is None and memory.revision > 1:
        raise Conflict(
            f"Memory {memory.memory_id!r} has no revision {memory.revision - 1}: its history was erased, and undo "
            "never crosses an erasure."
        )
    if before is None:
        return Action("archive", next_revision(latest, status="archived"), "undo: it did not exist before")
    restored = next_revision(replace(before, revision=latest.revision))
    same_words = before.content == memory.content
    return Action("restore" if same_words else "update", restored, f"undo: back to revision {before.revision}")


def _touches(edge: Edge, undone: frozenset[str]) -> bool:
    return edge.src in undone or edge.dst in undone

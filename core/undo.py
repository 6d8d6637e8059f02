"""Undo: the inverse plan of a change.

A change is taken back whole, by writing for each of its memories the revision that stood before it (a memory that the
change created is archived). Memories that were changed again since are its conflicts: the later changes must be taken
back first, newest first.
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
    """The plan that takes a change back, the memories in its way because they changed again since, and the ids of the
    changes that did so, newest first. The plan may be applied only where nothing is in its way."""

    plan: Plan
    conflicts: tuple[str, ...]
    later: tuple[str, ...]


def inverse(change: Change, ledger: Ledger, reader: Reader) -> Inverse:
    """Return the plan that takes ``change`` back on today's state."""
    partition = change.scope.partition
    base = ledger.scope_state(partition).version
    mine: list[Action] = []
    conflicts: list[str] = []
    later: dict[str, int] = {}
    written = reader.written_by(change.change_id, partition)
    histories = reader.histories([memory.memory_id for memory in written], partition)
    for memory in written:
        revisions = histories[memory.memory_id]
        # A later change that was itself taken back leaves the same state behind: that is no conflict.
        if _state(revisions[-1]) == _state(memory):
            mine.append(_back(memory, revisions))
        else:
            conflicts.append(memory.memory_id)
            later.update({revision.change_id: revision.seq for revision in revisions if revision.seq > change.seq})
    undone = frozenset(action.memory.memory_id for action in mine)
    edges = tuple(
        replace(edge, active=not edge.active)
        for edge in reader.edges_written_by(change.change_id, partition)
        if _touches(edge, undone)
    )
    # Archiving comes first: a claim that is restored must find its place among the active ones free.
    mine.sort(key=lambda action: action.op != "archive")
    plan = Plan(
        kind="undo",
        scope=change.scope,
        base_version=base,
        actions=tuple(mine),
        edges=edges,
        reason=f"undo of {change.change_id}",
    )
    return Inverse(plan, tuple(conflicts), tuple(sorted(later, key=lambda change_id: -later[change_id])))


def later_changes(change: Change, ledger: Ledger, reader: Reader) -> list[str]:
    """Return the ids of all changes in the way of taking ``change`` back, and those in their way, newest first."""
    found: dict[str, int] = {}
    ahead = [change]
    while ahead:
        for change_id in inverse(ahead.pop(), ledger, reader).later:
            later = None if change_id in found else ledger.change(change_id)
            if later is not None:
                found[change_id] = later.seq
                ahead.append(later)
    return sorted(found, key=lambda change_id: -found[change_id])


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

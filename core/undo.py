"""Undo: the inverse plan of a change, or of a change with all that came after it.

Changes are taken back whole and together, by writing for each of their memories the revision that stood before the
first of them (a memory that was created since is archived). Other changes that wrote these memories since are in the
way; with a cascade they go, too. Entities and edges follow (``undo_graph.py``).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from mindmem.core.apply import next_revision
from mindmem.core.errors import Conflict, NotFound
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Action, Change, Memory, Plan
from mindmem.core.tables.reader import Reader
from mindmem.core.undo_graph import edges_back, entities_back

__all__ = ["inverse", "inverse_of"]

_NAMED = 5
"""How many ids a message names."""


def inverse(change: Change, ledger: Ledger, reader: Reader, *, cascade: bool = False) -> Plan:
    """Return the plan that takes ``change`` back on today's state; with ``cascade``, every later change that is in the
    way as well, so that all of them go at once or none.

    Raises:
        Conflict: a change is in the way, and ``cascade`` is off; the message names it. Or a history was erased.
        NotFound: a change in the way is not on record.
    """
    return inverse_of([change], ledger, reader, cascade=cascade)


def inverse_of(changes: Sequence[Change], ledger: Ledger, reader: Reader, *, cascade: bool = False) -> Plan:
    """Return the plan that takes several changes of one user's memories back at once, as ``inverse`` does one."""
    first = changes[0]
    partition = first.scope.partition
    base = ledger.scope_state(partition).version
    taken = {change.change_id: change for change in changes}
    histories: dict[str, list[Memory]] = {}
    renewed: set[str] = set()
    fresh = list(taken)
    while fresh:
        written = {one.memory_id for change_id in fresh for one in reader.written_by(change_id, partition)}
        histories.update(reader.histories(sorted(written - histories.keys()), partition))
        ahead = {memory_id: _in_the_way(revisions, taken) for memory_id, revisions in histories.items()}
        # What was synthesised is renewed with what it rests on: its later revisions are in nobody's way.
        renewed = {memory_id for memory_id, since in ahead.items() if since and histories[memory_id][-1].order > 1}
        ahead = {memory_id: since for memory_id, since in ahead.items() if memory_id not in renewed}
        by = {revision.change_id: revision.seq for revisions in ahead.values() for revision in revisions}
        fresh = sorted(by, key=lambda change_id: -by[change_id])
        if fresh and not cascade:
            undone = {_known(ledger, change_id).undoes: change_id for change_id in fresh}
            for change in changes:
                by_whom = undone.get(change.change_id, "")
                if by_whom and by_whom not in undone:
                    raise Conflict(
                        f"{change.change_id} was taken back already, by {by_whom}; undo that one to have it again."
                    )
            blocked = [memory_id for memory_id, revisions in ahead.items() if revisions]
            raise Conflict(
                f"{len(blocked)} of the memories of {_named(changes)} changed again since: {_some(blocked)}; by "
                f"{_some(fresh)}. Undo the later changes first, or use cascade."
            )
        taken.update({change_id: _known(ledger, change_id) for change_id in fresh})
    back = {name: revisions for name, revisions in histories.items() if name not in renewed}
    actions = [action for revisions in back.values() if (action := _back(revisions, taken)) is not None]
    later = sorted(taken.keys() - {change.change_id for change in changes}, key=lambda change_id: -taken[change_id].seq)
    return Plan(
        kind="undo",
        scope=first.scope,
        base_version=base,
        actions=tuple(actions),
        entities=entities_back(reader, partition, taken, [action.memory for action in actions]),
        edges=edges_back(reader, partition, taken),
        reason=f"undo of {_named(changes)}" + (f", after it of {_some(later)}" if later else ""),
    )


def _named(changes: Sequence[Change]) -> str:
    return changes[0].change_id if len(changes) == 1 else f"{len(changes)} changes of {changes[0].run_id}"


def _known(ledger: Ledger, change_id: str) -> Change:
    change = ledger.change(change_id)
    if change is None:
        raise NotFound(f"The change {change_id!r} wrote a memory and is not in the log. Run: mindmem doctor")
    return change


def _in_the_way(revisions: Sequence[Memory], taken: Collection[str]) -> list[Memory]:
    """Return the revisions that other changes wrote since the first of ``taken``."""
    places = [place for place, revision in enumerate(revisions) if revision.change_id in taken]
    first, last = places[0], places[-1]
    # Later changes that were themselves taken back leave the same state behind: they are in nobody's way.
    end = last + 1 if _state(revisions[-1]) == _state(revisions[last]) else len(revisions)
    return [revision for revision in revisions[first:end] if revision.change_id not in taken]


def _state(memory: Memory) -> Memory:
    return replace(memory, revision=0, recorded_at=None, change_id="", seq=0)


def _back(revisions: Sequence[Memory], taken: Collection[str]) -> Action | None:
    """Return the action that puts a memory back to where it was before ``taken``, None if it is there."""
    latest = revisions[-1]
    first = next(revision for revision in revisions if revision.change_id in taken)
    before = next((revision for revision in revisions if revision.revision == first.revision - 1), None)
    if before is None and first.revision > 1:
        raise Conflict(
            f"Memory {first.memory_id!r} has no revision {first.revision - 1}: its history was erased, and undo "
            "never crosses an erasure."
        )
    if before is None and latest.status == "archived":
        return None
    if before is None:
        return Action("archive", next_revision(latest, status="archived"), "undo: it did not exist before")
    if _state(before) == _state(latest):
        return None
    restored = next_revision(replace(before, revision=latest.revision))
    same_words = before.content == latest.content
    return Action("restore" if same_words else "update", restored, f"undo: back to revision {before.revision}")


def _some(ids: Sequence[str]) -> str:
    rest = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")

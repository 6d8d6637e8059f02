"""The graph's part of undo: entities and edges without what the changes that are taken back did to them.

An entity is written by nearly every add that speaks of it, so its later revisions are in nobody's way: what a change
did to it is taken out of its present state, field by field, and what came later stays.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from mindmem.core.records import Edge, Entity, Memory, Partition
from mindmem.core.tables.reader import Reader

__all__ = ["edges_back", "entities_back"]

_PLAIN = ("name", "entity_type", "description", "merged_into", "status")


def entities_back(
    reader: Reader, owner: Partition, taken: Collection[str], memories: Iterable[Memory]
) -> tuple[Entity, ...]:
    """Return the next revisions of the entities that the ``taken`` changes wrote, without what these did.

    One that they made is archived unless a memory still has to do with it. ``memories`` are the next revisions that the
    same undo writes.
    """
    written = reader.entities_written_by(taken, owner)
    if not written:
        return ()
    after = {memory.memory_id: memory for memory in memories}
    used = reader.entities_in_use(owner, written, but=after)
    used |= {name for one in after.values() if one.status == "active" for name in (one.entity_id, *one.mentions)}
    found = []
    for entity_id, revisions in reader.entity_histories(owner, written).items():
        latest = state = revisions[-1][1]
        for place in reversed(range(len(revisions))):
            change_id, entity = revisions[place]
            if change_id in taken and place:
                state = _without(state, revisions[place - 1][1], entity)
            elif change_id in taken and entity_id not in used:
                state = replace(state, status="archived")
        if state != latest:
            found.append(replace(state, revision=latest.revision + 1))
    return tuple(found)


def _without(state: Entity, before: Entity, after: Entity) -> Entity:
    """Return a state without the step from ``before`` to ``after``; what was changed again since stays."""
    plain = {
        name: getattr(before, name)
        for name in _PLAIN
        if getattr(before, name) != getattr(after, name) == getattr(state, name)
    }
    return replace(
        state,
        **plain,
        aliases=_list(state.aliases, before.aliases, after.aliases),
        search_fields=_list(state.search_fields, before.search_fields, after.search_fields),
    )


def _list(state: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    kept = [item for item in state if item in before or item not in after]
    return (*kept, *(item for item in before if item not in after and item not in kept))


def edges_back(reader: Reader, owner: Partition, taken: Collection[str]) -> tuple[Edge, ...]:
    """Return the edges that the ``taken`` changes wrote, as they were before; one that another change has written
    since stays."""
    written = {_key(edge): edge for change_id in taken for edge in reader.edges_written_by(change_id, owner)}
    if not written:
        return ()
    histories = reader.edge_histories(owner, sorted({edge.src for edge in written.values()}))
    also = {by for key in written for by, _ in histories[key] if by not in taken}
    gone = {*taken, *(reader.taken_back(owner, also) if also else ())}
    found = []
    for key in written:
        states = histories[key]
        change_id, latest = states[-1]
        if change_id not in taken:
            continue
        others = [edge for by, edge in states if by not in gone]
        before = others[-1] if others else replace(latest, active=False)
        if before != latest:
            found.append(before)
    return tuple(found)


def _key(edge: Edge) -> tuple[object, ...]:
    return edge.src, edge.relation, edge.dst, edge.kind, edge.start, edge.end

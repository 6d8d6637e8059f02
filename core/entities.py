"""Deciding about entities: which two are one, which one is two, whom nothing is remembered of any more. Pure plans.

Nothing is lost by a merge: the entity that goes stays on record with ``merged_into``, its memories are revised to the
one that is kept, and the edges that led to it are taken back and written anew. A split goes the other way.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from mindmem.core import ids
from mindmem.core.apply import next_revision
from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.index.names import name_key
from mindmem.core.records import Action, Edge, Entity, Memory, Plan

__all__ = ["loose_edges", "merge", "new_entity_id", "revised", "split"]

_KEYS: Final = 14
"""Retrieval keys that an entity keeps."""


def merge(
    keep: Entity, gone: Entity, memories: Sequence[Memory], edges: Sequence[Edge], *, base_version: int | None
) -> Plan:
    """Return the plan by which ``gone`` becomes ``keep``.

    Args:
        memories: all that are about ``gone`` or mention it, at their newest revisions, whatever their status.
        edges: all that lead from or to ``gone``, as they stand.

    Raises:
        InvalidInput: the two are one already, or of different owners.
    """
    if keep.entity_id == gone.entity_id:
        raise InvalidInput(f"{bounded(keep.name)} and {bounded(gone.name)} are one entity already.", field="gone")
    if keep.scope.key != gone.scope.key:
        raise InvalidInput("Entities of different users, apps or agents are never merged.", field="gone")
    names = dict.fromkeys(name for name in (*keep.aliases, gone.name, *gone.aliases) if name != keep.name)
    kept = replace(
        keep,
        revision=keep.revision + 1,
        aliases=tuple(names),
        description=keep.description or gone.description,
        search_fields=tuple(dict.fromkeys((*keep.search_fields, *gone.search_fields)))[:_KEYS],
    )
    left = replace(gone, revision=gone.revision + 1, merged_into=keep.entity_id)
    return _moved(memories, edges, gone, kept, (kept, left), base_version, f"merge of {gone.entity_id}")


def split(
    entity: Entity, new: Entity, memories: Sequence[Memory], edges: Sequence[Edge], *, base_version: int | None
) -> Plan:
    """Return the plan by which ``memories`` are from now on about ``new``, or mention it, instead of ``entity``.

    ``new`` is the revision to write; ``edges`` are those from and to ``entity``, of which those of these memories
    follow.
    """
    key = name_key(new.name)
    aliases = tuple(alias for alias in entity.aliases if name_key(alias) != key)
    left = [] if aliases == entity.aliases else [replace(entity, revision=entity.revision + 1, aliases=aliases)]
    chosen = {memory.memory_id for memory in memories}
    theirs = [edge for edge in edges if chosen & {edge.src, edge.dst, edge.source}]
    return _moved(memories, theirs, entity, new, (new, *left), base_version, f"split of {entity.entity_id}")


def new_entity_id(entity: Entity, name: str, memories: Sequence[Memory]) -> str:
    """Return the id of an entity that is split off: that of its name, and one of its own beside a namesake."""
    key = name_key(name)
    plain = ids.entity_id(entity.scope.key, key)
    if plain != entity.entity_id:
        return plain
    return ids.entity_id(entity.scope.key, f"{key}\x1f{min(memory.memory_id for memory in memories)}")


def revised(memory: Memory, gone: str, entity: Entity) -> Memory:
    """Return the memory's next revision, about or mentioning ``entity`` in the place of the id ``gone``."""
    about = entity.entity_id if memory.entity_id == gone else memory.entity_id
    mentions = dict.fromkeys(entity.entity_id if one == gone else one for one in memory.mentions)
    changes: dict[str, object] = {"mentions": tuple(one for one in mentions if one != about)}
    if memory.entity_id == gone:
        changes |= {"entity_id": about, "entity_name": entity.name, "entity_type": entity.entity_type}
    return next_revision(memory, **changes)


def loose_edges(edges: Iterable[Edge], memories: Collection[str]) -> tuple[Edge, ...]:
    """Return what takes back the edges that hang on memories which are taken out: those of their subject, mentions,
    timeline and relations, and those that only they say. What they were extracted from stays: it is their evidence."""
    found = dict.fromkeys(
        replace(edge, active=False)
        for edge in edges
        if edge.relation != "EXTRACTED_FROM" and not {edge.src, edge.dst, edge.source}.isdisjoint(memories)
    )
    return tuple(found)


def _moved(
    memories: Sequence[Memory], edges: Sequence[Edge], gone: Entity, entity: Entity, entities: Sequence[Entity],
    base_version: int | None, reason: str,
) -> Plan:  # fmt: skip
    actions = tuple(
        Action("restore", revised(memory, gone.entity_id, entity), f"about {entity.name}", (gone.entity_id,))
        for memory in memories
    )
    about = {action.memory.memory_id: action.memory.entity_id for action in actions}
    written: dict[tuple[object, ...], Edge] = {}
    for edge in edges:
        anew = _instead(edge, gone.entity_id, entity.entity_id)
        # A memory doesn't mention whom it is about, and nobody is related to oneself.
        needless = anew.src == anew.dst or (anew.relation == "MENTIONS" and about.get(anew.src) == anew.dst)
        for one in (replace(edge, active=False), *(() if needless else (anew,))):
            written[one.src, one.relation, one.dst, one.kind, one.start, one.end] = one
    return Plan(
        kind="update",
        scope=entity.scope,
        base_version=base_version,
        actions=actions,
        entities=tuple(entities),
        edges=tuple(written.values()),
        reason=reason,
    )


def _instead(edge: Edge, gone: str, entity_id: str) -> Edge:
    names: Mapping[str, str] = {gone: entity_id}
    return replace(edge, src=names.get(edge.src, edge.src), dst=names.get(edge.dst, edge.dst))

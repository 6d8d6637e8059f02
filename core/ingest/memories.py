"""A candidate as the memory that it would become, and the names under which entities are known."""

from collections.abc import Mapping

from mindmem.core import ids
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Memory, Message, Scope
from mindmem.core.text import normalise_name

__all__ = ["MAX_SOURCES", "entity_of_name", "new_memory"]

MAX_SOURCES = 8
"""Sources that a memory's row holds; all of them are EXTRACTED_FROM edges."""


def entity_of_name(scope: Scope, name: str) -> str:
    """Return the id of the entity that a name denotes in a scope, whatever its case and accents; empty for no name."""
    key = normalise_name(name) or ids.normalise_claim(name)
    return ids.entity_id(scope.key, key) if key else ""


def new_memory(
    candidate: Candidate,
    scope: Scope,
    messages: Mapping[str, Message],
    metadata: Mapping[str, object] | None = None,
) -> Memory:
    """Return the first revision of the memory that a candidate asks for.

    Its scope is that of its first source, session included; ``messages`` are the add's, by id. The id derives from
    scope, entity, property, content and first source, so deciding again gives the same id.
    """
    first = candidate.sources[0].message_id if candidate.sources else ""
    owner = messages[first].scope if first in messages else scope
    entity = candidate.entity_id or entity_of_name(scope, candidate.entity_name)
    mentioned = (mention.entity_id or entity_of_name(scope, mention.name) for mention in candidate.mentions)
    return Memory(
        memory_id=ids.memory_id(scope.key, entity, candidate.property_name, candidate.content, first),
        revision=1,
        scope=owner,
        mem_type=candidate.mem_type,
        content=candidate.content,
        content_hash=ids.content_hash(candidate.content),
        entity_id=entity,
        entity_name=candidate.entity_name,
        entity_type=candidate.entity_type,
        property_name=candidate.property_name,
        value=candidate.value,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        observed_at=candidate.observed_at,
        time_precision=candidate.time_precision,
        confidence=round(candidate.confidence, 4),
        order=candidate.order,
        sources=candidate.sources[:MAX_SOURCES],
        parents=candidate.parents,
        mentions=tuple(dict.fromkeys(named for named in mentioned if named and named != entity)),
        speaker=candidate.speaker,
        context=candidate.context,
        episode=candidate.episode,
        flags=candidate.flags,
        metadata=dict(metadata or {}),
    )

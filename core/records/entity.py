"""Entity: somebody or something that memories are about."""

from dataclasses import dataclass

from mindmem.core.records.memory import Status
from mindmem.core.records.scope import Scope

__all__ = ["Entity"]


@dataclass(frozen=True, slots=True)
class Entity:
    """One revision of an entity.

    ``entity_type`` is one of person, organization, place, product, technology, event, animal, work, group, thing;
    ``aliases`` are further surface forms; ``search_fields`` are retrieval keys. ``merged_into`` is the id of the entity
    that it was found to be, empty while it stands for itself. ``status`` is archived when nothing that is remembered
    has to do with it any more.
    """

    entity_id: str
    revision: int
    scope: Scope
    entity_type: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    search_fields: tuple[str, ...] = ()
    merged_into: str = ""
    status: Status = "active"

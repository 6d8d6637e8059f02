"""A statement: what a clause says in entity, property and value, before it becomes a candidate."""

from dataclasses import dataclass
from typing import Final

__all__ = ["OWNER", "TEAM", "Statement"]

OWNER: Final = "\x00speaker"
"""Stands for the speaker in ``Statement.entity``."""
TEAM: Final = "team"
"""The entity of "we" where a group, not a family, speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One claim of a clause.

    ``entity`` is OWNER for the speaker, else a name; ``start`` and ``end`` are the clause's characters in the message.
    ``content`` is the clause as a sentence of its own, with the first person left as it is; ``named`` is the same
    sentence with OWNER where the speaker's name goes. ``began`` says that the clause tells of a beginning ("moved to"),
    so that its time is when the state began. ``whole`` is False when the clause said more than the statement holds.
    """

    entity: str
    entity_type: str
    property_name: str
    value: str
    content: str
    named: str
    start: int
    end: int
    single_valued: bool | None = None
    polarity: int = 1
    began: bool = False
    past: bool = False
    correction: bool = False
    whole: bool = True
    scheduled: bool = False
    """Whether the value is when the thing takes place."""

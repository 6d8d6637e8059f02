"""Plan: the changes that an algorithm wants, as a value that can be previewed, stored, explained and refused."""

from dataclasses import dataclass
from typing import Literal

from mindmem.core.records.edge import Edge
from mindmem.core.records.entity import Entity
from mindmem.core.records.memory import Memory
from mindmem.core.records.message import Message
from mindmem.core.records.scope import Scope

__all__ = ["Action", "ChangeKind", "Operation", "Plan", "Skip"]

Operation = Literal["add", "reinforce", "update", "merge", "archive", "restore"]
ChangeKind = Literal["add", "update", "delete", "undo", "dream", "feedback", "evolve", "import", "schema"]


@dataclass(frozen=True, slots=True)
class Action:
    """One wanted change of one memory: ``memory`` is its complete next revision, ``reason`` is for people.

    ``memory.revision`` is the revision that will be written; 1 creates. ``related`` are ids looked at or linked.
    """

    op: Operation
    memory: Memory
    reason: str
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that carries nothing to remember, counted and named, never silently dropped."""

    message_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Wanted changes within one partition.

    ``base_version`` is the partition's version that the plan was decided on; the ledger refuses the plan when that has
    moved (None: the plan doesn't depend on it).
    """

    kind: ChangeKind
    scope: Scope
    base_version: int | None
    actions: tuple[Action, ...] = ()
    messages: tuple[Message, ...] = ()
    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    skips: tuple[Skip, ...] = ()
    reason: str = ""

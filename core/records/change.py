"""Change: an applied plan, and the receipts that callers get."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from mindmem.core.records.plan import Action, ChangeKind
from mindmem.core.records.scope import Scope

__all__ = ["Change", "Counts", "Receipt"]

Counts = Mapping[str, int]
"""How many of each operation; also ``messages``, ``skipped``, ``entities``, ``edges``, ``windows``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One transaction of the ledger. ``recorded_at`` is database time, monotone in ``seq``; ``undoes`` names the
    change that this one takes back."""

    change_id: str
    seq: int
    kind: ChangeKind
    scope: Scope
    actor: str
    reason: str
    run_id: str
    recorded_at: datetime
    counts: Counts = field(default_factory=dict)
    undoes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an add did: every memory that it wrote, by id, and the changes that hold them.

    ``repeated`` is True when the same add was committed before (same idempotency key): nothing was written again, and
    the receipt is the first one's. ``quarantined`` are ids of inputs set aside with their reason. ``joined`` are the
    ids of queued adds that were carried out with this one, as one episode.
    """

    add_id: str
    changes: tuple[Change, ...] = ()
    actions: tuple[Action, ...] = ()
    counts: Counts = field(default_factory=dict)
    quarantined: tuple[str, ...] = ()
    repeated: bool = False
    joined: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """Return the ids of the memories that were added or changed, in order."""
        return tuple(action.memory.memory_id for action in self.actions)

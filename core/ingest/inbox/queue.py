"""Work off queued adds, some at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mindmem.core.errors import BudgetReached
from mindmem.core.records import Receipt

__all__ = ["QueueWork", "Queued", "work_off"]


class Queued(Protocol):
    """What processes queued adds: ``Memory``."""

    def process_pending(self, limit: int = 100, *, run_id: str = "") -> Sequence[Receipt]:
        """Process queued adds, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class QueueWork:
    """What was worked off: how many adds, in how many episodes (as many, where each add is carried out alone), what
    they changed, the changes by id, and what went to quarantine by id.

    ``stopped`` says why nothing could be done though adds wait: the budget is spent.
    """

    adds: int
    counts: Mapping[str, int] = field(default_factory=dict)
    change_ids: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    stopped: str = ""
    episodes: int = 0


def work_off(memory: Queued, limit: int, *, run_id: str = "") -> QueueWork:
    """Process up to ``limit`` queued adds; none when the queue is empty or what is left can't be done now."""
    try:
        receipts = memory.process_pending(limit, run_id=run_id)
    except BudgetReached as error:
        return QueueWork(0, stopped=str(error))
    counts: Counter[str] = Counter()
    for receipt in receipts:
        counts.update(receipt.counts)
    change_ids = tuple(change.change_id for receipt in receipts for change in receipt.changes)
    quarantined = tuple(item for receipt in receipts for item in receipt.quarantined)
    adds = sum(1 + len(receipt.joined) for receipt in receipts)
    return QueueWork(adds, dict(sorted(counts.items())), change_ids, quarantined, episodes=len(receipts))

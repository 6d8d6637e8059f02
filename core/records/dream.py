"""Dreaming's values: what is wrong in a group of memories, what was done or proposed about it, and how a run went."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from mindmem.core.records.scope import Scope

__all__ = ["OVER_BUDGET", "DiffLine", "DreamReport", "IssueKind", "Pending", "Proposal", "ProposalState", "ScopeDream"]

OVER_BUDGET: Final = "budget_reached"
"""Why a cluster stays pending that nobody could be asked about any more: no failure, the next run goes on there."""

IssueKind = Literal["conflict", "duplicate", "near_duplicate", "complementary", "low_value", "ambiguous"]
ProposalState = Literal["open", "approved", "rejected", "undone"]
"""``undone`` stands for what a run did and somebody took back: like ``rejected``, it is not proposed again."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One wanted change for people: the memory, its words before and after (empty: none), why, and the memories that
    it gives way to or is linked with. ``op`` is archive, merge, update, add or link."""

    op: str
    memory_id: str
    before: str
    after: str
    reason: str
    by: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, tuple[str, ...]]:
        """Return what makes it the same wish, on whatever day it is decided."""
        return self.op, self.memory_id, self.after, self.by


@dataclass(frozen=True, slots=True)
class Pending:
    """A cluster that was not consolidated, by the entity or memory that it grew from, and why."""

    cluster: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeDream:
    """What a run did in one user's memories.

    ``state``: ``applied``; ``proposed`` (a dry run, or over the cap: ``proposal_id`` waits for approval); ``failed``;
    ``night`` is a whole project's, all scopes summed up.
    ``amcr`` is ``archived`` ÷ ``active_before``. ``probes`` questions found their source among the best five before,
    ``retained`` of them still do. ``adds`` were consolidated. ``withheld`` actions were refused by a guard.
    """

    scope: Scope
    state: Literal["applied", "proposed", "failed", "night"]
    active_before: int = 0
    archived: int = 0
    actions: Mapping[str, int] = field(default_factory=dict)
    issues: Mapping[str, int] = field(default_factory=dict)
    clusters: int = 0
    pending: tuple[Pending, ...] = ()
    withheld: int = 0
    adds: int = 0
    probes: int = 0
    retained: int = 0
    change_ids: tuple[str, ...] = ()
    proposal_id: str = ""
    cause: str = ""
    diff: tuple[DiffLine, ...] = ()
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def amcr(self) -> float:
        """Return the share of the active memories that the run archived, or would archive."""
        return self.archived / self.active_before if self.active_before else 0.0

    @property
    def retention(self) -> float:
        """Return the share of the probes that still find their source; 1 where there was none."""
        return self.retained / self.probes if self.probes else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamReport:
    """How a run went, scope by scope; ``guards`` are the limits that it kept to."""

    run_id: str
    project_id: str
    dry_run: bool
    scopes: tuple[ScopeDream, ...] = ()
    guards: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def archived(self) -> int:
        """Return how many memories it archived, or would archive."""
        return sum(one.archived for one in self.scopes)

    @property
    def active_before(self) -> int:
        """Return how many memories of these scopes were active before."""
        return sum(one.active_before for one in self.scopes)

    @property
    def amcr(self) -> float:
        """Return archived ÷ active before, over all scopes."""
        return self.archived / self.active_before if self.active_before else 0.0

    @property
    def pending(self) -> tuple[Pending, ...]:
        """Return every cluster that stays pending."""
        return tuple(pending for one in self.scopes for pending in one.pending)

    @property
    def failed(self) -> bool:
        """Return whether something failed that the next run has to do; what waits for approval, or for another day's
        budget, has not failed."""
        return any(one.state == "failed" for one in self.scopes) or any(
            pending.reason != OVER_BUDGET for pending in self.pending
        )

    @property
    def stopped(self) -> bool:
        """Return whether what models may cost was spent before all was looked at; the next run goes on."""
        return any(pending.reason == OVER_BUDGET for pending in self.pending)

    def total(self, counts: Literal["actions", "issues"]) -> dict[str, int]:
        """Return the sum over all scopes of the counts by action or by kind of issue."""
        total: dict[str, int] = {}
        for one in self.scopes:
            for name, number in getattr(one, counts).items():
                total[name] = total.get(name, 0) + number
        return dict(sorted(total.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Changes that wait for somebody's word, or got it; ``cause`` says why they were not applied at once, ``reasoner``
    by which family they were decided (empty: that of the settings)."""

    proposal_id: str
    run_id: str
    scope: Scope
    state: ProposalState
    cause: str
    lines: tuple[DiffLine, ...]
    active_before: int
    archived: int
    recorded_at: datetime | None = None
    reasoner: str = ""

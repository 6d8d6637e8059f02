"""The Ledger port: one change is one transaction; the tables and the index follow the log, each with a watermark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol

import pyarrow as pa

from mindmem.core.records import Change, Partition, Scope, Status
from mindmem.core.records.llm_call import LlmCall, Spending, Spent
from mindmem.core.records.plan import ChangeKind

__all__ = [
    "CALLS_FOLDED",
    "Buffer",
    "Draft",
    "Entry",
    "Fence",
    "Head",
    "HeadKind",
    "HeadMove",
    "Joined",
    "KeyRecord",
    "Lease",
    "Ledger",
    "PendingAdd",
    "Quarantined",
    "ScopeState",
    "Snapshot",
    "Waiting",
]

HeadKind = Literal["memory", "entity", "message"]
CALLS_FOLDED: Final = "fold:llm_calls"
"""Name of the watermark up to which model calls were folded, by their own numbers."""


@dataclass(frozen=True, slots=True)
class Head:
    """The latest revision of an object: where the log stands on it."""

    kind: HeadKind
    object_id: str
    partition: Partition
    scope_key: str
    revision: int
    status: Status
    content_hash: str
    change_id: str


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A head moves from ``expected`` (0: does not exist) to ``revision``; it is refused if it stands elsewhere."""

    kind: HeadKind
    object_id: str
    partition: Partition
    scope_key: str
    expected: int
    revision: int
    status: Status = "active"
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Fence:
    """A lease's name and token; a commit that carries one is refused when the lease isn't held with that token."""

    name: str
    token: int


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that is held: ``token`` grows with each holder; ``expires_at`` is database time."""

    name: str
    owner: str
    token: int
    expires_at: datetime

    @property
    def fence(self) -> Fence:
        """Return what a commit carries to prove that the lease is still held."""
        return Fence(self.name, self.token)


@dataclass(frozen=True, slots=True)
class ScopeState:
    """A partition's version (0 before its first change), the seq of its last change, its number of active memories."""

    version: int = 0
    last_seq: int = 0
    active: int = 0


@dataclass(frozen=True, slots=True)
class Joined:
    """A further add that a commit carries out: its idempotency key with the digest of its request, and the id of the
    pending add that it completes (empty: none); see ``Draft``."""

    key: str
    digest: str
    done: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What one transaction writes.

    ``batches`` are rows by table, without their stamp. ``base`` is the version of each partition that the change was
    decided on (None: not checked); every partition named is moved by one. ``key`` makes the commit idempotent within
    the project: a second commit with the same key and ``digest`` is answered with the first one's change; with another
    digest it is a Conflict. ``result`` is kept with the key (the receipt as JSON).
    """

    change_id: str
    kind: ChangeKind
    scope: Scope
    actor: str
    reason: str = ""
    run_id: str = ""
    undoes: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    batches: Mapping[str, pa.Table] = field(default_factory=dict)
    heads: Sequence[HeadMove] = ()
    base: Mapping[Partition, int | None] = field(default_factory=dict)
    key: str = ""
    digest: str = ""
    result: str = ""
    fence: Fence | None = None
    done: str = ""
    """Id of the pending add that this commit completes; it leaves the queue in the same transaction. Is it gone from
    there, another worker completed it, and the commit is refused as LeaseLost."""
    joined: Sequence[Joined] = ()
    """Further adds of the same commit. Their keys lead to this change; is one known already, it is refused as
    ScopeChanged."""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """An idempotency key that was used: the digest of its request, the change, and the stored result."""

    key: str
    digest: str
    change_id: str
    result: str


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One change of the log with its rows by table, stamped (``change_id``, ``seq``, ``recorded_at`` filled)."""

    change: Change
    batches: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The pin and the tail, read in one transaction: tables at ``versions`` (missing: no table yet) hold every row up
    to ``pinned_seq``; ``tail`` holds the rows after it up to ``last_seq``, by table, stamped, in seq order."""

    versions: Mapping[str, int]
    pinned_seq: int
    last_seq: int
    tail: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class PendingAdd:
    """An add that waits in the queue: its request as JSON, and how often it was tried."""

    add_id: str
    scope: Scope
    payload: str
    attempts: int
    enqueued_at: datetime
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """The pending adds of one user, app and agent over all sessions: how many they are, with how many messages.
    ``free`` is False while one of them is claimed or waits for its next try."""

    scope: Scope
    adds: int
    messages: int
    free: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """The oldest pending adds of a buffer, and how many seconds ago its newest came (database time). There are no adds
    while one of them is claimed or waits for its next try: later ones don't overtake it."""

    adds: tuple[PendingAdd, ...]
    idle_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Quarantined:
    """An input that could not be processed, kept raw with its reason; ``line`` is 1-based, 0 where there is none."""

    quarantine_id: str
    scope: Scope
    origin: str
    line: int
    reason: str
    raw: str
    state: Literal["open", "retried", "dropped"] = "open"
    quarantined_at: datetime | None = None


class Ledger(Protocol):
    """The log. One instance may be used from several threads; a forked child must open its own."""

    @property
    def uuid(self) -> str:
        """Return the ledger's identity, fixed at creation; Delta's application transactions carry it."""
        ...

    # -- commits
    def commit(self, draft: Draft) -> Change:
        """Write one change and return it with its seq and recorded_at.

        Raises:
            ScopeChanged: a partition's version, a head, or the uniqueness of an active claim no longer fits.
            LeaseLost: the fence's lease isn't held any more.
            Conflict: the key was used for another request.
            StoreBusy, StoreUnavailable: nothing was written.
        """
        ...

    def by_key(self, project_id: str, key: str) -> KeyRecord | None:
        """Return what was committed under an idempotency key."""
        ...

    # -- state
    def scope_state(self, partition: Partition) -> ScopeState:
        """Return the partition's version, last seq and active count."""
        ...

    def partitions(self, project_id: str | None = None) -> list[tuple[Partition, ScopeState]]:
        """Return all partitions (of one project), ordered."""
        ...

    def heads(self, kind: HeadKind, object_ids: Sequence[str]) -> dict[str, Head]:
        """Return the heads that exist, by id."""
        ...

    def active_claims(self, scope_key: str, hashes: Sequence[str]) -> dict[str, str]:
        """Return content hash to memory_id for the active memories of that scope key."""
        ...

    # -- the log
    def last_seq(self) -> int:
        """Return the seq of the newest change, 0 for an empty log."""
        ...

    def change(self, change_id: str) -> Change | None:
        """Return one change; changes are never pruned from the ledger."""
        ...

    def changes(
        self, *, partition: Partition | None = None, project_id: str | None = None, after: int = 0,
        newest_first: bool = False, limit: int = 100,
    ) -> list[Change]:  # fmt: skip
        """Return changes by seq."""
        ...

    def read_log(self, after: int, upto: int | None = None, *, tables: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield the entries with ``after < seq <= upto`` in order, read in pages; asserts that seq is gapless.

        Raises:
            CorruptStore: seq has a gap.
            StaleGeneration: ``after`` lies below what was pruned, so the reader must rebuild from the tables.
        """
        ...

    def pruned_to(self) -> int:
        """Return the seq up to which the log's rows were folded and pruned."""
        ...

    def snapshot(self, tables: Sequence[str]) -> Snapshot:
        """Return pin and tail of these tables in one transaction."""
        ...

    def pin(self, versions: Mapping[str, int], seq: int, fence: Fence) -> None:
        """Record that the tables at these versions hold every row up to ``seq``; ``versions`` holds all tables."""
        ...

    def pinned(self) -> tuple[dict[str, int], int]:
        """Return the pinned table versions and seq."""
        ...

    def prune(self, upto: int) -> int:
        """Drop log rows (not changes) with seq <= ``upto`` and at most the pinned seq; return how many."""
        ...

    # -- watermarks and metadata
    def watermark(self, name: str) -> int:
        """Return how far a projection has read, 0 if unknown."""
        ...

    def watermarks(self, prefix: str) -> dict[str, int]:
        """Return the watermarks whose name begins with ``prefix``."""
        ...

    def set_watermark(self, name: str, seq: int) -> None:
        """Record how far a projection has read; it never goes back."""
        ...

    def get_meta(self, name: str) -> str | None:
        """Return a small named value (index generation, embedder, …)."""
        ...

    def set_meta(self, name: str, value: str, *, expected: str | None = None, fence: Fence | None = None) -> bool:
        """Set a named value; with ``expected`` only if it still has that value (``""``: or none yet). Return whether it
        was set."""
        ...

    # -- leases (expiry is database time)
    def acquire(self, name: str, owner: str, seconds: float) -> Lease:
        """Take a free or expired lease.

        Raises:
            LeaseTaken: somebody else holds it.
        """
        ...

    def renew(self, lease: Lease, seconds: float) -> Lease:
        """Extend a lease that is still held, or raise LeaseLost."""
        ...

    def release(self, lease: Lease) -> None:
        """Give a lease back; nothing happens when it is no longer held."""
        ...

    # -- the queue of pending adds
    def enqueue(self, add_id: str, scope: Scope, payload: str) -> str:
        """Keep an add for later; return the payload that is kept, an earlier one's where that add_id waits already."""
        ...

    def claim(self, project_id: str, limit: int, owner: str, seconds: float) -> list[PendingAdd]:
        """Take up to ``limit`` waiting adds of a project, oldest first, for ``seconds``; a crash gives them back."""
        ...

    def buffers(self, project_id: str, within: Scope | None = None) -> list[Buffer]:
        """Return the project's pending adds by user, app and agent, the one with the oldest add first; ``within``
        narrows them down by each of these ids that it names."""
        ...

    def waiting(self, scope: Scope, limit: int) -> Waiting:
        """Return up to ``limit`` pending adds of exactly that user, app and agent, of any session, oldest first."""
        ...

    def claim_these(self, add_ids: Sequence[str], owner: str, seconds: float) -> bool:
        """Take waiting adds for ``seconds``, all of them or, if one is gone or claimed, none; return whether."""
        ...

    def free_claims(self, project_id: str) -> int:
        """Give back the claimed adds of a project whose claimers, processes of this machine, have ended; return how
        many."""
        ...

    def requeue(self, add_id: str, error: str, delay_seconds: float = 0.0) -> None:
        """Put a claimed add back with the reason."""
        ...

    def unclaim(self, add_ids: Sequence[str]) -> None:
        """Put claimed adds back that were not tried; the claim doesn't count."""
        ...

    def drop_pending(self, add_id: str) -> None:
        """Take an add out of the queue (it was quarantined)."""
        ...

    def pending(self, project_id: str | None = None) -> int:
        """Return how many adds (of one project) wait or are claimed."""
        ...

    # -- quarantine
    def quarantine(self, items: Sequence[Quarantined]) -> None:
        """Keep inputs that could not be processed; a repeated id is ignored."""
        ...

    def quarantined(
        self, project_id: str | None = None, *, state: Literal["open", "retried", "dropped"] | None = "open",
        limit: int = 100,
    ) -> list[Quarantined]:  # fmt: skip
        """Return quarantined inputs, newest first."""
        ...

    def in_quarantine(self, project_id: str | None = None) -> int:
        """Return how many open inputs (of one project) are in quarantine."""
        ...

    def resolve_quarantined(self, quarantine_id: str, state: Literal["retried", "dropped"]) -> None:
        """Mark one as retried or dropped."""
        ...

    # -- calls of models (not part of the log: they have numbers of their own)
    def record_call(self, call: LlmCall) -> None:
        """Keep one call; a repeated call_id is ignored."""
        ...

    def spent(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None, user_id: str | None = None
    ) -> Spent:
        """Return what the project's calls came to: of one run, since a moment, of one user."""
        ...

    def spending(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None, user_id: str | None = None
    ) -> list[Spending]:
        """Return what the project's calls came to by quarter of an hour, purpose and model, in this order."""
        ...

    def calls(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None,
        user_id: str | None = None, limit: int = 100,
    ) -> list[LlmCall]:  # fmt: skip
        """Return the project's calls, newest first."""
        ...

    def last_call(self) -> int:
        """Return the number of the newest call, 0 when there is none."""
        ...

    def calls_after(self, number: int, limit: int) -> list[tuple[int, LlmCall]]:
        """Return calls with a higher number, by number, each with its own."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...

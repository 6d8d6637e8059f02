"""Fold: take the log's rows into the tables, each exactly once, pin what is complete, and prune what everybody has.

A fold may be killed anywhere. Rows that it appended above the pin stay invisible to the library's readers; the next
fold appends, table by table, only the rows above the seq that the table's own transaction id names, and then pins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import pyarrow as pa

from mindmem.core.errors import CorruptStore
from mindmem.core.failpoints import reach
from mindmem.core.ledger.port import CALLS_FOLDED, Lease, Ledger
from mindmem.core.records.llm_call import LlmCall
from mindmem.core.tables.contracts import CONTRACTS, conform
from mindmem.core.tables.port import Tables
from mindmem.core.tables.rows import calls_table, changes_table

__all__ = ["CALLS", "FOLD_LEASE", "FOLD_ORDER", "FoldReport", "fold", "refuse_older_ledger"]

FOLD_LEASE: Final = "fold"
"""Name of the lease that every writer of the tables holds."""
CALLS: Final = "llm_calls"
FOLD_ORDER: Final = (
    "messages",
    "entities",
    "schemas",
    "vectors",
    "memories",
    "edges",
    "adds",
    "quarantine",
    "consolidations",
    "proposals",
    "dreams",
    "changes",
    CALLS,
)
"""What is referred to comes first, so that an outside reader who sees a memory finds its messages. ``changes`` comes
last of what changes wrote: a seq that stands there is complete in every table. Calls have a numbering of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldReport:
    """What a fold did: seqs above ``after`` up to ``upto`` in ``rounds``, rows by table, log rows pruned."""

    after: int
    upto: int
    rounds: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    pruned: int = 0


@dataclass(slots=True)
class _Round:
    """Whole entries of the log up to ``upto``, of bounded size."""

    upto: int
    batches: dict[str, list[pa.Table]] = field(default_factory=dict)

    def rows(self, table: str) -> pa.Table:
        return pa.concat_tables(self.batches.get(table, [CONTRACTS[table].empty_table()]))


def fold(
    ledger: Ledger,
    tables: Tables,
    *,
    owner: str,
    lease_seconds: float = 120.0,
    projections: Sequence[str] = (),
    keep_days: float = 7.0,
    max_rows: int = 20_000,
    max_bytes: int = 64 << 20,
) -> FoldReport:
    """Fold the log up to its present end and prune it up to the lowest watermark of ``projections``.

    A projection that lags more than ``keep_days`` behind the newest change no longer holds the log: it is rebuilt.
    A round takes whole changes until it holds ``max_rows`` rows or ``max_bytes`` bytes, so memory is bounded by the
    larger of these and the largest change.

    Raises:
        LeaseTaken: another fold or maintenance runs, or was killed on another machine and its lease hasn't run out.
        LeaseLost: this fold took longer than its lease; the next one completes it.
        StoreUnavailable: the tables can't be written; nothing is lost, the log keeps the rows.
        CorruptStore: the ledger is older than its tables.
    """
    lease = ledger.acquire(FOLD_LEASE, owner, lease_seconds)
    reach("fold.leased")
    try:
        versions, start = ledger.pinned()
        for table in FOLD_ORDER:
            tables.heal(table, above=versions.get(table, -1))
        refuse_older_ledger(ledger, tables)
        end, done, rounds = ledger.last_seq(), start, 0
        written: dict[str, int] = {}
        while done < end:
            part = _gather(ledger, done, end, max_rows, max_bytes)
            versions = _fold_round(ledger, tables, lease, versions, part, written)
            done, rounds = part.upto, rounds + 1
            lease = ledger.renew(lease, lease_seconds)
        while calls := ledger.calls_after(ledger.watermark(CALLS_FOLDED), max_rows):
            versions = _fold_calls(ledger, tables, lease, versions, done, calls, written)
            lease = ledger.renew(lease, lease_seconds)
        pruned = ledger.prune(min(done, _floor(ledger, projections, keep_days)))
        reach("fold.pruned")
    finally:
        ledger.release(lease)
    return FoldReport(after=start, upto=done, rounds=rounds, rows=written, pruned=pruned)


def refuse_older_ledger(ledger: Ledger, tables: Tables) -> None:
    """Check that the ledger knows every row that was folded from it.

    Raises:
        CorruptStore: the tables hold later changes than the ledger, or another ledger's.
    """
    (versions, _) = ledger.pinned()
    for table in FOLD_ORDER:
        version = tables.version(table)
        if version < 0:
            if table in versions:
                raise CorruptStore(
                    f"Table {table!r} at {tables.location(table)!r} is gone, but the ledger folded into it. Put the "
                    "folder back from a copy before anything else is written, or point MINDMEM_STORE__TABLES_URI at "
                    "where the tables are."
                )
            continue
        folded = tables.last_seq(table)
        last = ledger.last_call() if table == CALLS else ledger.last_seq()
        if folded > last or versions.get(table, 0) > version:
            raise CorruptStore(
                f"Table {table!r} at {tables.location(table)!r} holds rows up to {folded}, the ledger ends at "
                f"{last}: an older copy of the ledger was put back. Use the newest copy, or rebuild the ledger from "
                "the tables with `mindmem doctor --rebuild-ledger`."
            )
        if folded and table not in versions and not tables.transaction_version(table, _app_id(ledger, table)):
            raise CorruptStore(
                f"Table {table!r} at {tables.location(table)!r} was written by another ledger. Choose an empty "
                "place for the tables, or rebuild the ledger from them with `mindmem doctor --rebuild-ledger`."
            )


def _gather(ledger: Ledger, after: int, upto: int, max_rows: int, max_bytes: int) -> _Round:
    part, changes, rows, size = _Round(after), [], 0, 0
    for entry in ledger.read_log(after, upto):
        for name, batch in entry.batches.items():
            if name != "changes" and batch.num_rows:
                part.batches.setdefault(name, []).append(conform(batch, CONTRACTS[name]))
                rows, size = rows + batch.num_rows, size + batch.nbytes
        changes.append(entry.change)
        part.upto = entry.change.seq
        if rows + len(changes) >= max_rows or size >= max_bytes:
            break
    part.batches["changes"] = [changes_table(changes)]
    if part.upto == after:
        raise CorruptStore(
            f"The log ends at {after}, but the ledger counts changes up to {upto}: run `mindmem doctor`."
        )
    return part


def _fold_round(
    ledger: Ledger, tables: Tables, lease: Lease, versions: Mapping[str, int], part: _Round, written: dict[str, int]
) -> dict[str, int]:
    moved = dict(versions)
    for table in FOLD_ORDER:
        if table in part.batches:
            rows = part.rows(table)
            moved[table] = _append(ledger, tables, table, rows, part.upto, versions)
            written[table] = written.get(table, 0) + rows.num_rows
    reach("fold.all_appended")
    ledger.pin(moved, part.upto, lease.fence)
    reach("fold.pinned")
    return moved


def _fold_calls(
    ledger: Ledger, tables: Tables, lease: Lease, versions: Mapping[str, int], pinned: int,
    calls: Sequence[tuple[int, LlmCall]], written: dict[str, int],
) -> dict[str, int]:  # fmt: skip
    """Append calls of models and pin the table; the watermark moves last, so a repetition finds them appended."""
    last = calls[-1][0]
    if last - calls[0][0] != len(calls) - 1 or calls[0][0] != ledger.watermark(CALLS_FOLDED) + 1:
        raise CorruptStore(f"The record of model calls has a gap before number {last}: run `mindmem doctor`.")
    moved = {**versions, CALLS: _append(ledger, tables, CALLS, calls_table(calls), last, versions)}
    ledger.pin(moved, pinned, lease.fence)
    reach("fold.pinned")
    ledger.set_watermark(CALLS_FOLDED, last)
    written[CALLS] = written.get(CALLS, 0) + len(calls)
    return moved


def _append(
    ledger: Ledger, tables: Tables, table: str, rows: pa.Table, upto: int, versions: Mapping[str, int]
) -> int:  # fmt: skip
    version = tables.append(table, rows, app_id=_app_id(ledger, table), seq=upto)
    reach("fold.appended")
    # Also when the append was done by a fold that was killed before it could sync.
    tables.sync(table, after=versions.get(table, -1))
    reach("fold.synced")
    return version


def _app_id(ledger: Ledger, table: str) -> str:
    """Return under which name this ledger's appends are known: rows of changes and calls are numbered apart."""
    return f"{ledger.uuid}/{CALLS}" if table == CALLS else ledger.uuid


def _floor(ledger: Ledger, projections: Sequence[str], keep_days: float) -> int:
    """Return the seq up to which no projection needs the log any more."""
    last = ledger.last_seq()
    lowest = min((ledger.watermark(name) for name in projections), default=last)
    newest = ledger.changes(newest_first=True, limit=1)
    if lowest >= last or not newest:
        return lowest
    limit = newest[0].recorded_at - timedelta(days=keep_days)
    low, high = lowest, last  # recorded_at is monotone in seq: find the last change older than the limit
    while low < high:
        middle = (low + high + 1) // 2
        if ledger.changes(after=middle - 1, limit=1)[0].recorded_at < limit:
            low = middle
        else:
            high = middle - 1
    return low

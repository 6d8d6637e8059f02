"""Restore: a new ledger from the tables, when the old one is lost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import polars as pl

from mindmem.core.errors import CorruptStore
from mindmem.core.ids import random_id
from mindmem.core.ledger.port import Head, KeyRecord, ScopeState
from mindmem.core.records import Change, Partition, Scope
from mindmem.core.records.llm_call import LlmCall
from mindmem.core.tables.fold import CALLS, FOLD_ORDER
from mindmem.core.tables.port import Tables
from mindmem.core.tables.reader import latest
from mindmem.core.tables.rows import call_of, change_of
from mindmem.core.tables.verify import HEADED

__all__ = ["EmptyLedger", "restore_ledger"]


class EmptyLedger(Protocol):
    """A ledger that can be filled once, before its first change."""

    def restore(
        self, *, changes: Iterable[Change], heads: Iterable[Head], keys: Iterable[tuple[str, KeyRecord]],
        states: Mapping[Partition, ScopeState], pins: Mapping[str, int], uuid: str,
        calls: Sequence[tuple[int, LlmCall]],
    ) -> None:  # fmt: skip
        """Fill the ledger; see the SQL ledger."""
        ...


def restore_ledger(tables: Tables, ledger: EmptyLedger) -> int:
    """Fill an empty ledger with everything that was folded completely; return the seq that it ends at.

    Rows above that seq, left by a fold that never ended, are taken out of the tables. The ledger gets a new identity,
    so that the lost one's appends are not taken for its own. Nobody else may write meanwhile. Killed anywhere, it can
    be run again with an empty ledger. Pending adds and quarantine lived in the lost ledger only.

    Raises:
        CorruptStore: there are no tables, or a change is missing.
        Conflict: the ledger isn't empty.
    """
    if not tables.exists("changes"):
        raise CorruptStore(f"There are no tables at {tables.uri!r} to restore a ledger from: check the place.")
    last = tables.scan("changes").select(pl.col("seq").max()).collect().item() or 0
    names = [name for name in FOLD_ORDER if tables.exists(name)]
    for name in names:
        if name != CALLS:  # whose rows are whole by themselves
            tables.discard_after(name, last)
    ledger.restore(
        changes=_changes(tables),
        heads=_heads(tables),
        keys=_keys(tables),
        states=_states(tables),
        pins={name: tables.version(name) for name in names},
        uuid=random_id("ledger"),
        calls=_calls(tables),
    )
    return int(last)


def _changes(tables: Tables) -> Iterator[Change]:
    rows = tables.scan("changes").unique("seq", keep="any").sort("seq").collect()
    for row in rows.iter_rows(named=True):
        yield change_of(row)


def _heads(tables: Tables) -> Iterator[Head]:
    for kind, table, key in HEADED:
        for row in _latest(tables, table, key).iter_rows(named=True):
            yield Head(
                kind=kind,
                object_id=row[key],
                partition=Partition(row["project_id"], row["user_id"]),
                scope_key=Scope(row["project_id"], row["user_id"], row["app_id"], row["agent_id"]).key,
                revision=row.get("revision", 1),
                status=row.get("status") or "active",
                content_hash=row.get("content_hash", ""),
                change_id=row["change_id"],
            )


def _latest(tables: Tables, table: str, key: str) -> pl.DataFrame:
    wanted = (key, "revision", "status", "content_hash", "change_id", "project_id", "user_id", "app_id", "agent_id")
    rows = tables.scan(table)
    names = rows.collect_schema().names()
    return (
        latest(rows.select([name for name in wanted if name in names] + ["seq"]), [key], by="seq").sort(key).collect()
    )


def _keys(tables: Tables) -> Iterator[tuple[str, KeyRecord]]:
    rows = tables.scan("adds").filter(pl.col("idempotency_key") != "")
    for row in rows.unique(["project_id", "idempotency_key"], keep="any").sort("seq").collect().iter_rows(named=True):
        yield (
            row["project_id"],
            KeyRecord(row["idempotency_key"], row["request_digest"], row["change_id"], row["receipt"]),
        )


def _calls(tables: Tables) -> list[tuple[int, LlmCall]]:
    rows = tables.scan(CALLS).unique("call_id", keep="any").sort("seq").collect()
    return [call_of(row) for row in rows.iter_rows(named=True)]


def _states(tables: Tables) -> dict[Partition, ScopeState]:
    """Return where each partition stands: a change moves its own partition and those of the objects that it wrote."""
    owner = ["project_id", "user_id"]
    moved = pl.concat(
        [tables.scan(name).select(*owner, "seq") for name in ("changes", *(name for _, name, _ in HEADED))]
    )
    counted = moved.unique().group_by(owner).agg(pl.len().alias("version"), pl.col("seq").max()).sort(owner).collect()
    live = _latest(tables, "memories", "memory_id").filter(pl.col("status") == "active").group_by(owner).len()
    active = {(project, user): count for project, user, count in live.iter_rows()}
    return {
        Partition(project, user): ScopeState(version=version, last_seq=seq, active=active.get((project, user), 0))
        for project, user, version, seq in counted.iter_rows()
    }

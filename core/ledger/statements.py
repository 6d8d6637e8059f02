"""Small pieces that the parts of the ledger share: upserts in either dialect, long id lists, rows to records."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import Row, Table
from sqlalchemy.dialects import postgresql, sqlite

from mindmem.core.ledger import schema
from mindmem.core.records import Change, Scope

__all__ = ["change_of", "change_values", "chunks", "scope_of", "scope_values", "upsert"]

T = TypeVar("T")

CHUNK: Final = 1000
"""Most ids in one IN list and most rows in one INSERT; SQLite takes 32,766 parameters a statement."""


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Yield the items in slices of at most ``size``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def upsert(dialect: str, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT that knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``, for a dialect by name."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def scope_values(scope: Scope) -> dict[str, str]:
    """Return the five scope columns."""
    return {
        "project_id": scope.project_id,
        "user_id": scope.user_id,
        "app_id": scope.app_id,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
    }


def scope_of(row: Row[Any]) -> Scope:
    """Return the scope of a row with the five scope columns."""
    return Scope(row.project_id, row.user_id, row.app_id, row.agent_id, row.session_id)


def change_of(row: Row[Any]) -> Change:
    """Return the change of a row of ``changes``."""
    return Change(
        change_id=row.change_id,
        seq=row.seq,
        kind=row.kind,
        scope=scope_of(row),
        actor=row.actor,
        reason=row.reason,
        run_id=row.run_id,
        recorded_at=schema.instant(row.recorded_at),
        counts=json.loads(row.counts),
        undoes=row.undoes,
    )


def change_values(change: Change, size: int) -> dict[str, object]:
    """Return the columns of ``changes``; ``size`` is the bytes of the change's log rows."""
    return {
        **scope_values(change.scope),
        "seq": change.seq,
        "change_id": change.change_id,
        "kind": change.kind,
        "actor": change.actor,
        "reason": change.reason,
        "run_id": change.run_id,
        "undoes": change.undoes,
        "counts": json.dumps(dict(change.counts), sort_keys=True),
        "recorded_at": schema.micros(change.recorded_at),
        "size": size,
    }

"""The queue of pending adds: kept until their commit. A claim of a process that has ended is given back by who works
next on its machine; elsewhere it runs out."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from mindmem.core.ledger import schema
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.leases import abandoned, marked, span
from mindmem.core.ledger.port import PendingAdd
from mindmem.core.ledger.statements import scope_of, scope_values, upsert
from mindmem.core.records import Scope

__all__ = ["Queue", "pending_of"]


def pending_of(row: Row[Any], attempts: int) -> PendingAdd:
    """Return the pending add of a row; ``attempts`` counts the claim that it was read for."""
    return PendingAdd(
        add_id=row.add_id,
        scope=scope_of(row),
        payload=row.payload,
        attempts=attempts,
        enqueued_at=schema.instant(row.enqueued_at),
        last_error=row.last_error,
    )


class Queue:
    """The part of the ledger that keeps adds for later."""

    _store: Store

    def enqueue(self, add_id: str, scope: Scope, payload: str) -> str:
        """Keep an add for later; return the payload that is kept, an earlier one's where that add_id waits already."""
        with self._store.write() as connection:
            table = schema.pending
            asked = upsert(connection.dialect.name, table).values(
                add_id=add_id,
                **scope_values(scope),
                payload=payload,
                attempts=0,
                enqueued_at=schema.database_now(),
                due_at=0,
                owner="",
                last_error="",
            )
            # An update that changes nothing: unlike "do nothing", it waits for who writes the row, and returns it.
            kept = asked.on_conflict_do_update(index_elements=["add_id"], set_={"add_id": table.c.add_id})
            found: str = connection.execute(kept.returning(table.c.payload)).scalar_one()
        return found

    def claim(self, project_id: str, limit: int, owner: str, seconds: float) -> list[PendingAdd]:
        """Take up to ``limit`` waiting adds of a project, oldest first, for ``seconds``; a crash gives them back."""
        table = schema.pending
        length = span(seconds, field="seconds")
        with self._store.write() as connection:
            rows = connection.execute(
                select(table)
                .where(table.c.project_id == project_id, table.c.due_at <= schema.database_now())
                .order_by(table.c.place)
                .limit(limit)
                .with_for_update(skip_locked=True)
            ).all()
            if rows:
                connection.execute(
                    update(table)
                    .where(table.c.place.in_([row.place for row in rows]))
                    .values(due_at=schema.database_now() + length, attempts=table.c.attempts + 1, owner=marked(owner))
                )
        return [pending_of(row, row.attempts + 1) for row in rows]

    def free_claims(self, project_id: str) -> int:
        """Give back the claimed adds of a project whose claimers, processes of this machine, have ended; return how
        many."""
        table = schema.pending
        claimed = (table.c.project_id == project_id, table.c.owner != "", table.c.due_at > schema.database_now())
        with self._store.read() as connection:
            holders = connection.execute(select(table.c.owner).where(*claimed).distinct()).scalars().all()
        ended = [holder for holder in holders if abandoned(holder)]
        if not ended:
            return 0
        with self._store.write() as connection:
            given = update(table).where(*claimed, table.c.owner.in_(ended)).values(due_at=0, owner="")
            return connection.execute(given).rowcount

    def requeue(self, add_id: str, error: str, delay_seconds: float = 0.0) -> None:
        """Put a claimed add back with the reason; it can be claimed again after ``delay_seconds``."""
        due = schema.database_now() + span(delay_seconds, field="delay_seconds")
        with self._store.write() as connection:
            connection.execute(
                update(schema.pending)
                .where(schema.pending.c.add_id == add_id)
                .values(due_at=due, owner="", last_error=error)
            )

    def unclaim(self, add_ids: Sequence[str]) -> None:
        """Put claimed adds back that were not tried; the claim doesn't count."""
        table = schema.pending
        with self._store.write() as connection:
            connection.execute(
                update(table)
                .where(table.c.add_id.in_(add_ids), table.c.owner != "")
                .values(due_at=0, owner="", attempts=table.c.attempts - 1)
            )

    def drop_pending(self, add_id: str) -> None:
        """Take an add out of the queue (it was quarantined)."""
        with self._store.write() as connection:
            connection.execute(delete(schema.pending).where(schema.pending.c.add_id == add_id))

    def pending(self, project_id: str | None = None) -> int:
        """Return how many adds (of one project) wait or are claimed."""
        query = select(func.count()).select_from(schema.pending)
        if project_id is not None:
            query = query.where(schema.pending.c.project_id == project_id)
        with self._store.read() as connection:
            return connection.execute(query).scalar_one()

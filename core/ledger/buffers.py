"""The queue as buffers: the pending adds of one user, app and agent, whatever their sessions, in order."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, func, select, update

from mindmem.core.ledger import schema
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.leases import marked, span
from mindmem.core.ledger.port import Buffer, Waiting
from mindmem.core.ledger.queue import pending_of
from mindmem.core.records import Scope

__all__ = ["Buffers"]

_SECOND = 1_000_000


class Buffers:
    """The part of the ledger that looks at pending adds by whose they are."""

    _store: Store

    def buffers(self, project_id: str, within: Scope | None = None) -> list[Buffer]:
        """Return the project's pending adds by user, app and agent, the one with the oldest add first; ``within``
        narrows them down by each of these ids that it names."""
        table = schema.pending.c
        wanted = [table.project_id == project_id]
        if within is not None:
            named = {"user_id": within.user_id, "app_id": within.app_id, "agent_id": within.agent_id}
            wanted += [table[name] == value for name, value in named.items() if value]
        owner = (table.user_id, table.app_id, table.agent_id)
        query = (
            select(
                *owner,
                func.count().label("adds"),
                func.sum(schema.messages_of(table.payload)).label("messages"),
                (func.max(table.due_at) <= schema.database_now()).label("free"),
            )
            .where(*wanted)
            .group_by(*owner)
            .order_by(func.min(table.place))
        )
        with self._store.read() as connection:
            rows = connection.execute(query).all()
        return [
            Buffer(
                Scope(project_id, row.user_id, row.app_id, row.agent_id), row.adds, int(row.messages), bool(row.free)
            )
            for row in rows
        ]

    def waiting(self, scope: Scope, limit: int) -> Waiting:
        """Return up to ``limit`` pending adds of exactly that user, app and agent, of any session, oldest first."""
        table = schema.pending
        newest = select(func.max(table.c.enqueued_at), func.max(table.c.due_at), schema.database_now())
        with self._store.read() as connection:
            came, due, now = connection.execute(newest.where(_of(scope))).one()
            if due is None or due > now:
                return Waiting(())
            rows = connection.execute(select(table).where(_of(scope)).order_by(table.c.place).limit(limit)).all()
        return Waiting(tuple(pending_of(row, row.attempts + 1) for row in rows), max(0.0, (now - came) / _SECOND))

    def claim_these(self, add_ids: Sequence[str], owner: str, seconds: float) -> bool:
        """Take waiting adds for ``seconds``, all of them or, if one is gone or claimed, none; return whether."""
        table, now = schema.pending, schema.database_now()
        claimed = (
            update(table)
            .where(table.c.add_id.in_(add_ids), table.c.due_at <= now)
            .values(due_at=now + span(seconds, field="seconds"), attempts=table.c.attempts + 1, owner=marked(owner))
        )
        with self._store.write() as connection:
            if connection.execute(claimed).rowcount == len(add_ids):
                return True
            connection.rollback()
        return False


def _of(scope: Scope) -> ColumnElement[bool]:
    table = schema.pending.c
    return and_(
        table.project_id == scope.project_id,
        table.user_id == scope.user_id,
        table.app_id == scope.app_id,
        table.agent_id == scope.agent_id,
    )

"""Quarantine: inputs that could not be processed, raw, with origin, line and reason."""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import func, select, update

from mindmem.core.errors import NotFound
from mindmem.core.ledger import schema
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.port import Quarantined
from mindmem.core.ledger.statements import scope_of, scope_values, upsert

__all__ = ["Quarantine"]


class Quarantine:
    """The part of the ledger that keeps what could not be processed."""

    _store: Store

    def quarantine(self, items: Sequence[Quarantined]) -> None:
        """Keep inputs that could not be processed; a repeated id is ignored. Their time is the database's."""
        if not items:
            return
        with self._store.write() as connection:
            now = connection.execute(select(schema.database_now())).scalar_one()
            rows = [
                {
                    **scope_values(item.scope),
                    "quarantine_id": item.quarantine_id,
                    "origin": item.origin,
                    "line": item.line,
                    "reason": item.reason,
                    "raw": item.raw,
                    "state": item.state,
                    "quarantined_at": now,
                }
                for item in items
            ]
            connection.execute(upsert(connection.dialect.name, schema.quarantine).on_conflict_do_nothing(), rows)

    def quarantined(
        self, project_id: str | None = None, *, state: Literal["open", "retried", "dropped"] | None = "open",
        limit: int = 100,
    ) -> list[Quarantined]:  # fmt: skip
        """Return quarantined inputs, newest first."""
        table = schema.quarantine
        query = select(table).order_by(table.c.place.desc()).limit(limit)
        if project_id is not None:
            query = query.where(table.c.project_id == project_id)
        if state is not None:
            query = query.where(table.c.state == state)
        with self._store.read() as connection:
            rows = connection.execute(query).all()
        return [
            Quarantined(
                quarantine_id=row.quarantine_id,
                scope=scope_of(row),
                origin=row.origin,
                line=row.line,
                reason=row.reason,
                raw=row.raw,
                state=row.state,
                quarantined_at=schema.instant(row.quarantined_at),
            )
            for row in rows
        ]

    def in_quarantine(self, project_id: str | None = None) -> int:
        """Return how many open inputs (of one project) are in quarantine."""
        table = schema.quarantine
        query = select(func.count()).select_from(table).where(table.c.state == "open")
        if project_id is not None:
            query = query.where(table.c.project_id == project_id)
        with self._store.read() as connection:
            return connection.execute(query).scalar_one()

    def resolve_quarantined(self, quarantine_id: str, state: Literal["retried", "dropped"]) -> None:
        """Mark one as retried or dropped.

        Raises:
            NotFound: nothing with that id is in quarantine.
        """
        table = schema.quarantine
        with self._store.write() as connection:
            marked = connection.execute(
                update(table).where(table.c.quarantine_id == quarantine_id).values(state=state)
            ).rowcount
        if not marked:
            raise NotFound(f"Nothing with the id {quarantine_id!r} is in quarantine.")

"""The record of model calls: what each was for and cost, never what was said; kept beside the log, not in it.

A call is no change of anybody's memory, so it has no seq of the log. It has a number of its own, taken as the last act
of its transaction like seq: gapless, in commit order. By it the fold carries each call into the tables once.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, Select, case, func, select, update

from mindmem.core.ledger import schema
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.statements import scope_of, scope_values, upsert
from mindmem.core.records.llm_call import LlmCall, Spending, Spent

__all__ = ["Calls", "call_values"]

_SLOT: Final = timedelta(minutes=15)
"""Zones differ by whole quarters of an hour, so a day of any zone is made of whole slots."""


class Calls:
    """The part of the ledger that keeps count of model calls."""

    _store: Store

    def record_call(self, call: LlmCall) -> None:
        """Keep one call; a repeated call_id is ignored."""
        table, counter = schema.llm_calls, schema.call_counter
        with self._store.write() as connection:
            dialect = connection.dialect.name
            new = connection.execute(
                upsert(dialect, table)
                .values(**call_values(call), number=0)
                .on_conflict_do_nothing()
                .returning(table.c.call_id)
            ).first()
            if new is None:
                return
            counted = upsert(dialect, counter).values(id=1, number=1)
            number = connection.execute(
                counted.on_conflict_do_update(index_elements=["id"], set_={"number": counter.c.number + 1}).returning(
                    counter.c.number
                )
            ).scalar_one()
            connection.execute(update(table).where(table.c.call_id == call.call_id).values(number=number))

    def spent(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None, user_id: str | None = None
    ) -> Spent:
        """Return what the project's calls came to: of one run, since a moment, of one user."""
        query = _chosen(select(*_SUMS), project_id, run_id, since, user_id)
        with self._store.read() as connection:
            return _spent(connection.execute(query).one())

    def calls(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None,
        user_id: str | None = None, limit: int = 100,
    ) -> list[LlmCall]:  # fmt: skip
        """Return the project's calls, newest first."""
        table = schema.llm_calls
        query = _chosen(select(table), project_id, run_id, since, user_id)
        query = query.order_by(table.c.called_at.desc(), table.c.number.desc()).limit(limit)
        with self._store.read() as connection:
            return [_call(row) for row in connection.execute(query)]

    def spending(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None, user_id: str | None = None
    ) -> list[Spending]:
        """Return what the project's calls came to by quarter of an hour, purpose and model, in this order."""
        table = schema.llm_calls
        slot = (table.c.called_at // (_SLOT // timedelta(microseconds=1))).label("slot")
        query = _chosen(select(slot, table.c.purpose, table.c.model, *_SUMS), project_id, run_id, since, user_id)
        query = query.group_by(slot, table.c.purpose, table.c.model).order_by(slot, table.c.purpose, table.c.model)
        with self._store.read() as connection:
            return [
                Spending(schema.instant(0) + row.slot * _SLOT, row.purpose, row.model, _spent(row))
                for row in connection.execute(query)
            ]

    def last_call(self) -> int:
        """Return the number of the newest call, 0 when there is none."""
        counter = schema.call_counter
        with self._store.read() as connection:
            return connection.execute(select(counter.c.number)).scalar() or 0

    def calls_after(self, number: int, limit: int) -> list[tuple[int, LlmCall]]:
        """Return calls with a higher number, by number, each with its own."""
        table = schema.llm_calls
        query = select(table).where(table.c.number > number).order_by(table.c.number).limit(limit)
        with self._store.read() as connection:
            return [(row.number, _call(row)) for row in connection.execute(query)]


_SUMS: Final = (
    func.count().label("calls"),
    func.coalesce(func.sum(schema.llm_calls.c.input_tokens), 0).label("input_tokens"),
    func.coalesce(func.sum(schema.llm_calls.c.output_tokens), 0).label("output_tokens"),
    func.coalesce(func.sum(schema.llm_calls.c.cost), 0.0).label("cost"),
    func.coalesce(func.sum(case((schema.llm_calls.c.cost.is_(None), 1), else_=0)), 0).label("unpriced"),
    func.coalesce(func.sum(schema.llm_calls.c.cached), 0).label("cached"),
    func.coalesce(func.sum(schema.llm_calls.c.estimated), 0).label("estimated"),
)


def _spent(row: Row[Any]) -> Spent:
    return Spent(
        calls=row.calls,
        # PostgreSQL sums bigints as decimals.
        input_tokens=int(row.input_tokens),
        output_tokens=int(row.output_tokens),
        cost=float(row.cost),
        unpriced=int(row.unpriced),
        cached=int(row.cached),
        estimated=int(row.estimated),
    )


def _chosen(
    query: Select[Any], project_id: str, run_id: str | None, since: datetime | None, user_id: str | None
) -> Select[Any]:
    table = schema.llm_calls
    query = query.where(table.c.project_id == project_id)
    if run_id is not None:
        query = query.where(table.c.run_id == run_id)
    if since is not None:
        query = query.where(table.c.called_at >= schema.micros(since))
    if user_id is not None:
        query = query.where(table.c.user_id == user_id)
    return query


def call_values(call: LlmCall) -> dict[str, object]:
    """Return the columns of a call, but for its number."""
    return {
        **scope_values(call.scope),
        "call_id": call.call_id,
        "run_id": call.run_id,
        "purpose": call.purpose,
        "prompt": call.prompt,
        "version": call.version,
        "digest": call.digest,
        "model": call.model,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost": call.cost,
        "latency_ms": call.latency_ms,
        "retries": call.retries,
        "cached": int(call.cached),
        "outcome": call.outcome,
        "called_at": schema.micros(call.called_at),
        "error": call.error,
        "estimated": int(call.estimated),
    }


def _call(row: Row[Any]) -> LlmCall:
    return LlmCall(
        call_id=row.call_id,
        scope=scope_of(row),
        run_id=row.run_id,
        purpose=row.purpose,
        prompt=row.prompt,
        version=row.version,
        digest=row.digest,
        model=row.model,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost=row.cost,
        latency_ms=row.latency_ms,
        retries=row.retries,
        cached=bool(row.cached),
        outcome=row.outcome,
        called_at=schema.instant(row.called_at),
        error=row.error,
        estimated=bool(row.estimated),
    )

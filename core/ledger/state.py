"""What commits are checked against, and small values: partitions, heads, watermarks, metadata."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, Select, bindparam, func, select, update

from mindmem.core.ledger import schema
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.leases import check_fence
from mindmem.core.ledger.port import Fence, Head, HeadKind, ScopeState
from mindmem.core.ledger.statements import chunks, upsert
from mindmem.core.records import Partition

__all__ = ["State"]


_SCOPES: Final = schema.scopes.c
_HEAD: Final = schema.heads.c

# Built once: building a statement costs more than running it.
_STATES: Final[Select[Any]] = select(
    _SCOPES.project_id,
    _SCOPES.user_id,
    _SCOPES.version,
    _SCOPES.active,
    func.coalesce(schema.changes.c.seq, 0).label("last_seq"),
).select_from(schema.scopes.outerjoin(schema.changes, _SCOPES.change_id == schema.changes.c.change_id))
_STATE: Final = _STATES.where(_SCOPES.project_id == bindparam("project"), _SCOPES.user_id == bindparam("user"))
_HEADS: Final = select(schema.heads).where(
    _HEAD.kind == bindparam("head_kind"), _HEAD.object_id.in_(bindparam("ids", expanding=True))
)
_CLAIMS: Final = select(_HEAD.content_hash, _HEAD.object_id).where(
    schema.ACTIVE_CLAIM,
    _HEAD.scope_key == bindparam("scope"),
    _HEAD.content_hash.in_(bindparam("hashes", expanding=True)),
)


class State:
    """The part of the ledger that tells where things stand."""

    _store: Store

    def scope_state(self, partition: Partition) -> ScopeState:
        """Return the partition's version, last seq and active count; all zero before its first change."""
        with self._store.read() as connection:
            row = connection.execute(_STATE, {"project": partition.project_id, "user": partition.user_id}).first()
        return ScopeState() if row is None else _state(row)

    def partitions(self, project_id: str | None = None) -> list[tuple[Partition, ScopeState]]:
        """Return all partitions (of one project), ordered by code points."""
        query = _STATES.order_by(schema.scopes.c.project_id, schema.scopes.c.user_id)
        if project_id is not None:
            query = query.where(schema.scopes.c.project_id == project_id)
        with self._store.read() as connection:
            rows = connection.execute(query).all()
        return [(Partition(row.project_id, row.user_id), _state(row)) for row in rows]

    def heads(self, kind: HeadKind, object_ids: Sequence[str]) -> dict[str, Head]:
        """Return the heads that exist, by id."""
        found: dict[str, Head] = {}
        with self._store.read() as connection:
            for ids in chunks(list(object_ids)):
                rows = connection.execute(_HEADS, {"head_kind": kind, "ids": ids})
                found.update({row.object_id: _head(row) for row in rows})
        return found

    def active_claims(self, scope_key: str, hashes: Sequence[str]) -> dict[str, str]:
        """Return content hash to memory_id for the active memories of that scope key."""
        found: dict[str, str] = {}
        with self._store.read() as connection:
            for some in chunks(list(hashes)):
                rows = connection.execute(_CLAIMS, {"scope": scope_key, "hashes": some})
                found.update({row.content_hash: row.object_id for row in rows})
        return found

    def watermark(self, name: str) -> int:
        """Return how far a projection has read, 0 if unknown."""
        query = select(schema.watermarks.c.seq).where(schema.watermarks.c.name == name)
        with self._store.read() as connection:
            return connection.execute(query).scalar_one_or_none() or 0

    def watermarks(self, prefix: str) -> dict[str, int]:
        """Return the watermarks whose name begins with ``prefix``."""
        table = schema.watermarks
        query = select(table.c.name, table.c.seq).where(table.c.name.startswith(prefix, autoescape=True))
        with self._store.read() as connection:
            return {row.name: row.seq for row in connection.execute(query.order_by(table.c.name))}

    def set_watermark(self, name: str, seq: int) -> None:
        """Record how far a projection has read; it never goes back."""
        with self._store.write() as connection:
            statement = upsert(connection.dialect.name, schema.watermarks).values(name=name, seq=seq)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["name"],
                    set_={"seq": schema.later(schema.watermarks.c.seq, statement.excluded.seq)},
                )
            )

    def get_meta(self, name: str) -> str | None:
        """Return a small named value (index generation, embedder, …)."""
        query = select(schema.meta.c.value).where(schema.meta.c.name == name)
        with self._store.read() as connection:
            return connection.execute(query).scalar_one_or_none()

    def set_meta(self, name: str, value: str, *, expected: str | None = None, fence: Fence | None = None) -> bool:
        """Set a named value; with ``expected`` only if it still has that value. Return whether it was set.

        A name that was never set has the value ``""`` here, so ``expected=""`` lets one of several be the first.

        Raises:
            LeaseLost: the fence's lease isn't held any more.
        """
        table = schema.meta
        with self._store.write() as connection:
            if fence is not None:
                check_fence(connection, fence)
            if expected is None:
                statement = upsert(connection.dialect.name, table).values(name=name, value=value)
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["name"], set_={"value": statement.excluded.value})
                )
                return True
            if expected == "":
                connection.execute(
                    upsert(connection.dialect.name, table).values(name=name, value="").on_conflict_do_nothing()
                )
            moved = update(table).where(table.c.name == name, table.c.value == expected).values(value=value)
            return connection.execute(moved).rowcount == 1


def _state(row: Row[Any]) -> ScopeState:
    return ScopeState(version=row.version, last_seq=row.last_seq, active=row.active)


def _head(row: Row[Any]) -> Head:
    return Head(
        kind=row.kind,
        object_id=row.object_id,
        partition=Partition(row.project_id, row.user_id),
        scope_key=row.scope_key,
        revision=row.revision,
        status=row.status,
        content_hash=row.content_hash,
        change_id=row.change_id,
    )

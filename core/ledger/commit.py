"""The commit: one change as one transaction.

Locks are taken in one order by every writer, so that two never wait for each other: the key, the fence's lease, the
partitions (sorted), the heads (sorted), the pending add, and last the counter. The counter's row gives seq and time as
the transaction's last act; its lock is held until COMMIT, so changes become visible in the order of their seq.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, Executable, Row, bindparam, delete, insert, select, update

from mindmem.core import failpoints
from mindmem.core.errors import Conflict, InvalidInput, LeaseLost, ScopeChanged, StoreUnavailable, bounded
from mindmem.core.ledger import schema
from mindmem.core.ledger.codec import encode
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.leases import check_fence
from mindmem.core.ledger.moves import check_partitions, move_heads, move_partitions
from mindmem.core.ledger.port import Draft, HeadMove, KeyRecord
from mindmem.core.ledger.statements import change_of, change_values, upsert
from mindmem.core.records import Change, Partition

__all__ = ["Commits", "Writing"]


# Built once: building a statement costs more than running it.
_KEY: Final = select(schema.keys).where(
    schema.keys.c.project_id == bindparam("project"), schema.keys.c.key == bindparam("name")
)
_CHANGE: Final = select(schema.changes).where(schema.changes.c.change_id == bindparam("id"))
_LOG: Final = insert(schema.log)
_CHANGES: Final = insert(schema.changes)
_COUNT: Final = (
    update(schema.counter)
    .values(seq=schema.counter.c.seq + 1, at=schema.later(schema.counter.c.at + 1, schema.database_now()))
    .returning(schema.counter.c.seq, schema.counter.c.at)
)


@functools.cache
def _key_claim(dialect: str) -> Executable:
    return upsert(dialect, schema.keys).on_conflict_do_nothing().returning(schema.keys.c.change_id)


@dataclass(frozen=True, slots=True)
class Writing:
    """A draft made ready outside of the transaction: its rows encoded, its moves and partitions in lock order."""

    draft: Draft
    rows: Mapping[str, tuple[int, bytes]]
    moves: Sequence[HeadMove]
    partitions: Sequence[Partition]

    @classmethod
    def of(cls, draft: Draft) -> "Writing":
        """Check and encode a draft.

        Raises:
            InvalidInput: rows don't fit their table's contract, a head is moved twice or backwards, or an active
                memory has no content hash.
        """
        moves = sorted(draft.heads, key=lambda move: (move.kind, move.object_id))
        for place, move in enumerate(moves):
            if place and (moves[place - 1].kind, moves[place - 1].object_id) == (move.kind, move.object_id):
                raise InvalidInput(f"A change moves each head once, but {move.object_id!r} twice.", field="heads")
            if not 0 <= move.expected < move.revision:
                raise InvalidInput(
                    f"Head {move.object_id!r} can't move from revision {move.expected} to {move.revision}: "
                    "revisions grow, from 0 for what does not exist.",
                    field="heads",
                )
            if move.kind == "memory" and move.status == "active" and not move.content_hash:
                raise InvalidInput(f"The active memory {move.object_id!r} has no content hash.", field="heads")
        partitions = {draft.scope.partition, *draft.base, *(move.partition for move in moves)}
        return cls(draft, encode(draft.batches), moves, sorted(partitions))


class Commits:
    """The part of the ledger that writes changes."""

    _store: Store

    def commit(self, draft: Draft) -> Change:
        """Write one change and return it with its seq and recorded_at.

        The draft's own partition, those of ``base`` and those of its heads move by one version. A draft is known by
        its key, without one by its change_id: committed before, it is answered with the change that is there.

        Raises:
            InvalidInput: the draft contradicts itself or a table's contract.
            ScopeChanged: a partition's version, a head, or the uniqueness of an active claim no longer fits.
            LeaseLost: the fence's lease isn't held any more, or a pending add in ``done`` has left the queue.
            Conflict: the key was used for another request.
            StoreBusy, StoreUnavailable: nothing was written, or the server went away and a repetition will tell.
        """
        writing = Writing.of(draft)
        try:
            change = self._store.attempt(lambda connection: _write(connection, writing))
        except StoreUnavailable:
            # The connection may have broken between the server's COMMIT and its answer.
            found = self.change(draft.change_id)
            if found is None:
                raise
            change = found
        failpoints.reach("commit.durable")
        return change

    def by_key(self, project_id: str, key: str) -> KeyRecord | None:
        """Return what was committed under an idempotency key."""
        with self._store.read() as connection:
            row = _key(connection, project_id, key)
        return None if row is None else KeyRecord(row.key, row.digest, row.change_id, row.result)

    def change(self, change_id: str) -> Change | None:
        """Return one change; changes are never pruned from the ledger."""
        with self._store.read() as connection:
            return _change(connection, change_id)


def _write(connection: Connection, writing: Writing) -> Change:
    draft = writing.draft
    failpoints.reach("commit.begun")
    earlier = _claim_key(connection, draft) if draft.key else _change(connection, draft.change_id)
    if earlier is not None and draft.joined:
        raise _done_already(draft.key)
    if earlier is not None:
        return earlier
    for joined in draft.joined:
        if joined.key and _claim_key(connection, replace(draft, key=joined.key, digest=joined.digest)) is not None:
            raise _done_already(joined.key)
    failpoints.reach("commit.key")
    if draft.fence is not None:
        check_fence(connection, draft.fence)
    check_partitions(connection, writing.partitions, draft.base)
    _write_rows(connection, writing)
    failpoints.reach("commit.rows")
    growth = move_heads(connection, writing.moves, draft.change_id)
    move_partitions(connection, writing.partitions, growth, draft.change_id)
    failpoints.reach("commit.heads")
    for done in filter(None, (draft.done, *(joined.done for joined in draft.joined))):
        _finish_pending(connection, done)
    change = _number(connection, writing)
    failpoints.reach("commit.seq")
    return change


def _done_already(key: str) -> ScopeChanged:
    return ScopeChanged(f"The add with the key {bounded(key)} was committed meanwhile; decide again without it.")


def _claim_key(connection: Connection, draft: Draft) -> Change | None:
    # On PostgreSQL the insert waits for another transaction that holds the same key; afterwards its row is visible.
    claimed = connection.execute(
        _key_claim(connection.dialect.name),
        {
            "project_id": draft.scope.project_id,
            "key": draft.key,
            "digest": draft.digest,
            "change_id": draft.change_id,
            "result": draft.result,
        },
    ).first()
    if claimed is not None:
        return None
    row = _key(connection, draft.scope.project_id, draft.key)
    if row is not None and row.digest != draft.digest:
        raise Conflict(
            f"The idempotency key {bounded(draft.key)} was used for another request (change {row.change_id}): "
            "repeat that request unchanged, or give the new one a key of its own."
        )
    return None if row is None else _change(connection, row.change_id)


def _key(connection: Connection, project_id: str, key: str) -> Row[tuple[object, ...]] | None:
    return connection.execute(_KEY, {"project": project_id, "name": key}).first()


def _change(connection: Connection, change_id: str) -> Change | None:
    row = connection.execute(_CHANGE, {"id": change_id}).first()
    return None if row is None else change_of(row)


def _write_rows(connection: Connection, writing: Writing) -> None:
    if writing.rows:
        connection.execute(
            _LOG,
            [
                {"change_id": writing.draft.change_id, "table_name": table, "n": count, "rows": rows}
                for table, (count, rows) in writing.rows.items()
            ],
        )


def _finish_pending(connection: Connection, add_id: str) -> None:
    gone = connection.execute(delete(schema.pending).where(schema.pending.c.add_id == add_id))
    if not gone.rowcount:
        raise LeaseLost(f"The pending add {add_id!r} was completed or dropped by another worker; nothing was written.")


def _number(connection: Connection, writing: Writing) -> Change:
    draft = writing.draft
    row = connection.execute(_COUNT).one()
    change = Change(
        change_id=draft.change_id,
        seq=row.seq,
        kind=draft.kind,
        scope=draft.scope,
        actor=draft.actor,
        reason=draft.reason,
        run_id=draft.run_id,
        recorded_at=schema.instant(row.at),
        counts=dict(draft.counts),
        undoes=draft.undoes,
    )
    size = sum(len(rows) for _, rows in writing.rows.values())
    connection.execute(_CHANGES, change_values(change, size))
    return change

"""Reading the log: changes, entries in order, the pin and the tail; and pruning what the tables hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from sqlalchemy import Connection, Row, delete, select, update

from mindmem.core.errors import Conflict, CorruptStore, StaleGeneration
from mindmem.core.ledger import schema
from mindmem.core.ledger.codec import DERIVED, Block, stamped
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.leases import check_fence
from mindmem.core.ledger.port import Entry, Fence, Snapshot
from mindmem.core.ledger.statements import change_of
from mindmem.core.records import Change, Partition
from mindmem.core.tables.rows import changes_table

__all__ = ["History"]

PAGE_CHANGES: Final = 256
PAGE_BYTES: Final = 8_000_000
"""A page of the log ends at the change with which it holds this many bytes."""
PRUNE_CHANGES: Final = 2000
"""Changes pruned in one transaction, so that writers wait for some tens of milliseconds at most."""


class History:
    """The part of the ledger that reads the log and lets go of what was folded."""

    _store: Store

    def last_seq(self) -> int:
        """Return the seq of the newest change, 0 for an empty log."""
        with self._store.read() as connection:
            return _last_seq(connection)

    def changes(
        self, *, partition: Partition | None = None, project_id: str | None = None, after: int = 0,
        newest_first: bool = False, limit: int = 100,
    ) -> list[Change]:  # fmt: skip
        """Return changes with ``seq > after``, by seq; those of a partition are the ones with its scope."""
        table = schema.changes
        query = select(table).where(table.c.seq > after).limit(limit)
        query = query.order_by(table.c.seq.desc() if newest_first else table.c.seq)
        if partition is not None:
            query = query.where(table.c.project_id == partition.project_id, table.c.user_id == partition.user_id)
        if project_id is not None:
            query = query.where(table.c.project_id == project_id)
        with self._store.read() as connection:
            return [change_of(row) for row in connection.execute(query)]

    def read_log(self, after: int, upto: int | None = None, *, tables: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield the entries with ``after < seq <= upto`` in order, read in pages of about 8 MB.

        Without ``upto`` it ends with the change that was the newest when reading began. No transaction is open while
        an entry is out. An entry has no rows for the table ``changes``: they are its ``change``.

        Raises:
            CorruptStore: seq has a gap.
            StaleGeneration: ``after`` lies below what was pruned, so the reader must rebuild from the tables.
        """
        with self._store.read() as connection:
            last = _last_seq(connection)
        end = last if upto is None else min(upto, last)
        while after < end:
            with self._store.read() as connection:
                page, blocks = _page(connection, after, end, tables)
            for row in page:
                yield Entry(
                    change=change_of(row),
                    batches={table: stamped(table, [block]) for table, block in blocks.get(row.change_id, {}).items()},
                )
            after = page[-1].seq

    def pruned_to(self) -> int:
        """Return the seq up to which the log's rows were folded and pruned."""
        with self._store.read() as connection:
            pruned: int = connection.execute(select(schema.store.c.pruned_to)).scalar_one()
        return pruned

    def snapshot(self, tables: Sequence[str]) -> Snapshot:
        """Return pin and tail of these tables in one transaction; the tail of ``changes`` is made of the changes."""
        changes, log = schema.changes, schema.log
        with self._store.read() as connection:
            pin = connection.execute(select(schema.store)).one()
            last = _last_seq(connection)
            rows = connection.execute(
                select(changes).where(changes.c.seq > pin.pinned_seq, changes.c.seq <= last).order_by(changes.c.seq)
            ).all()
            _assert_gapless(rows, pin.pinned_seq, last)
            blocks: dict[str, list[Block]] = {table: [] for table in tables}
            stored = connection.execute(
                select(log.c.table_name, log.c.rows, changes.c.change_id, changes.c.seq, changes.c.recorded_at)
                .join_from(changes, log, changes.c.change_id == log.c.change_id)
                .where(changes.c.seq > pin.pinned_seq, changes.c.seq <= last, log.c.table_name.in_(list(tables)))
                .order_by(changes.c.seq)
            )
            for row in stored:
                blocks[row.table_name].append(Block(row.change_id, row.seq, row.recorded_at, row.rows))
        tail: dict[str, pa.Table] = {table: stamped(table, some) for table, some in blocks.items()}
        if DERIVED in tail:
            tail[DERIVED] = changes_table(change_of(row) for row in rows)
        versions: Mapping[str, int] = json.loads(pin.versions)
        return Snapshot(
            versions={table: versions[table] for table in tables if table in versions},
            pinned_seq=pin.pinned_seq,
            last_seq=last,
            tail=tail,
        )

    def pin(self, versions: Mapping[str, int], seq: int, fence: Fence) -> None:
        """Record that the tables at these versions hold every row up to ``seq``; ``versions`` holds all tables.

        Raises:
            LeaseLost: the fence's lease isn't held any more.
            Conflict: ``seq`` is not in the log, or lies below an earlier pin.
        """
        table = schema.store
        with self._store.write() as connection:
            check_fence(connection, fence)
            last = _last_seq(connection)
            pinned = connection.execute(select(table.c.pinned_seq).with_for_update()).scalar_one()
            if not pinned <= seq <= last:
                raise Conflict(f"The pin can't move to seq {seq}: it is at {pinned}, and the log ends at {last}.")
            text = json.dumps(dict(versions), sort_keys=True)
            connection.execute(update(table).values(versions=text, pinned_seq=seq))

    def pinned(self) -> tuple[dict[str, int], int]:
        """Return the pinned table versions and seq."""
        with self._store.read() as connection:
            row = connection.execute(select(schema.store.c.versions, schema.store.c.pinned_seq)).one()
        versions: dict[str, int] = json.loads(row.versions)
        return versions, row.pinned_seq

    def prune(self, upto: int) -> int:
        """Drop log rows (not changes) with seq <= ``upto`` and at most the pinned seq; return how many."""
        changes, table = schema.changes, schema.store
        dropped = 0
        while True:
            with self._store.write() as connection:
                pin = connection.execute(select(table.c.pinned_seq, table.c.pruned_to).with_for_update()).one()
                end = min(upto, pin.pinned_seq, pin.pruned_to + PRUNE_CHANGES)
                if end <= pin.pruned_to:
                    return dropped
                span = select(changes.c.change_id).where(changes.c.seq > pin.pruned_to, changes.c.seq <= end)
                dropped += connection.execute(delete(schema.log).where(schema.log.c.change_id.in_(span))).rowcount
                connection.execute(update(table).values(pruned_to=end))


def _last_seq(connection: Connection) -> int:
    seq: int = connection.execute(select(schema.counter.c.seq)).scalar_one()
    return seq


def _page(
    connection: Connection, after: int, end: int, tables: Sequence[str] | None
) -> tuple[list[Row[Any]], dict[str, dict[str, Block]]]:
    """Return the next changes and their log rows by change id and table."""
    changes, log = schema.changes, schema.log
    pruned = connection.execute(select(schema.store.c.pruned_to)).scalar_one()
    if after < pruned:
        raise StaleGeneration(
            f"The log's rows up to seq {pruned} were folded and pruned, this reader stands at {after}: rebuild it from "
            "the tables."
        )
    page: list[Row[Any]] = []
    size = 0
    upto = min(end, after + PAGE_CHANGES)
    query = select(changes).where(changes.c.seq > after, changes.c.seq <= upto).order_by(changes.c.seq)
    for row in connection.execute(query).all():
        page.append(row)
        size += row.size
        if size >= PAGE_BYTES:
            upto = row.seq
            break
    _assert_gapless(page, after, upto)
    stamps = {row.change_id: row for row in page}
    stored = select(log.c.change_id, log.c.table_name, log.c.rows).where(log.c.change_id.in_(list(stamps)))
    if tables is not None:
        stored = stored.where(log.c.table_name.in_(list(tables)))
    blocks: dict[str, dict[str, Block]] = {}
    for row in connection.execute(stored):
        stamp = stamps[row.change_id]
        blocks.setdefault(row.change_id, {})[row.table_name] = Block(
            row.change_id, stamp.seq, stamp.recorded_at, row.rows
        )
    return page, blocks


def _assert_gapless(rows: Sequence[Row[Any]], after: int, upto: int) -> None:
    seen = [row.seq for row in rows]
    if seen != list(range(after + 1, upto + 1)):
        missing = next(seq for seq in range(after + 1, upto + 1) if seq not in set(seen))
        raise CorruptStore(
            f"The log lacks change {missing} between {after} and {upto}: restore the ledger from a backup, or run "
            "`mindmem doctor --rebuild-ledger`."
        )

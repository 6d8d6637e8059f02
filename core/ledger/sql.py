"""The ledger over SQLAlchemy Core: one code for SQLite (default) and PostgreSQL (when several machines write).

Each part of the port is a class of its own: commits, state, history, leases, queue, buffers, quarantine, calls of
models.
"""

import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from sqlalchemy import URL, Column, Connection, insert, inspect, select, text
from sqlalchemy.schema import CreateColumn

from mindmem.core.errors import StoreUnavailable
from mindmem.core.ledger import schema
from mindmem.core.ledger.buffers import Buffers
from mindmem.core.ledger.calls import Calls
from mindmem.core.ledger.commit import Commits
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.history import History
from mindmem.core.ledger.leases import Leases
from mindmem.core.ledger.port import Head, KeyRecord, ScopeState
from mindmem.core.ledger.quarantine import Quarantine
from mindmem.core.ledger.queue import Queue
from mindmem.core.ledger.restore import restore
from mindmem.core.ledger.state import State
from mindmem.core.records import Change, Partition
from mindmem.core.records.llm_call import LlmCall
from mindmem.core.sqlite_access import access

__all__ = ["SqlLedger", "open_ledger", "sqlite_url"]

_CREATION_LOCK: Final = 0x6D696E646D656D  # "mindmem": the advisory lock of PostgreSQL under which tables are made


class SqlLedger(Commits, State, History, Leases, Queue, Buffers, Quarantine, Calls):
    """A ledger in a SQLite file or a PostgreSQL database; get one from :func:`open_ledger`.

    One instance may be used from several threads. A forked child must open its own: in it every use of its parent's
    raises StoreUnavailable. Closes as a context manager.
    """

    def __init__(self, store: Store, uuid: str) -> None:
        self._store = store
        self._uuid = uuid

    @property
    def uuid(self) -> str:
        """Return the ledger's identity, fixed at creation; Delta's application transactions carry it."""
        return self._uuid

    def restore(
        self,
        changes: Iterable[Change],
        heads: Iterable[Head],
        keys: Iterable[tuple[str, KeyRecord]],
        states: Mapping[Partition, ScopeState],
        pins: Mapping[str, int],
        uuid: str,
        calls: Sequence[tuple[int, LlmCall]] = (),
    ) -> None:
        """Fill this empty ledger from what the tables hold.

        ``keys`` come with their project, ``calls`` with their number; ``pins`` are versions.

        Afterwards the counter stands at the last change, which is also pinned and pruned to.

        Raises:
            Conflict: the ledger already holds changes.
            CorruptStore: the changes have a gap, or a partition's last seq is not among them.
        """
        restore(self._store, changes, heads, keys, states, pins, calls, uuid)
        self._uuid = uuid

    def close(self) -> None:
        """Close all connections; later use raises StoreUnavailable."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def sqlite_url(file: Path, *, read_only: bool = False) -> str:
    """Return the URL of a ledger in a SQLite file, whatever characters its path holds.

    With ``read_only`` the file, which must be there, is opened so that no write can happen and no writer ever waits.
    """
    if read_only and access(file).writes:  # one that may not be written is opened so by itself
        place = URL.create("sqlite", database=f"file:{quote(str(file))}", query={"mode": "ro", "uri": "true"})
        return place.render_as_string()
    return URL.create("sqlite", database=str(file)).render_as_string()


def open_ledger(url: str, *, lock_timeout: float = 60.0) -> SqlLedger:
    """Open the ledger at a SQLAlchemy URL, and create its tables if there are none.

    Several processes may open a new one at once. A read-only ledger opens, and refuses writes.

    Args:
        url: ``sqlite:////path/to/ledger.db`` (its folder must exist) or ``postgresql://user@host/database``.
        lock_timeout: seconds to wait for another writer before StoreBusy.

    Raises:
        InvalidInput: the URL is neither.
        MissingExtra: PostgreSQL without psycopg.
        StoreUnavailable: it can't be opened or created, or a newer MindMem wrote it.
        StoreBusy: another process holds its write lock.
    """
    store = Store(url, lock_timeout)
    try:
        with store.read() as connection:
            identity = _identity(connection)
            lacking = identity is not None and _is_older(connection)
        store.use_wal()
        if identity is None:
            with store.write() as connection:
                identity = _create(connection, sqlite=store.sqlite)
        elif lacking:
            _complete(store)
        uuid, version = identity
        if version > schema.FORMAT:
            raise StoreUnavailable(
                f"The ledger {store.name} has format {version}, this MindMem knows {schema.FORMAT}: upgrade it "
                "(pip install -U mindmem)."
            )
    except BaseException:
        store.close()
        raise
    return SqlLedger(store, uuid)


def _identity(connection: Connection) -> tuple[str, int] | None:
    """Return uuid and format, or None where there is no ledger yet."""
    if not inspect(connection).has_table(schema.store.name):
        return None
    row = connection.execute(select(schema.store.c.uuid, schema.store.c.format)).first()
    return None if row is None else (row.uuid, row.format)


def _is_older(connection: Connection) -> bool:
    """Return whether an older MindMem made the ledger, which knew fewer tables or columns of this format."""
    return not schema.METADATA.tables.keys() <= set(inspect(connection).get_table_names()) or bool(_missing(connection))


def _missing(connection: Connection) -> list[Column[Any]]:
    """Return the columns that the ledger's tables lack."""
    about = inspect(connection)
    return [
        column
        for column in schema.ADDED
        if column.name not in {known["name"] for known in about.get_columns(column.table.name)}
    ]


def _complete(store: Store) -> None:
    """Make the tables and columns that an older ledger lacks; one that is read-only stays as it is."""
    with suppress(StoreUnavailable), store.write() as connection:
        _alone(connection, sqlite=store.sqlite)
        schema.METADATA.create_all(connection)
        for column in _missing(connection):
            form = CreateColumn(column).compile(dialect=connection.dialect)
            connection.execute(text(f"ALTER TABLE {column.table.name} ADD COLUMN {form}"))


def _alone(connection: Connection, *, sqlite: bool) -> None:
    if not sqlite:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATION_LOCK})


def _create(connection: Connection, *, sqlite: bool) -> tuple[str, int]:
    _alone(connection, sqlite=sqlite)
    identity = _identity(connection)
    if identity is None:
        identity = (uuids.uuid4().hex, schema.FORMAT)
        schema.METADATA.create_all(connection)
        connection.execute(
            insert(schema.store).values(
                id=1, uuid=identity[0], format=identity[1], pinned_seq=0, pruned_to=0, versions="{}"
            )
        )
        connection.execute(insert(schema.counter).values(id=1, seq=0, at=0))
    return identity

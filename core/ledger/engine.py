"""Connections and transactions on SQLite and PostgreSQL, and what their failures mean to a caller."""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import WeakSet

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import QueuePool

from mindmem.core import clock
from mindmem.core.errors import CorruptStore, InvalidInput, MissingExtra, StoreBusy, StoreUnavailable, bounded
from mindmem.core.sqlite_access import access

__all__ = ["Store"]

T = TypeVar("T")

_WRITES: Final = "mindmem_writes"
_ATTEMPTS: Final = 5
_REPEAT: Final = frozenset({"40001", "40P01"})  # serialization failure, deadlock
_BUSY_STATES: Final = frozenset({"55P03", "57014", "53300"})  # lock timeout, cancelled, too many connections


class Store:
    """An engine with the transactions that the ledger needs.

    Connections are pooled and used by one thread at a time. They don't survive a fork: in a forked child every use
    raises StoreUnavailable, and a child that opens the same file anew finds no connection of its parent in its way.

    A SQLite file that may not be written is read; once it may be, the next transaction writes.
    """

    def __init__(self, url: str, lock_timeout: float) -> None:
        self.url = _checked(url)
        self.lock_timeout = lock_timeout
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self._process = os.getpid()
        self._closed = False
        # Who gives SQLite a URI of their own has chosen how the file is opened.
        ours = self.sqlite and "uri" not in self.url.query
        self._access = access(Path(self.url.database or "")) if ours else None
        self._engine = self._sqlite() if self.sqlite else _postgres(self.url, lock_timeout)
        _open.add(self)

    @property
    def name(self) -> str:
        """Return the URL for people, without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a read-only transaction that sees one state throughout."""
        # SQLite needs no option: in WAL mode the first SELECT of a transaction fixes what it sees.
        options = {} if self.sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._translated(), self._transaction(options) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes; on SQLite it holds the write lock from the beginning."""
        with self._translated(), self._transaction({_WRITES: True}) as connection:
            yield connection

    def attempt(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a writing transaction, again when PostgreSQL names it the victim of a deadlock."""
        with self._translated():
            for left in range(_ATTEMPTS - 1, -1, -1):
                try:
                    with self._transaction({_WRITES: True}) as connection:
                        return work(connection)
                except DBAPIError as error:
                    if not left or getattr(error.orig, "sqlstate", None) not in _REPEAT:
                        raise
                    time.sleep(random.uniform(0.005, 0.05))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def use_wal(self) -> None:
        """Switch a SQLite file to write-ahead logging where it isn't (new, or a copy); others may be doing the same.

        A file that is read-only stays as it is.
        """
        if not self.sqlite or (self._access is not None and not self._access.writes):
            return
        give_up = clock.monotonic() + self.lock_timeout
        with self._translated(), self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert isinstance(raw, sqlite3.Connection)
            while raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                try:
                    raw.execute("PRAGMA journal_mode=WAL").fetchone()
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY:
                        return
                    # SQLite doesn't wait here by itself: two that switch at once would wait for each other.
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or clock.monotonic() > give_up:
                        raise DBAPIError("PRAGMA journal_mode=WAL", None, error) from error
                    time.sleep(0.02)

    def let_go(self) -> None:
        """Close the idle connections to a SQLite file; the next use opens new ones.

        Called before a fork: a child that inherited them would take its parent's file locks for its own.
        """
        if self.sqlite and os.getpid() == self._process:
            self._engine.dispose()

    def close(self) -> None:
        """Close the connections; a child of a fork leaves its parent's alone."""
        self._engine.dispose(close=os.getpid() == self._process)
        self._closed = True

    @contextmanager
    def _transaction(self, options: Mapping[str, Any]) -> Iterator[Connection]:
        if os.getpid() != self._process:
            raise StoreUnavailable(
                f"The ledger {self.name} was opened by process {self._process} and is used in its forked child "
                f"{os.getpid()}: open it anew in the child."
            )
        if self._closed:
            raise StoreUnavailable(f"The ledger {self.name} was closed: open it anew.")
        allowed = self._access
        if allowed is not None and not allowed.writes and (now := access(allowed.path)) != allowed:
            self._access = allowed = now
            self._engine.dispose()
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection
        if allowed is not None and allowed.state and access(allowed.path) != allowed:
            raise StoreBusy(f"The ledger {self.name} was written by another machine while it was read: read it again.")

    def _sqlite(self) -> Engine:
        engine = create_engine(
            self.url,
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=-1,
            connect_args={"timeout": self.lock_timeout, "check_same_thread": False},
        )

        @event.listens_for(engine, "do_connect")
        def _choose(_: object, __: object, arguments: list[Any], options: dict[str, Any]) -> None:
            if self._access is not None and not self._access.writes:
                arguments[0] = self._access.uri
                options["uri"] = True

        @event.listens_for(engine, "connect")
        def _prepare(connection: sqlite3.Connection, _: object) -> None:
            # The driver must not begin by itself: its deferred transactions can't wait when they turn into writers.
            connection.isolation_level = None
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            writes = connection.get_execution_options().get(_WRITES, False)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            meaning = _meaning(error, self.name, self.lock_timeout)
            if meaning is None:
                raise
            raise meaning from error


_open: "WeakSet[Store]" = WeakSet()


def _before_fork() -> None:
    for store in list(_open):
        store.let_go()


os.register_at_fork(before=_before_fork)


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise InvalidInput(
            # What came may hold a password, so only its beginning is told.
            f"The ledger's URL, which begins with {bounded(url[:8])}, can't be read: give "
            "sqlite:////path/to/ledger.db or postgresql://user@host/database.",
            field="ledger_url",
        ) from error
    backend = parsed.get_backend_name()
    if backend in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database not in {None, "", ":memory:"}:
        return parsed
    raise InvalidInput(
        f"A ledger lives in a SQLite file or in PostgreSQL, not in {parsed.drivername!r} with database "
        f"{bounded(parsed.database)}: give sqlite:////path/to/ledger.db or postgresql://user@host/database.",
        field="ledger_url",
    )


def _postgres(url: URL, lock_timeout: float) -> Engine:
    try:
        engine = create_engine(
            url, poolclass=QueuePool, pool_size=4, max_overflow=-1, pool_pre_ping=True, isolation_level="READ COMMITTED"
        )
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise MissingExtra("A ledger in PostgreSQL needs psycopg: pip install 'mindmem[postgres]'.") from error

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: object) -> None:  # a psycopg connection; the extra may be absent
        connection.execute(f"SET lock_timeout = {max(1, int(lock_timeout * 1000))}")
        connection.commit()

    return engine


def _meaning(error: DBAPIError, name: str, lock_timeout: float) -> Exception | None:
    original = error.orig
    told = str(original).strip() or type(original).__name__
    busy = StoreBusy(
        f"The ledger {name} was locked by other writers for over {lock_timeout:g} s ({told}): try again, or raise "
        "MINDMEM_STORE__LOCK_TIMEOUT."
    )
    if isinstance(original, sqlite3.Error):
        return _sqlite_meaning(original, told, name, busy)
    state = getattr(original, "sqlstate", None)
    if state in _BUSY_STATES or state in _REPEAT:
        return busy
    if state is None:
        if error.connection_invalidated or type(original).__name__ in {"OperationalError", "InterfaceError"}:
            return StoreUnavailable(f"The ledger {name} can't be reached ({told}): is the server up, the URL right?")
        return None
    if state == "25006":
        return StoreUnavailable(f"The ledger {name} is read-only ({told}): write to the primary server.")
    if state[:2] == "53":
        return StoreUnavailable(f"The ledger's server {name} is out of space or memory ({told}): free some and repeat.")
    if state[:2] in {"08", "28", "3D", "3F", "57", "58"} or state == "42501":
        return StoreUnavailable(f"The ledger {name} can't be used ({told}): check server, database, user and rights.")
    return None


def _sqlite_meaning(error: sqlite3.Error, told: str, name: str, busy: StoreBusy) -> Exception | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}:
        return busy
    advice = {
        sqlite3.SQLITE_READONLY: "it is read-only: make the file and its folder writable for this user, or its disk",
        sqlite3.SQLITE_FULL: "the disk is full: free some space and repeat",
        sqlite3.SQLITE_CANTOPEN: "it can't be opened: its folder must exist and be readable and writable for this user",
        sqlite3.SQLITE_IOERR: "the disk failed or is full: check space and system log, and repeat",
        sqlite3.SQLITE_PERM: "this user may not use it: check the rights of the file and its folder",
        sqlite3.SQLITE_AUTH: "this user may not use it: check the rights of the file and its folder",
        sqlite3.SQLITE_NOTADB: "it is not a ledger: check the path, or make it anew from the tables with "
        "`mindmem doctor --rebuild-ledger`",
    }.get(code)
    if advice is not None:
        return StoreUnavailable(f"The ledger {name} is not available, {advice} ({told}).")
    if code == sqlite3.SQLITE_CORRUPT:
        return CorruptStore(f"The ledger {name} is damaged ({told}): run `mindmem doctor --rebuild-ledger`.")
    return None

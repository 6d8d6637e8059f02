"""The file of one generation: SQLite in WAL mode, rows clustered by partition, one transaction per apply.

A document's key is its partition's number and its place in that partition, so a partition is one range of every table
and a place is a row of the arrays. Each row carries the ``stamp`` of the apply that wrote it last: a reader that has
seen a partition up to some stamp asks for the later rows only, whichever process wrote them."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final

from mindmem.core import failpoints
from mindmem.core.errors import CorruptStore, OutdatedIndex, StoreBusy, StoreUnavailable
from mindmem.core.index.documents import vector_key
from mindmem.core.index.embedded.codec import encode, micros, pack_terms
from mindmem.core.index.embedded.entity_rows import SCHEMA as ENTITIES
from mindmem.core.index.embedded.entity_rows import Prepared, prepare_entity, write_entity
from mindmem.core.index.port import Document, EntityDocument
from mindmem.core.records import Partition
from mindmem.core.sqlite_access import access

__all__ = ["COLUMNS", "ROOM", "Store"]

FORMAT: Final = 5
"""Raised whenever older files lack something: they are built anew."""
ROOM: Final = 1 << 32
"""Places in a partition: a document's key is ``part * ROOM + place``."""

COLUMNS: Final = (
    "doc", "memory_id", "text_key", "metadata", "app_id", "session_id", "agent_id", "mem_type", "status",
    "property_name", "entity_id", "entity_type", "entity_name", "speaker", "episode", "valid_from", "valid_to",
    "created_at", "recorded_at", "mentions", "terms", "lengths",
)  # fmt: skip
"""Columns that the arrays of a partition are made of."""

_SCHEMA: Final = """
create table if not exists meta (name text primary key, value text not null) without rowid;
create table if not exists parts (
  part integer primary key, project_id text not null, user_id text not null, size integer not null,
  stamp integer not null, unique (project_id, user_id)
);
create table if not exists documents (
  doc integer primary key, part integer not null, stamp integer not null, memory_id text not null unique,
  revision integer not null, seq integer not null, text_key text not null, metadata text,
  app_id text not null, session_id text not null, agent_id text not null, mem_type text not null, status text not null,
  property_name text not null, entity_id text not null, entity_type text not null, entity_name text not null,
  speaker text not null, episode text not null, valid_from integer, valid_to integer, created_at integer not null,
  recorded_at integer, mentions text, terms blob not null, lengths blob not null
);
create index if not exists documents_by_stamp on documents (part, stamp);
create index if not exists documents_by_text on documents (text_key);
create table if not exists records (doc integer primary key, record text not null);
create table if not exists vectors (doc integer primary key, vector blob not null);
create table if not exists tokens (doc integer primary key, ids blob not null, vectors blob not null);
"""
_WRITE: Final = "insert into documents ({names}) values ({marks}) on conflict (doc) do update set {sets}"


class Store:
    """Connections to one file, one a thread. Every method may be called from any thread.

    A file that may not be written is read; once it may be, the next use writes.
    """

    def __init__(self, path: Path, *, create: bool, lock_timeout: float) -> None:
        """Open the file, making it with ``create``.

        Raises:
            OutdatedIndex: it is of an older format.
            StoreUnavailable: it is missing, unreadable, or of a newer format.
            CorruptStore: it is damaged, or not an index.
        """
        self._path = path
        self._timeout = lock_timeout
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._closed = False
        self._lock = threading.Lock()
        if not create and not path.is_file():
            raise StoreUnavailable(f"The index file {path.name} is missing; run: mindmem rebuild-index")
        try:
            with self._told():
                connection = self._connection()
                if create:
                    connection.executescript("begin immediate;" + _SCHEMA + ENTITIES + "commit;")
                    self.set_meta("format", str(FORMAT), only_new=True)
            found = self.meta("format")
            if found != str(FORMAT):
                outdated = found is not None and found.isdecimal() and int(found) < FORMAT
                raise (OutdatedIndex if outdated else StoreUnavailable)(
                    f"The index file has format {found!r}, this version reads '{FORMAT}'; run: mindmem rebuild-index"
                )
        except BaseException:
            self.close()
            raise

    # -- meta
    def meta(self, name: str) -> str | None:
        """Return a named value."""
        with self._told():
            row = self._connection().execute("select value from meta where name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, name: str, value: str, *, only_new: bool = False) -> None:
        """Set a named value, with ``only_new`` unless there is one."""
        how = "nothing" if only_new else "update set value = excluded.value"
        with self._told():
            self._connection().execute(f"insert into meta values (?, ?) on conflict (name) do {how}", (name, value))

    def watermark(self) -> int:
        """Return the seq up to which the file holds every change."""
        return int(self.meta("watermark") or 0)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the file's write lock; commit at the end of the block, roll back on an error.

        Raises:
            StoreBusy: another writer held it for longer than the timeout.
        """
        with self._told():
            connection = self._connection()
            connection.execute("begin immediate")
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise

    # -- writing
    def apply(
        self, documents: Sequence[Document], entities: Sequence[EntityDocument], watermark: int,
        check: Callable[[], None],
    ) -> None:  # fmt: skip
        """Write the newest revision of each document and entity and the watermark in one transaction; ``check`` runs
        inside it first and may refuse."""
        newest: dict[str, Document] = {}
        for document in documents:
            held = newest.get(document.memory.memory_id)
            if held is None or held.memory.revision <= document.memory.revision:
                newest[document.memory.memory_id] = document
        prepared = [
            (document, *pack_terms(document.fields), vector_key(document.memory)) for document in newest.values()
        ]
        ready = [prepare_entity(entity) for entity in entities]
        with self.writing() as connection:
            check()
            if watermark < self.watermark():
                return
            batch = _Batch(connection)
            for document, terms, lengths, key in prepared:
                batch.write(document, terms, lengths, key)
            for entity in ready:
                batch.write_entity(entity)
            batch.finish()
            connection.execute(
                "insert into meta values ('watermark', ?) on conflict (name) do update set value = excluded.value",
                (str(watermark),),
            )
            failpoints.reach("project.applied")
        failpoints.reach("project.durable")

    # -- reading
    def part(self, partition: Partition) -> tuple[int, int, int] | None:
        """Return (number, size, stamp) of a partition that has documents."""
        with self._told():
            row: tuple[int, int, int] | None = (
                self._connection()
                .execute("select part, size, stamp from parts where project_id = ? and user_id = ?", partition)
                .fetchone()
            )
        return row

    def parts(self, project_id: str) -> list[Partition]:
        """Return the project's partitions, ordered by user."""
        return [
            Partition(project_id, row[0])
            for row in self.rows("select user_id from parts where project_id = ? order by user_id", (project_id,))
        ]

    def rows(self, sql: str, arguments: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of one query."""
        with self._told():
            return self._connection().execute(sql, arguments).fetchall()

    def columns(self, sql: str, arguments: Sequence[object] = ()) -> list[list[Any]]:
        """Return the columns of one query, each as long as the query has rows. No two rows are held at once: thousands
        of new tuples would send the garbage collector over the whole heap again and again."""
        with self._told():
            cursor = self._connection().execute(sql, arguments)
            width = len(cursor.description)
            values = list(chain.from_iterable(cursor))
        return [values[at::width] for at in range(width)]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads of this thread in the block see one state of the file."""
        with self._told():
            connection = self._connection()
            connection.execute("begin")
            try:
                yield
            finally:
                connection.execute("commit")

    def close(self) -> None:
        """Close all threads' connections."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()
            self._closed = True

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and (self._local.allowed.writes or connection.in_transaction):
            return connection
        allowed = access(self._path)
        if connection is not None and self._local.allowed == allowed:
            return connection
        fresh = sqlite3.connect(
            self._path if allowed.writes else allowed.uri, uri=not allowed.writes, timeout=self._timeout,
            isolation_level=None, check_same_thread=False, cached_statements=64,
        )  # fmt: skip
        with self._lock:
            if connection is not None and connection in self._open:
                self._open.remove(connection)
                connection.close()
            self._open.append(fresh)
        # NORMAL: after a power cut the last applies may be gone, whole, with their watermark; the ledger has them.
        for pragma in ("page_size = 8192", "journal_mode = wal", "synchronous = normal", "secure_delete = on"):
            if allowed.writes:
                fresh.execute(f"pragma {pragma}")
        self._local.connection, self._local.allowed = fresh, allowed
        return fresh

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise StoreBusy(
                    f"Another process kept the index file {self._path.name} locked for {self._timeout:g} s; try again."
                ) from error
            if str(error).startswith("no such"):  # a table of its own is gone
                raise self._damaged(error) from error
            raise StoreUnavailable(
                f"The index file {str(self._path)!r} can't be used ({error}): its disk needs free space, and this user "
                "the right to write to the file and its folder. What was added is in the ledger."
            ) from error
        except sqlite3.ProgrammingError as error:
            if self._closed:
                raise StoreUnavailable("This Memory is closed: open a new one.") from error
            raise
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error
        allowed = getattr(self._local, "allowed", None)
        if allowed is not None and allowed.state and access(allowed.path) != allowed:
            raise StoreBusy(f"The index file {str(self._path)!r} was written while it was read: read it again.")

    def _damaged(self, error: sqlite3.Error) -> CorruptStore:
        return CorruptStore(f"The index file {self._path.name} is damaged ({error}); run: mindmem rebuild-index")


def _mentions(document: Document) -> str | None:
    return json.dumps(document.memory.mentions) if document.memory.mentions else None


def _metadata(document: Document) -> str | None:
    metadata = dict(document.memory.metadata)
    return json.dumps(metadata, ensure_ascii=False, separators=(",", ":")) if metadata else None


class _Batch:
    """The writes of one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._parts: dict[Partition, list[int]] = {}
        names = [*COLUMNS, "part", "stamp", "revision", "seq"]
        changing = [name for name in names if name not in ("doc", "memory_id", "part", "created_at")]
        self._sql = _WRITE.format(
            names=", ".join(names),
            marks=", ".join(f":{name}" for name in names),
            sets=", ".join(f"{name} = excluded.{name}" for name in changing),
        )

    def write(self, document: Document, terms: bytes, lengths: bytes, key: str) -> None:
        memory, scope = document.memory, document.memory.scope
        found = self._connection.execute(
            "select doc, revision, text_key from documents where memory_id = ?", (memory.memory_id,)
        ).fetchone()
        if found is not None and found[1] > memory.revision:
            return
        part = self._part(scope.partition)
        if found is None:
            doc = part[0] * ROOM + part[1]
            part[1] += 1
        else:
            doc = found[0]
        self._connection.execute(
            self._sql,
            {
                "doc": doc, "memory_id": memory.memory_id, "text_key": key, "app_id": scope.app_id,
                "metadata": _metadata(document), "mentions": _mentions(document), "session_id": scope.session_id,
                "agent_id": scope.agent_id,
                "mem_type": memory.mem_type, "status": memory.status, "property_name": memory.property_name,
                "entity_id": memory.entity_id, "entity_type": memory.entity_type, "entity_name": memory.entity_name,
                "speaker": memory.speaker, "episode": memory.episode,
                "valid_from": micros(memory.valid_from), "valid_to": micros(memory.valid_to),
                "created_at": micros(document.created_at), "recorded_at": micros(memory.recorded_at), "terms": terms,
                "lengths": lengths, "part": part[0], "stamp": part[2], "revision": memory.revision, "seq": memory.seq,
            },
        )  # fmt: skip
        self._connection.execute("insert or replace into records values (?, ?)", (doc, encode(memory)))
        self._vectors(document, doc, key, changed=found is None or found[2] != key)

    def write_entity(self, prepared: Prepared) -> None:
        part = self._part(prepared.document.entity.scope.partition)
        write_entity(self._connection, prepared, part[0], part[2])

    def finish(self) -> None:
        self._connection.executemany(
            "update parts set size = ?, stamp = ? where part = ?",
            [(size, stamp, part) for part, size, stamp in self._parts.values()],
        )

    def _part(self, partition: Partition) -> list[int]:
        if partition not in self._parts:
            self._connection.execute("insert or ignore into parts values (null, ?, ?, 0, 0)", partition)
            part, size, stamp = self._connection.execute(
                "select part, size, stamp from parts where project_id = ? and user_id = ?", partition
            ).fetchone()
            self._parts[partition] = [part, size, stamp + 1]
        return self._parts[partition]

    def _vectors(self, document: Document, doc: int, key: str, *, changed: bool) -> None:
        embedding = document.embedding
        if embedding is not None:
            vector, tokens = embedding.vector.astype("<f4").tobytes(), embedding.tokens
            self._connection.execute("insert or replace into vectors values (?, ?)", (doc, vector))
            if tokens is not None and len(tokens.ids):
                self._connection.execute(
                    "insert or replace into tokens values (?, ?, ?)",
                    (doc, tokens.ids.astype("<u2").tobytes(), tokens.vectors.astype("i1").tobytes()),
                )
            else:
                self._connection.execute("delete from tokens where doc = ?", (doc,))
        elif changed:
            twin = self._connection.execute(
                "select v.doc from documents d join vectors v on v.doc = d.doc where d.text_key = ? and d.doc <> ? "
                "limit 1",
                (key, doc),
            ).fetchone()
            for table, columns in (("vectors", "vector"), ("tokens", "ids, vectors")):
                self._connection.execute(f"delete from {table} where doc = ?", (doc,))
                if twin is not None:
                    self._connection.execute(
                        f"insert into {table} select ?, {columns} from {table} where doc = ?", (doc, twin[0])
                    )

"""The ledger's tables, and the SQL expressions that differ between SQLite and PostgreSQL.

All times are whole microseconds since 1970 (UTC): both databases compare and add them alike. Words that a caller may
have written (reasons, payloads, raw inputs, keys) are stored as UTF-8 bytes, because a PostgreSQL text refuses NUL and
neither database takes a lone surrogate.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    TextClause,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT as PG_TEXT
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

__all__ = [
    "ACTIVE_CLAIM",
    "ADDED",
    "FORMAT",
    "METADATA",
    "call_counter",
    "changes",
    "counter",
    "database_now",
    "heads",
    "instant",
    "keys",
    "later",
    "leases",
    "llm_calls",
    "log",
    "messages_of",
    "meta",
    "micros",
    "pending",
    "quarantine",
    "scopes",
    "store",
    "watermarks",
]

FORMAT: Final = 1
"""Version of this module's tables; a ledger of a newer one is refused."""

METADATA: Final = MetaData()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Return an aware datetime as microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def instant(at: int) -> datetime:
    """Return microseconds since 1970 as an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=at)


class _Words(TypeDecorator[str]):
    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002 (the base's signature)
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002 (the base's signature)
        return None if value is None else bytes(value).decode("utf-8", "surrogatepass")


class database_now(FunctionElement[int]):  # noqa: N801 (reads as a SQL function)
    """The database's clock in microseconds since 1970, read when the statement runs (SQLite: whole milliseconds)."""

    type = BigInteger()
    inherit_cache = True


class later(FunctionElement[int]):  # noqa: N801 (reads as a SQL function)
    """The greater of two numbers."""

    type = BigInteger()
    inherit_cache = True

    def __init__(self, left: ColumnElement[int], right: ColumnElement[int]) -> None:
        super().__init__(left, right)


@compiles(database_now, "sqlite")
def _sqlite_now(*_: object, **__: object) -> str:
    return "(CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000)"


@compiles(database_now, "postgresql")
def _postgres_now(*_: object, **__: object) -> str:
    # clock_timestamp, not now(): the latter stands still from the transaction's begin on.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"


@compiles(later, "sqlite")
def _sqlite_later(element: later, compiler: SQLCompiler, **options: Any) -> str:  # passed through to SQLAlchemy
    return f"max({compiler.process(element.clauses, **options)})"


@compiles(later, "postgresql")
def _postgres_later(element: later, compiler: SQLCompiler, **options: Any) -> str:  # passed through to SQLAlchemy
    return f"greatest({compiler.process(element.clauses, **options)})"


class messages_of(FunctionElement[int]):  # noqa: N801 (reads as a SQL function)
    """How many messages a pending add's payload holds."""

    type = BigInteger()
    inherit_cache = True


@compiles(messages_of, "sqlite")
def _sqlite_messages(element: messages_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array_length(CAST({compiler.process(element.clauses, **options)} AS TEXT), '$.messages')"


@compiles(messages_of, "postgresql")
def _postgres_messages(element: messages_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array_length(convert_from({compiler.process(element.clauses, **options)}, 'UTF8')::json->'messages')"


# Ids sort by code point on both databases, whatever the server's locale.
_ID: Final = Text().with_variant(PG_TEXT(collation="C"), "postgresql")
_PLACE: Final = BigInteger().with_variant(Integer, "sqlite")


def _id(name: str, *, primary_key: bool = False) -> Column[str]:
    return Column(name, _ID, primary_key=primary_key, nullable=False)


def _words(name: str) -> Column[str]:
    return Column(name, _Words, nullable=False)


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _single_row() -> Column[int]:
    return Column("id", SmallInteger, primary_key=True, autoincrement=False)


def _place() -> Column[int]:
    return Column("place", _PLACE, primary_key=True, autoincrement=True)


def _scope() -> list[Column[str]]:
    return [_id(name) for name in ("project_id", "user_id", "app_id", "agent_id", "session_id")]


store = Table(
    "ledger_store",
    METADATA,
    _single_row(),
    _id("uuid"),
    _number("format"),
    _number("pinned_seq"),
    _number("pruned_to"),
    _words("versions"),
)
"""One row: identity, format, and what the tables hold (``versions`` is {table: Delta version} as JSON)."""

counter = Table("ledger_counter", METADATA, _single_row(), _number("seq"), _number("at"))
"""One row: seq and time of the newest change. Its row lock orders the commits."""

changes = Table(
    "ledger_changes",
    METADATA,
    Column("seq", _PLACE, primary_key=True, autoincrement=False),
    _id("change_id"),
    _id("kind"),
    *_scope(),
    _words("actor"),
    _words("reason"),
    _words("run_id"),
    _id("undoes"),
    _words("counts"),
    _number("recorded_at"),
    _number("size"),
    UniqueConstraint("change_id"),
    Index("ledger_changes_partition", "project_id", "user_id", "seq"),
)
"""One row a change; ``size`` is the bytes of its log rows, by which readers bound a page."""

log = Table(
    "ledger_log",
    METADATA,
    _id("change_id", primary_key=True),
    _id("table_name", primary_key=True),
    _number("n"),
    Column("rows", LargeBinary, nullable=False),
)
"""The rows that a change wrote, by table: ``n`` rows as an Arrow IPC stream."""

scopes = Table(
    "ledger_scopes",
    METADATA,
    _id("project_id", primary_key=True),
    _id("user_id", primary_key=True),
    _number("version"),
    _number("active"),
    _id("change_id"),
)
"""One row a partition; ``change_id`` is its last change, whose seq is the partition's last seq."""

ACTIVE_CLAIM: Final[TextClause] = text("kind = 'memory' AND status = 'active'")
"""The heads among which a claim is unique. Literal, so that SQLite proves that the partial index serves a query."""

heads = Table(
    "ledger_heads",
    METADATA,
    _id("kind", primary_key=True),
    _id("object_id", primary_key=True),
    _id("project_id"),
    _id("user_id"),
    _id("scope_key"),
    _number("revision"),
    _id("status"),
    _id("content_hash"),
    _id("change_id"),
    Index(
        "ledger_heads_claim",
        "scope_key",
        "content_hash",
        unique=True,
        sqlite_where=ACTIVE_CLAIM,
        postgresql_where=ACTIVE_CLAIM,
    ),
)
"""One row an object: its newest revision."""

keys = Table(
    "ledger_keys",
    METADATA,
    _id("project_id", primary_key=True),
    Column("key", _Words, primary_key=True),
    _id("digest"),
    _id("change_id"),
    _words("result"),
)
"""Idempotency keys that were used."""

leases = Table(
    "ledger_leases", METADATA, _id("name", primary_key=True), _words("owner"), _number("token"), _number("expires_at")
)
"""One row a lease that was ever taken; it stays when released, so that tokens only grow."""

watermarks = Table("ledger_watermarks", METADATA, _id("name", primary_key=True), _number("seq"))
"""How far each projection has read."""

meta = Table("ledger_meta", METADATA, _id("name", primary_key=True), _words("value"))
"""Small named values."""

pending = Table(
    "ledger_pending",
    METADATA,
    _place(),
    _id("add_id"),
    *_scope(),
    _words("payload"),
    _number("attempts"),
    _number("enqueued_at"),
    _number("due_at"),
    _words("owner"),
    _words("last_error"),
    UniqueConstraint("add_id"),
)
"""Adds that wait. A claim moves ``due_at`` to its own end: a crash gives the add back without anybody's doing."""

quarantine = Table(
    "ledger_quarantine",
    METADATA,
    _place(),
    _id("quarantine_id"),
    *_scope(),
    _words("origin"),
    _number("line"),
    _words("reason"),
    _words("raw"),
    _id("state"),
    _number("quarantined_at"),
    UniqueConstraint("quarantine_id"),
)
"""Inputs that could not be processed, raw."""

llm_calls = Table(
    "ledger_llm_calls",
    METADATA,
    _id("call_id", primary_key=True),
    _number("number"),
    *_scope(),
    _words("run_id"),
    _id("purpose"),
    _id("prompt"),
    _id("version"),
    _id("digest"),
    _id("model"),
    _number("input_tokens"),
    _number("output_tokens"),
    Column("cost", Float(53)),
    Column("latency_ms", Float(53), nullable=False),
    _number("retries"),
    Column("cached", SmallInteger, nullable=False),
    _id("outcome"),
    _number("called_at"),
    _words("error"),
    Column("estimated", SmallInteger, nullable=False, server_default="0"),
    Index("ledger_llm_calls_number", "number"),
    Index("ledger_llm_calls_day", "project_id", "called_at"),
    Index("ledger_llm_calls_run", "project_id", "run_id"),
)
"""One row a call of a model; ``number`` is its place in the record of calls."""

ADDED: Final[tuple[Column[Any], ...]] = (llm_calls.c.estimated,)
"""Columns that ledgers of this format may lack, since an older MindMem made them; each has a default."""

call_counter = Table("ledger_call_counter", METADATA, _single_row(), _number("number"))
"""One row once there was a call: the number of the newest one. Its row lock orders the calls."""

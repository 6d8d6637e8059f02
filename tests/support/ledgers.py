"""Ledgers to test with: on SQLite always, on PostgreSQL where ``MINDMEM_TEST_POSTGRES`` names a server.

Take the fixtures into a folder's ``conftest.py``: ``from support.ledgers import ledger, ledger_url``.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import Connection, create_engine

from mindmem.core import ids
from mindmem.core.ledger.port import Draft, HeadMove
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.records import Memory, Scope, Status
from mindmem.core.tables.rows import memories_table

__all__ = [
    "ANN",
    "BOB",
    "SERVER",
    "adding",
    "beside",
    "claim",
    "ledger",
    "ledger_url",
    "ledger_urls",
    "postgres_url",
    "revising",
]

SERVER = os.environ.get("MINDMEM_TEST_POSTGRES", "").replace("postgresql+psycopg://", "postgresql://")
"""URL of the test server as psycopg takes it, empty where there is none."""

WHY_SKIPPED = "MINDMEM_TEST_POSTGRES is not set: it names a PostgreSQL server on which schemas may be created"

ANN = Scope.of("ann")
BOB = Scope.of("bob")


def ledger_urls() -> list[object]:
    """Return the kinds of ledger as test parameters; the second carries the marker ``postgres`` and may skip."""
    skips = pytest.mark.skipif(not SERVER, reason=WHY_SKIPPED)
    return [pytest.param("sqlite"), pytest.param("postgres", marks=[pytest.mark.postgres, skips])]


@contextmanager
def postgres_url() -> Iterator[str]:
    """Give the URL of a schema of its own on the test server; it is dropped afterwards."""
    schema = f"mindmem_test_{uuid4().hex}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}"')
    try:
        yield f"{SERVER}{'&' if '?' in SERVER else '?'}options={quote(f'-csearch_path={schema}')}"
    finally:
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')


@pytest.fixture(params=ledger_urls())
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the URL of a new ledger, of each kind in turn."""
    if request.param == "sqlite":
        yield sqlite_url(tmp_path / "ledger.db")
    else:
        with postgres_url() as url:
            yield url


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[SqlLedger]:
    """Give a new, empty ledger."""
    with open_ledger(ledger_url) as opened:
        yield opened


@contextmanager
def beside(url: str) -> Iterator[Connection]:
    """Give a transaction on the ledger's database, beside the ledger, to break or lock something; then commit it."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def claim(content: str, *, scope: Scope = ANN, revision: int = 1, status: Status = "active", name: str = "") -> Memory:
    """Return a memory with that content; ``name`` gives it an id other than the content's own."""
    return Memory(
        memory_id=f"mem_{name}" if name else ids.memory_id(scope.key, "", "", content, ""),
        revision=revision,
        scope=scope,
        mem_type="fact",
        content=content,
        content_hash=ids.content_hash(content),
        status=status,
    )


def revising(memories: Sequence[Memory], *, scope: Scope = ANN, base: int | None = None, **fields: Any) -> Draft:
    """Return a draft that writes these revisions, each following the one before it; ``fields`` are the draft's own."""
    moves = [
        HeadMove(
            "memory",
            memory.memory_id,
            memory.scope.partition,
            memory.scope.key,
            memory.revision - 1,
            memory.revision,
            memory.status,
            memory.content_hash,
        )
        for memory in memories
    ]
    draft = Draft(
        change_id=ids.change_id(),
        kind="add",
        scope=scope,
        actor="test",
        batches={"memories": memories_table(memories)},
        heads=moves,
        base={scope.partition: base},
    )
    return replace(draft, **fields)


def adding(*contents: str, scope: Scope = ANN, base: int | None = None, **fields: Any) -> Draft:
    """Return a draft that adds a memory for each content; ``fields`` are the draft's own."""
    return revising([claim(content, scope=scope) for content in contents], scope=scope, base=base, **fields)

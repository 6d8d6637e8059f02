"""Whole stores to break and to compare: open one, run a fixed story on it, read everything that it holds."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from support.embedders import WordEmbedder

from mindmem.core.clock import FixedClock
from mindmem.core.errors import MindMemError
from mindmem.core.memory import Memory
from mindmem.core.records import Partition
from mindmem.core.services import open_services
from mindmem.core.settings import Settings

__all__ = ["STEPS", "Contents", "contents", "open_store", "patiently", "run_story"]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STAMPS = ("recorded_at", "run_id", "seq", "change_id")
"""Columns in which two runs of the same story may differ."""


def open_store(
    home: Path, ledger_url: str = "", *, tables_uri: str = "", version: str = "1", any_index: bool = False
) -> Memory:
    """Open a store with a real ledger, tables and index, a small embedder, and a clock that stands still."""
    store = {"ledger_url": ledger_url, "tables_uri": tables_uri, "fold_on_close": False, "lease_seconds": 2.0}
    settings = Settings.load({}, home=home, embedder="none", store=store)
    embedder = WordEmbedder(version)
    return Memory(services=open_services(settings, clock=FixedClock(NOW), embedder=embedder, any_index=any_index))


def _say(number: int, user: str, *contents: str) -> Callable[[Memory], object]:
    messages = [
        {
            "role": "user",
            "name": "Ann" if place % 2 == 0 else "Ben",
            "content": content,
            "timestamp": f"2026-02-{number:02d}T10:{place:02d}:00Z",
        }
        for place, content in enumerate(contents)
    ]
    return lambda memory: memory.add(messages, user_id=user, session_id=f"s{number}", idempotency_key=f"story-{number}")


def patiently(step: Callable[[Memory], object], memory: Memory) -> None:
    """Run a step, and again while a lease is held: a process that was killed holds its own until that runs out."""
    while True:
        try:
            step(memory)
        except MindMemError as error:
            if not error.transient:
                raise
            time.sleep(0.1)
        else:
            return


STEPS: tuple[Callable[[Memory], object], ...] = (
    _say(1, "ann", "I live in Oslo.", "I have two cats.", "The printer listens on port 9077."),
    _say(2, "ben", "I live in Oslo.", "My sister works at Initech."),
    Memory.fold,
    _say(3, "ann", "I moved to Rome last week, it is lovely here.", "I live in Bergen."),
    Memory.rebuild_index,
    _say(4, "ann", "I live in Rome.", "We adopted a third cat yesterday!"),
    Memory.fold,
    _say(5, "ben", "我住在上海。", "The deployment to production is not allowed on Fridays."),
)
"""The story: adds for two users with a fold, a rebuild and another fold between them. Every step may be repeated."""


def run_story(home: Path, ledger_url: str = "") -> None:
    """Run every step on the store."""
    memory = open_store(home, ledger_url)
    for step in STEPS:
        patiently(step, memory)
    memory.close()


@dataclass(frozen=True)
class Contents:
    """What a store holds, without the stamps: rows by table, heads, what the index answers for, and disagreements."""

    tables: dict[str, list[str]]
    heads: list[str]
    index: list[str]
    found: list[list[str]]
    findings: tuple[str, ...]


def contents(home: Path, ledger_url: str = "") -> Contents:
    """Read everything; the log is folded first, so that the tables hold all of it."""
    memory = open_store(home, ledger_url)
    patiently(Memory.fold, memory)
    services = memory.services
    tables = {}
    for table in services.tables.existing():
        rows = services.tables.scan(table).collect().drop(STAMPS, strict=False)
        tables[table] = sorted(repr(row) for row in rows.iter_rows())
    ids = services.tables.scan("memories").select("memory_id").unique().collect()["memory_id"].to_list()
    heads = services.ledger.heads("memory", ids)
    index = memory.services.projector.index
    listed = index.scan(Partition("default", ""), None, order="id", limit=1000).memories
    found = [
        [hit.memory.content for hit in memory.search(query, user_id=user).hits]
        for query, user in (("Where does Ann live?", "ann"), ("cats", "ann"), ("上海", "ben"), ("deployment", "ben"))
    ]
    result = Contents(
        tables=tables,
        heads=sorted(f"{head.object_id} {head.revision} {head.status} {head.content_hash}" for head in heads.values()),
        index=sorted(f"{one.memory_id} {one.revision} {one.status} {one.content} {one.valid_to}" for one in listed),
        found=found,
        findings=tuple(str(finding) for finding in memory.verify()),
    )
    memory.close()
    return result

"""Stores to dream in: say things, dream, and read what is left, what was linked, and what search finds."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from support.embedders import WordEmbedder

from mindmem.core.clock import FixedClock, SystemClock
from mindmem.core.memory import Memory
from mindmem.core.records import Edge, Partition
from mindmem.core.records import Memory as Record
from mindmem.core.services import open_services
from mindmem.core.settings import Settings

__all__ = ["USER", "active", "dream_store", "everything", "links", "say", "tell"]

USER = "ann"


def dream_store(
    home: Path,
    *,
    hours: float = 0.0,
    lease_seconds: float = 60.0,
    ingest: Mapping[str, object] | None = None,
    llm: Mapping[str, object] | None = None,
    **dream: object,
) -> Memory:
    """Open a store where adds resolve nothing, so that all is left to the dream, ``hours`` after the present.

    Of the guards only those that ``dream`` names object. With ``llm`` a dream may ask the endpoint that it names.
    """
    settings = Settings.load(
        {}, home=home, embedder="none", ingest={"resolve_updates": False, "resolve_merges": False, **(ingest or {})},
        dream={"min_age_hours": 0, "cap": 1.0, "probes": 5, **dream}, llm=dict(llm or {}),
        store={"fold_on_close": False, "lease_seconds": lease_seconds},
    )  # fmt: skip
    clock = FixedClock(SystemClock().now() + timedelta(hours=hours))
    return Memory(services=open_services(settings, clock=clock, embedder=WordEmbedder()))


def say(memory: Memory, *contents: str, user: str = USER, day: int | None = None, name: str = "Ann") -> None:
    """Say these things in one add, each as a message; with a ``day`` of January 2026 also when."""
    messages: list[dict[str, object]] = [{"role": "user", "name": name, "content": content} for content in contents]
    for place, message in enumerate(messages):
        if day is not None:
            message["timestamp"] = f"2026-01-{day:02d}T10:{place:02d}:00Z"
    memory.add(messages, user_id=user)


def tell(memory: Memory, facts: Sequence[str], user: str = USER) -> None:
    """Tell facts as one message, a list."""
    memory.add({"role": "user", "content": "\n".join(f"* {fact}" for fact in facts)}, user_id=user)


def everything(memory: Memory, user: str = USER) -> dict[str, Record]:
    """Return all memories of a user by their words."""
    return {one.content: one for one in memory.services.reader.memories(Partition("default", user))}


def active(memory: Memory, user: str = USER) -> set[str]:
    """Return the words of a user's active memories, which ledger, tables and index agree on."""
    assert memory.verify() == ()
    return {one.content for one in everything(memory, user).values() if one.status == "active"}


def links(memory: Memory, kind: str, user: str = USER) -> set[tuple[str, str]]:
    """Return the words of the memories that an edge of that kind (or NEXT) joins, source first."""
    owner = Partition("default", user)
    words = {one.memory_id: one.content for one in memory.services.reader.memories(owner)}
    edges: list[Edge] = memory.services.reader.edges(owner)
    return {(words[one.src], words[one.dst]) for one in edges if kind in (one.kind, one.relation) and one.dst in words}

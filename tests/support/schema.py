"""Stores in schema mode: say things in them, and see which entities they came to."""

from pathlib import Path

from support.embedders import WordEmbedder
from support.stores import NOW

from mindmem.core.clock import FixedClock
from mindmem.core.memory import Memory
from mindmem.core.records import Edge, Entity, Partition
from mindmem.core.services import open_services
from mindmem.core.settings import Settings

__all__ = ["PARTITION", "USER", "entities", "related", "say", "schema_store", "whose"]

USER = "sam"
PARTITION = Partition("default", USER)


def schema_store(home: Path, **ingest: object) -> Memory:
    """Open a store in schema mode with a small embedder and a clock that stands still."""
    given = {"mode": "schema", "episode_memories": False, **ingest}
    settings = Settings.load({}, home=home, embedder="none", ingest=given, store={"fold_on_close": False})
    return Memory(services=open_services(settings, clock=FixedClock(NOW), embedder=WordEmbedder()))


def say(memory: Memory, *contents: str, name: str = "Sam", day: int = 1, session: str = "") -> None:
    """Say these things in one add."""
    messages = [
        {"role": "user", "name": name, "content": content, "timestamp": f"2026-02-{day:02d}T10:{place:02d}:00Z"}
        for place, content in enumerate(contents)
    ]
    memory.add(messages, user_id=USER, session_id=session or f"s{day}")


def entities(memory: Memory) -> list[Entity]:
    """Return all entities that stand for themselves."""
    return [one for one in memory.services.reader.entities(PARTITION) if not one.merged_into]


def whose(memory: Memory, name: str) -> set[str]:
    """Return the ids of the entities that bear a name, exactly as written, as name or alias."""
    return {one.entity_id for one in entities(memory) if name in (one.name, *one.aliases)}


def related(memory: Memory) -> set[tuple[str, str, str]]:
    """Return (source name, kind, target name) of the relations between entities that stand."""
    names = {one.entity_id: one.name for one in memory.services.reader.entities(PARTITION)}
    edges: list[Edge] = memory.services.reader.edges(PARTITION, relation="RELATED_TO")
    return {(names[one.src], one.kind, names[one.dst]) for one in edges if one.src in names and one.dst in names}

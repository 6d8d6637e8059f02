"""A memory as the index sees it: its searchable fields, the text that is embedded, and the key of that text's
vector."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from mindmem.core.embed.port import Embedding
from mindmem.core.ids import digest
from mindmem.core.index.names import name_key
from mindmem.core.index.port import Document, EntityDocument
from mindmem.core.records import Entity, Memory
from mindmem.core.schema.parts import parts_of

__all__ = [
    "context_lines", "document", "embed_text", "entity_document", "fields_of", "vector_key",
]  # fmt: skip


def document(memory: Memory, created_at: datetime, embedding: Embedding | None = None) -> Document:
    """Return what the index keeps of a memory; ``created_at`` is when its first revision was recorded."""
    return Document(memory, fields_of(memory), created_at, embedding)


def fields_of(memory: Memory) -> Mapping[str, str]:
    """Return the memory's text by field (``FIELD_WEIGHTS`` names them); empty fields are left out.

    ``subject`` is who and what it is about: the speaker, the entity, the property's words. ``keys`` holds the value
    where the content says it in other words."""
    value = memory.value if memory.value.casefold() not in memory.content.casefold() else ""
    subject = dict.fromkeys((memory.speaker, memory.entity_name, memory.property_name.replace("_", " ")))
    fields = {
        "content": memory.content,
        "subject": " ".join(part for part in subject if part),
        "keys": value,
        "context": memory.context,
    }
    return {name: text for name, text in fields.items() if text}


def embed_text(memory: Memory) -> str:
    """Return the text that is embedded: the content, led by its speaker unless it names the speaker itself.
    Neighbouring turns are left out, since they blur what the memory says.

    >>> from mindmem.core.records import Scope
    >>> embed_text(Memory(memory_id="m", revision=1, scope=Scope(), mem_type="fact", content="I moved", content_hash="",
    ...     speaker="Ann"))
    'Ann: I moved'
    """
    if not memory.speaker or re.search(rf"(?<!\w){re.escape(memory.speaker)}(?!\w)", memory.content, re.IGNORECASE):
        return memory.content
    return f"{memory.speaker}: {memory.content}"


def context_lines(memory: Memory) -> list[str]:
    """Return the lines around the memory's source whose tokens follow its own (see ``embed.contextual``)."""
    return memory.context.splitlines()


def vector_key(memory: Memory) -> str:
    """Return the digest of the embedded text and its context: equal keys have equal vectors under one embedder."""
    return _key(embed_text(memory), memory.context)


def entity_document(entity: Entity) -> EntityDocument:
    """Return what the index keeps of an entity: it is found by each of its names, its description, and its keys."""
    names = dict.fromkeys(name.strip() for name in (entity.name, *entity.aliases))
    keys = tuple(dict.fromkeys(key for key in map(name_key, names) if key))
    texts = dict.fromkeys((*names, entity.description, *entity.search_fields))
    return EntityDocument(entity, keys, parts_of(names), tuple(text for text in texts if text))


@lru_cache(maxsize=4096)
def _key(text: str, context: str) -> str:
    return digest("vector", text, context)

"""Documents and queries for tests of the index: each word has a fixed direction, so texts that share words are near."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mindmem.core import ids
from mindmem.core.embed.port import EmbedderIdentity, Embedding, TokenVectors
from mindmem.core.index.documents import document, embed_text, entity_document, vector_key
from mindmem.core.index.port import Document, EntityDocument, Query
from mindmem.core.ledger.port import Draft, HeadMove, Ledger
from mindmem.core.records import Change, Entity, Memory, Partition, Scope
from mindmem.core.tables.rows import entities_table, memories_table, vectors_table
from mindmem.core.text import words

__all__ = [
    "ANN", "BEGAN", "IDENTITY", "ask", "commit", "commit_entities", "embed", "entity", "make", "make_entity", "memory",
]  # fmt: skip

IDENTITY = EmbedderIdentity("directions", "1", 128, 64)
ANN = Scope(user_id="ann")
BEGAN = datetime(2024, 5, 1, 9, tzinfo=UTC)


@cache
def _direction(word: str, size: int) -> npt.NDArray[np.float32]:
    seed = int(ids.digest(word, size=4), 16)
    row = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return row / np.float32(np.linalg.norm(row))


def embed(text: str) -> Embedding:
    """Return the vectors of a text: the sum of its words' directions, and each word's."""
    found = words(text) or ["-"]
    total = np.sum([_direction(word, IDENTITY.dimension) for word in found], axis=0)
    tokens = np.stack([_direction(word, IDENTITY.token_dimension) for word in found])
    token_ids = np.array([int(ids.digest(word, size=2), 16) for word in found], dtype=np.uint16)
    vector = (total / np.linalg.norm(total)).astype(np.float32)
    return Embedding(vector, TokenVectors(token_ids, np.rint(tokens * 127).astype(np.int8)))


def memory(content: str, *, scope: Scope = ANN, name: str = "", minute: int = 0, **fields: Any) -> Memory:
    """Return a memory that was recorded so many minutes after nine; ``name`` gives it an id of its own."""
    given: dict[str, Any] = {
        "memory_id": f"mem_{name}" if name else ids.memory_id(scope.key, "", "", content, ""),
        "revision": 1,
        "scope": scope,
        "mem_type": "fact",
        "content": content,
        "content_hash": ids.content_hash(content),
        "recorded_at": BEGAN + timedelta(minutes=minute),
        "seq": minute + 1,
    }
    return Memory(**{**given, **fields})


def make(content: str, *, embedded: bool = True, **fields: Any) -> Document:
    """Return a document as the projector makes it; ``fields`` are the memory's."""
    made = memory(content, **fields)
    assert made.recorded_at is not None
    return document(made, made.recorded_at, embed(embed_text(made)) if embedded else None)


def entity(name: str, *aliases: str, scope: Scope = ANN, revision: int = 1, **fields: Any) -> Entity:
    """Return an entity; its id is ``ent_`` and its name unless ``entity_id`` is among the fields."""
    given: dict[str, Any] = {"entity_id": f"ent_{name}", "entity_type": "thing", **fields}
    return Entity(revision=revision, scope=scope, name=name, aliases=aliases, **given)


def make_entity(name: str, *aliases: str, **fields: Any) -> EntityDocument:
    """Return an entity as the projector makes it."""
    return entity_document(entity(name, *aliases, **fields))


def commit_entities(ledger: Ledger, *entities: Entity) -> Change:
    """Commit these revisions of entities as one change."""
    heads = [
        HeadMove(
            "entity", one.entity_id, one.scope.partition, one.scope.key, one.revision - 1, one.revision, one.status
        )
        for one in entities
    ]  # fmt: skip
    batches = {"entities": entities_table(entities)}
    scope = entities[0].scope
    return ledger.commit(
        Draft(
            change_id=ids.change_id(), kind="add", scope=scope, actor="test", batches=batches, heads=heads,
            base={scope.partition: None},
        )
    )  # fmt: skip


def commit(ledger: Ledger, *memories: Memory, embedded: bool = True) -> Change:
    """Commit these revisions as one change, with the vectors of their texts."""
    first = memories[0].scope
    batches = {"memories": memories_table(memories)}
    if embedded:
        texts = {vector_key(one): embed_text(one) for one in memories}
        found = [embed(text) for text in texts.values()]
        batches["vectors"] = vectors_table(first, str(IDENTITY), list(texts), found)
    heads = [
        HeadMove(
            "memory", one.memory_id, one.scope.partition, one.scope.key, one.revision - 1, one.revision, one.status,
            one.content_hash,
        )
        for one in memories
    ]  # fmt: skip
    base = {one.scope.partition: None for one in memories}
    return ledger.commit(
        Draft(change_id=ids.change_id(), kind="add", scope=first, actor="test", batches=batches, heads=heads, base=base)
    )


def ask(text: str, *, scope: Scope = ANN, embedded: bool = True, **fields: Any) -> Query:
    """Return a hybrid query of one user (without user_id: of all); ``fields`` are the query's."""
    found = embed(text) if embedded and words(text) else None
    return Query(
        partition=Partition(scope.project_id, scope.user_id),
        text=text,
        vector=found.vector if found else None,
        late=found.tokens if found else None,
        **fields,
    )

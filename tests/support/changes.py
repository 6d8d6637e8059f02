"""Builders of changes for tests of the ledger's projections: who said what, as drafts that a ledger commits."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from mindmem.core import ids
from mindmem.core.embed.port import Embedding, TokenVectors
from mindmem.core.ledger.port import Draft, HeadMove, Ledger
from mindmem.core.records import Change, Edge, Entity, Memory, Message, Scope, Source
from mindmem.core.tables.rows import edges_table, entities_table, memories_table, messages_table, vectors_table

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
EMBEDDER = "test/1/4"


def message(scope: Scope, position: int, content: str) -> Message:
    """Return the message at that place of the scope's session, a minute after the one before."""
    name = ids.message_id(scope.key, scope.session_id, str(position), "user", "", content, "")
    at = START + timedelta(minutes=position)
    return Message(name, scope, position, "user", "", content, at, "UTC", f"add_{position}")


def memory(scope: Scope, said: Message, content: str, **fields: object) -> Memory:
    """Return the first revision of a memory that rests on the whole message."""
    made = Memory(
        memory_id=ids.memory_id(scope.key, "ent", "note", content, said.message_id),
        revision=1,
        scope=scope,
        mem_type="fact",
        content=content,
        content_hash=ids.content_hash(content),
        observed_at=said.timestamp,
        sources=(Source(said.message_id, 0, len(said.content)),),
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # the test names fields of Memory


def embedding(content: str) -> Embedding:
    """Return a vector and token vectors that are a function of the text."""
    seed = int(ids.digest(content)[:8], 16)
    numbers = np.random.default_rng(seed)
    tokens = TokenVectors(numbers.integers(0, 9, 3).astype(np.uint16), numbers.integers(-9, 9, (3, 4)).astype(np.int8))
    return Embedding(numbers.random(4, dtype=np.float32), tokens)


def draft(
    scope: Scope,
    *,
    memories: Sequence[Memory] = (),
    messages: Sequence[Message] = (),
    entities: Sequence[Entity] = (),
    edges: Sequence[Edge] = (),
    key: str = "",
) -> Draft:
    """Return a change that writes these rows, vectors of new memories included."""
    batches = {}
    if messages:
        batches["messages"] = messages_table(messages)
    if memories:
        batches["memories"] = memories_table(memories)
    if entities:
        batches["entities"] = entities_table(entities)
    if edges:
        batches["edges"] = edges_table(edges)
    new = [one for one in memories if one.revision == 1]
    if new:
        found = [embedding(one.content) for one in new]
        batches["vectors"] = vectors_table(scope, EMBEDDER, [one.content_hash for one in new], found)
    heads = [
        *_moves(("memory", one.memory_id, one.revision, one.scope, one.status, one.content_hash) for one in memories),
        *_moves(("entity", one.entity_id, one.revision, one.scope, "active", "") for one in entities),
        *_moves(("message", one.message_id, 1, one.scope, "active", "") for one in messages),
    ]
    return Draft(
        change_id=ids.change_id(), kind="add", scope=scope, actor="test", batches=batches, heads=heads,
        base={scope.partition: None}, key=key, digest=ids.digest(key), result="{}" if key else "",
    )  # fmt: skip


def say(ledger: Ledger, user: str, position: int, content: str, **scope: str) -> tuple[Change, Memory]:
    """Commit one message and the memory that repeats it."""
    who = Scope(user_id=user, session_id="s", **scope)  # type: ignore[arg-type]  # ids are texts
    said = message(who, position, content)
    made = memory(who, said, content)
    edge = Edge(made.memory_id, "EXTRACTED_FROM", said.message_id, who, start=0, end=len(content))
    return ledger.commit(draft(who, memories=[made], messages=[said], edges=[edge])), made


def revise(ledger: Ledger, last: Memory, **fields: object) -> Memory:
    """Commit and return the next revision of a memory."""
    following = replace(last, revision=last.revision + 1, **fields)  # type: ignore[arg-type]
    ledger.commit(draft(last.scope, memories=[following]))
    return following


def _moves(objects: Iterable[tuple[str, str, int, Scope, str, str]]) -> Iterable[HeadMove]:
    for kind, name, revision, scope, status, content_hash in objects:
        yield HeadMove(
            kind=kind, object_id=name, partition=scope.partition, scope_key=scope.key, expected=revision - 1,  # type: ignore[arg-type]
            revision=revision, status=status, content_hash=content_hash,  # type: ignore[arg-type]
        )  # fmt: skip

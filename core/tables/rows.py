"""Records to Arrow rows and back, by the contracts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import numpy as np
import pyarrow as pa

from mindmem.core.embed.port import Embedding, TokenVectors
from mindmem.core.records import Change, Edge, Entity, Memory, Message, Scope, Source
from mindmem.core.records.llm_call import LlmCall
from mindmem.core.tables.contracts import CONTRACTS, body

__all__ = [
    "call_of",
    "calls_table",
    "change_of",
    "changes_table",
    "edges_table",
    "embedding_of",
    "entities_table",
    "entity_of",
    "memories_table",
    "memory_of",
    "message_of",
    "messages_table",
    "vectors_table",
]

Row = Mapping[str, Any]  # a decoded Arrow row: its columns' Python types are the contract's


def _scope(scope: Scope) -> dict[str, str]:
    return {
        "project_id": scope.project_id,
        "user_id": scope.user_id,
        "app_id": scope.app_id,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
    }


def scope_of(row: Row) -> Scope:
    """Return the scope of a row."""
    return Scope(row["project_id"], row["user_id"], row["app_id"], row["agent_id"], row["session_id"])


def messages_table(messages: Iterable[Message]) -> pa.Table:
    """Return message rows without their stamp."""
    rows = [
        {
            **_scope(message.scope),
            "message_id": message.message_id,
            "position": message.position,
            "role": message.role,
            "name": message.name,
            "content": message.content,
            "caption": message.caption,
            "timestamp": message.timestamp,
            "timezone": message.timezone,
            "add_id": message.add_id,
        }
        for message in messages
    ]
    return pa.Table.from_pylist(rows, schema=body("messages"))


def message_of(row: Row) -> Message:
    """Return the message of a row."""
    return Message(
        message_id=row["message_id"],
        scope=scope_of(row),
        position=row["position"],
        role=row["role"],
        name=row["name"],
        content=row["content"],
        timestamp=row["timestamp"],
        timezone=row["timezone"],
        add_id=row["add_id"],
        caption=row["caption"],
    )


def memories_table(memories: Iterable[Memory]) -> pa.Table:
    """Return memory revision rows without their stamp."""
    rows = [
        {
            **_scope(memory.scope),
            "memory_id": memory.memory_id,
            "revision": memory.revision,
            "mem_type": memory.mem_type,
            "content": memory.content,
            "content_hash": memory.content_hash,
            "entity_id": memory.entity_id,
            "entity_name": memory.entity_name,
            "entity_type": memory.entity_type,
            "property_name": memory.property_name,
            "order": memory.order,
            "value": memory.value,
            "valid_from": memory.valid_from,
            "valid_to": memory.valid_to,
            "observed_at": memory.observed_at,
            "time_precision": memory.time_precision,
            "status": memory.status,
            "confidence": memory.confidence,
            "reinforcement_count": memory.reinforcement_count,
            "sources": [
                {"message_id": source.message_id, "start": source.start, "end": source.end} for source in memory.sources
            ],
            "parents": list(memory.parents),
            "mentions": list(memory.mentions),
            "speaker": memory.speaker,
            "context": memory.context,
            "flags": list(memory.flags),
            "metadata": json.dumps(dict(memory.metadata), ensure_ascii=False, sort_keys=True),
            "episode": memory.episode,
        }
        for memory in memories
    ]
    return pa.Table.from_pylist(rows, schema=body("memories"))


def memory_of(row: Row) -> Memory:
    """Return the memory of a stamped row."""
    return Memory(
        memory_id=row["memory_id"],
        revision=row["revision"],
        scope=scope_of(row),
        mem_type=row["mem_type"],
        content=row["content"],
        content_hash=row["content_hash"],
        entity_id=row["entity_id"],
        entity_name=row["entity_name"],
        entity_type=row["entity_type"],
        property_name=row["property_name"],
        order=row["order"],
        value=row["value"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        observed_at=row["observed_at"],
        recorded_at=cast("datetime | None", row.get("recorded_at")),
        time_precision=row["time_precision"],
        status=row["status"],
        confidence=round(row["confidence"], 4),
        reinforcement_count=row["reinforcement_count"],
        sources=tuple(Source(item["message_id"], item["start"], item["end"]) for item in row["sources"] or ()),
        parents=tuple(row["parents"] or ()),
        mentions=tuple(row["mentions"] or ()),
        speaker=row["speaker"],
        context=row["context"],
        flags=tuple(row["flags"] or ()),
        metadata=json.loads(row["metadata"] or "{}"),
        episode=row.get("episode") or "",
        change_id=row.get("change_id") or "",
        seq=row.get("seq") or 0,
    )


def entities_table(entities: Iterable[Entity]) -> pa.Table:
    """Return entity revision rows without their stamp."""
    rows = [
        {
            **_scope(entity.scope),
            "entity_id": entity.entity_id,
            "revision": entity.revision,
            "entity_type": entity.entity_type,
            "name": entity.name,
            "aliases": list(entity.aliases),
            "description": entity.description,
            "search_fields": list(entity.search_fields),
            "merged_into": entity.merged_into,
            "status": entity.status,
        }
        for entity in entities
    ]
    return pa.Table.from_pylist(rows, schema=body("entities"))


def entity_of(row: Row) -> Entity:
    """Return the entity of a row."""
    return Entity(
        entity_id=row["entity_id"],
        revision=row["revision"],
        scope=scope_of(row),
        entity_type=row["entity_type"],
        name=row["name"],
        aliases=tuple(row["aliases"] or ()),
        description=row["description"],
        search_fields=tuple(row["search_fields"] or ()),
        merged_into=row["merged_into"] or "",
        status=row["status"] or "active",
    )


def edges_table(edges: Iterable[Edge]) -> pa.Table:
    """Return edge rows without their stamp."""
    rows = [
        {
            **_scope(edge.scope),
            "src": edge.src,
            "relation": edge.relation,
            "dst": edge.dst,
            "kind": edge.kind,
            "start": edge.start,
            "end": edge.end,
            "valid_from": edge.valid_from,
            "valid_to": edge.valid_to,
            "active": edge.active,
            "source": edge.source,
        }
        for edge in edges
    ]
    return pa.Table.from_pylist(rows, schema=body("edges"))


def edge_of(row: Row) -> Edge:
    """Return the edge of a row."""
    return Edge(
        src=row["src"],
        relation=row["relation"],
        dst=row["dst"],
        scope=scope_of(row),
        kind=row["kind"],
        start=row["start"],
        end=row["end"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        active=row["active"],
        source=row["source"] or "",
    )


def vectors_table(scope: Scope, embedder: str, keys: Sequence[str], embeddings: Sequence[Embedding]) -> pa.Table:
    """Return vector rows without their stamp; token vectors are raw little-endian bytes (uint16 ids, int8 rows)."""
    rows = [
        {
            "vector_key": key,
            "embedder": embedder,
            "project_id": scope.project_id,
            "user_id": scope.user_id,
            "vector": embedding.vector.astype("<f4"),
            "token_ids": embedding.tokens.ids.astype("<u2").tobytes() if embedding.tokens else b"",
            "token_vectors": embedding.tokens.vectors.tobytes() if embedding.tokens else b"",
        }
        for key, embedding in zip(keys, embeddings, strict=True)
    ]
    return pa.Table.from_pylist(rows, schema=body("vectors"))


def embedding_of(row: Row) -> Embedding:
    """Return the embedding of a vectors row."""
    ids = np.frombuffer(row["token_ids"] or b"", dtype="<u2")
    tokens = None
    if len(ids):
        tokens = TokenVectors(ids, np.frombuffer(row["token_vectors"], dtype=np.int8).reshape(len(ids), -1))
    return Embedding(np.asarray(row["vector"], dtype=np.float32), tokens)


def changes_table(changes: Iterable[Change]) -> pa.Table:
    """Return change rows with their stamp."""
    rows = [
        {
            **_scope(change.scope),
            "kind": change.kind,
            "actor": change.actor,
            "reason": change.reason,
            "run_id": change.run_id,
            "undoes": change.undoes,
            "counts": json.dumps(dict(change.counts), sort_keys=True),
            "change_id": change.change_id,
            "seq": change.seq,
            "recorded_at": change.recorded_at,
        }
        for change in changes
    ]
    return pa.Table.from_pylist(rows, schema=CONTRACTS["changes"])


def calls_table(calls: Iterable[tuple[int, LlmCall]]) -> pa.Table:
    """Return rows of model calls, each with its number in the record of calls as its seq."""
    rows = [
        {
            **_scope(call.scope),
            "call_id": call.call_id,
            "run_id": call.run_id,
            "purpose": call.purpose,
            "prompt": call.prompt,
            "version": call.version,
            "digest": call.digest,
            "model": call.model,
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "cost": call.cost,
            "latency_ms": call.latency_ms,
            "retries": call.retries,
            "cached": call.cached,
            "outcome": call.outcome,
            "error": call.error,
            "estimated": call.estimated,
            "called_at": call.called_at,
            "seq": number,
        }
        for number, call in calls
    ]
    return pa.Table.from_pylist(rows, schema=CONTRACTS["llm_calls"])


def call_of(row: Row) -> tuple[int, LlmCall]:
    """Return number and call of a row."""
    call = LlmCall(
        call_id=row["call_id"],
        scope=scope_of(row),
        run_id=row["run_id"],
        purpose=row["purpose"],
        prompt=row["prompt"],
        version=row["version"],
        digest=row["digest"],
        model=row["model"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cost=row["cost"],
        latency_ms=row["latency_ms"],
        retries=row["retries"],
        cached=row["cached"],
        outcome=row["outcome"],
        called_at=row["called_at"],
        error=row["error"],
        estimated=bool(row.get("estimated")),  # older tables have no such column
    )
    return row["seq"], call


def change_of(row: Row) -> Change:
    """Return the change of a row."""
    return Change(
        change_id=row["change_id"],
        seq=row["seq"],
        kind=row["kind"],
        scope=scope_of(row),
        actor=row["actor"],
        reason=row["reason"],
        run_id=row["run_id"],
        recorded_at=row["recorded_at"],
        counts=json.loads(row["counts"]),
        undoes=row["undoes"],
    )

"""Builders of records for tests: each argument is the one thing that the test is about, all else is plausible."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from mindmem.core import ids
from mindmem.core.ingest.memories import entity_of_name
from mindmem.core.reason.port import Candidate, Extraction, Mention, ResolutionRequest
from mindmem.core.records import Memory, Message, Scope, Source, Window
from mindmem.core.records.llm_call import LlmCall
from mindmem.core.records.message import Role

SCOPE = Scope(project_id="default", user_id="ann")
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def at(day: float) -> datetime:
    """Return noon of the first of May 2024, ``day`` days later."""
    return NOON + timedelta(days=day)


def message(
    content: str,
    *,
    name: str = "Ann",
    role: Role = "user",
    position: int = 0,
    timestamp: datetime | None = NOON,
    session: str = "s1",
    scope: Scope = SCOPE,
) -> Message:
    """Return a message whose id derives from what is given."""
    owner = replace(scope, session_id=session)
    when = timestamp.isoformat() if timestamp else ""
    message_id = ids.message_id(owner.key, session, f"{position}@{when}", role, name, content, "")
    return Message(message_id, owner, position, role, name, content, timestamp, "UTC", "add_1")


def window(*evidence: Message, index: int = 0, offsets: tuple[int, ...] = ()) -> Window:
    """Return a window that shows these messages."""
    return Window(index, evidence, (), (), sum(len(one.content) // 4 + 1 for one in evidence), offsets)


def candidate(
    content: str,
    said: Message | None = None,
    *,
    about: str = "Ann",
    prop: str = "note",
    value: str = "",
    **fields: object,
) -> Candidate:
    """Return a candidate that rests on the whole of ``said`` (a message of that content if None)."""
    said = said or message(content)
    made = Candidate(
        mem_type="fact",
        content=content,
        entity_name=about,
        entity_type="person",
        property_name=prop,
        value=value,
        sources=(Source(said.message_id, 0, len(said.content)),),
        confidence=0.9,
        speaker=said.name,
        observed_at=said.timestamp,
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # the test names fields of Candidate


def memory(
    content: str,
    *,
    about: str = "Ann",
    prop: str = "note",
    value: str = "",
    seq: int = 1,
    scope: Scope = SCOPE,
    day: float | None = 0,
    **fields: object,
) -> Memory:
    """Return the first revision of a stored memory, said ``day`` days after noon of the first of May 2024."""
    entity = entity_of_name(scope, about)
    said = message(content, scope=scope, timestamp=None if day is None else at(day))
    made = Memory(
        memory_id=ids.memory_id(scope.key, entity, prop, content, said.message_id),
        revision=1,
        scope=said.scope,
        mem_type="fact",
        content=content,
        content_hash=ids.content_hash(content),
        entity_id=entity,
        entity_name=about,
        entity_type="person",
        property_name=prop,
        value=value,
        observed_at=None if day is None else at(day),
        recorded_at=at(100) + timedelta(seconds=seq),
        confidence=0.9,
        sources=(Source(said.message_id, 0, len(content)),),
        speaker=about,
        change_id=f"chg_{seq}",
        seq=seq,
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # the test names fields of Memory


def mention(name: str, entity_type: str = "thing") -> Mention:
    """Return a mention of a named entity."""
    return Mention(name, entity_type)


def request(asked: Candidate, *recalled: Memory) -> ResolutionRequest:
    """Return what a resolver is asked about a candidate."""
    return ResolutionRequest(asked, recalled)


def extraction(*candidates: Candidate, skipped: Sequence[tuple[str, str]] = ()) -> Extraction:
    """Return what an extractor found in one window."""
    return Extraction(candidates, tuple(skipped))


def llm_call(call_id: str, **fields: Any) -> LlmCall:
    """Return the record of a call that cost something; ``fields`` are its own."""
    call = LlmCall(
        call_id=call_id,
        scope=Scope.of("ann"),
        run_id="",
        purpose="extract",
        prompt="extract",
        version="1",
        digest="d1",
        model="small",
        input_tokens=100,
        output_tokens=20,
        cost=0.01,
        latency_ms=250.0,
        retries=0,
        cached=False,
        outcome="ok",
        called_at=NOON,
    )
    return replace(call, **fields)

"""Messages in windows, and what the rules extractor makes of them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mindmem.core.reason.port import Candidate, Envelope, Extraction, Judged
from mindmem.core.reason.rules.extract import RulesExtractor
from mindmem.core.records import Message, Scope, Window
from mindmem.core.records.message import Role

__all__ = ["NOON", "extract", "said", "texts", "typed"]

NOON = datetime(2024, 3, 15, 12, 0, tzinfo=UTC)
"""A Friday."""
SCOPE = Scope.of("ann")


def said(
    content: str,
    *,
    role: Role = "user",
    name: str = "",
    at: datetime | None = NOON,
    zone: str = "UTC",
    caption: str = "",
) -> Message:
    """Return a message; its place is given by ``extract``."""
    return Message("", SCOPE, 0, role, name, content, at, zone, "add", caption)


async def extract(
    *messages: Message | str, before: Sequence[Message] = (), after: Sequence[Message] = ()
) -> Extraction:
    """Extract one window whose evidence is the messages, numbered ``m0``, ``m1``, …"""
    given = [said(message) if isinstance(message, str) else message for message in messages]
    evidence = tuple(
        Message(
            f"m{place}",
            SCOPE,
            place,
            m.role,
            m.name,
            m.content,
            m.timestamp and m.timestamp + timedelta(seconds=place),
            m.timezone,
            m.add_id,
            m.caption,
        )
        for place, m in enumerate(given)
    )
    window = Window(0, evidence, tuple(before), tuple(after), 1)
    (verdict,) = await RulesExtractor().extract([Envelope(scope=SCOPE, window=window, timezone="UTC")])
    assert isinstance(verdict, Judged)
    return verdict.value


def typed(extraction: Extraction) -> list[tuple[str, str, str, str, int]]:
    """Return type, entity, property, value and polarity of what was structured."""
    return [
        (c.mem_type, c.entity_name, c.property_name, c.value, c.polarity)
        for c in extraction.candidates
        if c.mem_type in ("profile", "fact")
    ]


def texts(extraction: Extraction, mem_type: str) -> list[str]:
    """Return the contents of one type."""
    return [candidate.content for candidate in extraction.candidates if candidate.mem_type == mem_type]


def only(extraction: Extraction) -> Candidate:
    """Return the one candidate."""
    assert len(extraction.candidates) == 1, [(c.mem_type, c.content) for c in extraction.candidates]
    return extraction.candidates[0]

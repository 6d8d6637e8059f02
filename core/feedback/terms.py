"""Feedback in schema mode: what is known is compared in the extractor's terms, what is kept is bound to the schema."""

from dataclasses import replace

from mindmem.core.reason.port import Candidate
from mindmem.core.records import Memory, Message
from mindmem.core.records.schema import CATCH_ALL
from mindmem.core.services import Services

__all__ = ["bound", "plain"]


def plain(services: Services, memory: Memory) -> Memory:
    """Return a memory under the property name that an extractor would give to it; in vanilla mode it has that one."""
    if services.settings.ingest.mode == "vanilla":
        return memory
    from mindmem.core.schema.questions import fine_name

    return replace(memory, property_name=fine_name(memory.property_name))


async def bound(services: Services, message: Message, claim: Candidate) -> Candidate:
    """Return a claim under its place in the schema, or as it is where it has none; in vanilla mode always as it is.

    Raises:
        ExtractionFailed: a model was asked and may answer later.
    """
    if services.settings.ingest.mode == "vanilla" or not claim.property_name:
        return claim
    from mindmem.core.schema import adding

    found = await adding.bound(services, message.scope, message.timezone, [claim], [(message,)])
    made = found.candidates[0]
    if made.property_name in ("", CATCH_ALL):
        return claim
    return replace(
        claim,
        entity_type=made.entity_type,
        property_name=made.property_name,
        single_valued=made.single_valued,
    )

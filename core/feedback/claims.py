"""What a correction's statement claims, as a candidate that can be compared and kept."""

import re
from dataclasses import replace
from typing import Final

from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.language.words import estimate_tokens
from mindmem.core.reason.feedback_port import Correction, Signal
from mindmem.core.reason.port import Candidate, Envelope, Extractor, Failed, Judged
from mindmem.core.records import Memory, Message, Source, Window
from mindmem.core.records.memory import CONDITIONAL
from mindmem.core.records.schema import CATCH_ALL

__all__ = ["WISH", "adopted", "claim_of", "sentence"]

_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_SURE: Final = 0.95
"""How sure a claim is that somebody made to put something right."""
WISH: Final = "standing_request"
"""Property of a lasting wish that the extractor knows no other property of."""
_UNTRUSTED: Final = frozenset({"hypothetical", "quoted", "correction", "unresolved_time"})
"""Flags that the words had only as part of what was said around them."""


def sentence(words: str) -> str:
    """Return a statement as a sentence, as other memories have it."""
    if not words or words[-1] in ".!?。！？" or len(words) < 4:
        return words
    return f"{words}。" if _CHINESE.search(words) else f"{words}."


async def claim_of(extract: Extractor, message: Message, signal: Signal, content: str, zone: str) -> Candidate:
    """Return the claim that ``content`` makes, said in a message in the place of a signal.

    Raises:
        ExtractionFailed: a model was asked and may answer later.
    """
    said = replace(message, content=content, caption="")
    window = Window(0, (said,), (), (), estimate_tokens(content))
    [verdict] = await extract.extract([Envelope(scope=message.scope, window=window, timezone=zone)])
    if isinstance(verdict, Failed) and verdict.transient:
        raise ExtractionFailed(f"Extraction failed: {verdict.reason}", transient=True)
    found = verdict.value.candidates if isinstance(verdict, Judged) else ()
    typed = [one for one in found if one.mem_type in ("profile", "fact") and one.property_name]
    claim = (typed or [_plain(message, content, WISH if signal.kind == "instruct" else "")])[0]
    flags = tuple(flag for flag in claim.flags if flag not in _UNTRUSTED)
    return replace(
        claim,
        content=content,
        sources=(Source(message.message_id, signal.start, signal.end),),
        confidence=_SURE,
        context="",
        hint=None,
        observed_at=claim.observed_at or message.timestamp,
        flags=(*flags, CONDITIONAL) if signal.condition else flags,
    )


def adopted(claim: Candidate, correction: Correction, target: Memory) -> Candidate:
    """Return the claim about what its target is about, where its words are the target's with another value put in, or
    where nothing else says what it is about."""
    known = claim.property_name and (
        claim.property_name != WISH or target.mem_type == "episodic" or target.property_name in ("", CATCH_ALL)
    )
    if known and not correction.value:
        return claim
    return replace(
        claim,
        mem_type=target.mem_type if correction.value or target.mem_type != "episodic" else claim.mem_type,
        entity_id=target.entity_id,
        entity_name=target.entity_name,
        entity_type=target.entity_type,
        property_name=target.property_name,
        value=correction.value or claim.value,
    )


def _plain(message: Message, content: str, property_name: str) -> Candidate:
    """A statement in its own words, of whoever made it."""
    return Candidate(
        mem_type="profile" if property_name else "fact",
        content=content,
        entity_name=message.name or "user",
        entity_type="person",
        property_name=property_name,
        value=content.rstrip(".。") if property_name else "",
        sources=(),
        confidence=_SURE,
        speaker=message.name,
        single_valued=False,
    )

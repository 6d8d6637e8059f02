"""The safety gate: what may become a change, between a reasoner's word and the plan.

Reasoners are not trusted: sources must lie in the evidence that they were shown, targets among the memories that they
were shown, and each operation needs its confidence. What fails falls back to the operation that destroys nothing.
"""

import logging
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.language.words import has_substance
from mindmem.core.reason.port import Candidate, Failed, Judged, Resolution, ResolutionRequest, Unsure, Verdict
from mindmem.core.records import Memory, Skip, Source, Window
from mindmem.core.settings import IngestSettings

__all__ = ["Gated", "gate", "supported"]

log = logging.getLogger(__name__)

_MAX_RELATED: Final = 3


@dataclass(frozen=True, slots=True)
class Gated:
    """A candidate that may pass, what to do with it, and the recalled memories that the resolution speaks of."""

    candidate: Candidate
    resolution: Resolution
    recalled: tuple[Memory, ...] = ()


def supported(candidate: Candidate, window: Window) -> Candidate | None:
    """Return the candidate with its sources as spans of the stored messages, None when no source is in the evidence.

    Sources outside the evidence are dropped; a span that doesn't lie in its message becomes the whole of what was
    shown.
    """
    offsets = window.offsets or (0,) * len(window.evidence)
    shown = {
        message.message_id: (offset, len(message.content))
        for message, offset in zip(window.evidence, offsets, strict=True)
    }
    sources = []
    for source in candidate.sources:
        if source.message_id not in shown:
            continue
        offset, length = shown[source.message_id]
        inside = 0 <= source.start < source.end <= length
        start, end = (source.start, source.end) if inside else (0, length)
        sources.append(Source(source.message_id, start + offset, end + offset))
    return replace(candidate, sources=tuple(dict.fromkeys(sources))) if sources else None


def gate(request: ResolutionRequest, verdict: Verdict[Resolution], settings: IngestSettings) -> Gated | Skip:
    """Return what may be done with a candidate, or why nothing is.

    Without a known target or with too little confidence in an update or merge, the candidate is added beside what is
    there and linked to it; so is one without a judgement, flagged ``unresolved``.
    """
    candidate = request.candidate
    message_id = candidate.sources[0].message_id if candidate.sources else ""
    if not candidate.sources:
        return Skip(message_id, "no source in the evidence")
    if not has_substance(candidate.content):
        return Skip(message_id, "no letter or number")
    if candidate.confidence < settings.confidence_add:
        return Skip(message_id, f"confidence {candidate.confidence:.2f} is below {settings.confidence_add:.2f}")
    known = {memory.memory_id: memory for memory in request.recalled}
    match verdict:
        case Judged(value=resolution):
            resolution = _safe(resolution, known, settings, message_id)
        case Unsure(reason=reason) | Failed(reason=reason):
            resolution = Resolution("add", f"unresolved: {reason}", related=tuple(known)[:_MAX_RELATED])
            candidate = replace(candidate, flags=tuple(dict.fromkeys((*candidate.flags, "unresolved"))))
    if resolution.op == "skip":
        return Skip(message_id, resolution.reason)
    named = (*resolution.targets, *resolution.related)
    return Gated(candidate, resolution, tuple(known[memory_id] for memory_id in dict.fromkeys(named)))


def _safe(resolution: Resolution, known: dict[str, Memory], settings: IngestSettings, message_id: str) -> Resolution:
    targets = tuple(target for target in dict.fromkeys(resolution.targets) if target in known)
    related = tuple(other for other in dict.fromkeys(resolution.related) if other in known and other not in targets)
    refused = _refused(resolution, targets, settings)
    if refused:
        log.warning("%s of message %s became an add: %s", resolution.op, message_id, refused)
        reason = f"{resolution.op} refused ({refused}): {resolution.reason}"
        return Resolution("add", reason, related=(*targets, *related)[:_MAX_RELATED])
    if resolution.op in ("reinforce", "merge"):
        targets, related = targets[:1], (*related, *targets[1:])
    return replace(resolution, targets=targets, related=related[:_MAX_RELATED])


def _refused(resolution: Resolution, targets: tuple[str, ...], settings: IngestSettings) -> str:
    if resolution.op in ("add", "skip"):
        return ""
    if not targets:
        return "no known target"
    if resolution.op == "update":
        if not settings.resolve_updates:
            return "updates are switched off"
        if resolution.confidence < settings.confidence_update:
            return f"confidence {resolution.confidence:.2f} is below {settings.confidence_update:.2f}"
    if resolution.op == "merge":
        if not settings.resolve_merges:
            return "merges are switched off"
        if resolution.confidence < settings.confidence_merge:
            return f"confidence {resolution.confidence:.2f} is below {settings.confidence_merge:.2f}"
        if not has_substance(resolution.merged_content):
            return "no merged content"
    return ""

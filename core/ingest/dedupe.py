"""Candidates of all windows of an add, each claim once, each with sources in the stored messages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core import ids
from mindmem.core.ingest.gate import supported
from mindmem.core.language.words import has_substance
from mindmem.core.reason.port import Candidate, Extraction
from mindmem.core.records import MemType, Skip, Window

__all__ = ["Deduped", "dedupe"]

_RANK: Final[dict[MemType, int]] = {
    "profile": 0, "fact": 1, "experience": 2, "skill_candidate": 3, "file_knowledge": 4, "tool_trace": 5, "episodic": 6,
}  # fmt: skip
"""Where one claim was extracted under two types, the one that says more about it wins."""


@dataclass(frozen=True, slots=True)
class Deduped:
    """The claims of an add in the order in which they were first said, and what carried nothing."""

    candidates: tuple[Candidate, ...]
    skips: tuple[Skip, ...] = ()


def dedupe(extracted: Sequence[tuple[Window, Extraction]]) -> Deduped:
    """Return each claim of the windows once.

    Equal claims (by content hash) become one candidate with the sources of both and the higher confidence. Where
    another value of the same entity and property was said in between, the claim returned and stays a candidate of its
    own: the last word must be the last. Each message of the evidence is a source of a candidate or named in ``skips``.
    """
    kept: list[Candidate] = []
    skips: list[Skip] = []
    places: dict[str, int] = {}
    latest: dict[tuple[str, str], int] = {}
    for window, extraction in extracted:
        skips.extend(Skip(message_id, reason) for message_id, reason in extraction.skipped)
        for raw in extraction.candidates:
            candidate = supported(raw, window)
            if candidate is None:
                named = raw.sources[0].message_id if raw.sources else ""
                skips.append(Skip(named, "no source in the evidence"))
                continue
            if not has_substance(candidate.content):
                skips.append(Skip(candidate.sources[0].message_id, "no letter or number"))
                continue
            claim = ids.content_hash(candidate.content)
            topic = (ids.normalise_claim(candidate.entity_name), candidate.property_name)
            place = places.get(claim)
            if place is not None and latest[_topic(kept[place])] == place:
                kept[place] = _folded(kept[place], candidate)
                latest.setdefault(topic, place)
                continue
            places[claim] = latest[topic] = len(kept)
            kept.append(candidate)
    skips.extend(_silent(extracted, kept, skips))
    return Deduped(tuple(kept), tuple(dict.fromkeys(skips)))


def _topic(candidate: Candidate) -> tuple[str, str]:
    return ids.normalise_claim(candidate.entity_name), candidate.property_name


def _folded(first: Candidate, second: Candidate) -> Candidate:
    better, other = (second, first) if _RANK[second.mem_type] < _RANK[first.mem_type] else (first, second)
    return replace(
        better,
        sources=tuple(dict.fromkeys((*first.sources, *second.sources))),
        confidence=max(first.confidence, second.confidence),
        mentions=tuple(dict.fromkeys((*better.mentions, *other.mentions))),
        flags=tuple(dict.fromkeys((*first.flags, *second.flags))),
        observed_at=first.observed_at or second.observed_at,
        context=first.context or second.context,
    )


def _silent(
    extracted: Sequence[tuple[Window, Extraction]], kept: Sequence[Candidate], skips: Sequence[Skip]
) -> Iterable[Skip]:
    heard = {source.message_id for candidate in kept for source in candidate.sources}
    heard.update(skip.message_id for skip in skips)
    silent = dict.fromkeys(
        message.message_id for window, _ in extracted for message in window.evidence if message.message_id not in heard
    )
    return (Skip(message_id, "carries nothing") for message_id in silent)

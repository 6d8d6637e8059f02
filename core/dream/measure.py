"""Recall retention: does what was said still lead to the memory that rests on it?

Probes are made from sources, not from the memories' own words, before anything is changed.
"""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mindmem.core.records import Memory, Source

__all__ = ["Probe", "found", "probes"]

_CHARS: Final = 200
TOP: Final = 5
"""Hits among which a probe's source must be."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A query in a source's own words, the stretch of the message that it is from, and the memory that rests on it."""

    query: str
    source: Source
    memory_id: str


def probes(memories: Sequence[Memory], texts: Mapping[str, str], number: int, seed: int = 0) -> list[Probe]:
    """Return up to ``number`` probes of memories drawn at random; ``texts`` are messages by id."""
    able = [one for one in memories if one.sources and one.sources[0].message_id in texts]
    drawn = random.Random(seed).sample(able, min(number, len(able)))
    made = []
    for memory in drawn:
        source = memory.sources[0]
        text = texts[source.message_id][source.start : source.end].strip()[:_CHARS]
        if text:
            made.append(Probe(text, source, memory.memory_id))
    return made


def found(
    asked: Sequence[Probe], search: Callable[[str, int], Sequence[Memory]], retired: Collection[str] = ()
) -> list[Probe]:
    """Return the probes whose source supports one of the best five hits; those of ``retired`` memories, which are
    meant to be found no more, are left out."""
    kept = [probe for probe in asked if probe.memory_id not in retired]
    return [probe for probe in kept if any(probe.source in memory.sources for memory in search(probe.query, TOP))]

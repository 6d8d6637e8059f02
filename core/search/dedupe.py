"""Fold hits that say again what a better hit says: a message in its own words below the memory made of it."""

from collections.abc import Iterable, Sequence

from mindmem.core.records import Hit

__all__ = ["fold_hits", "source_ids"]


def source_ids(hit: Hit) -> tuple[str, ...]:
    """Return the ids of the messages that support a hit, each once, in order."""
    return tuple(dict.fromkeys(source.message_id for source in hit.memory.sources))


def fold_hits(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits, best first, without repetitions.

    An episodic memory is left out when each of its messages already supports a better hit of another type, or another
    episodic one of the same words. Everything else stays: two typed memories of one message say different things.
    """
    kept: list[Hit] = []
    typed: set[str] = set()
    said: set[str] = set()
    for hit in hits:
        sources = source_ids(hit)
        if hit.memory.mem_type == "episodic":
            if hit.memory.content_hash in said or (sources and typed.issuperset(sources)):
                continue
            said.add(hit.memory.content_hash)
        else:
            typed.update(sources)
        kept.append(hit)
    return kept


def distinct_messages(hits: Sequence[Hit], k: int) -> list[str]:
    """Return the first ``k`` distinct message ids in rank order: the evidence that a benchmark counts."""
    return list(dict.fromkeys(message for hit in hits for message in source_ids(hit)))[:k]

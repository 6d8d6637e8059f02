"""Let a second model order the best hits anew, and stay with the first order when it can't be asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from mindmem.core.errors import BudgetReached, ModelUnavailable
from mindmem.core.index.documents import embed_text
from mindmem.core.records import Hit
from mindmem.core.search.explain import FACTORS

__all__ = ["Reranker", "rerank"]


class Reranker(Protocol):
    """Reads a question together with each document, which is slower and better than comparing vectors. Safe to call
    from several threads."""

    @property
    def top(self) -> int:
        """Return how many documents it is shown at most."""
        ...

    def score(self, query: str, documents: Sequence[str]) -> list[float]:
        """Return how relevant each document is, in 0..1, in the order of the documents.

        Raises:
            ModelUnavailable: no usable answer.
            BudgetReached: the run's or the day's limit is spent.
        """
        ...


def rerank(reranker: Reranker, query: str, hits: Sequence[Hit]) -> tuple[list[Hit], str]:
    """Return the hits, best first, and a note, empty unless the reranker failed: then they are as they came.

    The reranker's score takes the place of the index's legs; the factors of subject and time go on counting. Hits
    beyond its ``top`` follow in their old order, none with a better score than those before it.
    """
    shown, rest = hits[: reranker.top], hits[reranker.top :]
    if not shown:
        return list(hits), ""
    try:
        scores = reranker.score(query, [embed_text(hit.memory) for hit in shown])
    except (ModelUnavailable, BudgetReached) as error:
        return list(hits), f"Not reranked: {error}"
    found = [_with(hit, score) for hit, score in zip(shown, scores, strict=True)]
    found.sort(key=lambda hit: (-hit.score, hit.memory.memory_id))
    least = found[-1].score
    return [*found, *(replace(hit, score=min(hit.score, least)) for hit in rest)], ""


def _with(hit: Hit, score: float) -> Hit:
    total = score
    for name in FACTORS:
        total *= hit.explanation.get(name, 1.0)
    return replace(hit, score=total, explanation={"rerank": score, **hit.explanation})

"""Carry out one search: check, embed, find whom and when it asks about, ask the index, fold repetitions, rerank."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from mindmem.core.embed.port import Embedder, Embedding, Warms
from mindmem.core.errors import BudgetReached, ModelUnavailable
from mindmem.core.index.filters import Filter
from mindmem.core.index.port import Query, SearchIndex
from mindmem.core.records import Hit, Partition, SearchResult
from mindmem.core.search.dedupe import fold_hits
from mindmem.core.search.explain import explanation
from mindmem.core.search.query import normalise_query, says_something
from mindmem.core.search.rerank import Reranker, rerank
from mindmem.core.search.subject import subject_of
from mindmem.core.search.timewords import Asked, asked_times, time_factor
from mindmem.core.settings import SearchSettings

__all__ = ["LEXICAL_ONLY", "SearchRequest", "run_search"]

LEXICAL_ONLY: Final = "Lexical search only: no embedder is available."
_SPARE: Final = 3
"""Hits asked of the index for each one wanted, since some are folded and time words reorder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search over a partition (without a user: over the project's users), at the time ``now`` in the zone in which
    the question's time words are read. ``filter`` holds scope, status and the caller's conditions; ``score_threshold``
    is an own floor besides the settings'."""

    query: str
    partition: Partition
    now: datetime
    timezone: str = "UTC"
    filter: Filter | None = None
    top_k: int = 10
    score_threshold: float | None = None
    settings: SearchSettings = field(default_factory=SearchSettings)


def run_search(
    index: SearchIndex, embedder: Embedder | None, request: SearchRequest, *, reranker: Reranker | None = None
) -> SearchResult:
    """Return the hits, best first, at most ``top_k``; none when nothing is relevant.

    An embedder or reranker that gives no answer fails no search: it goes on without, and a note says so.

    Raises:
        InvalidInput: the query is no text or blank.
    """
    query = normalise_query(request.query)
    if not says_something(query):
        return SearchResult((), ("The query holds no word that could be searched.",))
    if isinstance(embedder, Warms):
        embedder.warm()  # the first search loads the model while the index reads the user's memories
    # A question's subject is known by names within one user's memories; across users the same name is many people.
    subject = subject_of(query, index.people(request.partition)) if request.partition.user_id else ""
    embedding, notes = _embedded(embedder, query)
    asked = asked_times(query, request.now, request.timezone)
    notes += [_read_as(one) for one in asked]
    wanted = max(request.top_k * _SPARE, reranker.top if reranker is not None else 0)
    found = index.hybrid(_index_query(embedder, request, query, subject, embedding, wanted))
    records = index.get([scored.memory_id for scored in found])
    hits: list[Hit] = []
    for scored in found:
        memory = records.get(scored.memory_id)
        if memory is None:
            continue
        factor = time_factor(memory, asked)
        hits.append(Hit(memory, scored.score * factor, explanation(scored.parts, factor if asked else None)))
    hits.sort(key=lambda hit: (-hit.score, hit.memory.memory_id))
    floor = max(request.settings.floor, request.score_threshold or 0.0)
    kept = fold_hits(hit for hit in hits if hit.score >= floor)
    if reranker is not None:
        kept, note = rerank(reranker, query, kept)
        kept = [hit for hit in kept if hit.score >= floor]
        notes += [note] if note else []
    return SearchResult(tuple(kept[: request.top_k]), tuple(notes))


def _embedded(embedder: Embedder | None, query: str) -> tuple[Embedding | None, list[str]]:
    """Return the query's embedding, or None and the note that says why there is none."""
    if embedder is None:
        return None, [LEXICAL_ONLY]
    try:
        return embedder.embed([query], "query")[0], []
    except (ModelUnavailable, BudgetReached) as error:
        return None, [f"Lexical search only: {error}"]


def _index_query(
    embedder: Embedder | None,
    request: SearchRequest,
    query: str,
    subject: str,
    embedding: Embedding | None,
    wanted: int,
) -> Query:
    late = embedding.tokens if embedding is not None else None
    return Query(
        partition=request.partition,
        text=query,
        vector=embedding.vector if embedding is not None else None,
        late=late,
        subject=subject,
        subject_ids=_token_ids(embedder, subject) if late is not None else frozenset(),
        filter=request.filter,
        k=wanted,
        candidates=request.settings.candidates,
    )


def _token_ids(embedder: Embedder | None, name: str) -> frozenset[int]:
    if embedder is None or not name:
        return frozenset()
    [embedding] = embedder.embed([name], "query")
    return frozenset(int(token) for token in embedding.tokens.ids) if embedding.tokens else frozenset()


def _read_as(asked: Asked) -> str:
    start = f"{asked.start:%Y-%m-%d}" if asked.start is not None else "…"
    end = f"{asked.end:%Y-%m-%d}" if asked.end is not None else "…"
    return f"Time asked about: {start} to before {end} (UTC)."

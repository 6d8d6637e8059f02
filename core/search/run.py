"""Carry out searches: check, embed, find whom and when they ask about, ask the index, walk paths, fold repetitions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import prod
from typing import Final

from mindmem.core.embed.port import Embedder, Embedding, Warms
from mindmem.core.errors import BudgetReached, ModelUnavailable
from mindmem.core.index.filters import Filter
from mindmem.core.index.port import Query, SearchIndex
from mindmem.core.records import Hit, Partition, SearchResult
from mindmem.core.search.conditions import condition_factor
from mindmem.core.search.dedupe import fold_hits
from mindmem.core.search.expansion import along_paths, by_score, latest_first, on_timelines, related, spread
from mindmem.core.search.explain import explanation
from mindmem.core.search.graph import Graphs
from mindmem.core.search.query import normalise_query, says_something
from mindmem.core.search.recipes import FAST, Recipe
from mindmem.core.search.rerank import Reranker, rerank
from mindmem.core.search.subject import subject_of
from mindmem.core.search.timewords import Asked, asked_times, time_factor
from mindmem.core.search.traversal import walk
from mindmem.core.settings import SearchSettings

__all__ = ["LEXICAL_ONLY", "SearchRequest", "run_search", "run_searches"]

LEXICAL_ONLY: Final = "Lexical search only: no embedder is available."
_RETOLD: Final = 0.6
"""Factor of conclusions and of summaries of episodes: they say again what others say, several of them in one, so that
they share words with many questions, and who asks for particulars is to get these first."""
_SPARE: Final = 3
"""Hits asked of the index for each one wanted, since some are folded and time words reorder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search over a partition (without a user: over the project's users), at the time ``now`` in the zone in which
    the question's time words are read. ``filter`` holds scope, status and the caller's conditions; ``score_threshold``
    is an own floor besides the settings'. ``asked`` are times asked about that the query itself may not name."""

    query: str
    partition: Partition
    now: datetime
    timezone: str = "UTC"
    filter: Filter | None = None
    top_k: int = 10
    score_threshold: float | None = None
    asked: tuple[Asked, ...] = ()
    settings: SearchSettings = field(default_factory=SearchSettings)


def run_search(
    index: SearchIndex,
    embedder: Embedder | None,
    request: SearchRequest,
    *,
    reranker: Reranker | None = None,
    recipe: Recipe = FAST,
    graphs: Graphs | None = None,
) -> SearchResult:
    """Return the hits, best first, at most ``top_k``; none when nothing is relevant.

    An embedder or reranker that gives no answer fails no search: it goes on without, and a note says so.

    Raises:
        InvalidInput: the query is no text or blank.
    """
    return run_searches(index, embedder, [request], reranker=reranker, recipe=recipe, graphs=graphs)[0]


def run_searches(
    index: SearchIndex,
    embedder: Embedder | None,
    requests: Sequence[SearchRequest],
    *,
    reranker: Reranker | None = None,
    recipe: Recipe = FAST,
    graphs: Graphs | None = None,
) -> list[SearchResult]:
    """Return what each of several searches finds, in order; their queries are embedded together. See
    :func:`run_search`."""
    queries = [normalise_query(request.query) for request in requests]
    asked = [query for query in queries if says_something(query)]
    if asked and isinstance(embedder, Warms):
        embedder.warm()  # the first search loads the model while the index reads the user's memories
        index.people(requests[0].partition)
    embeddings, notes = _embedded(embedder, asked) if asked else ({}, [])
    searcher = _Searcher(index, embedder, reranker, recipe, graphs or Graphs(), embeddings, tuple(notes))
    return [searcher.search(request, query) for request, query in zip(requests, queries, strict=True)]


@dataclass(frozen=True, slots=True)
class _Searcher:
    index: SearchIndex
    embedder: Embedder | None
    reranker: Reranker | None
    recipe: Recipe
    graphs: Graphs
    embeddings: dict[str, Embedding]
    notes: tuple[str, ...]

    def search(self, request: SearchRequest, query: str) -> SearchResult:
        """Return what one search finds; ``query`` is its question, normalised."""
        if not says_something(query):
            return SearchResult((), ("The query holds no word that could be searched.",))
        # A question's subject is known by names within one user's memories; across users the same name is many people.
        subject = subject_of(query, self.index.people(request.partition)) if request.partition.user_id else ""
        asked = asked_times(query, request.now, request.timezone)
        asked += tuple(one for one in request.asked if one not in asked)
        notes = [*self.notes, *map(_read_as, asked)]
        wanted = max(request.top_k * _SPARE, self.reranker.top if self.reranker is not None else 0)
        asks = _index_query(self.embedder, request, query, subject, self.embeddings.get(query), wanted)
        found = self.index.hybrid(asks)
        records = self.index.get([scored.memory_id for scored in found])
        hits = [
            Hit(records[scored.memory_id], scored.score, explanation(scored.parts, None))
            for scored in found
            if scored.memory_id in records
        ]
        hits = by_score(_as_asked(hit, query, asked) for hit in self._joined(request, query, asks, hits))
        floor = max(request.settings.floor, request.score_threshold or 0.0)
        kept = fold_hits(hit for hit in hits if hit.score >= floor)
        if self.recipe.latest:
            kept = latest_first(kept)
        if self.recipe.diversity:
            kept = [hit for hit in spread(kept, diversity=self.recipe.diversity) if hit.score >= floor]
        if self.reranker is not None:
            kept, note = rerank(self.reranker, query, kept)
            kept = [hit for hit in kept if hit.score >= floor]
            notes += [note] if note else []
        return SearchResult(tuple(kept[: request.top_k]), tuple(notes))

    def _joined(self, request: SearchRequest, query: str, asks: Query, hits: list[Hit]) -> list[Hit]:
        """Return the hits with what the recipe adds, which needs one user's memories and something found."""
        recipe, index = self.recipe, self.index
        if not hits or not request.partition.user_id:
            return hits
        if recipe.timeline:
            hits = on_timelines(index, request.partition, request.filter, hits, step=recipe.timeline)
        if recipe.walk is None and recipe.relations is None:
            return hits
        graph = self.graphs.of(index, request.partition)
        if recipe.relations is not None:
            hits = related(hits, graph, lambda ids: index.align(asks, ids), index.get, recipe.relations)
        if recipe.walk is None:
            return hits
        begin = [node for link in index.linked(request.partition, query) for node in link.entity_ids]
        seeds = [hit.memory.memory_id for hit in hits[: recipe.seeds]]
        paths = walk(graph, lambda ids: index.align(asks, ids), query, begin=begin, seeds=seeds, limits=recipe.walk)
        return along_paths(hits, paths, index.get, graph, gain=recipe.gain)


def _as_asked(hit: Hit, query: str, asked: Sequence[Asked]) -> Hit:
    """Return the hit with its score by the times that are asked about, the condition under which it holds, and
    whether it was said or is retold."""
    hit = _at_times(hit, asked)
    retold = hit.memory.order > 1 or "episode" in hit.memory.flags
    factors = {"condition": condition_factor(hit.memory, query), "retold": _RETOLD if retold else 1.0}
    kept = {name: factor for name, factor in factors.items() if factor != 1.0}
    return replace(hit, score=hit.score * prod(kept.values()), explanation={**hit.explanation, **kept}) if kept else hit


def _at_times(hit: Hit, asked: Sequence[Asked]) -> Hit:
    """Return the hit with its score by the times that are asked about."""
    if not asked:
        return hit
    factor = time_factor(hit.memory, asked)
    return replace(hit, score=hit.score * factor, explanation=explanation(hit.explanation, factor))


def _embedded(embedder: Embedder | None, queries: Sequence[str]) -> tuple[dict[str, Embedding], list[str]]:
    """Return the queries' embeddings, or none and the note that says why."""
    if embedder is None:
        return {}, [LEXICAL_ONLY]
    try:
        return dict(zip(queries, embedder.embed(queries, "query"), strict=True)), []
    except (ModelUnavailable, BudgetReached) as error:
        return {}, [f"Lexical search only: {error}"]


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

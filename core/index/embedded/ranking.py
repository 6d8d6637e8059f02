"""One query against one partition's arrays: masks first, then the legs, late interaction on the best, fusion, floor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import EmbedderIdentity, TokenVectors
from mindmem.core.index.embedded.partition import Arrays, Piece
from mindmem.core.index.embedded.scoring import (
    ECHO,
    SUBJECT_FACTOR,
    Floats,
    beside,
    convex,
    leg_weights,
    matched,
    relevant,
)
from mindmem.core.index.port import Alignment, Query, Scored
from mindmem.core.text import GENERAL, is_latin, query_terms, topic_terms

__all__ = ["Prepared", "Way", "align", "prepare", "rank"]

Way = Literal["lexical", "dense", "hybrid"]
Places = npt.NDArray[np.int64]
_SMALL: Final = 4_096
"""Documents up to which a query is exact even if it need not be: it costs a millisecond."""
_NEAR: Final = 512
"""Documents whose vectors are compared in full by a query that need not be exact."""
_POSTINGS: Final = 16_384
"""Postings that such a query looks at."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A query with its words analysed and its legs chosen, for all partitions that it is run against."""

    query: Query
    way: Way
    terms: Mapping[str, float]
    vector: Floats | None
    late: TokenVectors | None
    weights: Mapping[str, float]
    topic: frozenset[str]
    """Terms that show whether a document has to do with the query: without the name of whom it asks about."""
    named: frozenset[int]
    """Tokens of that name, left out of the evidence of late interaction."""
    foreign: bool
    """Whether most of the topic is in another script than the Latin."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Return the arrays that it needs."""
        needed: list[Piece] = ["columns"]
        if self.terms:
            needed.append("postings")
        if self.vector is not None:
            needed.append("matrix")
        if self.late is not None:
            needed.append("tokens")
        return tuple(needed)


def prepare(query: Query, way: Way, embedder: EmbedderIdentity | None) -> Prepared:
    """Return the query as this index can run it: legs that it has no vectors for are left out."""
    terms = query_terms(query.text) if way != "dense" else {}
    fits = embedder is not None and query.vector is not None and query.vector.shape == (embedder.dimension,)
    vector = query.vector if fits and way != "lexical" else None
    late = query.late if way == "hybrid" and query.late is not None and len(query.late.ids) else None
    if embedder is None or late is None or late.vectors.shape[1] != embedder.token_dimension:
        late = None
    available = {"lexical": bool(terms), "dense": vector is not None, "late": late is not None}
    topic = topic_terms(query.text)
    foreign = sum(map(is_latin, topic)) * 2 < len(topic)
    # "Tell me about Ann" has no other topic than Ann.
    asked = topic - query_terms(query.subject).keys() - GENERAL
    named = query.subject_ids if asked and not foreign else frozenset()
    topic = asked if asked and not foreign else topic - GENERAL or topic
    return Prepared(query, way, terms, vector, late, leg_weights(query.weights, available), topic, named, foreign)


def rank(arrays: Arrays, prepared: Prepared) -> list[Scored]:
    """Return the best ``query.k`` documents of the partition, best first; equal scores are ordered by memory_id.

    The arrays must be fresh and locked.
    """
    query, size = prepared.query, len(arrays.columns)
    if not size or not prepared.weights:
        return []
    if not query.exact and prepared.way != "hybrid" and size > _SMALL:
        return _nearby(arrays, prepared)
    mask = arrays.columns.mask(query.filter)
    nothing = np.zeros(size, dtype=np.float32)
    lexical, covered = arrays.postings.score(prepared.terms, prepared.topic) if prepared.terms else (nothing, nothing)
    if mask is not None and prepared.terms:
        lexical = lexical * mask
    dense = arrays.matrix.score(prepared.vector, mask) if prepared.vector is not None else nothing
    factors = np.ones(size, dtype=np.float32)
    if query.subject:
        factors[arrays.columns.not_of_subject(query.subject)] = SUBJECT_FACTOR
    limit = max(query.candidates, query.k)
    places = _candidates(lexical * factors, dense * factors, mask, limit, everything=prepared.late is not None)
    if not len(places):
        return []
    factor = factors[places]
    legs = {"lexical": lexical[places], "dense": dense[places]}
    weights = dict(prepared.weights)
    on_topic: Floats | None = None
    if prepared.late is not None:
        best, rare, telling = arrays.tokens.compare(prepared.late, places)
        topic = rare * ~np.isin(prepared.late.ids[telling], list(prepared.named))
        legs["late"], on_topic = matched(best, rare), matched(best, topic if topic.any() else rare)
        episodes = arrays.columns.episodes(places)
        if np.any(episodes >= 0):
            legs["echo"] = matched(beside(best, episodes), rare)
            weights["echo"] = ECHO * weights["late"]
    scores = convex(legs, weights, factor)
    kept = scores > 0.0
    if prepared.way == "hybrid":
        near = legs["dense"] if prepared.vector is not None else None
        kept &= relevant(covered[places], near, on_topic, foreign=prepared.foreign)
    chosen = np.flatnonzero(kept)
    chosen = chosen[_best(scores[chosen], query.k)]
    ids = arrays.columns.memory_ids
    names = (*weights, *(("subject",) if query.subject else ()))
    legs["subject"] = factor
    found = [
        Scored(ids[places[at]], float(scores[at]), {name: float(legs[name][at]) for name in names}) for at in chosen
    ]
    return sorted(found, key=lambda scored: (-scored.score, scored.memory_id))[: query.k]


def align(arrays: Arrays, prepared: Prepared, memory_ids: Sequence[str]) -> Alignment:
    """Return how those memories that the partition holds and the filter passes match the query, part by part.

    The arrays must be fresh and locked.
    """
    held = arrays.columns.held(memory_ids)
    mask = arrays.columns.mask(prepared.query.filter)
    kept = [(memory_id, place) for memory_id, place in held if mask is None or mask[place]]
    places = np.array([place for _, place in kept], dtype=np.int64)
    if prepared.late is not None:
        scores, weights, _ = arrays.tokens.compare(prepared.late, places)
    else:
        scores, weights = arrays.postings.held(prepared.terms, places)
    total = float(weights.sum())
    return Alignment(tuple(memory_id for memory_id, _ in kept), scores, weights / total if total else weights)


def _nearby(arrays: Arrays, prepared: Prepared) -> list[Scored]:
    """Return nearly the best of one leg, at a cost that hardly grows with the partition."""
    query, ids = prepared.query, arrays.columns.memory_ids
    if prepared.vector is not None:
        places, scores = arrays.matrix.nearby(prepared.vector, arrays.columns.mask(query.filter), _NEAR)
    else:
        places, scores = arrays.postings.nearby(prepared.terms, _POSTINGS)
        mask = arrays.columns.mask(query.filter)
        scores = scores if mask is None else scores * mask[places]
    best = _best(scores, query.k)
    found = [
        Scored(ids[place], float(score), {prepared.way: float(score)})
        for place, score in zip(places[best], scores[best], strict=True)
        if score > 0.0
    ]
    return sorted(found, key=lambda scored: (-scored.score, scored.memory_id))[: query.k]


def _candidates(
    lexical: Floats, dense: Floats, mask: "npt.NDArray[np.bool_] | None", limit: int, *, everything: bool
) -> Places:
    """Return at most ``limit`` places: half are the best by words, half the best by meaning, the rest by both; with
    ``everything`` all documents where they are no more than that (late interaction finds what both legs miss)."""
    allowed = len(lexical) if mask is None else int(np.count_nonzero(mask))
    if everything and allowed <= limit:
        return np.arange(len(lexical)) if mask is None else np.flatnonzero(mask)
    held = np.flatnonzero((lexical > 0.0) | (dense > 0.0))
    if len(held) <= limit:
        return held
    words, meaning = lexical[held], dense[held]
    joint = words / (float(words.max()) or 1.0) + meaning / (float(meaning.max()) or 1.0)
    chosen = np.zeros(len(held), dtype=np.bool_)
    chosen[_exactly(words, joint, limit // 2)] = True
    chosen[_exactly(meaning, joint, limit // 2)] = True
    joint[chosen] += 2.0
    return held[np.sort(np.argpartition(-joint, limit - 1)[:limit])]


def _exactly(scores: Floats, ties: Floats, count: int) -> Places:
    """Return where at most ``count`` of the highest scores are, equal ones chosen by ``ties``."""
    best = _best(scores, count)
    return best if len(best) <= count else best[np.lexsort((-ties[best], -scores[best]))[:count]]


def _best(scores: Floats, count: int) -> Places:
    """Return where the ``count`` highest scores are, with all that equal the last of them, in no order."""
    if len(scores) <= count:
        return np.arange(len(scores))
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    return np.flatnonzero(scores >= last) if last > 0.0 else np.flatnonzero(scores > 0.0)

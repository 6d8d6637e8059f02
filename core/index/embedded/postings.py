"""The words of a partition: who holds which, sorted once, with a tail of what came since."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.embedded.codec import FIELDS, term_hash, unpack_terms
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.scoring import K1, B, Floats, idf
from mindmem.core.index.port import FIELD_WEIGHTS

__all__ = ["Postings"]

_WEIGHTS: Final = np.array([FIELD_WEIGHTS[name] for name in FIELDS], dtype=np.float32)
_SMALL_TAIL: Final = 8_192
"""Words that may wait in the tail of even a small partition before everything is sorted anew."""
_GONE: Final = np.uint64(0)


class Postings:
    """Postings in compressed rows (terms sorted, documents of each term together), plus an unsorted tail.

    A document whose text changed is dead in the base and lives in the tail. When the tail has outgrown an eighth of the
    base, the next query sorts both together, which keeps adding at a constant cost on average.
    """

    def __init__(self) -> None:
        self._terms: npt.NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._starts: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._docs: npt.NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._counts: Floats = np.empty(0, dtype=np.float32)
        self._tail_terms = Growing(np.empty(0, dtype=np.uint64))
        self._tail_docs = Growing(np.empty(0, dtype=np.int32))
        self._tail_counts = Growing(np.empty(0, dtype=np.float32))
        self._lengths = Growing(np.empty(0, dtype=np.float32))
        self._dead = Growing(np.empty(0, dtype=np.bool_))
        self._any_dead = False
        self._norms: Floats | None = None

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def nbytes(self) -> int:
        """Return the size of all arrays in bytes."""
        grown = (self._tail_terms, self._tail_docs, self._tail_counts, self._lengths, self._dead)
        fixed = (self._terms, self._starts, self._docs, self._counts)
        return sum(array.nbytes for array in grown) + sum(array.nbytes for array in fixed) + 4 * len(self)

    def put(self, places: npt.NDArray[np.int64], packed: Sequence[bytes], lengths: bytes) -> None:
        """Set the words of the documents at ``places`` (ascending; those beyond the end are new and contiguous)."""
        known = int(np.searchsorted(places, len(self)))
        long = np.frombuffer(lengths, dtype="<u2").reshape(-1, len(FIELDS)).astype(np.float32) @ _WEIGHTS
        changed = places[:known]
        if known:
            self._lengths.view[changed] = long[:known]
            self._dead.view[changed] = True
            self._any_dead = True
            self._tail_terms.view[np.isin(self._tail_docs.view, changed)] = _GONE
        self._lengths.append(long[known:])
        self._dead.append(np.zeros(len(places) - known, dtype=np.bool_))
        terms, owners, counts = unpack_terms(packed, _WEIGHTS)
        self._tail_terms.append(terms)
        self._tail_docs.append(places.astype(np.int32)[owners])
        self._tail_counts.append(counts)
        self._norms = None

    def score(self, query: Mapping[str, float], topic: Collection[str]) -> tuple[Floats, Floats]:
        """Return BM25F as a share of the most this query could reach, and the share of the terms of its ``topic`` that
        each document holds, weighted by idf; both by document, in 0..1."""
        if len(self._tail_terms) > max(_SMALL_TAIL, len(self._docs) // 8):
            self._sort()  # here and not while rows come in: a partition that is loaded page by page is sorted once
        held = [self._holders(np.uint64(term_hash(term))) for term in query]
        sizes = np.array([len(docs) for docs, _ in held], dtype=np.int64)
        weights = np.array(list(query.values()), dtype=np.float64)
        rare = idf(len(self), sizes) * weights
        tells = np.where([term in topic for term in query], rare / np.maximum(weights, 1e-9), 0.0)
        docs = np.concatenate([docs for docs, _ in held])
        counts = np.concatenate([counts for _, counts in held])
        gained = np.repeat(rare, sizes) * counts / (counts + self._normed()[docs])
        scores = np.bincount(docs, gained, len(self)) / max(float(rare.sum()), 1e-9)
        covered = np.bincount(docs, np.repeat(tells, sizes), len(self)) / max(float(tells.sum()), 1e-9)
        return scores.astype(np.float32), covered.astype(np.float32)

    def _holders(self, term: np.uint64) -> tuple[Any, Any]:
        at = int(np.searchsorted(self._terms, term))
        docs, counts = self._docs[:0], self._counts[:0]
        if at < len(self._terms) and self._terms[at] == term:
            held = slice(self._starts[at], self._starts[at + 1])
            docs, counts = self._docs[held], self._counts[held]
            if self._any_dead:
                living = ~self._dead.view[docs]
                docs, counts = docs[living], counts[living]
        if len(self._tail_terms):
            tail = np.flatnonzero(self._tail_terms.view == term)
            if len(tail):
                docs = np.concatenate([docs, self._tail_docs.view[tail]])
                counts = np.concatenate([counts, self._tail_counts.view[tail]])
        return docs, counts

    def _normed(self) -> Floats:
        if self._norms is None:
            lengths = self._lengths.view
            mean = max(float(lengths.mean()), 1e-6) if len(lengths) else 1.0
            self._norms = np.float32(K1) * (np.float32(1.0 - B) + np.float32(B / mean) * lengths)
        return self._norms

    def _sort(self) -> None:
        terms = np.repeat(self._terms, np.diff(self._starts))
        living = ~self._dead.view[self._docs]
        kept = self._tail_terms.view != _GONE
        terms = np.concatenate([terms[living], self._tail_terms.view[kept]])
        docs = np.concatenate([self._docs[living], self._tail_docs.view[kept]])
        counts = np.concatenate([self._counts[living], self._tail_counts.view[kept]])
        order = np.argsort(terms, kind="stable")
        self._docs, self._counts = docs[order], counts[order]
        self._terms, starts = np.unique(terms[order], return_index=True)
        self._starts = np.append(starts, len(order)).astype(np.int64)
        self._tail_terms = Growing(np.empty(0, dtype=np.uint64))
        self._tail_docs = Growing(np.empty(0, dtype=np.int32))
        self._tail_counts = Growing(np.empty(0, dtype=np.float32))
        self._dead.view[:] = False
        self._any_dead = False

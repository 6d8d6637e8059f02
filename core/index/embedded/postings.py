"""The words of a partition: who holds which, in sorted runs, with a tail of what came since."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.embedded.codec import FIELDS, term_hash, unpack_terms
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.scoring import K1, B, Floats, idf
from mindmem.core.index.port import FIELD_WEIGHTS

__all__ = ["Postings"]

_WEIGHTS: Final = np.array([FIELD_WEIGHTS[name] for name in FIELDS], dtype=np.float32)
_TAIL: Final = 8_192
"""Words that may wait in the tail before they are sorted into a run."""
_GONE: Final = np.uint64(0)
Places = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class _Run:
    """Postings in compressed rows: terms sorted, the documents of each together; a count of 0 is a word that went."""

    terms: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    docs: npt.NDArray[np.int32]
    counts: Floats
    holed: bool = False

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.docs.nbytes + self.counts.nbytes


class Postings:
    """Postings in runs, each at least twice as long as the next, plus an unsorted tail.

    A query sorts a tail that has grown long into a run of its own, and runs that have come too close in length into
    one: so a word is sorted a few times in its life, a query looks into a few runs, and adding costs the same in a
    large partition as in a small one. Only the first query of all looks through its tail however long it is, which is
    faster than sorting it, and all that a process needs that asks once. A document whose text changed has its old words
    taken out.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._tail_terms = Growing(np.empty(0, dtype=np.uint64))
        self._tail_docs = Growing(np.empty(0, dtype=np.int32))
        self._tail_counts = Growing(np.empty(0, dtype=np.float32))
        self._lengths = Growing(np.empty(0, dtype=np.float32))
        self._total = 0.0
        self._asked = False

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def nbytes(self) -> int:
        """Return the size of all arrays in bytes."""
        grown = (self._tail_terms, self._tail_docs, self._tail_counts, self._lengths)
        return sum(array.nbytes for array in grown) + sum(run.nbytes for run in self._runs)

    def put(self, places: Places, packed: Sequence[bytes], lengths: bytes) -> None:
        """Set the words of the documents at ``places`` (ascending; those beyond the end are new and contiguous)."""
        known = int(np.searchsorted(places, len(self)))
        long = np.frombuffer(lengths, dtype="<u2").reshape(-1, len(FIELDS)).astype(np.float32) @ _WEIGHTS
        if known:
            self._total -= float(self._lengths.view[places[:known]].sum(dtype=np.float64))
            self._lengths.view[places[:known]] = long[:known]
            self._take_out(places[:known])
        self._lengths.append(long[known:])
        self._total += float(long.sum(dtype=np.float64))
        terms, owners, counts = unpack_terms(packed, _WEIGHTS)
        self._tail_terms.append(terms)
        self._tail_docs.append(places.astype(np.int32)[owners])
        self._tail_counts.append(counts)

    def score(self, query: Mapping[str, float], topic: Collection[str]) -> tuple[Floats, Floats]:
        """Return BM25F as a share of the most this query could reach, and the share of the terms of its ``topic`` that
        each document holds, weighted by idf; both by document, in 0..1."""
        self._settle()  # here and not while rows come in: a partition that is loaded page by page is sorted once
        held = self._held(query)
        sizes = np.array([len(docs) for docs, _ in held], dtype=np.int64)
        weights = np.array(list(query.values()), dtype=np.float64)
        rare = idf(len(self), sizes) * weights
        tells = np.where([term in topic for term in query], rare / np.maximum(weights, 1e-9), 0.0)
        docs = np.concatenate([docs for docs, _ in held])
        gained = self._gained(held, rare)
        scores = np.bincount(docs, gained, len(self)) / max(float(rare.sum()), 1e-9)
        covered = np.bincount(docs, np.repeat(tells, sizes), len(self)) / max(float(tells.sum()), 1e-9)
        return scores.astype(np.float32), covered.astype(np.float32)

    def held(self, query: Mapping[str, float], places: Places) -> tuple[Floats, Floats]:
        """Return which of the query's terms each document holds (1 or 0), shape (documents, terms), and the terms'
        weights by idf."""
        self._settle()
        found = self._held(query)
        rare = idf(len(self), np.array([len(docs) for docs, _ in found])) * np.array(list(query.values()))
        holds = np.zeros((len(places), len(found)), dtype=np.float32)
        for at, (docs, _) in enumerate(found):
            having = np.zeros(len(self), dtype=np.bool_)
            having[docs] = True
            holds[:, at] = having[places]
        return holds, rare.astype(np.float32)

    def nearby(self, query: Mapping[str, float], budget: int) -> tuple[Places, Floats]:
        """Return documents that share words with the query, and their BM25F by those words, looking at no more than
        ``budget`` postings: those of the rarest words, and of a single word that has more the documents added last."""
        self._settle()
        held = self._held(query)
        rare = idf(len(self), np.array([len(docs) for docs, _ in held])) * np.array(list(query.values()))
        chosen: list[int] = []
        left = budget
        for at in sorted(range(len(held)), key=lambda at: len(held[at][0])):
            if chosen and len(held[at][0]) > left:
                break
            chosen.append(at)
            left -= len(held[at][0])
        some = [(held[at][0][-budget:], held[at][1][-budget:]) for at in chosen]
        docs = np.concatenate([docs for docs, _ in some])
        scores = np.bincount(docs, self._gained(some, rare[chosen]), len(self)) / max(float(rare.sum()), 1e-9)
        places = np.flatnonzero(scores)
        return places, scores[places].astype(np.float32)

    def _gained(self, held: Sequence[tuple[Any, Any]], rare: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return what each posting adds to its document's score."""
        sizes = [len(docs) for docs, _ in held]
        docs = np.concatenate([docs for docs, _ in held])
        counts = np.concatenate([counts for _, counts in held])
        mean = max(self._total / len(self), 1e-6) if len(self) else 1.0
        norms = self._lengths.view[docs]
        norms *= np.float32(K1 * B / mean)
        norms += np.float32(K1 * (1.0 - B))
        norms += counts
        gained = np.repeat(rare, sizes)
        gained *= counts
        gained /= norms
        return gained

    def _held(self, query: Mapping[str, float]) -> list[tuple[Any, Any]]:
        """Return the documents and counts of each term."""
        terms = np.array([term_hash(term) for term in query], dtype=np.uint64)
        found: list[list[tuple[Any, Any]]] = [[] for _ in terms]
        for run in self._runs:
            places = np.minimum(np.searchsorted(run.terms, terms), len(run.terms) - 1)
            for number in np.flatnonzero(run.terms[places] == terms):
                held = slice(run.starts[places[number]], run.starts[places[number] + 1])
                docs, counts = run.docs[held], run.counts[held]
                if run.holed:
                    docs, counts = docs[counts > 0.0], counts[counts > 0.0]
                found[number].append((docs, counts))
        tail, docs, counts = self._tail_terms.view, self._tail_docs.view, self._tail_counts.view
        for some, term in zip(found, terms, strict=True):
            holding = np.flatnonzero(tail == term)
            if len(holding) or not some:
                some.append((docs[holding], counts[holding]))
        return [_joined(some) for some in found]

    def _take_out(self, changed: Places) -> None:
        flags = np.zeros(len(self), dtype=np.bool_)
        flags[changed] = True
        self._tail_terms.view[flags[self._tail_docs.view]] = _GONE
        for run in self._runs:
            gone = flags[run.docs]
            if gone.any():
                run.counts[gone] = 0.0
                run.holed = True

    def _settle(self) -> None:
        first, self._asked = not self._asked, True
        if first or len(self._tail_terms) <= _TAIL:
            return
        kept = self._tail_terms.view != _GONE
        tail = (self._tail_terms.view[kept], self._tail_docs.view[kept], self._tail_counts.view[kept])
        self._tail_terms = Growing(np.empty(0, dtype=np.uint64))
        self._tail_docs = Growing(np.empty(0, dtype=np.int32))
        self._tail_counts = Growing(np.empty(0, dtype=np.float32))
        parts = [tail]
        size = len(tail[0])
        while self._runs and len(self._runs[-1].docs) < 2 * size:
            run = self._runs.pop()
            living = run.counts > 0.0
            terms = np.repeat(run.terms, np.diff(run.starts))
            parts.append((terms[living], run.docs[living], run.counts[living]))
            size += len(parts[-1][0])
        if size:
            self._runs.append(_sorted(*map(np.concatenate, zip(*reversed(parts), strict=True))))


def _joined(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([docs for docs, _ in parts]), np.concatenate([counts for _, counts in parts])


def _sorted(terms: npt.NDArray[np.uint64], docs: npt.NDArray[np.int32], counts: Floats) -> _Run:
    order = _order(terms)
    ordered = terms[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return _Run(ordered[starts], np.append(starts, len(order)).astype(np.int64), docs[order], counts[order])


def _order(terms: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the stable order of the terms. Numbers with their places in the low bits sort several times faster than
    places by their numbers; should two terms share all the bits that are left, the slow way is gone."""
    low = np.uint64(len(terms).bit_length())
    keys = (terms >> low << low) | np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    order = (keys & ((np.uint64(1) << low) - np.uint64(1))).astype(np.int64)
    ordered = terms[order]
    return np.argsort(terms, kind="stable") if np.any(ordered[1:] < ordered[:-1]) else order

"""Every number that shapes a score, in one place, and the arithmetic that joins the legs.

Scores are absolute: a leg depends on the query and the partition, never on which other documents were fetched, so a
result keeps its score when ``k`` grows and a threshold means something.

- ``lexical`` = BM25F over the fields ÷ the most that this query could reach (Σ weight · idf · (k1 + 1)).
- ``dense`` = cosine of the sentence vectors, negative ones cut to 0.
- ``late`` = for each of the query's tokens the best cosine among the document's, averaged with the tokens' idf as
  weight (Khattab and Zaharia 2020, ColBERT's MaxSim, with idf).

- ``echo`` = how much better than itself the best of what was said in a document's episode matches those tokens, in the
  same mean: who talks leaves out what was said a moment ago. Of the documents compared only, and in no evidence.

The fused score is their convex sum, ``ECHO`` times the echo added to ``late``, times the subject's factor. The floor is
a separate test on the evidence: see :func:`relevant`.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "ECHO", "K1", "SUBJECT_FACTOR", "WEIGHTS", "B", "Floats", "beside", "convex", "idf", "leg_weights", "matched",
    "relevant",
]  # fmt: skip

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

K1: Final = 1.0
"""BM25: how soon a repeated word stops counting."""
B: Final = 0.5
"""BM25: how much a long document is discounted, 0 to 1."""
PRIOR: Final = 50.0
"""Unseen documents assumed beside the partition's own when a word's rarity is judged, so that a store of three memories
has no wild weights."""
WEIGHTS: Final[Mapping[str, float]] = {"lexical": 0.3, "dense": 0.02, "late": 0.68}
"""Default weight of each leg, chosen on LOCOMO's dialogues 1-5 and flat around it. A good match reaches about 0.4 in
``lexical`` and 0.7 in ``late``, a poor one 0.05 and 0.4. The sentence vector says little that token vectors don't."""
WITHOUT_LATE: Final[Mapping[str, float]] = {"lexical": 0.75, "dense": 0.25, "late": 0.0}
"""Default weight of each leg where there are no token vectors."""
ECHO: Final = 0.5
"""What words said beside a document count, as a share of its own. Chosen on LOCOMO's dialogues 1-5, flat around it."""
SUBJECT_FACTOR: Final = 0.7
"""What is left of the score of a memory by and about another known person than the one asked about."""

EVIDENCE: Final[Mapping[str, float]] = {"coverage": 0.2, "dense": 0.4, "late": 0.4}
"""Weight of each kind of evidence in the floor."""
FLOOR: Final = 0.37
"""Evidence that the best document must have, where there are vectors, for anything to be shown."""
FLOOR_OTHERS: Final = 0.25
"""Evidence that every document must have."""
FLOOR_WORDS: Final = 0.2
"""Coverage that the best document must have where there are no vectors."""
ENOUGH_WORDS: Final = 0.75
"""Coverage that is enough alone, in whatever script: the embedder may not know the language, or what an id means."""
ENOUGH_FOREIGN: Final = 0.35
"""The same for a query in another script than the Latin: words are not stemmed there, and a small English model sees
unknown signs, so that the vectors say nothing and half of the words may differ by their endings."""


def idf(documents: int, containing: "npt.NDArray[np.int64] | int") -> "npt.NDArray[np.float64]":
    """Return the inverse document frequency of terms that ``containing`` of ``documents`` hold; always positive."""
    held = np.asarray(containing, dtype=np.float64)
    rare: npt.NDArray[np.float64] = np.log1p((documents + PRIOR - held + 0.5) / (held + 0.5))
    return rare


def leg_weights(given: Mapping[str, float], available: Mapping[str, bool]) -> dict[str, float]:
    """Return the weights of the available legs, which sum to 1 (all 0 when nothing is available)."""
    merged = {**(WEIGHTS if available["late"] else WITHOUT_LATE), **given}
    kept = {leg: max(0.0, merged[leg]) for leg in WEIGHTS if available[leg]}
    total = sum(kept.values())
    if total <= 0.0:
        return dict.fromkeys(kept, 1.0 / len(kept)) if kept else {}
    return {leg: weight / total for leg, weight in kept.items()}


def convex(legs: Mapping[str, Floats], weights: Mapping[str, float], factor: Floats) -> Floats:
    """Return the fused score in 0..1 of each document."""
    total = np.zeros(len(factor), dtype=np.float32)
    for leg, weight in weights.items():
        total += np.float32(weight) * legs[leg]
    fused: Floats = np.clip(total * factor, 0.0, 1.0)
    return fused


def matched(best: Floats, weights: Floats) -> Floats:
    """Return the mean of the tokens' best cosines (documents, tokens), weighted: 0..1."""
    shares: Floats = np.clip(best @ weights / (weights.sum() or 1.0), 0.0, 1.0)
    return shares


def beside(best: Floats, groups: "npt.NDArray[np.int32]") -> Floats:
    """Return how much better than itself the best of each document's group matches each token; both of shape
    (documents, tokens), zeros for documents of the group -1."""
    more = np.zeros_like(best)
    grouped = np.flatnonzero(groups >= 0)
    if len(grouped):
        order = grouped[np.argsort(groups[grouped], kind="stable")]
        begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
        sizes = np.diff(begins, append=len(order))
        most = np.maximum.reduceat(best[order], begins, axis=0)
        more[order] = np.repeat(most, sizes, axis=0) - best[order]
    return more


def relevant(coverage: Floats, dense: Floats | None, late: Floats | None, *, foreign: bool = False) -> Bools:
    """Return which documents have enough to do with the query to be shown; none if not even the best has.

    ``coverage`` is the share of the query's informative words, weighted by idf, that a document holds; stop words and
    further forms of a word don't count. A nonsense query shares no word and is far from everything; a topic that was
    never stored shares at best a common word and the name of whom it is about, which the caller leaves out. On
    dialogues with the bundled embedder, the best document's evidence was above ``FLOOR`` for 99 of 100 questions about
    them, and below it for 23 of 100 questions about other dialogues with the names of these speakers put in.
    """
    kinds = {"coverage": coverage, "dense": dense, "late": late}
    held = {name: values for name, values in kinds.items() if values is not None}
    if len(held) == 1:
        return np.full(len(coverage), np.any(coverage >= FLOOR_WORDS))
    worded = np.asarray(coverage >= (ENOUGH_FOREIGN if foreign else ENOUGH_WORDS))
    evidence = np.zeros(len(coverage), dtype=np.float32)
    for name, values in held.items():
        evidence += np.float32(EVIDENCE[name] / sum(EVIDENCE[other] for other in held)) * values
    if not np.any(worded | (evidence >= FLOOR)):
        return np.zeros(len(coverage), dtype=np.bool_)
    return np.asarray(worded | (evidence >= FLOOR_OTHERS))

"""Every number that shapes a score, in one place, and the arithmetic that joins the legs.

Scores are absolute: a leg depends on the query and the partition, never on which other documents were fetched, so a
result keeps its score when ``k`` grows and a threshold means something.

- ``lexical`` = BM25F over the fields ÷ the most that this query could reach (Σ weight · idf · (k1 + 1)).
- ``dense`` = cosine of the sentence vectors, negative ones cut to 0.
- ``late`` = for each of the query's tokens the best cosine among the document's, averaged with the tokens' idf as
  weight (Khattab and Zaharia 2020, ColBERT's MaxSim, with idf).

The fused score is their convex sum times the subject's factor. The floor is a separate test on the evidence: see
:func:`relevant`.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["K1", "SUBJECT_FACTOR", "WEIGHTS", "B", "Floats", "convex", "idf", "leg_weights", "relevant"]

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

K1: Final = 1.2
"""BM25: how soon a repeated word stops counting."""
B: Final = 0.5
"""BM25: how much a long document is discounted, 0 to 1."""
PRIOR: Final = 50.0
"""Unseen documents assumed beside the partition's own when a word's rarity is judged, so that a store of three memories
has no wild weights."""
WEIGHTS: Final[Mapping[str, float]] = {"lexical": 0.3, "dense": 0.1, "late": 0.6}
"""Default weight of each leg."""
SUBJECT_FACTOR: Final = 0.5
"""What is left of the score of a memory by and about another known person than the one asked about."""

FLOOR_COVERAGE: Final = 0.5
FLOOR_DENSE: Final = 0.35
FLOOR_LATE: Final = 0.55
FLOOR_JOINT: Final = 0.6


def idf(documents: int, containing: "npt.NDArray[np.int64] | int") -> "npt.NDArray[np.float64]":
    """Return the inverse document frequency of terms that ``containing`` of ``documents`` hold; always positive."""
    held = np.asarray(containing, dtype=np.float64)
    rare: npt.NDArray[np.float64] = np.log1p((documents + PRIOR - held + 0.5) / (held + 0.5))
    return rare


def leg_weights(given: Mapping[str, float], available: Mapping[str, bool]) -> dict[str, float]:
    """Return the weights of the available legs, which sum to 1 (all 0 when nothing is available)."""
    merged = {**WEIGHTS, **given}
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


def relevant(coverage: Floats, dense: Floats | None, late: Floats | None) -> Bools:
    """Return which documents have enough to do with the query to be shown at all.

    ``coverage`` is the share of the query's informative words, weighted by idf, that a document holds. A document
    passes on words alone, on either vector alone, or on both together (``FLOOR_JOINT``): a nonsense query shares no
    word and is far from everything; a topic that was never stored shares at best a common word."""
    passed = coverage >= FLOOR_COVERAGE
    if dense is not None:
        passed |= dense >= FLOOR_DENSE
    if late is not None:
        passed |= late >= FLOOR_LATE
    return np.asarray(passed)

"""Measures of retrieval: evidence recall, its mean with a bootstrap interval, medians."""

import statistics
from collections.abc import Collection, Sequence

import numpy as np

__all__ = ["difference", "interval", "mean", "median_ms", "recall_at", "spread"]


def recall_at(ranked: Sequence[str], wanted: Collection[str], k: int) -> float:
    """Return the share of ``wanted`` among the first ``k`` of ``ranked``, 0..1.

    Raises:
        ValueError: nothing is wanted, so there is no share.

    >>> recall_at(["a", "b", "c"], {"b", "x"}, 2)
    0.5
    """
    if not wanted:
        raise ValueError("recall needs at least one wanted item")
    return len(set(wanted).intersection(ranked[:k])) / len(set(wanted))


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0.0 of nothing."""
    return float(np.mean(values)) if len(values) else 0.0


def interval(values: Sequence[float], *, seed: int, share: float = 0.95, resamples: int = 2000) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean that holds ``share`` of the resamples; (0, 0) of nothing."""
    if not len(values):
        return 0.0, 0.0
    array = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(array), size=(resamples, len(array)))
    low, high = np.quantile(array[drawn].mean(axis=1), [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


def difference(
    values: Sequence[float], others: Sequence[float], *, seed: int, share: float = 0.95
) -> tuple[float, float, float]:
    """Return the mean difference of paired values (the first minus the second) and its percentile bootstrap interval.

    >>> difference([1.0, 0.5], [0.5, 0.0], seed=7)
    (0.5, 0.5, 0.5)
    """
    apart = [one - other for one, other in zip(values, others, strict=True)]
    return (mean(apart), *interval(apart, seed=seed, share=share))


def median_ms(seconds: Sequence[float]) -> float:
    """Return the median in milliseconds, 0.0 of nothing."""
    return statistics.median(seconds) * 1000 if len(seconds) else 0.0


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    return {
        "p50_ms": round(ordered[len(ordered) // 2] * 1000, 3),
        "p95_ms": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000, 3),
    }

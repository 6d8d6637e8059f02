"""Measures: recall counts distinct wanted items, the interval holds the mean."""

import pytest

from mindmem.core.bench.metrics import interval, mean, median_ms, recall_at


def test_recall_counts_only_the_first_k() -> None:
    assert recall_at(["a", "b", "c", "d"], {"a", "d"}, 3) == 0.5
    assert recall_at(["a", "b", "c", "d"], {"a", "d"}, 4) == 1.0


def test_recall_of_nothing_wanted_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        recall_at(["a"], set(), 1)


def test_the_interval_holds_the_mean_and_is_the_same_for_the_same_seed() -> None:
    values = [0.0, 1.0] * 50
    low, high = interval(values, seed=3)
    assert low < mean(values) < high
    assert interval(values, seed=3) == (low, high)
    assert high - low == pytest.approx(0.2, abs=0.05)


def test_more_values_make_the_interval_narrower() -> None:
    few, many = interval([0.0, 1.0] * 10, seed=1), interval([0.0, 1.0] * 1000, seed=1)
    assert many[1] - many[0] < few[1] - few[0]


def test_nothing_measured_is_zero() -> None:
    assert (mean([]), interval([], seed=1), median_ms([])) == (0.0, (0.0, 0.0), 0.0)


def test_the_median_is_in_milliseconds() -> None:
    assert median_ms([0.001, 0.002, 0.5]) == 2.0

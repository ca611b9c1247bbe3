"""The bootstrap from counts against one that resamples rows, and its seeds."""

import numpy as np
import pytest

from reports.statistics.bootstrap import pooled_interval, resampled_differences, seed_for


def test_drawing_counts_has_the_spread_of_resampling_rows() -> None:
    gained, lost, n = 30, 12, 120
    rows = np.repeat([1, -1, 0], [gained, lost, n - gained - lost])
    rng = np.random.default_rng(1)
    by_rows = rows[rng.integers(0, n, size=(20_000, n))].mean(axis=1)
    by_counts = resampled_differences(np.random.default_rng(2), gained, lost, n, 20_000)
    assert by_counts.mean() == pytest.approx((gained - lost) / n, abs=0.002)
    assert by_counts.std() == pytest.approx(by_rows.std(), rel=0.03)
    assert np.quantile(by_counts, [0.025, 0.975]) == pytest.approx(
        np.quantile(by_rows, [0.025, 0.975]), abs=0.01
    )


def test_every_dataset_weighs_the_same_whatever_its_size() -> None:
    # Differences 0.5 and 0 weigh equally: 0.25, not (500 + 0) / 1100.
    low, high = pooled_interval([(500, 0, 1000), (0, 0, 100)], seed=3)
    assert (low + high) / 2 == pytest.approx(0.25, abs=0.003)


def test_the_half_width_is_that_of_a_mean_of_independent_datasets() -> None:
    # Variance of one difference: (win + lose − (win − lose)²) / n; of the mean of two: a quarter of the sum.
    variance = ((0.3 - 0.1**2) / 400 + (0.2 - 0.2**2) / 500) / 4
    low, high = pooled_interval([(80, 40, 400), (100, 0, 500)], seed=5)
    assert (high - low) / 2 == pytest.approx(1.96 * variance**0.5, rel=0.03)


def test_equal_seeds_give_equal_intervals_and_other_seeds_others() -> None:
    counts = [(31, 12, 333), (20, 5, 1001)]
    assert pooled_interval(counts, seed=1) == pooled_interval(counts, seed=1)
    assert pooled_interval(counts, seed=1) != pooled_interval(counts, seed=2)


def test_a_seed_depends_on_the_experiment_and_on_what_is_resampled() -> None:
    seeds = {seed_for(7, "a", "b"), seed_for(8, "a", "b"), seed_for(7, "b", "a"), seed_for(7, "ab")}
    assert len(seeds) == 4
    assert seed_for(7, "a", "b") == seed_for(7, "a", "b")


def test_pooled_is_the_mean_of_three_datasets_and_not_their_median() -> None:
    # Where all pairs agree, or all are gained, every resample is the sample: (1 + 0 + 0) / 3.
    assert pooled_interval([(10, 0, 10), (0, 0, 40), (0, 0, 90)], seed=1) == pytest.approx((1 / 3, 1 / 3))

"""The paired score interval against published values, a direct maximisation, and its coverage."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from reports.statistics.intervals import Interval, paired_score_interval

CHI_SQUARE_95 = float(stats.chi2.ppf(0.95, 1))


@pytest.mark.parametrize(
    ("gained", "lost", "n", "low", "high"),
    [
        # Airway hyper-responsiveness, Fagerland, Lydersen and Laake (2014), table V: Tango's interval.
        (1, 7, 21, -0.517, -0.026),
        # Complete response before and after consolidation therapy, same paper.
        (6, 16, 161, -0.124, -0.005),
    ],
)
def test_published_intervals_are_reproduced(gained: int, lost: int, n: int, low: float, high: float) -> None:
    assert paired_score_interval(gained, lost, n) == pytest.approx((low, high), abs=5e-4)


def test_without_discordant_pairs_the_limits_are_those_of_the_closed_form() -> None:
    # n·delta / (1 − delta) = z² has the solution z² / (n + z²).
    limit = CHI_SQUARE_95 / (100 + CHI_SQUARE_95)
    assert paired_score_interval(0, 0, 100) == pytest.approx((-limit, limit))


def test_when_every_question_is_lost_only_the_upper_limit_is_open() -> None:
    # n·(1 + delta) = z²·(1 − delta) has the solution (z² − n) / (z² + n).
    upper = (CHI_SQUARE_95 - 100) / (CHI_SQUARE_95 + 100)
    assert paired_score_interval(0, 100, 100) == pytest.approx((-1.0, upper))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))))
@settings(max_examples=200, deadline=None)
def test_the_interval_holds_the_estimate_and_swapping_the_arms_mirrors_it(
    case: tuple[int, int, int],
) -> None:
    n, gained, lost = case[0], min(case[1], case[2]), abs(case[1] - case[2])
    interval = paired_score_interval(gained, lost, n)
    assert -1 <= interval.low <= (gained - lost) / n <= interval.high <= 1
    assert interval.low < interval.high
    mirrored = paired_score_interval(lost, gained, n)
    assert mirrored == pytest.approx((-interval.high, -interval.low), abs=1e-9)


@pytest.mark.parametrize(
    ("gained", "lost", "n"),
    [(1, 7, 21), (12, 3, 60), (2, 0, 100), (0, 1, 44), (9, 0, 10), (40, 20, 160), (30, 29, 1000)],
)
def test_the_limits_are_where_a_numerically_fitted_score_test_turns(gained: int, lost: int, n: int) -> None:
    """Independent reference: the constrained likelihood is maximised numerically, nothing in closed form."""

    def statistic(delta: float) -> float:
        def negative_likelihood(lose: float) -> float:
            win, tie = lose + delta, 1 - 2 * lose - delta
            terms = ((gained, win), (lost, lose), (n - gained - lost, tie))
            return -sum(k * math.log(p) for k, p in terms if k)

        bounds = (max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12)
        fitted = optimize.minimize_scalar(negative_likelihood, bounds=bounds, options={"xatol": 1e-12})
        variance = (2 * float(fitted.x) + delta - delta**2) / n
        return ((gained - lost) / n - delta) ** 2 / variance

    interval = paired_score_interval(gained, lost, n)
    for limit in interval:
        assert statistic(limit) == pytest.approx(CHI_SQUARE_95, rel=1e-4)


def test_it_is_close_to_the_bonett_price_interval_when_discordant_pairs_are_many() -> None:
    gained, lost, n = 130, 70, 1000
    win, lose = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = 1.959964 * math.sqrt((win + lose - (win - lose) ** 2) / (n + 2))
    expected = (win - lose - half, win - lose + half)
    assert paired_score_interval(gained, lost, n) == pytest.approx(expected, abs=1e-3)


@cache
def _interval(gained: int, lost: int, n: int) -> Interval:
    return paired_score_interval(gained, lost, n)


@pytest.mark.parametrize(
    ("win", "lose", "n", "least", "most"),
    [
        (0.20, 0.05, 100, 0.93, 0.97),  # 25 discordant pairs expected
        (0.08, 0.08, 100, 0.93, 0.97),  # 16
        (0.15, 0.10, 1000, 0.93, 0.97),  # 250
        (0.02, 0.00, 100, 0.93, 1.00),  # 2: where the percentile bootstrap covers in 87 %
        (0.005, 0.005, 200, 0.93, 1.00),  # 2
    ],
)
def test_the_interval_covers_the_true_difference_as_often_as_it_claims(
    win: float, lose: float, n: int, least: float, most: float
) -> None:
    rng = np.random.default_rng(2026)
    draws = rng.multinomial(n, [win, lose, 1 - win - lose], size=4000)
    hits = 0
    for gained, lost, _ in draws.tolist():
        interval = _interval(gained, lost, n)
        hits += interval.low <= win - lose <= interval.high
    assert least <= hits / 4000 <= most


def test_a_higher_level_gives_a_wider_interval() -> None:
    narrow, wide = paired_score_interval(9, 4, 50, level=0.9), paired_score_interval(9, 4, 50, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(("gained", "lost", "n"), [(-1, 0, 5), (0, -1, 5), (3, 3, 5), (0, 0, 0)])
def test_counts_that_cannot_be_are_refused(gained: int, lost: int, n: int) -> None:
    with pytest.raises(ValueError, match="no counts among"):
        paired_score_interval(gained, lost, n)

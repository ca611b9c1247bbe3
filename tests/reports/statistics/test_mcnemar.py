"""The exact McNemar test against statsmodels and against sums written out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from reports.statistics.mcnemar import detectable, exact_p, mid_p, standardised


@given(st.integers(0, 300), st.integers(0, 300))
@settings(max_examples=100, deadline=None)
def test_the_exact_p_equals_that_of_statsmodels(gained: int, lost: int) -> None:
    reference = mcnemar([[5, gained], [lost, 5]], exact=True).pvalue if gained + lost else 1.0
    assert exact_p(gained, lost) == pytest.approx(reference, rel=1e-9)


@given(st.integers(0, 300), st.integers(0, 300))
@settings(max_examples=50, deadline=None)
def test_swapping_the_arms_changes_no_p_value(gained: int, lost: int) -> None:
    assert exact_p(gained, lost) == pytest.approx(exact_p(lost, gained), rel=1e-12)
    assert mid_p(gained, lost) == pytest.approx(mid_p(lost, gained), rel=1e-9)


def test_five_gains_and_no_loss_are_as_likely_as_five_heads_or_five_tails() -> None:
    assert exact_p(5, 0) == pytest.approx(2 / 2**5)
    # Half of the observed outcome's probability in each tail: 2 · (1/32) / 2.
    assert mid_p(5, 0) == pytest.approx(1 / 2**5)


def test_the_mid_p_of_a_tie_lacks_half_of_the_tie() -> None:
    # Fagerland, Lydersen and Laake (2013): 1 − P(1 of 2) / 2 = 1 − 1/4.
    assert mid_p(1, 1) == pytest.approx(3 / 4)


def test_without_discordant_pairs_nothing_speaks_against_equality() -> None:
    assert exact_p(0, 0) == 1.0
    assert mid_p(0, 0) == 1.0


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="no counts"):
        exact_p(-1, 2)


@pytest.mark.parametrize(("n", "points"), [(100, 12.5), (200, 8.9), (1000, 4.0)])
def test_at_one_in_five_discordant_the_known_figures_come_out(n: int, points: float) -> None:
    assert 100 * standardised(0.2, n) == pytest.approx(points, abs=0.05)


def test_from_counts() -> None:
    # 2.80 · √(0.25 / 100) = 0.14
    assert detectable(25, 100) == pytest.approx(0.14)


def test_no_difference_above_everything_is_named() -> None:
    assert detectable(1, 1) == 1.0


def test_without_a_discordant_pair_nothing_is_known() -> None:
    assert detectable(0, 100) is None


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="6 discordant pairs among 5"):
        detectable(6, 5)

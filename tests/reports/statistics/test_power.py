"""What a comparison could have shown, against the figures the specification gives."""

import pytest

from reports.statistics.power import detectable, standardised


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

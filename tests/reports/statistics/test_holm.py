"""Holm's correction against statsmodels, an example by hand, and families with gaps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from reports.statistics.holm import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=20, deadline=None)  # the reference takes 40 ms a call
def test_complete_families_are_corrected_as_statsmodels_does(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_the_smallest_is_multiplied_by_the_size_and_no_value_falls_below_an_earlier_one() -> None:
    # 0.01 · 3 = 0.03, then 0.02 · 2 = 0.04, then 0.03 · 1 = 0.03 is lifted to 0.04.
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])


def test_a_missing_member_still_counts_in_the_family() -> None:
    assert holm([0.01, None]) == [pytest.approx(0.02), None]


def test_a_missing_member_comes_after_a_certain_one() -> None:
    assert holm([None, 1.0, 0.2]) == [None, 1.0, pytest.approx(0.6)]


def test_an_empty_family_has_nothing_to_correct() -> None:
    assert holm([]) == []


def test_what_is_no_p_value_is_refused() -> None:
    with pytest.raises(ValueError, match="no p-value"):
        holm([1.5])

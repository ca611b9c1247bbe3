"""Scales hold what their docstring promises: room for every sum, and units that tell scores apart."""

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.fusion_scale import scale_of

SCALES = st.tuples(st.integers(0, 1000), st.lists(st.integers(1, 300), min_size=1, max_size=12).map(tuple))


@given(SCALES)
def test_the_largest_sum_of_terms_stays_below_two_to_the_63(scale: tuple[int, tuple[int, ...]]) -> None:
    made = scale_of(*scale)
    for terms in (made.terms, *made.finer_terms):
        assert int(terms.max()) * len(scale[1]) < 2**63


@given(SCALES)
def test_codes_of_one_ranking_are_closer_than_the_width_and_of_two_are_not(
    scale: tuple[int, tuple[int, ...]],
) -> None:
    made = scale_of(*scale)
    codes = made.columns[0].tolist()
    start = 0
    ends = [start := start + width for width in scale[1]]
    for first, end in zip([0, *ends], ends, strict=False):
        assert codes[end - 1] - codes[first] < made.width
        assert end == len(codes) or codes[end] - codes[end - 1] >= made.width
    assert codes[-1] < made.span - 1
    assert made.terms[made.span - 1] == 0


@pytest.mark.parametrize(("k", "widths"), [(0, (20, 20)), (60, (100, 90)), (0, (9, 9, 9)), (7, (400,))])
def test_canonical_units_of_a_total_are_those_of_the_exact_score_and_tell_all_scores_apart(
    k: int, widths: tuple[int, ...]
) -> None:
    made = scale_of(k, widths)
    assert made.canonical
    term = [int(value) for value in made.terms[: max(widths)]]
    units: dict[Fraction, int] = {}
    for lists in range(1, len(widths) + 1):
        for ranks in combinations_with_replacement(range(max(widths)), lists):
            score = sum((Fraction(1, k + 1 + rank) for rank in ranks), Fraction())
            found = sum(term[rank] for rank in ranks) >> made.step_bits
            assert found == int(score * 2**made.unit_bits)
            assert units.setdefault(score, found) == found
    assert len(set(units.values())) == len(units)


@pytest.mark.parametrize(
    ("depth", "lists", "canonical"), [(1800, 2, True), (2200, 2, False), (80, 3, True), (100, 3, False)]
)
def test_two_rankings_are_canonical_deep_down_and_three_to_some_depth(
    depth: int, lists: int, *, canonical: bool
) -> None:
    assert scale_of(60, (depth,) * lists).canonical == canonical


@pytest.mark.parametrize(("k", "widths"), [(60, (100,) * 3), (60, (100,) * 9), (0, (3000, 3000))])
def test_elsewhere_the_digits_reach_down_to_where_equal_totals_mean_equal_scores(
    k: int, widths: tuple[int, ...]
) -> None:
    # Unequal scores differ by w^-2m at least, equal totals by m parts at most.
    made = scale_of(k, widths)
    digits = 62 - len(widths).bit_length()
    parts = 2 ** (made.step_bits + made.unit_bits + digits * len(made.finer_terms))
    assert parts >= len(widths) * (k + max(widths)) ** (2 * len(widths))
    whole = 0
    for terms in (made.terms, *made.finer_terms):
        whole = (whole << digits) + int(terms[0])
    assert whole == parts // (k + 1) + 1

"""How figures are written: undefined ones as a dash, and nothing as nan."""

import pytest

from reports import formats


def test_what_is_undefined_is_a_dash() -> None:
    assert {
        formats.percent(None),
        formats.points(None),
        formats.interval(None, None),
        formats.p_value(None),
        formats.count(None),
        formats.number(None),
    } == {"–"}


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0.0321, "+3.2"), (-0.074, "−7.4"), (0.0, "0.0"), (-0.0001, "0.0"), (1.0, "+100.0")],
)
def test_points_bear_their_sign(difference: float, text: str) -> None:
    assert formats.points(difference) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.00009, "< 1e-4"), (0.0001, "0.0001"), (0.0123, "0.012"), (0.5, "0.500"), (1.0, "1.000")],
)
def test_p_values_are_as_long_as_they_need_be(p: float, text: str) -> None:
    assert formats.p_value(p) == text


def test_a_p_value_in_a_sentence_has_one_sign() -> None:
    assert (formats.p_sentence(1e-9), formats.p_sentence(0.04)) == ("p < 1e-4", "p = 0.040")


def test_a_range_of_one_figure_is_that_figure() -> None:
    assert (formats.span("0.0", "12.7"), formats.span("0.0", "0.0")) == ("0.0 to 12.7", "0.0")


@pytest.mark.parametrize(("amount", "text"), [(0.0, "0"), (0.00123, "0.0012"), (1234.5, "1,234.50")])
def test_money_shows_what_there_is(amount: float, text: str) -> None:
    assert formats.usd(amount) == text


def test_shares_counts_and_means() -> None:
    assert (formats.percent(0.125), formats.count(12000), formats.number(3.14159)) == (
        "12.5",
        "12,000",
        "3.14",
    )
    assert formats.interval(-0.01, 0.052) == "[−1.0, +5.2]"

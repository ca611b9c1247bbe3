"""The forest plot: each row with its figures, undefined ones said so."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from reports.figures.effects import _heights, draw_effects
from reports.report import Report
from tests.reports.sample_run import sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("effects"))


def _texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_rows_of_a_pair_stand_under_its_name_and_nothing_stands_on_anything() -> None:
    heights = _heights(["a", "a", "b", "b", "b"])
    assert all(later - earlier >= 19 for earlier, later in pairwise(heights))
    assert heights[2] - heights[1] >= 2 * 19  # room for the second name
    assert heights[0] >= 2 * 19  # and for the first


def test_every_row_shows_its_difference_and_interval(report: Report) -> None:
    names = [f"pair {row.treatment}" for row in report.pairs]
    texts = _texts(draw_effects(report.pairs, names, "words"))
    assert texts.count("pair gate") == 2  # two pairs of that name, not next to each other
    assert any(text.startswith("+30.0") for text in texts)
    assert "Difference in accuracy, percentage points" in texts


def test_a_row_with_nothing_to_compare_says_so(report: Report) -> None:
    row = replace(report.pairs[0], delta=None, ci_low=None, ci_high=None)
    assert "no question to compare" in _texts(draw_effects([row], ["pair"], "words"))


def test_without_rows_it_is_still_a_picture() -> None:
    assert draw_effects([], [], "words").startswith("<svg")

"""The failure plane: panels, marks, a legend without collisions."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from reports.figures import style
from reports.figures.failure_plane import _legend_places, draw_failure_plane
from reports.report import Report
from tests.reports.sample_run import sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("plane"))


def test_every_dataset_has_a_panel_and_axes_bear_their_units(report: Report) -> None:
    svg = draw_failure_plane(report.cells, [("none", "gate")], "words")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"alpha", "beta", "none", "gate"} <= set(texts)
    assert texts.count("Discipline, % of scored") == 2
    assert "Post: gold read, still wrong, %" in texts
    assert texts.count("gold unknown: no post") == 1


def test_entries_of_the_legend_never_meet_or_leave_the_picture() -> None:
    names = [f"a condition with a rather long name, number {number}" for number in range(9)]
    places = _legend_places(names)
    assert len({line for _, line in places}) > 1
    for (left, line), (next_left, next_line) in pairwise(places):
        assert next_line > line or next_left >= left + 20 + 6.9 * len(names[0])
    assert all(left + 20 + 6.9 * len(names[0]) <= style.WIDTH for left, _ in places)


def test_an_arrow_is_drawn_only_between_two_points_that_are_shown_and_differ(report: Report) -> None:
    def arrows(*pairs: tuple[str, str]) -> int:
        return draw_failure_plane(report.cells, list(pairs), "words").count('id="failure-plane-patch_')

    bare = arrows()
    assert arrows(("none", "absent")) == arrows(("none", "none")) == bare
    assert arrows(("none", "gate")) > bare


def test_cells_without_a_scored_row_leave_an_empty_panel(tmp_path: Path) -> None:
    cells = sample_report(tmp_path, judged=False).cells
    blank = [replace(row, p_disc=None, p_post=None) for row in cells]
    assert "gold unknown" not in draw_failure_plane(blank, [("none", "gate")], "words")
    assert draw_failure_plane([], [], "words").startswith("<svg")

"""The funnel picture: a panel a cell, a count at every bar."""

import re

import pytest

from reports.figures import draw
from reports.figures.funnel import STAGES, draw_funnel
from reports.report import Report
from tests.reports.sample_run import sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("funnel"))


def test_every_cell_shows_every_stage_with_its_count(report: Report) -> None:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", draw_funnel(report.funnel, "words"))
    for _, name, *_ in STAGES:
        assert texts.count(name) == len(report.funnel)
    assert "gate, of 11 scored rows" in texts
    assert "–" in texts  # read gold where no gold is known
    assert texts.count("11") >= 3


def test_without_rows_it_is_still_a_picture() -> None:
    assert draw_funnel([], "words").startswith("<svg")


def test_the_choice_of_a_picture_goes_by_its_kind(report: Report) -> None:
    assert 'aria-labelledby="funnel-title' in draw(report, "funnel", "words")
    assert 'aria-labelledby="effects-title' in draw(report, "effects", "words")
    assert 'aria-labelledby="failure-plane-title' in draw(report, "failure_plane", "words")
    assert 'aria-labelledby="decomposition-title' in draw(report, "decomposition", "words")

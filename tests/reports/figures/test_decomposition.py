"""The decomposition: every row once, told apart by hatch as well as by colour."""

import re

import pytest

from reports.figures import style
from reports.figures.decomposition import PARTS, draw_decomposition
from reports.report import Report
from tests.reports.sample_run import sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("decomposition"))


def test_the_parts_of_a_bar_are_all_of_its_scored_rows(report: Report) -> None:
    for row in report.cells:
        assert sum(getattr(row, part.field) or 0 for part in PARTS) == pytest.approx(1)


def test_no_two_parts_look_the_same_in_grey() -> None:
    assert len({(part.colour, part.hatch) for part in PARTS}) == len(PARTS)
    hatched = [part.hatch for part in PARTS if part.hatch]
    assert len(set(hatched)) == len(hatched)
    plain = {part.colour for part in PARTS if not part.hatch}
    assert plain == {style.GRID, style.SERIES[0]}  # the lightest and a dark one


def test_names_units_and_accuracy_are_written_out(report: Report) -> None:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", draw_decomposition(report.cells, "words"))
    assert "% of scored rows" in texts
    assert {part.name for part in PARTS} <= set(texts)
    assert {"alpha", "beta", "none", "gate", "40.0", "72.7"} <= set(texts)


def test_without_cells_it_is_still_a_picture() -> None:
    assert draw_decomposition([], "words").startswith("<svg")

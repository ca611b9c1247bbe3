"""The terminal report: a hundred columns, the banner, no nan, no pictures."""

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from reports.render.terminal import WIDTH, render_terminal
from reports.report import Report
from tests.reports.sample_run import HOSTILE, sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("terminal"))


def test_no_line_is_wider_than_the_terminal(report: Report) -> None:
    assert max(cell_len(line) for line in render_terminal(report).splitlines()) <= WIDTH
    assert max(cell_len(line) for line in render_terminal(report, width=80).splitlines()) <= 80


def test_the_banner_stands_before_the_first_figure(report: Report) -> None:
    text = render_terminal(report)
    assert text.index("SCRIPTED PROGRAMS, NOT LANGUAGE MODELS") < text.index("gained")


def test_names_are_shown_as_they_are(report: Report) -> None:
    assert HOSTILE in render_terminal(report)


def test_figures_of_a_row_stand_together(report: Report) -> None:
    lines = render_terminal(report).splitlines()
    row = next(line for line in lines if line.split()[:1] == ["alpha"] and "[" in line)
    assert row.split()[:5] == ["alpha", "10", "40.0", "70.0", "+30.0"]


def test_figures_end_where_the_heads_of_their_columns_end(report: Report) -> None:
    lines = render_terminal(report).splitlines()
    rule = re.compile("─+")
    heads = [number - 1 for number, line in enumerate(lines) if rule.fullmatch(line)]
    assert len(heads) == 7
    for head in heads:
        row = next(line for line in lines[head + 2 :] if line.startswith("  "))
        assert cell_len(row) == cell_len(lines[head])


def test_nothing_is_nan_and_without_colour_nothing_is_coloured(report: Report, tmp_path: Path) -> None:
    for text in (render_terminal(report), render_terminal(sample_report(tmp_path, judged=False))):
        assert not re.search(r"\bnan\b", text.lower())
        assert "\x1b" not in text
    assert "\x1b[" in render_terminal(report, colour=True)


def test_a_run_without_verdicts_says_what_to_do(tmp_path: Path) -> None:
    text = " ".join(render_terminal(sample_report(tmp_path, judged=False)).split())
    assert f"`readgate judge {tmp_path / 'run'}` judges them." in text.replace("- ", "-")

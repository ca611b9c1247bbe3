"""The markdown report: pipe tables that hold, names that cannot break them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from reports.render.markdown import render_markdown
from tests.reports.sample_run import HOSTILE, sample_report


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render_markdown(sample_report(tmp_path_factory.mktemp("markdown")))


def test_it_opens_with_title_banner_and_key_message(text: str) -> None:
    assert text.startswith("# Read-Gate report: tiny\n\n> [!WARNING]\n> SCRIPTED PROGRAMS, ")
    assert text.index("SCRIPTED") < text.index("gained")


def test_every_table_is_read_as_one_by_a_markdown_parser(text: str) -> None:
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert html.count("<table>") == 7
    rows = [row.count("<td") for row in re.findall(r"<tr>.*?</tr>", html, re.DOTALL) if "<td" in row]
    assert set(rows) == {10, 11, 6, 8, 5}


def test_names_mean_themselves(text: str) -> None:
    html = MarkdownIt("commonmark").enable("table").render(text)
    escaped = HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert escaped in html
    assert "<b>" not in html


def test_commands_stay_code(text: str) -> None:
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert re.search(r"<code>readgate run [^<]*--out [^<]*</code>", html)


def test_an_odd_backtick_stays_text(tmp_path: Path) -> None:
    report = replace(sample_report(tmp_path), to_do=("the `name that <never> ends",))
    assert r"**the \`name that \<never\> ends**" in render_markdown(report)


def test_no_figure_is_nan(text: str, tmp_path: Path) -> None:
    unjudged = render_markdown(sample_report(tmp_path, judged=False))
    assert not re.search(r"\bnan\b", (text + unjudged).lower())

"""The page: self-contained, well formed, readable without eyes, light and dark."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports.figures.style import CSS_NAMES
from reports.render.html import render_html
from reports.report import Report
from tests.reports.sample_run import HOSTILE, sample_report

VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("html"))


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return render_html(report)


class _Checker(HTMLParser):
    """Collects ids and references, and notes tags that do not close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self._note(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if value:
                self.references += re.findall(r"url\(#([^)]*)\)", value)
                if name.endswith("href"):
                    self.references.append(value.removeprefix("#"))
            if name == "aria-labelledby" and value:
                self.references += value.split()


def test_every_tag_closes_every_id_is_distinct_and_every_reference_leads_somewhere(page: str) -> None:
    checker = _Checker()
    checker.feed(page)
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    assert set(checker.references) <= set(checker.ids)


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    assert not re.search(r"https?:|//\w|@import|<script|<link|<img|<iframe|\bsrc=", page)


def test_every_picture_has_a_title_its_content_in_words_and_the_banner_in_its_caption(
    page: str, report: Report
) -> None:
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(figures) == 4
    assert report.banner is not None
    for figure in figures:
        assert re.search(r"<title [^>]*>[^<]+</title><desc [^>]*>[^<]*\d[^<]*</desc>", figure)
        assert "SCRIPTED PROGRAMS, NOT LANGUAGE MODELS" in figure


def test_names_cannot_become_markup(page: str) -> None:
    assert HOSTILE not in page
    assert "&lt;b&gt;&amp;|*gate*_$x$" in page


def test_every_colour_of_a_picture_has_a_light_and_a_dark_value(page: str) -> None:
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    style = page[page.index("<style>") : page.index("</style>")]
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for name in used:
        assert f"{name}:" in light
        assert f"{name}:" in dark
    assert used >= set(CSS_NAMES.values()) - {"--series-7"}
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert not re.search(r"#[0-9a-f]{6}\b", drawings)


def test_equal_reports_give_equal_pages(page: str, report: Report) -> None:
    assert render_html(report) == page


def test_commands_are_code_and_an_odd_backtick_stays_text(page: str, report: Report) -> None:
    assert re.search(r"<code>readgate run [^<]*</code>", page)
    odd = replace(report, to_do=("the `name that <never> ends",))
    assert '<p class="to_do">the `name that &lt;never&gt; ends</p>' in render_html(odd)


def test_a_run_of_models_bears_no_banner(tmp_path: Path) -> None:
    page = render_html(sample_report(tmp_path, provider="openai_chat"))
    assert '<p class="banner"' not in page
    assert "SCRIPTED" not in page


def test_a_run_without_verdicts_still_makes_a_page_without_nan(tmp_path: Path) -> None:
    page = render_html(sample_report(tmp_path, judged=False))
    assert not re.search(r"\bnan\b", page.lower())
    assert "nothing scored yet" in page
    assert "no question to compare" in page

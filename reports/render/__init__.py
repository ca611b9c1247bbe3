"""Output formats of a report, one module each, and the choice among them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from reports.render.as_json import render_json
from reports.render.html import render_html
from reports.render.markdown import render_markdown
from reports.render.terminal import render_terminal
from reports.report import Report

Format: TypeAlias = Literal["terminal", "html", "md", "json"]

FORMATS: Mapping[Format, Callable[[Report], str]] = MappingProxyType(
    {"terminal": render_terminal, "html": render_html, "md": render_markdown, "json": render_json}
)


def render(report: Report, format: Format) -> str:  # noqa: A002 # the word of the command line
    """A report in one format, as text that ends in a newline."""
    return FORMATS[format](report)

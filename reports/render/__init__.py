"""Output formats of a report, one module each, and the table of them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from reports.render.as_json import render_json
from reports.render.html import render_html
from reports.render.markdown import render_markdown
from reports.render.terminal import render_terminal
from reports.report import Report

FORMATS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {"terminal": render_terminal, "html": render_html, "md": render_markdown, "json": render_json}
)
"""Each gives a report as text that ends in a newline."""

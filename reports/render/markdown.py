"""A report as GitHub markdown: pipe tables, no pictures, safe for any name that stands in it."""

import re

from reports.document import Banner, Heading, Paragraph, Picture, Table, document
from reports.report import Report

_SPECIAL = re.compile(r"([\\|*_<>\[\]#`~])")


def render_markdown(report: Report) -> str:
    """The report as one markdown text; pictures are left to the html page, tables hold their figures."""
    parts = [_written(block) for block in document(report) if not isinstance(block, Picture)]
    return "\n\n".join(parts) + "\n"


def _written(block: Heading | Banner | Paragraph | Table) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_safe(block.text)}"
    if isinstance(block, Banner):
        return f"> [!WARNING]\n> {_safe(block.text)}"
    if isinstance(block, Paragraph):
        return f"**{_safe(block.text)}**" if block.tone in {"lead", "to_do"} else _safe(block.text)
    return _table(block)


def _table(table: Table) -> str:
    lines = [_row(table.columns), _row(["---", *["---:"] * (len(table.columns) - 1)])]
    for group in table.groups:
        lines.append(_row([f"**{_safe(group.name)}**", *[""] * (len(table.columns) - 1)]))
        lines += [_row([_safe(cell) for cell in row]) for row in group.rows]
    body = "\n".join(lines)
    return f"### {_safe(table.title)}\n\n{body}\n\n{_safe(table.note)}"


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _safe(text: str) -> str:
    """Text whose characters mean themselves; code between backticks stays code."""
    spans = text.split("`")
    if len(spans) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", text)
    return "`".join(span if index % 2 else _SPECIAL.sub(r"\\\1", span) for index, span in enumerate(spans))

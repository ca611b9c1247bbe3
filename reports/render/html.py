"""A report as one self-contained page: no script, no request, light and dark, wide and narrow."""

from html import escape

from reports.document import Banner, Block, Heading, Paragraph, Picture, Table, document
from reports.figures import draw
from reports.render.page_style import PAGE_STYLE
from reports.report import Report

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def render_html(report: Report) -> str:
    """The report as the text of a page."""
    blocks = document(report)
    body = "\n".join(_written(report, block) for block in blocks)
    return PAGE.format(
        title=escape(f"Read-Gate report: {report.run.experiment}"), style=PAGE_STYLE, body=body
    )


def _written(report: Report, block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if isinstance(block, Banner):
        return f'<p class="banner" role="note">{escape(block.text)}</p>'
    if isinstance(block, Paragraph):
        return f'<p class="{block.tone}">{_with_code(block.text)}</p>'
    if isinstance(block, Picture):
        return _figure(report, block)
    return _table(block)


def _figure(report: Report, picture: Picture) -> str:
    drawing = draw(report, picture.kind, picture.words)
    return (
        f'<figure><div class="scroll" tabindex="0" role="group" aria-label="{escape(picture.title)}">'
        f"{drawing}</div><figcaption><b>{escape(picture.title)}.</b> {escape(picture.caption)}</figcaption>"
        "</figure>"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    span = len(table.columns)
    bodies = "".join(
        f'<tbody><tr class="group"><th scope="rowgroup" colspan="{span}"><span>{escape(group.name)}</span>'
        f"</th></tr>{''.join(_row(row) for row in group.rows)}</tbody>"
        for group in table.groups
    )
    return (
        f'<figure class="table"><figcaption><b>{escape(table.title)}</b></figcaption>'
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(table.title)}">'
        f"<table><thead><tr>{head}</tr></thead>{bodies}</table></div>"
        f'<p class="note">{_with_code(table.note)}</p></figure>'
    )


def _row(row: tuple[str, ...]) -> str:
    name, *figures = row
    cells = "".join(f"<td>{escape(figure)}</td>" for figure in figures)
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def _with_code(text: str) -> str:
    """Escaped text; what stands between backticks becomes code."""
    spans = escape(text).split("`")
    if len(spans) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{span}</code>" if index % 2 else span for index, span in enumerate(spans))

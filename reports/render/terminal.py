"""A report for a terminal of 100 columns: rich tables, the key message first, no pictures."""

import io

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from reports.document import Banner, Block, Heading, Paragraph, Table, document
from reports.report import Report

WIDTH = 100
WIDEST_GAP = 2
NARROWEST_NAME = 8
STYLES = {"plain": "", "lead": "bold", "note": "dim", "to_do": "bold yellow"}


def render_terminal(report: Report, *, colour: bool = False, width: int = WIDTH) -> str:
    """The report as text.

    Args:
        report: What to show.
        colour: Whether to write the terminal's control sequences.
        width: In columns.
    """
    written = io.StringIO()
    console = Console(
        file=written,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    for block in document(report):
        _write(console, block)
    lines = (line.rstrip() for line in written.getvalue().split("\n"))
    return "\n".join(lines).strip("\n") + "\n"


def _write(console: Console, block: Block) -> None:
    if isinstance(block, Heading):
        console.print()
        console.print(Text(block.text.upper() if block.level == 1 else block.text, style="bold underline"))
    elif isinstance(block, Banner):
        console.print(Panel(Text(block.text), border_style="bold red", box=box.HEAVY))
    elif isinstance(block, Paragraph):
        console.print(Text(block.text, style=STYLES[block.tone]))
        console.print()
    elif isinstance(block, Table):
        _write_table(console, block)


def _write_table(console: Console, table: Table) -> None:
    """Group by group under one head, so that the name of a group may take the whole width."""
    console.print(Text(table.title, style="bold"))
    widths = _widths(table, console.width)
    console.print(_grid(table, widths, header=True))
    for group in table.groups:
        console.print(Text(group.name, style="bold"))
        drawn = _grid(table, widths, header=False)
        for name, *figures in group.rows:
            drawn.add_row(Text(f"  {name}"), *figures)
        console.print(drawn)
    console.print(Padding(Text(table.note, style="dim"), (0, 0, 1, 0)))


def _grid(table: Table, widths: list[int], *, header: bool) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, show_header=header, padding=0, pad_edge=False)
    drawn.show_edge = False
    for position, (column, width) in enumerate(zip(table.columns, widths, strict=True)):
        drawn.add_column(
            column,
            width=width,
            justify="right" if position else "left",
            no_wrap=position > 0,
            overflow="fold",
        )
    return drawn


def _widths(table: Table, total: int) -> list[int]:
    """The widest of every column, spaced out where there is room; names give way where there is none."""
    rows = [row for group in table.groups for row in group.rows]
    columns = list(zip(table.columns, *rows, strict=True))
    figures = [max(cell_len(cell) for cell in column) for column in columns[1:]]
    names = max(cell_len(f"  {cell}") for cell in columns[0])
    spare = total - names - sum(figures) - len(figures)
    gap = max(0, min(WIDEST_GAP, spare // len(figures)))
    return [max(NARROWEST_NAME, names + min(0, spare)), *(width + gap for width in figures)]

"""``readgate report``: prints the figures of a run in the form asked for; it only reads."""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import click

from reports.render.as_json import render_json
from reports.render.html import render_html
from reports.render.markdown import render_markdown
from reports.render.terminal import render_terminal
from reports.report import Report, build_report


def _for_this_terminal(report: Report) -> str:
    if not sys.stdout.isatty():
        return render_terminal(report)
    return render_terminal(report, colour=True, width=shutil.get_terminal_size().columns)


FORMATS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {
        "terminal": _for_this_terminal,
        "html": render_html,
        "md": render_markdown,
        "json": render_json,
    }
)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "format_", type=click.Choice(list(FORMATS)), default="terminal", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--dataset", "datasets", multiple=True, help="Show only this dataset; may be repeated.")
@click.option("--condition", "conditions", multiple=True, help="Show only this condition; may be repeated.")
def command(
    run: Path, format_: str, *, as_json: bool, datasets: tuple[str, ...], conditions: tuple[str, ...]
) -> None:
    """Print the figures of the run folder RUN."""
    report = build_report(run, datasets=datasets or None, conditions=conditions or None)
    click.echo(FORMATS["json" if as_json else format_](report), nl=False)

"""``readgate report``: prints the figures of a run in the form asked for; it only reads."""

import shutil
import sys
from pathlib import Path

import click

from reports.render import FORMATS
from reports.render.terminal import render_terminal
from reports.report import Report, build_report


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    default="terminal",
    show_default=True,
    help="For a terminal or any text file, a browser, a document, or a program.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--dataset", "datasets", multiple=True, help="Show only this dataset; may be repeated.")
@click.option("--condition", "conditions", multiple=True, help="Show only this condition; may be repeated.")
def command(
    run: Path, format_: str, *, as_json: bool, datasets: tuple[str, ...], conditions: tuple[str, ...]
) -> None:
    """Print the figures of the run folder RUN.

    The filters choose rows and change no figure. A run that is not finished is reported as far as it goes.
    """
    report = build_report(run, datasets=datasets or None, conditions=conditions or None)
    click.echo(_rendered(report, "json" if as_json else format_), nl=False)


def _rendered(report: Report, format_: str) -> str:
    """The text of a report; on a terminal as wide as that is, and in colour."""
    if format_ == "terminal" and sys.stdout.isatty():
        return render_terminal(report, colour=True, width=shutil.get_terminal_size().columns)
    return FORMATS[format_](report)

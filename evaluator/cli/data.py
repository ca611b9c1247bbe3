"""``readgate data``: makes datasets; today one kind, the generated world."""

from pathlib import Path

import click
import orjson

from evaluator.core.errors import InputError
from evaluator.core.settings import LARGEST_INTEGER
from index_builder.datasets.world import write_world


@click.group()
def command() -> None:
    """Make datasets."""


@command.command(short_help="Write an invented world as three datasets.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@click.option("--questions", type=click.IntRange(min=1), default=200, show_default=True, help="Per dataset.")
@click.option("--passages", type=click.IntRange(min=50), default=300, show_default=True, help="Per dataset.")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_INTEGER),
    default=7,
    show_default=True,
    help="Another seed, another world.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def world(out: Path, questions: int, passages: int, seed: int, *, as_json: bool) -> None:
    """Write an invented world in the three official formats, with corpora.

    No model can know its facts: people, films, towns, companies, teams, awards and years are drawn
    from the seed. The same seed gives the same files.

    The files bear the names of the official ones. Above 50,000 passages the corpora are JSON lines of
    {title, text}, which are read back as a stream.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out needs a folder")
    summary = write_world(out, questions=questions, passages=passages, seed=seed)
    if as_json:
        click.echo(orjson.dumps(summary, default=str, option=orjson.OPT_INDENT_2).decode())
        return
    for line in summary.lines():
        click.echo(line)

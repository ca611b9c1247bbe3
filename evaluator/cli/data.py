"""``readgate data``: makes datasets; today one kind, the generated world."""

from pathlib import Path

import click

from evaluator.core.errors import InputError
from index_builder.datasets.world import write_world


@click.group()
def command() -> None:
    """Make datasets."""


@command.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@click.option("--questions", type=click.IntRange(min=1), default=200, show_default=True, help="Per dataset.")
@click.option("--passages", type=click.IntRange(min=50), default=300, show_default=True, help="Per dataset.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=7, show_default=True, help="Another seed, another world."
)
def world(out: Path, questions: int, passages: int, seed: int) -> None:
    """Write an invented world in the three official formats, with corpora.

    No model can know its facts: people, films, towns, companies, teams, awards and years are drawn
    from the seed. The same seed gives the same files.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out needs a folder")
    summary = write_world(out, questions=questions, passages=passages, seed=seed)
    for line in summary.lines():
        click.echo(line)

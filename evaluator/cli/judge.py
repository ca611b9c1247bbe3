"""``readgate judge``: gives every answer of a run its verdicts, and says what is left."""

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from evaluator.cli import wiring
from evaluator.cli.main import DONE, INCOMPLETE, INTERRUPTED
from evaluator.cli.session import session
from evaluator.core.errors import SettingsError
from evaluator.core.ports import Sink
from evaluator.core.settings import ModelSettings
from evaluator.store.run_folder import RunFolder
from judges.stage import judge_run


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> int:
    """Judge the answers of the run folder RUN by the judges its experiment names.

    The same command goes on after an interruption, and asks again where no clear verdict came.
    """
    folder = RunFolder.open(run)
    judges = folder.experiment.judge
    if not judges:
        raise SettingsError(f"the experiment of {run} names no judge: it has no [judge.*] table")
    wiring.require_prices(folder.experiment)
    wiring.require_reachable(judges)
    for note in wiring.check_bundles(folder.experiment, folder.manifest.bundle_hashes):
        click.echo(f"note: {note}", err=True)
    with wiring.scripted_servers(judges) as served, folder.log("calls") as calls:
        code = asyncio.run(judge_owed(folder, served, calls))
    if code == INTERRUPTED:
        click.echo(f"interrupted; to go on: readgate judge {shlex.quote(str(run))}", err=True)
    return code


async def judge_owed(folder: RunFolder, judges: Mapping[str, ModelSettings], calls: Sink) -> int:
    """Get the verdicts that are owed; the exit code says how it ended."""
    async with session(
        folder,
        judges,
        calls,
        finished=folder.judge_calls(),
        label="verdicts",
        total=None,
        trouble="unjudged",
        role="judge.",
    ) as opened:
        summary = await judge_run(
            folder,
            opened.models,
            in_flight=folder.experiment.rate.trajectories,
            progress=opened.counted,
            stop=opened.stop,
        )
    told = (
        f"{summary.judged} verdicts given, {summary.unjudged} unjudged, ${opened.ledger.committed:.4f} spent"
    )
    if summary.interrupted:
        click.echo(told)
        return INTERRUPTED
    click.echo(f"{told}; next: readgate report {shlex.quote(str(folder.path))}")
    return INCOMPLETE if summary.unjudged else DONE

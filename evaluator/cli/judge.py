"""``readgate judge``: gives every answer of a run its verdicts, and says what is left."""

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from evaluator.cli import wiring
from evaluator.cli.main import DONE, INCOMPLETE, INTERRUPTED
from evaluator.cli.replay import recorded_judges, unserved
from evaluator.cli.session import session
from evaluator.core.errors import SettingsError
from evaluator.core.ports import FinishedCalls, Sink
from evaluator.core.settings import ModelSettings
from evaluator.store.run_folder import RunFolder
from judges.stage import judge_run


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> int:
    """Judge the answers of the run folder RUN by the judges its experiment names.

    The same command goes on after an interruption, and asks again where no clear verdict came. Judges may
    be added in its experiment.toml behind those there are; the first stays the primary one. Where RUN
    replays another run, the judges of that run give the verdicts that they gave there, at no cost.
    """
    folder = RunFolder.open_edited(run)
    judges = folder.experiment.judge
    if not judges:
        raise SettingsError(f"the experiment of {run} names no judge: it has no [judge.*] table")
    recorded = recorded_judges(folder)
    asked = {name: table for name, table in judges.items() if name not in recorded}
    if asked:
        wiring.require_prices(folder.experiment)
        wiring.require_taken(folder.experiment)
    wiring.require_reachable(asked)
    for note in wiring.check_bundles(folder.experiment, folder.manifest.bundle_hashes):
        click.echo(f"note: {note}", err=True)
    with wiring.scripted_servers(asked) as served, folder.log("calls") as calls:
        tables = unserved(judges) | served
        code = asyncio.run(judge_owed(folder, tables, calls, recorded))
    if code == INTERRUPTED:
        click.echo(f"interrupted; to go on: readgate judge {shlex.quote(str(run))}", err=True)
    return code


async def judge_owed(
    folder: RunFolder,
    judges: Mapping[str, ModelSettings],
    calls: Sink,
    recorded: Mapping[str, FinishedCalls],
) -> int:
    """Get the verdicts that are owed; the exit code says how it ended."""
    async with session(
        folder,
        judges,
        calls,
        finished=folder.judge_calls(),
        recorded=recorded,
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

"""``readgate run``: lays out an experiment, runs what is owed of it, and says how to go on.

Everything that can be wrong is looked for before the run folder is touched.
"""

import asyncio
import shlex
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import click

from evaluator.cli import wiring
from evaluator.cli.main import DONE, INCOMPLETE, INTERRUPTED, printable
from evaluator.cli.replay import Replay, replay_owed, unserved
from evaluator.cli.session import Work, session
from evaluator.core.outcome import Failed
from evaluator.core.settings import Experiment, experiment_of
from evaluator.core.trajectory import Trajectory
from evaluator.evidence.entities.by_rule import entities
from evaluator.run.batch import run_batch
from evaluator.run.clocks import SystemClock, timestamp
from evaluator.run.episode import run_episode
from evaluator.run.grid import Grid, Plan, plan_grid
from evaluator.store.manifest import ExpectedCell, Manifest, ModelsSeen
from evaluator.store.owed import owed
from evaluator.store.run_folder import EXPERIMENT, RunFolder, open_for_run

FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("experiment", required=False)
@click.option("--out", type=FOLDER, help="The run folder; default runs/<name>, or runs/<name>-replay.")
@click.option("--budget-usd", type=float, help="What the run folder may spend in all, judging included.")
@click.option("--limit", type=click.IntRange(min=1), help="Run only so many questions of each cell for now.")
@click.option("--concurrency", type=int, help="Trajectories in flight.")
@click.option(
    "--replay", "source", type=FOLDER, help="Ask no model: take the replies that this run recorded."
)
def command(
    experiment: str | None,
    out: Path | None,
    budget_usd: float | None,
    limit: int | None,
    concurrency: int | None,
    source: Path | None,
) -> int:
    """Run EXPERIMENT, a TOML file or the name of a shipped experiment.

    The same command goes on after an interruption: finished trajectories stay, failed ones are tried
    again, and no call that was answered is made again. Judges may be added behind those there are.

    With --replay RUN it is executed again out of the journal of RUN into another folder: no network, no
    key, nothing spent. Requests must be what they were; the first that differs is named. Without
    EXPERIMENT it is that of RUN.
    """
    if experiment is None:
        if source is None:
            raise click.UsageError("Missing argument 'EXPERIMENT'.")
        experiment = str(RunFolder.open(source).path / EXPERIMENT)
    settings = wiring.find_experiment(experiment)
    settings = with_overrides(settings, experiment, budget_usd=budget_usd, concurrency=concurrency)
    used = {condition.controller for condition in settings.condition}
    controllers = {name: table for name, table in settings.controller.items() if name in used}
    path = out or Path("runs") / (f"{settings.name}-replay" if source else settings.name)
    replay = None if source is None else Replay.of(source, settings, path)
    if replay is None:
        wiring.require_prices(settings)
        wiring.require_taken(settings)
        wiring.require_reachable(controllers)
    bundles = wiring.open_bundles(settings)
    hashes = {name: bundle.manifest.bundle_hash for name, bundle in bundles.items()}
    questions = {name: bundle.questions for name, bundle in bundles.items()}
    grid = plan_grid(settings, questions, hashes, wiring.wording_sha256(), limit)
    cautions = () if replay else wiring.cautions(settings, SystemClock().now().date())
    for note in (*grid.notes, *cautions):
        click.echo(f"note: {note}", err=True)
    with (
        wiring.open_libraries(settings, bundles) as libraries,
        nullcontext(unserved(controllers)) if replay else wiring.scripted_servers(controllers) as tables,
        open_for_run(path, _manifest(settings, grid, hashes, replay)) as (folder, calls, trajectories),
    ):
        work = Work(folder, grid, tables, libraries, calls, trajectories)
        code = asyncio.run(replay_owed(work, replay) if replay else run_owed(work))
    if code == INTERRUPTED:
        given = {"--budget-usd": budget_usd, "--limit": limit, "--concurrency": concurrency}
        again = _command_of(experiment, {"--out": path, **given, "--replay": source})
        click.echo(f"interrupted; to go on: {again}", err=True)
    return code


def with_overrides(
    experiment: Experiment, source: str, *, budget_usd: float | None, concurrency: int | None
) -> Experiment:
    """The experiment with what the command line says in place of its own."""
    tree = experiment.model_dump()
    if budget_usd is not None:
        tree["budget"]["usd"] = budget_usd
    if concurrency is not None:
        tree["rate"]["trajectories"] = concurrency
    return experiment_of(tree, source)


async def run_owed(work: Work) -> int:
    """Run what is owed of the grid; the exit code says how it ended."""
    folder, clock = work.folder, SystemClock()
    plans = {plan.trajectory_id: plan for plan in work.grid.plans}
    reasons = Counter[str]()
    missing = owed(plans, ((line.trajectory_id, line.kind) for line in folder.finished()))
    async with session(
        folder,
        work.controllers,
        work.calls,
        finished=folder.agent_calls(missing),
        label="trajectories",
        total=len(missing),
        trouble="failed",
    ) as opened:

        async def worker(plan: Plan) -> Trajectory:
            library = work.libraries[plan.cell.dataset, plan.retriever]
            trajectory = await run_episode(plan, opened.models[plan.controller], library, clock, entities)
            if isinstance(trajectory.outcome, Failed):
                reasons[f"at the {trajectory.outcome.boundary}: {trajectory.outcome.detail}"] += 1
            return trajectory

        result = await run_batch(
            (plans[each] for each in missing),
            worker,
            work.trajectories,
            in_flight=folder.experiment.rate.trajectories,
            progress=opened.counted,
            stop=opened.stop,
        )
    failed = opened.counted.troubled
    there = len(plans) - len(missing) + result.done - failed
    summary = (
        f"{there} of {len(plans)} trajectories done, {failed} failed, ${opened.ledger.committed:.4f} spent"
    )
    for reason, times in reasons.most_common(1):
        click.echo(f"{times} failed {printable(reason)}; the same command tries them again", err=True)
    if result.interrupted:
        click.echo(summary)
        return INTERRUPTED
    click.echo(f"{summary}; next: readgate judge {shlex.quote(str(folder.path))}")
    return INCOMPLETE if failed else DONE


def _command_of(experiment: str, options: Mapping[str, object]) -> str:
    """The command line with the options that have a value."""
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    return shlex.join(["readgate", "run", experiment, *words])


def _manifest(
    experiment: Experiment, grid: Grid, hashes: Mapping[str, str], replay: Replay | None = None
) -> Manifest:
    return Manifest(
        code_version=wiring.code_version(),
        expected=tuple(ExpectedCell(cell.dataset, cell.condition, n) for cell, n in grid.expected.items()),
        settings=experiment.model_dump(mode="json"),
        bundle_hashes=hashes,
        wording_sha256=wiring.wording_sha256(),
        prices=wiring.prices_used(experiment),
        models={name: ModelsSeen(table.model, ()) for name, table in experiment.controller.items()},
        deviations=wiring.deviations(experiment),
        started_at=timestamp(SystemClock().now()),
        ended_at=None,
        replay_of=replay.mark() if replay else None,
    )

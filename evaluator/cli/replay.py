"""What ``--replay`` adds: a run executed again out of another run's journal, offline and at no cost.

Requests must be what they were; then so is everything else. A trajectory that stayed failed has no
reply to go on with: its recorded failure stands again.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click

from evaluator.cli.main import DONE, INCOMPLETE, INTERRUPTED
from evaluator.cli.session import Work, session
from evaluator.controllers.offline import take_over
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import ReplayError
from evaluator.core.ports import FinishedCalls, Sink
from evaluator.core.settings import Experiment, ModelSettings, nearest
from evaluator.core.trajectory import Trajectory
from evaluator.evidence.entities.by_rule import entities
from evaluator.run.batch import run_batch
from evaluator.run.clocks import SystemClock
from evaluator.run.episode import run_episode
from evaluator.run.grid import Plan
from evaluator.store.finished_calls import JournalIndex
from evaluator.store.manifest import MAY_CHANGE_IN_MODELS, ReplayOf
from evaluator.store.owed import Finished, owed
from evaluator.store.replay_source import Recorded, recorded_trajectories
from evaluator.store.run_folder import RunFolder

STANDS = "stands"
"""What counts in place of ``failed`` for a trajectory that failed in the replayed run too."""

NOWHERE = "http://127.0.0.1/v1"
"""In place of the address of a scripted server that is not started."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A run that is replayed.

    Attributes:
        source: Its folder.
        recorded: Its trajectories, by cell and question id.
    """

    source: RunFolder
    recorded: Mapping[tuple[Cell, str], Recorded]

    @classmethod
    def of(cls, path: Path, experiment: Experiment, out: Path) -> "Replay":
        """The replay of a run folder as an experiment.

        Raises:
            RunFolderError: The folder cannot be read.
            ReplayError: It has nothing of a dataset or a condition of the experiment, or is ``out``.
        """
        source = RunFolder.open(path)
        if out.resolve() == path.resolve():
            raise ReplayError(f"{out} is the run that is replayed; give another --out")
        for what, ours, theirs in (
            ("dataset", experiment.dataset, source.experiment.dataset),
            ("condition", experiment.condition, source.experiment.condition),
        ):
            known = [table.name for table in theirs]
            for table in ours:
                if table.name not in known:
                    raise ReplayError(f"{path} has no {what} {table.name!r}; {nearest(table.name, known)}")
        return cls(source, recorded_trajectories(source))

    def mark(self) -> ReplayOf:
        """For the manifest of the new run."""
        return ReplayOf(str(self.source.path), self.source.manifest.started_at)

    def there(self, plans: Iterable[Plan]) -> dict[str, Plan]:
        """The plans that the replayed run carried out, by their ids here."""
        return {plan.trajectory_id: plan for plan in plans if _key(plan) in self.recorded}

    def failed(self, plan: Plan) -> bool:
        """Whether a plan that was carried out stayed failed."""
        return self.recorded[_key(plan)].failed

    def owed(self, plans: Mapping[str, Plan], finished: Iterable[Finished]) -> list[str]:
        """Those that are not replayed yet; a failure that stands is not owed again."""
        standing = {name for name, plan in plans.items() if self.failed(plan)}
        kinds = (
            (line.trajectory_id, STANDS if line.trajectory_id in standing else line.kind) for line in finished
        )
        return owed(plans, kinds)

    def calls(self, plans: Iterable[Plan]) -> JournalIndex:
        """What the replayed run's agents were answered."""
        names = {plan.trajectory_id: self.recorded[_key(plan)].trajectory_id for plan in plans}
        return self.source.agent_calls(names.values(), names)

    async def failure(
        self, plan: Plan, calls: JournalIndex, taken: JournalIndex, journal: Sink
    ) -> Trajectory:
        """The line of a plan that stayed failed, taken over with its calls."""
        tag = CallTag("agent", plan.cell, plan.trajectory_id, judge="", turn=0)
        ours = taken.all_lines(plan.trajectory_id)
        await take_over(calls.all_lines(plan.trajectory_id), tag, ours, journal)
        return replace(self.recorded[_key(plan)].trajectory(), trajectory_id=plan.trajectory_id)


async def replay_owed(work: Work, replay: Replay) -> int:
    """Replay what is not replayed yet; the exit code says how it ended."""
    folder, clock, total = work.folder, SystemClock(), len(work.grid.plans)
    differing: dict[str, ReplayError] = {}
    plans = replay.there(work.grid.plans)
    missing = replay.owed(plans, folder.finished())
    calls, taken = replay.calls(plans[each] for each in missing), folder.agent_calls(missing)
    if len(plans) < total:
        click.echo(f"note: {total - len(plans)} of {total} are not in {replay.source.path}", err=True)
    async with session(
        folder,
        work.controllers,
        work.calls,
        finished=taken,
        recorded=dict.fromkeys(work.controllers, calls),
        label="trajectories",
        total=len(missing),
        trouble="failed",
    ) as opened:

        async def worker(plan: Plan) -> Trajectory:
            if replay.failed(plan):
                return await replay.failure(plan, calls, taken, work.calls)
            library = work.libraries[plan.cell.dataset, plan.retriever]
            try:
                return await run_episode(plan, opened.models[plan.controller], library, clock, entities)
            except ReplayError as error:
                differing[plan.trajectory_id] = error
                raise

        try:
            result = await run_batch(
                (plans[each] for each in missing),
                worker,
                work.trajectories,
                in_flight=folder.experiment.rate.trajectories,
                progress=opened.counted,
                stop=opened.stop,
            )
        except ReplayError:
            # Whatever stands before it in the order of the grid was begun before it and has ended too.
            raise next(differing[each] for each in missing if each in differing) from None
    stood = sum(replay.failed(plans[name]) for name in plans.keys() - set(missing))
    failed = stood + opened.counted.troubled
    there = len(plans) - len(missing) + result.done - failed
    said = f"{there} of {total} trajectories replayed, {failed} failed, ${opened.ledger.committed:.4f} spent"
    return _end(said, folder.path, failed=failed, interrupted=result.interrupted)


def recorded_judges(folder: RunFolder) -> Mapping[str, FinishedCalls]:
    """For a replayed run: what its judges were answered, for each that judged the other run as well.

    Raises:
        RunFolderError: The other run cannot be read.
        ReplayError: Another run stands in its place.
    """
    mark = folder.manifest.replay_of
    if mark is None:
        return {}
    source = RunFolder.open(Path(mark.path))
    if source.manifest.started_at != mark.started_at:
        raise ReplayError(f"{folder.path} replays another run than the one that is at {mark.path} now")
    calls = source.judge_calls()
    theirs = source.experiment.judge
    return {
        name: calls
        for name, ours in folder.experiment.judge.items()
        if name in theirs and _same(ours) == _same(theirs[name])
    }


def _end(said: str, path: Path, *, failed: int, interrupted: bool) -> int:
    """Say how a replay ended and what is next; the exit code."""
    click.echo(said if interrupted else f"{said}; next: readgate judge {shlex.quote(str(path))}")
    if interrupted:
        return INTERRUPTED
    return INCOMPLETE if failed else DONE


def unserved(tables: Mapping[str, ModelSettings]) -> dict[str, ModelSettings]:
    """The tables for models that no one is going to reach: requests are written as for a server."""
    return {
        name: table.model_copy(update={"base_url": NOWHERE}) if _needs_server(table) else table
        for name, table in tables.items()
    }


def _needs_server(table: ModelSettings) -> bool:
    return table.provider == "scripted" and table.base_url is None


def _same(table: ModelSettings) -> dict[str, object]:
    """What makes two tables name one judge."""
    return table.model_dump(exclude=set(MAY_CHANGE_IN_MODELS))


def _key(plan: Plan) -> tuple[Cell, str]:
    return plan.cell, plan.question.question_id

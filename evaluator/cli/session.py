"""What ``run`` and ``judge`` share: a budget, models, a progress, and an orderly end.

However the work ends, the manifest is written; an interruption counts for more than a cap that was
reached while the rest was finishing.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import MappingProxyType

import click

from evaluator.budget.ledger import Ledger
from evaluator.cli.progress import Tally, tally
from evaluator.cli.wiring import Libraries, Witnessed, open_models
from evaluator.controllers.pressure import Pressures
from evaluator.core.errors import CapReachedError
from evaluator.core.ports import Clock, FinishedCalls, Sink
from evaluator.core.settings import ModelSettings
from evaluator.run.batch import GRACE_SECONDS
from evaluator.run.clocks import SystemClock, timestamp
from evaluator.run.grid import Grid
from evaluator.store.manifest import ModelsSeen
from evaluator.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Session:
    """A pass over a run folder while it lasts."""

    models: Mapping[str, Witnessed]
    counted: Tally
    stop: asyncio.Event
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Work:
    """An open run folder and everything that is needed to fill it."""

    folder: RunFolder
    grid: Grid
    controllers: Mapping[str, ModelSettings]
    libraries: Libraries
    calls: Sink
    trajectories: Sink


@asynccontextmanager
async def session(
    folder: RunFolder,
    tables: Mapping[str, ModelSettings],
    calls: Sink,
    *,
    finished: FinishedCalls,
    label: str,
    total: int | None,
    trouble: str,
    role: str = "",
    recorded: Mapping[str, FinishedCalls] = MappingProxyType({}),
) -> AsyncIterator[Session]:
    """Open everything that a pass over a run folder needs, and end it in order.

    Args:
        folder: Held by this process.
        tables: The models to open, scripted ones with their addresses.
        calls: The call journal of the folder.
        finished: What that journal holds of the calls of this pass.
        label: What is counted.
        total: How many there are, None when that is not known yet.
        trouble: What an item that went wrong is called.
        role: Stands before the models' names in the manifest.
        recorded: By model, the calls of a replayed run that it answers out of.
    """
    clock, ledger = SystemClock(), _ledger_of(folder)
    pressures = Pressures(folder.experiment.rate, clock)
    async with open_models(
        tables,
        folder.experiment,
        ledger=ledger,
        journal=calls,
        finished=finished,
        recorded=recorded,
        clock=clock,
        pressures=pressures,
    ) as models:
        try:
            with (
                stop_on_signals() as stop,
                tally(label, total, trouble, lambda: ledger.committed, clock) as counted,
            ):
                try:
                    yield Session(models, counted, stop, ledger)
                except CapReachedError as error:
                    if stop.is_set():
                        raise click.Abort from error
                    raise
        finally:
            _note_end(folder, {f"{role}{name}": model.seen() for name, model in models.items()}, clock)


def _note_end(folder: RunFolder, seen: Mapping[str, ModelsSeen], clock: Clock) -> None:
    folder.note_stop(timestamp(clock.now()), seen)


def _ledger_of(folder: RunFolder) -> Ledger:
    """The budget of a run folder with what was spent in it so far."""
    ledger = Ledger(folder.experiment.budget.usd)
    ledger.replay(folder.calls())
    return ledger


@contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that Ctrl-C or a request to terminate sets; the second one ends the task at once."""
    loop, task, stop = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()

    def asked() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
            return
        seconds = f"{GRACE_SECONDS:g} s"
        click.echo(f"stopping: what is in flight has {seconds} to finish; once more stops at once", err=True)
        stop.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    for each in signals:
        loop.add_signal_handler(each, asked)
    try:
        yield stop
    finally:
        for each in signals:
            loop.remove_signal_handler(each)

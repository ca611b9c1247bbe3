"""Tells a person how far a run is: a bar on a terminal, a plain line every few seconds otherwise.

Everything goes to standard error, so that what a command prints can be piped.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from evaluator.core.journal import Verdict
from evaluator.core.outcome import Failed
from evaluator.core.ports import Clock
from evaluator.core.trajectory import Trajectory

SECONDS_BETWEEN_LINES = 5.0
REFRESHES_PER_SECOND = 4


class Tally:
    """Counts what is finished, what went wrong with it, how fast it goes; satisfies ``Progress``.

    Args:
        total: Items of this pass, None when it is not known beforehand.
        trouble: What an item that went wrong is called.
        spent: USD so far, by the ledger of the run.
        show: Called after every item.
    """

    def __init__(
        self,
        total: int | None,
        trouble: str,
        spent: Callable[[], float],
        clock: Clock,
        show: Callable[["Tally"], None],
    ) -> None:
        self.total = total
        self.done = 0
        self.troubled = 0
        self._trouble = trouble
        self._spent = spent
        self._clock = clock
        self._started = clock.monotonic()
        self._show = show

    def advance(self, result: Trajectory | tuple[Verdict, ...]) -> None:
        """Count one finished trajectory, or the verdicts on one answer."""
        if isinstance(result, Trajectory):
            self.done += 1
            self.troubled += isinstance(result.outcome, Failed)
        else:
            self.done += len(result)
            self.troubled += sum(verdict.verdict == "unjudged" for verdict in result)
        self._show(self)

    def figures(self) -> str:
        """Rate, trouble and cost so far."""
        parts = [f"{self.rate():.1f}/s", f"${self._spent():.4f}"]
        if self.troubled:
            parts.insert(0, f"{self.troubled} {self._trouble}")
        return " · ".join(parts)

    def line(self) -> str:
        """All of it on one line, with the time left."""
        if self.total is None:
            return f"{self.done} · {self.figures()}"
        rate = self.rate()
        left = f"{(self.total - self.done) / rate:.0f} s left" if rate else "time left unknown"
        return f"{self.done}/{self.total} · {self.figures()} · {left}"

    def rate(self) -> float:
        """Items a second since the start."""
        elapsed = self._clock.monotonic() - self._started
        return self.done / elapsed if elapsed > 0 else 0.0


@contextmanager
def tally(
    label: str, total: int | None, trouble: str, spent: Callable[[], float], clock: Clock
) -> Iterator[Tally]:
    """A tally that shows itself on standard error, as a bar or as lines."""
    if sys.stderr.isatty():
        with bar(label, total) as show:
            yield Tally(total, trouble, spent, clock, show)
        return
    lines = PlainLines(label, clock)
    counted = Tally(total, trouble, spent, clock, lines.show)
    yield counted
    if counted.done:
        lines.say(counted)


@contextmanager
def stages(label: str) -> Iterator[Callable[[str, int, int, str], None]]:
    """Shows work of several stages; yields what is told the stage, how much of what is done, and a figure."""
    if sys.stderr.isatty():
        with _rich(MofNCompleteColumn(), TextColumn("{task.fields[detail]}")) as progress:
            tasks: dict[str, TaskID] = {}

            def show_bar(stage: str, done: int, total: int, detail: str) -> None:
                if stage not in tasks:
                    tasks[stage] = progress.add_task(f"{label}: {stage}", total=total, detail=detail)
                progress.update(tasks[stage], completed=done, detail=detail)

            yield show_bar
        return
    said_at: dict[str, float] = {}

    def show_line(stage: str, done: int, total: int, detail: str) -> None:
        now = time.monotonic()
        if done >= total or now - said_at.get(stage, now - SECONDS_BETWEEN_LINES) >= SECONDS_BETWEEN_LINES:
            said_at[stage] = now
            click.echo(f"{label}: {stage} {done}/{total}" + f" · {detail}" * bool(detail), err=True)

    yield show_line


@contextmanager
def bar(label: str, total: int | None) -> Iterator[Callable[[Tally], None]]:
    """A rich bar; yields what updates it."""
    with _rich(MofNCompleteColumn(), TextColumn("{task.fields[figures]}")) as progress:
        task = progress.add_task(label, total=total, figures="")

        def show(counted: Tally) -> None:
            progress.update(task, completed=counted.done, figures=counted.figures())

        yield show


def _rich(*columns: ProgressColumn) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeRemainingColumn(),
        console=Console(stderr=True),
        refresh_per_second=REFRESHES_PER_SECOND,
    )


class PlainLines:
    """Prints a line when the last one is a few seconds old."""

    def __init__(self, label: str, clock: Clock) -> None:
        self._label = label
        self._clock = clock
        self._said_at = clock.monotonic()

    def show(self, counted: Tally) -> None:
        """Print a line if it is time."""
        if self._clock.monotonic() - self._said_at >= SECONDS_BETWEEN_LINES:
            self.say(counted)

    def say(self, counted: Tally) -> None:
        """Print a line now."""
        self._said_at = self._clock.monotonic()
        click.echo(f"{self._label}: {counted.line()}", err=True)

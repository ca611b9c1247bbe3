"""Rows of the bench: what a source module measures, and how it hands its rows to ``run.py``.

A source is a module ``tests/bench/<name>.py`` with ``rows(*, quick) -> Iterable[Row]`` that ends in
``if __name__ == "__main__": report(rows)``. It runs in a process of its own, and may run alone:
``python -m tests.bench.<name> [--quick]`` prints one JSON object a row.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from typing import Protocol

NOT_MEASURED = 3


class NotMeasuredError(Exception):
    """What a source needs is not here; the message says what, and how to get it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure beside what it is compared with and the bar it must keep.

    ``theirs`` and ``ratio`` are None where there is nothing to compare with, ``bar`` is None where a
    comparison is shown for its own sake; ``bound_by`` says what limits the figure, and what theirs is.
    """

    name: str
    ours: float
    theirs: float | None
    unit: str
    ratio: float | None
    bar: float | None
    holds: bool
    bound_by: str


class Source(Protocol):
    """The ``rows`` of a source module; ``quick`` asks for smaller inputs and fewer rounds."""

    def __call__(self, *, quick: bool) -> Iterable[Row]: ...


def at_least(
    name: str,
    ours: float,
    unit: str,
    bar: float | None,
    bound_by: str,
    *,
    theirs: float | None = None,
    ratio: float | None = None,
) -> Row:
    """A row whose ratio, or whose own figure where no ratio is given, must reach the bar."""
    judged = ours if ratio is None else ratio
    return Row(name, ours, theirs, unit, ratio, bar, bar is None or judged >= bar, bound_by)


def at_most(
    name: str,
    ours: float,
    unit: str,
    bar: float | None,
    bound_by: str,
    *,
    theirs: float | None = None,
    ratio: float | None = None,
) -> Row:
    """A row whose ratio, or whose own figure where no ratio is given, must not pass the bar."""
    judged = ours if ratio is None else ratio
    return Row(name, ours, theirs, unit, ratio, bar, bar is None or judged <= bar, bound_by)


def figure(value: float | None) -> str:
    """A figure to read: three digits, or the whole number; nothing for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def report(rows: Source) -> None:
    """Measure, and print each row as one line of JSON; all else that is printed goes to stderr."""
    out = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            for row in rows(quick="--quick" in sys.argv[1:]):
                out.write(json.dumps(asdict(row)) + "\n")
                out.flush()
    except NotMeasuredError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(NOT_MEASURED)

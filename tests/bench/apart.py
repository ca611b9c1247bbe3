"""Runs a competitor in a process of its own, where its threads, memory and libraries are its own.

A competitor is a module ``tests/bench/competitors/<name>.py`` that ends in
``if __name__ == "__main__": take_turns(prepare)``. ``prepare(folder, options)`` reads its inputs (files
its source wrote to the folder), does what is not timed, and returns facts about itself and the work of
one round. The source holds it open with ``apart(...)`` and gives its ``.round`` to ``interleaved``.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TypeAlias

from tests.bench.rows import figure
from tests.bench.timing import Timing, timed

Options: TypeAlias = Mapping[str, str | int | float]
Facts: TypeAlias = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Work:
    """What a competitor does in one round, the units it counts, and what it says of itself."""

    one_round: Callable[[], object]
    units: int
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Competitor:
    """A competitor that is ready in another process."""

    facts: Facts
    _turns: IO[str]
    _answers: IO[str]

    @property
    def said(self) -> str:
        """Its facts, to stand in a row's ``bound_by``."""
        said = (
            f"{name} {fact if isinstance(fact, str) else figure(fact)}" for name, fact in self.facts.items()
        )
        return ", ".join(said)

    def round(self) -> Timing:
        """Let it do one round; the time is the one it took in its own process."""
        self._turns.write("\n")
        self._turns.flush()
        return Timing(**json.loads(self._answers.readline()))


@contextmanager
def apart(name: str, folder: Path, **options: str | float) -> Iterator[Competitor]:
    """Start ``tests.bench.competitors.<name>`` and wait until it is ready; it ends with the block."""
    command = [sys.executable, "-m", f"tests.bench.competitors.{name}", str(folder), json.dumps(options)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ready = process.stdout.readline()
        if not ready:
            raise RuntimeError(f"the competitor {name} ended before it was ready: its last words stand above")
        yield Competitor(json.loads(ready), process.stdin, process.stdout)
        process.stdin.close()


def take_turns(prepare: Callable[[Path, Options], Work]) -> None:
    """The competitor's side: make ready, then do one round for each line of standard input."""
    with redirect_stdout(sys.stderr):
        work = prepare(Path(sys.argv[1]), json.loads(sys.argv[2]))
    _answer(work.facts)
    for _ in sys.stdin:
        with redirect_stdout(sys.stderr):
            timing = timed(work.one_round, work.units)
        _answer(asdict(timing))


def _answer(message: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()

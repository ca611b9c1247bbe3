"""Timing of the bench: medians over interleaved rounds, in wall and in processor time.

All contestants of a comparison take turns (ours, theirs, ours, theirs), so that a neighbour on the
machine slows both, and a ratio within one run stays what it is.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

ROUNDS = 7


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds a unit of work: by the clock, and of the processor (all threads of the process)."""

    wall: float
    cpu: float


def timed(work: Callable[[], object], units: int = 1) -> Timing:
    """Time one call that does so many units of work, without garbage collection."""
    with _no_garbage_collection():
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Timing(wall / units, cpu / units)


def interleaved(contestants: Mapping[str, Callable[[], Timing]], rounds: int = ROUNDS) -> dict[str, Timing]:
    """Let the contestants take turns, after one round each to warm up; the median of each."""
    taken: dict[str, list[Timing]] = {name: [] for name in contestants}
    for warm in range(rounds + 1):
        for name, contestant in contestants.items():
            timing = contestant()
            if warm:
                taken[name].append(timing)
    return {
        name: Timing(
            statistics.median(timing.wall for timing in timings),
            statistics.median(timing.cpu for timing in timings),
        )
        for name, timings in taken.items()
    }


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

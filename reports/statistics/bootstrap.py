"""The paired bootstrap, from counts.

Resampling n questions with replacement only moves the numbers of gains, losses and ties, and those
are multinomial: drawing them directly gives the same distribution as resampling rows, a few hundred
times faster.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reports.statistics.intervals import LEVEL, Interval

RESAMPLES = 10_000

Counts = tuple[int, int, int]
"""Gained, lost, n of one dataset."""


def pooled_interval(
    datasets: Sequence[Counts], seed: int, *, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """Percentile interval for the mean of the datasets' differences, resampled within each dataset.

    Args:
        datasets: Gained, lost and n of each; every dataset weighs the same, whatever its n.
        seed: Equal seeds give equal intervals.
        resamples: How many.
        level: Of confidence, two-sided.
    """
    rng = np.random.default_rng(seed)
    draws = np.mean([resampled_differences(rng, *counts, resamples) for counts in datasets], axis=0)
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(low), float(high))


def resampled_differences(
    rng: np.random.Generator, gained: int, lost: int, n: int, resamples: int
) -> npt.NDArray[np.float64]:
    """(gained − lost) / n of that many paired resamples of one dataset."""
    shares = np.array([gained, lost, n - gained - lost], dtype=np.float64) / n
    counts = rng.multinomial(n, shares, size=resamples)
    differences: npt.NDArray[np.float64] = (counts[:, 0] - counts[:, 1]) / n
    return differences


def seed_for(seed: int, *names: str) -> int:
    """A seed of its own for each thing resampled, fixed by the experiment's seed and the thing's name."""
    text = "\x1f".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

"""Intervals for the difference of two paired proportions: the score interval of Tango (1998).

The interval holds every difference that a score test at the same level does not reject. Unlike a
Wald or a percentile interval it stays honest when few pairs, or none, are discordant.
"""

import math
from typing import NamedTuple

from scipy import optimize, stats

LEVEL = 0.95
NUDGE = 1e-9


class Interval(NamedTuple):
    """A two-sided confidence interval."""

    low: float
    high: float


def paired_score_interval(gained: int, lost: int, n: int, *, level: float = LEVEL) -> Interval:
    """The interval for (gained − lost) / n.

    Args:
        gained: Questions that only the treatment got right.
        lost: Questions that only the baseline got right.
        n: All paired questions, at least one.
        level: Of confidence, two-sided.
    """
    _check(gained, lost, n)
    z = float(stats.norm.ppf(0.5 + level / 2))
    return Interval(-_upper_limit(lost, gained, n, z), _upper_limit(gained, lost, n, z))


def _upper_limit(gained: int, lost: int, n: int, z: float) -> float:
    """The largest difference not rejected; the lower limit is this one with the arms swapped."""
    estimate = (gained - lost) / n
    if estimate == 1:
        return 1.0

    def excess(delta: float) -> float:
        # The score test's equation, multiplied out: at delta = 1 the standard error is 0.
        return gained - lost - n * delta + z * _standard_error(gained, lost, n, delta)

    # Beside the estimate only the standard error is left, and at 1 only gained − lost − n < 0. Exactly
    # at the estimate it can be 0 too (no pair discordant, or every pair lost), which is no limit.
    return float(optimize.brentq(excess, estimate + NUDGE, 1.0, xtol=1e-12))


def _standard_error(gained: int, lost: int, n: int, delta: float) -> float:
    """Of gained − lost when the true difference is delta, by constrained maximum likelihood.

    Given delta, the probability q of a loss that fits best solves 2n·q² + b·q + c = 0, which is the
    constrained likelihood's derivative set to 0.
    """
    b = (2 * n - gained + lost) * delta - gained - lost
    c = -lost * delta * (1 - delta)
    lose = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    return math.sqrt(max(n * (2 * lose + delta * (1 - delta)), 0.0))


def _check(gained: int, lost: int, n: int) -> None:
    if min(gained, lost) < 0 or n < 1 or gained + lost > n:
        raise ValueError(f"gained {gained} and lost {lost} are no counts among {n} pairs")

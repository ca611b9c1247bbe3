"""What a paired comparison of a given size could have shown.

A difference that is not detected is no proof of none: this says from which size on one would have
been, so that a report need not leave it to the reader.
"""

import math
from typing import Final

EIGHTY_PERCENT: Final = 2.80
"""1.96 + 0.84: the normal quantiles of a two-sided 5 % test at 80 % power."""


def detectable(discordant: int, n: int) -> float | None:
    """The smallest difference that n questions detect with 80 % power, as a fraction.

    The normal approximation 2.80 · √(discordant share / n); the exact test, being conservative, needs
    a little more.

    Args:
        discordant: Questions that only one arm got right.
        n: All paired questions.

    Returns:
        None when no pair is discordant: then nothing is known of how often they are.
    """
    if not 0 <= discordant <= n:
        raise ValueError(f"{discordant} discordant pairs among {n}")
    return standardised(discordant / n, n) if discordant else None


def standardised(discordant_share: float, n: int) -> float:
    """The same from the share of discordant questions, as a plan for a run states it.

    12.5 points at n = 100 with one question in five discordant, 8.9 at 200, 4.0 at 1,000. At most 1: no
    difference is larger.
    """
    return min(1.0, EIGHTY_PERCENT * math.sqrt(discordant_share / n))

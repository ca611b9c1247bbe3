"""Holm's step-down correction for a family of tests.

It bounds the chance of any false rejection in the family, whatever the dependence between the
tests, and rejects everything that Bonferroni's correction does.
"""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values, in the order given.

    A test that could not be carried out (None) still belongs to the family: it counts as a p-value
    of 1 and stays None. A family must not shrink because a part of it is still missing.

    Args:
        p_values: One per member of the family, each within [0, 1] or None.

    Returns:
        The smallest family-wise level at which each test is rejected.
    """
    size = len(p_values)
    order = sorted(range(size), key=lambda index: _rank_value(p_values[index]))
    adjusted: list[float | None] = [None] * size
    running = 0.0
    for step, index in enumerate(order):
        p = p_values[index]
        if p is None:
            continue
        running = max(running, min(1.0, (size - step) * p))
        adjusted[index] = running
    return adjusted


def _rank_value(p: float | None) -> tuple[float, bool]:
    if p is None:
        return 1.0, True
    if not 0 <= p <= 1:
        raise ValueError(f"{p} is no p-value")
    return p, False

"""What is still owed: the expected trajectories that no line of the run folder finishes.

Resuming is this set difference and nothing else: a failed line is owed again, an absent one too, and
which of several lines of one id counts is decided here.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finished:
    """The little of a line that decides whether it counts.

    Attributes:
        kind: The kind of its outcome.
        started_at: RFC 3339 in UTC, so that text order is time order.
    """

    trajectory_id: str
    kind: str
    started_at: str


def owed(expected: Iterable[str], finished: Iterable[tuple[str, str]]) -> list[str]:
    """The expected ids without a non-failed line, in the order expected.

    Args:
        expected: The ids of the grid.
        finished: The id and the outcome's kind of every line.
    """
    done = {trajectory_id for trajectory_id, kind in finished if kind != FAILED}
    return [trajectory_id for trajectory_id in expected if trajectory_id not in done]


def winners(lines: Iterable[tuple[Key, Finished]]) -> dict[str, Key]:
    """The line that counts for each id: a non-failed one wins, then the later ``started_at``.

    Args:
        lines: Where each line stands, and what decides about it.
    """
    best: dict[str, tuple[bool, str, Key]] = {}
    for key, line in lines:
        rank = (line.kind != FAILED, line.started_at)
        held = best.get(line.trajectory_id)
        if held is None or rank >= held[:2]:
            best[line.trajectory_id] = (*rank, key)
    return {trajectory_id: key for trajectory_id, (_, _, key) in best.items()}

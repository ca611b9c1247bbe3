"""Reciprocal rank fusion: several rankings of the same documents become one, for a whole batch of queries.

A document's score is the sum of 1 / (k + rank) over the rankings that hold it, rank counting from 1.
Scores are compared as exact fractions would be, and equal ones fall by ascending id. Floats cannot do
that: 1/64 + 1/192 and 1/72 + 1/144 are both 1/48, yet sums of floats may tell such pairs apart. So terms
are integers, 2^62 / m parts of one for m rankings, each rounded down: equal sums then differ by less
than m parts. Unequal sums of two rankings differ by at least 1 / (k + depth)^4, far more than that up to
k + depth = 20,000; for more rankings the same holds wherever sums differ by more than m parts.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

NO_DOCUMENT = -1
PARTS = 2**62


def fuse(rankings: Sequence[npt.NDArray[np.integer]], *, k: int = 60, depth: int) -> tuple[Ids, Scores]:
    """Fuse rankings of one batch of queries.

    Args:
        rankings: For each retriever the ids [queries, its depth], best first, each id below 2^31 and at
            most once in a row; -1 pads rows that hold fewer.
        k: The constant of the formula; larger values flatten the ranks' weights.
        depth: How many documents to return for each query.

    Returns:
        Ids [queries, depth] by falling score, then rising id, -1 where there are no more; and scores,
        equal for equal fractions, 0 beside -1.
    """
    ids, totals = _totals(rankings, k)
    ids, totals = _falling(ids, totals, ties_within=len(rankings))
    scores = totals / (PARTS // len(rankings))
    missing = depth - ids.shape[1]
    if missing > 0:
        ids = np.pad(ids, ((0, 0), (0, missing)), constant_values=NO_DOCUMENT)
        scores = np.pad(scores, ((0, 0), (0, missing)))
    return ids[:, :depth], scores[:, :depth]


def _totals(rankings: Sequence[npt.NDArray[np.integer]], k: int) -> tuple[Ids, Ids]:
    """Ids in ascending order, each with the sum of its terms; -1 and 0 where nothing stands."""
    terms = np.concatenate(
        [PARTS // len(rankings) // (k + 1 + np.arange(ranking.shape[1])) for ranking in rankings]
    ).astype(np.int64)
    together = np.concatenate(rankings, axis=1).astype(np.int64)
    slots = together.shape[1]
    bits = slots.bit_length()
    # One key holds id and slot, so that one sort of integers brings the terms of a document together.
    keys = (together << bits) | np.arange(slots)
    keys.sort(axis=1)
    ids = keys >> bits
    scored = np.where(ids >= 0, terms[keys & ((1 << bits) - 1)], 0)
    totals = scored.copy()
    for apart in range(1, len(rankings)):
        same = ids[:, apart:] == ids[:, :-apart]
        totals[:, :-apart] += np.where(same, scored[:, apart:], 0)
    repeated = np.zeros(ids.shape, dtype=bool)
    repeated[:, 1:] = ids[:, 1:] == ids[:, :-1]
    totals[repeated] = 0
    ids[repeated] = NO_DOCUMENT
    return ids, totals


def _falling(ids: Ids, totals: Ids, ties_within: int) -> tuple[Ids, Ids]:
    """Sort rows by falling total; totals closer than ``ties_within`` are one, and fall by ascending id."""
    order = np.argsort(-totals, axis=1, kind="stable")
    ids = np.take_along_axis(ids, order, axis=1)
    totals = np.take_along_axis(totals, order, axis=1)
    starts = np.ones(totals.shape, dtype=bool)
    starts[:, 1:] = totals[:, :-1] - totals[:, 1:] >= ties_within
    groups = np.cumsum(starts, axis=1)
    first = np.maximum.accumulate(np.where(starts, np.arange(totals.shape[1]), 0), axis=1)
    within = np.sort((groups << 32) | (ids & 0xFFFF_FFFF), axis=1) & 0xFFFF_FFFF
    ids = np.where(within == 0xFFFF_FFFF, NO_DOCUMENT, within)
    return ids, np.take_along_axis(totals, first, axis=1)

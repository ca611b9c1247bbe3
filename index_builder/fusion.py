"""Reciprocal rank fusion: several rankings of the same documents become one, for a whole batch of queries.

A document's score is the sum of 1 / (k + rank) over the rankings that hold it, rank counting from 1.
Documents fall by score as exact fractions would order them, and equal ones by ascending id. Sums of
floats cannot do that: 1/64 + 1/192 and 1/72 + 1/144 are both 1/48, yet floats may tell such pairs apart.
Sums of integers can, by one of the two ways that ``fusion_scale`` chooses between.
"""

from collections.abc import Sequence
from itertools import chain
from math import lcm
from operator import index

import numpy as np
import numpy.typing as npt

from index_builder.fusion_scale import ID_BITS, LARGEST_ID, Scale, scale_of

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float64]

NO_DOCUMENT = -1


def fuse(rankings: Sequence[npt.NDArray[np.integer]], *, k: int = 60, depth: int) -> tuple[Ids, Scores]:
    """Fuse rankings of one batch of queries.

    Args:
        rankings: For each retriever the ids [queries, its depth], best first, each id below 2^31 and at
            most once in a row; -1, wherever it stands, is no document. A ranking may have no columns.
        k: The constant of the formula, not negative; larger values flatten the ranks' weights.
        depth: How many documents to return for each query.

    Returns:
        Ids [queries, depth] by falling score, then rising id, -1 where there are no more; and scores,
        equal for equal fractions and within 10^-12 of them, 0 beside -1.

    Raises:
        ValueError: When there is no ranking, the rankings are not of as many queries, an id is out of
            range or stands twice in a row of one ranking, or ``k`` or ``depth`` is negative.
    """
    if k < 0 or depth < 0:
        msg = f"k is {k} and depth is {depth}; neither may be negative"
        raise ValueError(msg)
    queries = _queries(rankings)
    ids = np.full((queries, depth), NO_DOCUMENT)
    scores = np.zeros((queries, depth))
    filled = [ranking for ranking in rankings if ranking.size]
    if filled and depth:
        scale = scale_of(index(k), tuple(ranking.shape[1] for ranking in filled))
        rows = min(queries, len(scale.columns))
        # The same memory for each part of the batch: asking for it anew costs as much as the work on it.
        room = np.empty((3, rows, scale.slots), dtype=np.int64)
        for start in range(0, queries, rows):
            part = slice(start, start + rows)
            keys, totals, spare = room[:, : queries - start]
            _sort_keys([ranking[part] for ranking in filled], scale, keys)
            same = _continued(keys.ravel(), scale, start, spare.ravel())
            _add_up(scale.terms, keys.ravel(), same, scale, spare.ravel(), totals.ravel())
            order = _ordered(keys, same, totals, scale, depth, spare)[:, :depth]
            columns = slice(order.shape[1])
            _read(order, keys, scale, ids[part, columns], scores[part, columns])
    return ids, scores


def _queries(rankings: Sequence[npt.NDArray[np.integer]]) -> int:
    for ranking in rankings:
        if ranking.ndim != 2 or not np.issubdtype(ranking.dtype, np.integer):
            msg = f"a ranking is whole numbers [queries, depth], not {ranking.dtype} of shape {ranking.shape}"
            raise ValueError(msg)
    counts = {len(ranking) for ranking in rankings}
    if len(counts) != 1:
        msg = f"rankings of one batch have as many rows each, not {sorted(counts) or 'none at all'}"
        raise ValueError(msg)
    return counts.pop()


def _sort_keys(rankings: Sequence[npt.NDArray[np.integer]], scale: Scale, keys: Ids) -> None:
    """Write row, id and code of each column as one integer, sorted: a document's terms stand together.

    Keys of one row and id are less than ``scale.span`` apart, and others at least that.
    """
    np.concatenate(rankings, axis=1, out=keys, casting="same_kind")
    # One look finds what is too large and, as it has the highest bit, what is negative.
    usual = keys.view(np.uint64).max() <= LARGEST_ID
    absent = None if usual else _absent(keys)
    keys <<= scale.code_bits
    keys += scale.columns[: len(keys)]
    if absent is not None:
        keys |= np.where(absent, scale.span - 1, 0)  # the last code, which has no term
    keys.sort(axis=1)


def _absent(ids: Ids) -> Flags:
    """Where -1 stands; ValueError where anything else stands that is no id."""
    lowest, highest = ids.min(), ids.max()
    if lowest < NO_DOCUMENT or highest > LARGEST_ID:
        wrong = lowest if lowest < NO_DOCUMENT else highest
        msg = f"{wrong} cannot be an id: ids go from 0 to {LARGEST_ID}, and -1 is no document"
        raise ValueError(msg)
    return ids < 0


def _continued(flat: Ids, scale: Scale, first_query: int, spare: Ids) -> Flags:
    """Which keys, from the second on, are of the same document as the one before."""
    gaps = np.subtract(flat[1:], flat[:-1], out=spare[1:])
    if gaps.min(initial=scale.width) < scale.width:
        keys = flat[1:][gaps < scale.width]
        ids = (keys >> scale.code_bits) & (2**ID_BITS - 1)
        repeated = np.flatnonzero(ids <= LARGEST_ID)
        if repeated.size:
            query = first_query + (int(keys[repeated[0]]) >> (scale.code_bits + ID_BITS))
            msg = f"a ranking of query {query} holds document {ids[repeated[0]]} twice"
            raise ValueError(msg)
    return gaps < scale.span


def _add_up(terms: Ids, flat: Ids, same: Flags, scale: Scale, spare: Ids, totals: Ids) -> None:
    """Write at the first key of each document the sum of its terms, and 0 at its other keys."""
    np.take(terms, np.bitwise_and(flat, scale.span - 1, out=spare), out=totals, mode="clip")
    more = np.multiply(totals[1:], same, out=spare[1:])
    totals[:-1] += more
    if scale.lists <= 2:
        totals[1:] -= more
        return
    # Sums of two neighbours become sums of four, of eight and so on, never beyond the document.
    apart = 2
    while apart < scale.lists:
        totals[:-apart] += totals[apart:] * (flat[apart:] - flat[:-apart] < scale.span)
        apart *= 2
    totals[1:] *= ~same


def _ordered(keys: Ids, same: Flags, totals: Ids, scale: Scale, depth: int, order: Ids) -> Ids:
    """For each row its columns of ``keys``, best first, each below the negated units of its total."""
    flat = keys.ravel()
    step = 1 << scale.step_bits
    # Units and place in one number, so that one more sort brings the best to the front, and of equals
    # the lower id.
    np.bitwise_and(totals, -step, out=order)
    np.subtract(np.arange(scale.slots), order, out=order)
    order.sort(axis=1)
    if not scale.canonical:
        sums = [totals.ravel()]
        for terms in scale.finer_terms:
            sums.append(np.empty_like(flat))
            _add_up(terms, flat, same, scale, np.empty_like(flat), sums[-1])
        _settle(order, flat, _row_starts(keys) + (order & (step - 1)), sums, scale, depth)
    return order


def _row_starts(keys: Ids) -> Ids:
    return np.arange(0, keys.size, keys.shape[1])[:, np.newaxis]


def _read(order: Ids, keys: Ids, scale: Scale, ids: Ids, scores: Scores) -> None:
    """Write ids and scores from what is in order."""
    places = order & ((1 << scale.step_bits) - 1)
    places += _row_starts(keys)
    np.take(keys, places, out=ids, mode="clip")
    ids >>= scale.code_bits
    ids &= LARGEST_ID
    units = np.right_shift(order, scale.step_bits, out=places)
    np.multiply(units, -(2.0**-scale.unit_bits), out=scores)
    if not units[:, -1].all():
        ids[units == 0] = NO_DOCUMENT
        scores[units == 0] = 0.0


def _settle(order: Ids, flat: Ids, places: Ids, totals: Sequence[Ids], scale: Scale, depth: int) -> None:
    """Put right, by exact arithmetic, what totals cannot tell apart and what of it reaches the best."""
    units = order >> scale.step_bits
    near = (units[:, 1:] - units[:, :-1] <= 1) & (units[:, 1:] < 0)
    differ = np.zeros(near.shape, dtype=bool)
    for each in totals:
        ordered = each[places]
        differ |= ordered[:, 1:] != ordered[:, :-1]
    unclear = near & differ
    for row in np.flatnonzero(unclear.any(axis=1)).tolist():
        edges = np.flatnonzero(np.diff(near[row], prepend=False, append=False))
        for start, last in edges.reshape(-1, 2).tolist():
            if start < depth and unclear[row, start:last].any():
                run = slice(start, last + 1)
                order[row, run] = _exactly(order[row, run].tolist(), places[row, run].tolist(), flat, scale)


def _exactly(entries: list[int], places: list[int], flat: Ids, scale: Scale) -> list[int]:
    """The entries of one run, with the exact units, in the exact order."""
    denominators = [_denominators(flat[place : place + scale.lists], scale) for place in places]
    common = lcm(*chain(*denominators))
    scores = [sum(common // each for each in own) for own in denominators]
    in_row = [entry & ((1 << scale.step_bits) - 1) for entry in entries]
    return [
        place - (((score << scale.unit_bits) // common) << scale.step_bits)
        for score, place in sorted(zip(scores, in_row, strict=True), key=lambda each: (-each[0], each[1]))
    ]


def _denominators(keys: Ids, scale: Scale) -> list[int]:
    """For each of the keys that are of the first one's document, k + rank."""
    codes = keys[keys - keys[0] < scale.span] & (scale.span - 1)
    return [scale.k + 1 + code % (2 * scale.width) for code in codes.tolist()]

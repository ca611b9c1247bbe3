"""How the sums of reciprocal rank fusion become integers that can be told apart, whatever the rankings.

With m rankings and w the largest k + rank, a score is a fraction whose denominator is at most w^m, and
two scores that differ do so by at least w^-2m. Terms are integers: 1 / (k + rank) of one, which is as
many parts as 63 bits have room for, rounded up. So a total exceeds the score's parts by at most m.

A total is read in units of ``step`` parts, rounded down. Where a step is more than m w^m parts and a unit
at most w^-2m, these units are *canonical*: no multiple of a step lies between a score and its total (one
above the score is at least step / w^m parts away), so that equal scores have equal units and others do
not. That holds for two rankings with k = 60 to a depth of 1,800, and for three to 80.

Elsewhere units more than one apart still order their scores. Of closer ones those are known to be equal
whose totals agree in every part, down to the ``finer`` digits which make the parts small enough; the few
that are left are for exact arithmetic to decide.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

ID_BITS = 32
LARGEST_ID = 2**31 - 1
ROOM = 2**63 - 1
KEYS_AT_ONCE = 2**14
"""Arrays of so many integers stay in the processor's cache from one step to the next."""
SCALES_KEPT = 64

Terms = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scale:
    """What fusing rankings of given widths with a given k needs to know.

    Attributes:
        k: The constant of the formula.
        lists: How many rankings there are.
        slots: Columns of all rankings together.
        width: More than any rank: codes of one ranking are less than this apart, of two at least this.
        span: Every code is below it.
        code_bits: Room for a code, with as much again between the codes of one id and of the next.
        columns: What makes a key of an id, for so many rows as are fused at once: the number of the row
            above the id, and below it the code of the column, which says which ranking and which rank.
        terms: Of each code in parts; 0 for codes of no column.
        finer_terms: The digits of the terms below one part, in several arrays; none where canonical.
        step_bits: Parts in a unit, as a power of two.
        unit_bits: Units in one, as a power of two.
        canonical: Whether equal scores, and no others, have equal units.
    """

    k: int
    lists: int
    slots: int
    width: int
    span: int
    code_bits: int
    columns: Terms
    terms: Terms
    finer_terms: tuple[Terms, ...]
    step_bits: int
    unit_bits: int
    canonical: bool


@lru_cache(SCALES_KEPT)
def scale_of(k: int, widths: tuple[int, ...]) -> Scale:
    """The scale for rankings of these widths, none 0."""
    slots, lists, largest = sum(widths), len(widths), k + max(widths)
    # The sum of as many largest terms as there are rankings, each rounded up, is below 2^63.
    part_bits = ((ROOM // lists - 1) * (k + 1)).bit_length() - 1
    place_bits = slots.bit_length()
    step_bits = max(place_bits, (lists * largest**lists).bit_length())
    canonical = 2 ** max(0, part_bits - step_bits) >= largest ** (2 * lists)
    if not canonical:
        step_bits = place_bits
    digits = 62 - lists.bit_length()
    missing = 0 if canonical else (lists * largest ** (2 * lists)).bit_length() - part_bits
    finer = -(-max(0, missing) // digits)
    precise = part_bits + finer * digits
    width = 1 << (max(widths) - 1).bit_length()
    span = 1 << (2 * lists * width - 1).bit_length()
    codes = np.concatenate([2 * width * which + np.arange(each) for which, each in enumerate(widths)])
    rows = np.arange(max(1, KEYS_AT_ONCE // slots))
    weights = [2**precise // (k + rank) + 1 for rank in range(1, max(widths) + 1)]
    arrays = []
    for place in range(finer, -1, -1):
        whole = [weight >> (place * digits) for weight in weights]
        ranked = whole if place == finer else [value & (2**digits - 1) for value in whole]
        own = np.zeros(span, dtype=np.int64)
        own[codes] = np.array(ranked, dtype=np.int64)[codes % (2 * width)]
        arrays.append(own)
    return Scale(
        k=k,
        lists=lists,
        slots=slots,
        width=width,
        span=span,
        code_bits=span.bit_length(),
        columns=(rows << (span.bit_length() + ID_BITS))[:, np.newaxis] + codes,
        terms=arrays[0],
        finer_terms=tuple(arrays[1:]),
        step_bits=step_bits,
        unit_bits=part_bits - step_bits,
        canonical=canonical,
    )

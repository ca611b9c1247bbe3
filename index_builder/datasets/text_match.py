"""Which chunks hold a passage, told by letters and digits alone: for chunks that came packed and respelt.

Chunks that went through a tokenizer and back are lower-cased and stripped of accents; spaces stand around
punctuation, ``##`` before halves of words, ``[UNK]`` for what the vocabulary lacks, and the border of two
chunks may cut a passage. So both sides are reduced to the letters a-z and the digits, and a passage is
looked for by its *grams*: every ``GRAM`` successive characters of it, about five words. Each difference
costs a passage some ``GRAM`` grams, so that articles made from one template, alike but for a name and a
number, stay well apart. Titles play no part: several passages share one, and chunks may leave them out.
A text of other scripts, or of fewer than ``GRAM`` letters, is found nowhere.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_

GRAM = 24
ANCHOR_STEP = 8
PART = 0.1
NOISE = re.compile(r"(?:\[unk\]|[^a-z0-9])+")


def letters_and_digits(text: str) -> str:
    """What is left of a text whatever its case, accents, spaces and punctuation."""
    return NOISE.sub("", unicodedata.normalize("NFKD", text).lower())


def holders(chunks: Sequence[str], passages: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The ordinals of the chunks that hold each passage; a passage that is found nowhere is left out.

    A chunk holds a passage when no other has more of its grams, and it has nine tenths of them at
    least; several hold it when they have equally many. Where successive chunks together have more of them
    than any single one, a border cuts the passage and all of them hold it. A chunk with less than a tenth
    (``PART``) is no part.

    Args:
        chunks: Their texts, in file order.
        passages: Texts, in any spelling.
    """
    sought = {passage: letters_and_digits(passage) for passage in passages}
    found = _parts([letters_and_digits(chunk) for chunk in chunks], sought)
    best = {passage: _best(parts, len(sought[passage]) - GRAM + 1) for passage, parts in found.items()}
    return {passage: ordinals for passage, ordinals in best.items() if ordinals}


def _grams(text: str, step: int = 1) -> Iterator[str]:
    return (text[start : start + GRAM] for start in range(0, len(text) - GRAM + 1, step))


def _parts(chunks: Sequence[str], sought: Mapping[str, str]) -> dict[str, dict[int, int]]:
    """For each passage, the chunks that hold a part of it: ordinal to a byte for each gram, 1 if it is there.

    The grams that lie across the border to the next chunk count as the first one's.
    """
    anchors: dict[str, list[str]] = defaultdict(list)
    for passage, text in sought.items():
        for gram in _grams(text, ANCHOR_STEP):
            anchors[gram].append(passage)
    parts: dict[str, dict[int, int]] = defaultdict(dict)
    for ordinal, (chunk, following) in enumerate(pairwise([*chunks, ""])):
        grams = set(_grams(chunk + following[: GRAM - 1]))
        for passage in {passage for gram in grams & anchors.keys() for passage in anchors[gram]}:
            found = bytes(gram in grams for gram in _grams(sought[passage]))
            if sum(found) >= PART * len(found):
                parts[passage][ordinal] = int.from_bytes(found)
    return parts


def _best(parts: Mapping[int, int], grams: int) -> tuple[int, ...]:
    """The fewest successive chunks that have the most of a passage, if that is enough of it."""
    most, fewest, chosen = 0, 0, set[int]()
    for run in sorted(_runs(parts, grams), key=len):
        found = reduce(or_, (parts[ordinal] for ordinal in run)).bit_count()
        if found > most:
            most, fewest, chosen = found, len(run), set(run)
        elif (found, len(run)) == (most, fewest):
            chosen |= set(run)
    return tuple(sorted(chosen)) if most >= (1 - PART) * grams else ()


def _runs(parts: Mapping[int, int], grams: int) -> Iterator[range]:
    """Every chunk alone, and successive chunks of which the first has the first gram and the last the last.

    A look-alike beside a part of the passage seldom completes it in this order.
    """
    for ordinal, found in parts.items():
        yield range(ordinal, ordinal + 1)
        last = ordinal + 1
        while found >> 8 * (grams - 1) and last in parts:
            if parts[last] & 1:
                yield range(ordinal, last + 1)
            last += 1

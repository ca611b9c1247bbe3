"""What fusing two rankings of 1,000 queries costs beside a dict loop and beside ranx.

Ids are random, a quarter of each ranking in the other too, as of BM25 and MiniLM on the real sets (17 to
28 % at these depths). The dict loop is what one writes by hand, over lists that are already there: sums of
floats, equal ones by ascending id, which float sums do not always find equal. ranx's two threads are its
fastest; its result is neither cut nor sorted by id.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from index_builder.fusion import fuse
from tests.bench.apart import apart
from tests.bench.rows import Row, at_least, report
from tests.bench.timing import interleaved, timed

QUERIES = 1000
POOL = 4
K = 60
DEPTHS = {50: 21, 100: 15}
QUICK_ROUNDS = 3
DICT_BAR, RANX_BAR = 20, 50
THREADS = 2
OURS_AGAIN = 20  # batches a round, so that a round of ours takes about as long as one of theirs


def rows(*, quick: bool) -> list[Row]:
    """Both depths, beside both."""
    return [
        row for depth, rounds in DEPTHS.items() for row in _rows(depth, QUICK_ROUNDS if quick else rounds)
    ]


def _rows(depth: int, rounds: int) -> list[Row]:
    luck = np.random.default_rng(depth)
    rankings = np.stack(
        [[luck.permutation(POOL * depth)[:depth] for _ in range(QUERIES)] for _ in range(2)]
    ).astype(np.int64)
    lists = rankings.tolist()
    _agree(rankings, depth)
    with tempfile.TemporaryDirectory() as place:
        np.save(Path(place, "rankings.npy"), rankings)
        with apart("ranx_fuse", Path(place), threads=THREADS) as ranx:
            medians = interleaved(
                {
                    "ours": partial(timed, partial(_ours, list(rankings), depth), OURS_AGAIN * QUERIES),
                    "dict": partial(timed, partial(by_dict, lists, depth), QUERIES),
                    "ranx": ranx.round,
                },
                rounds,
            )
    micro = {name: timing.wall * 1e6 for name, timing in medians.items()}
    bound = "two sorts of int64 (about 40 %) and a dozen passes over keys in the cache"
    return [
        at_least(
            f"fusion at depth {depth}, beside {what}",
            micro["ours"],
            "µs a query",
            bar,
            bound,
            theirs=micro[name],
            ratio=micro[name] / micro["ours"],
        )
        for name, what, bar in (
            ("dict", "a dict loop", DICT_BAR),
            ("ranx", f"ranx on {THREADS} threads", RANX_BAR),
        )
    ]


def _ours(rankings: list[npt.NDArray[np.int64]], depth: int) -> None:
    for _ in range(OURS_AGAIN):
        fuse(rankings, k=K, depth=depth)


def by_dict(rankings: list[list[list[int]]], depth: int) -> list[list[tuple[int, float]]]:
    """Reciprocal rank fusion as one writes it by hand."""
    fused = []
    for rows_of_query in zip(*rankings, strict=True):
        scores: dict[int, float] = {}
        for row in rows_of_query:
            for rank, document in enumerate(row, start=1):
                scores[document] = scores.get(document, 0.0) + 1 / (K + rank)
        fused.append(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:depth])
    return fused


def _agree(rankings: npt.NDArray[np.int64], depth: int) -> None:
    """Both find the same scores, so that neither does less than the other."""
    _, ours = fuse(list(rankings), k=K, depth=depth)
    theirs = [[score for _, score in row] for row in by_dict(rankings.tolist(), depth)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


if __name__ == "__main__":
    report(rows)

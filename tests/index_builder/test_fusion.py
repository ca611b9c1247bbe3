"""Fusion against exact fractions."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.fusion import fuse

Ids = npt.NDArray[np.int64]


def by_fractions(rankings: Sequence[list[int]], k: int) -> list[tuple[int, Fraction]]:
    scores: dict[int, Fraction] = defaultdict(Fraction)
    for ranking in rankings:
        for rank, document in enumerate(ranking, start=1):
            scores[document] += Fraction(1, k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def padded(rows: Sequence[list[int]], depth: int) -> Ids:
    return np.array([row + [-1] * (depth - len(row)) for row in rows], dtype=np.int64).reshape(
        len(rows), depth
    )


def agrees_with_fractions(per_retriever: Sequence[Sequence[list[int]]], k: int, out: int) -> None:
    depths = [max(map(len, rows)) for rows in per_retriever]
    rankings = [padded(rows, depth) for rows, depth in zip(per_retriever, depths, strict=True)]
    ids, scores = fuse(rankings, k=k, depth=out)
    assert ids.shape == scores.shape == (len(per_retriever[0]), out)
    for query, (row, row_scores) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True)):
        expected = by_fractions([rows[query] for rows in per_retriever], k)[:out]
        assert row == [document for document, _ in expected] + [-1] * (out - len(expected))
        exact = [float(score) for _, score in expected] + [0.0] * (out - len(expected))
        assert row_scores == pytest.approx(exact, abs=1e-15)


@given(st.data())
def test_any_number_of_rankings_is_fused_as_exact_fractions_would(data: st.DataObject) -> None:
    queries = data.draw(st.integers(1, 3))
    ranking = st.lists(st.integers(0, 25), unique=True, max_size=20)
    rows = st.lists(ranking, min_size=queries, max_size=queries)
    per_retriever = data.draw(st.lists(rows, min_size=1, max_size=4))
    agrees_with_fractions(per_retriever, data.draw(st.integers(0, 80)), data.draw(st.integers(1, 60)))


@pytest.mark.parametrize("depth", [100, 1000])
def test_two_deep_rankings_are_fused_as_exact_fractions_would(depth: int) -> None:
    order = np.random.default_rng(3)
    pool = depth * 5 // 4
    batch = [[order.permutation(pool)[:depth].tolist() for _ in range(4)] for _ in range(2)]
    agrees_with_fractions(batch, 60, pool)


def test_equal_sums_of_unequal_terms_tie_and_fall_by_id() -> None:
    # 1/64 + 1/192 = 4/192 = 1/48 and 1/72 + 1/144 = 3/144 = 1/48: documents 9 and 2 tie.
    first = list(range(1000, 1192))
    second = list(range(2000, 2192))
    first[63], second[191] = 9, 9
    first[71], second[143] = 2, 2
    ids, scores = fuse([padded([first], 192), padded([second], 192)], k=0, depth=400)
    row = ids[0].tolist()
    assert row.index(2) < row.index(9)
    assert scores[0, row.index(2)] == scores[0, row.index(9)] == pytest.approx(1 / 48)


def test_scores_of_documents_that_swap_their_ranks_are_equal() -> None:
    ids, scores = fuse([padded([[7, 3]], 2), padded([[3, 7]], 2)], k=60, depth=2)
    assert ids.tolist() == [[3, 7]]
    assert scores[0, 0] == scores[0, 1] == pytest.approx(1 / 61 + 1 / 62)


def test_a_query_without_any_candidate_gets_no_documents() -> None:
    ids, scores = fuse([padded([[]], 3), padded([[]], 3)], k=60, depth=2)
    assert ids.tolist() == [[-1, -1]]
    assert scores.tolist() == [[0.0, 0.0]]


def test_the_largest_id_that_is_allowed_survives() -> None:
    ids, _ = fuse([padded([[2**31 - 1, 0]], 2)], k=60, depth=2)
    assert ids.tolist() == [[2**31 - 1, 0]]


def test_a_batch_may_be_empty() -> None:
    ids, scores = fuse([np.empty((0, 4), dtype=np.int64)], k=60, depth=3)
    assert ids.shape == scores.shape == (0, 3)

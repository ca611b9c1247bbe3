"""Fusion against exact fractions."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

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
        assert row_scores == pytest.approx(exact, rel=1e-9, abs=1e-12)
        for one, (_, exactly) in zip(row_scores, expected, strict=False):
            equal = {
                shown for shown, (_, other) in zip(row_scores, expected, strict=False) if other == exactly
            }
            assert equal == {one}


@given(st.data())
def test_any_number_of_rankings_is_fused_as_exact_fractions_would(data: st.DataObject) -> None:
    queries = data.draw(st.integers(1, 3))
    ranking = st.lists(st.integers(0, 25), unique=True, max_size=20)
    rows = st.lists(ranking, min_size=queries, max_size=queries)
    per_retriever = data.draw(st.lists(rows, min_size=1, max_size=9))
    agrees_with_fractions(per_retriever, data.draw(st.integers(0, 80)), data.draw(st.integers(0, 60)))


@given(st.integers(1, 12), st.integers(0, 3), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_small_constants_under_which_ties_abound_keep_the_exact_order(
    lists: int, k: int, out: int, seed: int
) -> None:
    order = np.random.default_rng(seed)
    batch = [
        [order.permutation(30)[: order.integers(1, 25)].tolist() for _ in range(2)] for _ in range(lists)
    ]
    agrees_with_fractions(batch, k, out)


@pytest.mark.parametrize(("lists", "depth"), [(2, 100), (2, 1000), (3, 100), (3, 1000), (5, 200), (20, 30)])
def test_deep_rankings_are_fused_as_exact_fractions_would(lists: int, depth: int) -> None:
    order = np.random.default_rng(3)
    pool = depth * 5 // 4
    batch = [[order.permutation(pool)[:depth].tolist() for _ in range(2)] for _ in range(lists)]
    agrees_with_fractions(batch, 60, pool)
    agrees_with_fractions(batch, 60, 7)


def test_a_batch_of_more_rows_than_are_fused_at_once_is_fused_like_each_of_its_rows() -> None:
    order = np.random.default_rng(4)
    rankings = [np.stack([order.permutation(90)[:60] for _ in range(700)]) for _ in range(2)]
    ids, scores = fuse(rankings, k=60, depth=60)
    for row in range(700):
        alone = fuse([ranking[row : row + 1] for ranking in rankings], k=60, depth=60)
        assert (ids[row] == alone[0][0]).all()
        assert (scores[row] == alone[1][0]).all()


def test_unequal_sums_that_no_float_tells_apart_keep_their_order() -> None:
    # Of two pairs with one mean, the wider apart has the larger sum of reciprocals: ranks 1 and 4 beat
    # 2 and 3 by 4 / k^3, which for k = 10^12 is a part in 10^24 of the sum, and floats hold 16 digits.
    k = 10**12
    assert 1 / (k + 1) + 1 / (k + 4) == 1 / (k + 2) + 1 / (k + 3)
    ids, _ = fuse([padded([[9, 2, 11, 12]], 4), padded([[21, 22, 2, 9]], 4)], k=k, depth=2)
    assert ids.tolist() == [[9, 2]]


def test_a_sum_of_other_terms_ties_among_rankings_too_many_for_units() -> None:
    # 1/2 = 1/3 + 1/6 = 1/4 + 1/6 + 1/12: documents 5, 3 and 1 tie, each in other rankings.
    rows = [list(range(100 * (which + 1), 100 * (which + 1) + 12)) for which in range(6)]
    rows[0][1] = 5
    rows[1][2], rows[2][5] = 3, 3
    rows[3][3], rows[4][5], rows[5][11] = 1, 1, 1
    ids, scores = fuse([padded([row], 12) for row in rows], k=0, depth=9)
    # Before them stand the six documents of rank 1.
    assert ids[0].tolist() == [100, 200, 300, 400, 500, 600, 1, 3, 5]
    assert scores[0, 6:].tolist() == [0.5, 0.5, 0.5]


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
    assert not np.signbit(scores).any()


def test_gaps_within_a_ranking_keep_the_ranks_that_follow() -> None:
    ids, scores = fuse([np.array([[-1, 4, -1, 0]])], k=0, depth=3)
    assert ids.tolist() == [[4, 0, -1]]
    assert scores.tolist() == [[0.5, 0.25, 0.0]]


def test_ids_of_any_integer_type_may_be_as_large_as_they_are_allowed_to_be() -> None:
    largest = 2**31 - 1
    for kind in (np.int32, np.int64, np.uint32):
        ids, _ = fuse([np.array([[largest, 0]], dtype=kind)], k=60, depth=2)
        assert ids.tolist() == [[largest, 0]]


@pytest.mark.parametrize("wrong", [2**31, -2])
def test_an_id_that_is_out_of_range_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match=f"{wrong} cannot be an id"):
        fuse([padded([[1, wrong]], 2), padded([[-1, 3]], 2)], k=60, depth=2)


def test_a_ranking_that_holds_a_document_twice_is_refused_with_the_query_and_the_document() -> None:
    rows = [[7, 8, 9]] * 9000
    rows[8500] = [7, 3, 3]
    with pytest.raises(ValueError, match="query 8500 holds document 3 twice"):
        fuse([padded([[5, 6]] * 9000, 3), padded(rows, 3)], k=60, depth=2)


def test_a_batch_may_be_empty() -> None:
    ids, scores = fuse([np.empty((0, 4), dtype=np.int64)], k=60, depth=3)
    assert ids.shape == scores.shape == (0, 3)


def test_a_ranking_may_have_no_columns() -> None:
    nothing = np.empty((2, 0), dtype=np.int64)
    ids, _ = fuse([nothing, padded([[4, 2], [3, 1]], 2), nothing], k=60, depth=2)
    assert ids.tolist() == [[4, 2], [3, 1]]
    assert fuse([nothing], k=60, depth=2)[0].tolist() == [[-1, -1], [-1, -1]]


def test_rankings_of_another_number_of_queries_or_none_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match=r"as many rows each, not \[1, 2\]"):
        fuse([padded([[1]], 1), padded([[1], [2]], 1)], k=60, depth=1)
    halves: Any = np.full((1, 3), 0.5)
    with pytest.raises(ValueError, match=r"whole numbers \[queries, depth\], not float64"):
        fuse([halves], k=60, depth=3)
    with pytest.raises(ValueError, match=r"of shape \(3,\)"):
        fuse([np.zeros(3, dtype=np.int64)], k=60, depth=3)
    with pytest.raises(ValueError, match="not none at all"):
        fuse([], k=60, depth=1)


def test_a_negative_constant_or_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="k is -1"):
        fuse([padded([[1]], 1)], k=-1, depth=1)
    with pytest.raises(ValueError, match="depth is -1"):
        fuse([padded([[1]], 1)], k=60, depth=-1)

"""Exact search against brute force, ties, and input that ranks nothing."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from index_builder.errors import BundleError, EmbeddingError
from index_builder.vectors.exact import FEW_QUERIES, ROWS_AT_ONCE, ExactVectors

Vectors = npt.NDArray[np.float32]


def unit(rows: int, dimensions: int, seed: int) -> Vectors:
    drawn = np.random.default_rng(seed).normal(size=(rows, dimensions))
    rows_of_one: Vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return rows_of_one


def saved(folder: Path, vectors: npt.NDArray[np.generic]) -> ExactVectors:
    np.save(folder / "vectors.npy", vectors)
    return ExactVectors(folder / "vectors.npy")


def nearest(vectors: Vectors, query: Vectors, depth: int) -> list[int]:
    """By sums of Python floats, ties by row."""
    scores = [sum(a * b for a, b in zip(row, query.tolist(), strict=True)) for row in vectors.tolist()]
    return sorted(range(len(scores)), key=lambda row: (-round(scores[row], 12), row))[:depth]


@pytest.mark.parametrize("depth", [1, 7, 300, 1000])
def test_the_nearest_rows_are_found_in_order(tmp_path: Path, depth: int) -> None:
    vectors, queries = unit(300, 16, 1), unit(FEW_QUERIES + 3, 16, 2)
    ids, scores = saved(tmp_path, vectors).search_batch(queries, depth)
    assert ids.shape == scores.shape == (len(queries), min(depth, 300))
    for row, query in enumerate(queries):
        assert ids[row].tolist() == nearest(vectors, query, depth)
        assert scores[row] == pytest.approx(vectors[ids[row]] @ query, abs=1e-6)


def test_equal_vectors_tie_and_fall_by_row_even_where_the_list_ends(tmp_path: Path) -> None:
    vectors = np.repeat(unit(5, 384, 3), 40, axis=0)[np.random.default_rng(4).permutation(200)]
    search = saved(tmp_path, vectors)
    for row in range(5):
        query = vectors[row : row + 1]
        same = np.flatnonzero((vectors == query).all(axis=1)).tolist()
        assert search.search_batch(query, 25)[0][0].tolist() == same[:25]


@pytest.mark.parametrize("rows", [3, ROWS_AT_ONCE + 5])
@pytest.mark.parametrize("depth", [1, 10, ROWS_AT_ONCE + 100])
def test_vectors_that_are_all_the_same_fall_by_row(tmp_path: Path, rows: int, depth: int) -> None:
    vectors = np.repeat(unit(1, 64, 8), rows, axis=0)
    ids, scores = saved(tmp_path, vectors).search_batch(np.repeat(vectors[:1], 2, axis=0), depth)
    assert ids.tolist() == [list(range(min(depth, rows)))] * 2
    assert scores == pytest.approx(1)


def test_what_single_precision_cannot_tell_apart_is_told_apart(tmp_path: Path) -> None:
    """Rows at angles of n · 10^-5 from the query fall by angle, though cosines round to one."""
    angles = np.random.default_rng(9).permutation(200) * 1e-5
    vectors = np.zeros((200, 64), dtype=np.float32)
    vectors[:, 0], vectors[:, 1] = np.cos(angles), np.sin(angles)
    query = vectors[angles == 0]
    exact = vectors.astype(np.float64) @ query[0].astype(np.float64)
    wanted = sorted(range(200), key=lambda row: (-exact[row], row))
    assert saved(tmp_path, vectors).search_batch(query, 200)[0][0].tolist() == wanted


def test_a_single_vector_is_found_at_any_depth(tmp_path: Path) -> None:
    vectors = unit(1, 8, 1)
    ids, scores = saved(tmp_path, vectors).search_batch(np.stack([vectors[0], -vectors[0]]), 7)
    assert ids.tolist() == [[0], [0]]
    assert scores.ravel().tolist() == pytest.approx([1, -1])


def test_a_query_of_zeros_is_as_near_to_all(tmp_path: Path) -> None:
    ids, scores = saved(tmp_path, unit(9, 4, 7)).search_batch(np.zeros((1, 4), dtype=np.float32), 4)
    assert (ids.tolist(), scores.tolist()) == ([[0, 1, 2, 3]], [[0.0] * 4])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_query_that_is_not_finite_is_refused(tmp_path: Path, bad: float) -> None:
    queries = unit(3, 4, 2)
    queries[1, 2] = bad
    with pytest.raises(EmbeddingError, match="NaN or an infinity"):
        saved(tmp_path, unit(9, 4, 7)).search_batch(queries, 3)


def test_queries_of_other_dimensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="4 columns"):
        saved(tmp_path, unit(9, 4, 7)).search_batch(unit(3, 5, 2), 3)


def test_results_do_not_depend_on_the_queries_beside(tmp_path: Path) -> None:
    search, queries = saved(tmp_path, unit(2000, 384, 5)), unit(150, 384, 6)
    ids, scores = search.search_batch(queries, 100)
    for row in range(len(queries)):
        alone = search.search_batch(queries[row : row + 1], 100)
        assert np.array_equal(alone[0][0], ids[row])
        assert np.array_equal(alone[1][0], scores[row])


def test_an_empty_batch_gives_an_empty_answer(tmp_path: Path) -> None:
    ids, scores = saved(tmp_path, unit(9, 4, 7)).search_batch(np.empty((0, 4), dtype=np.float32), 3)
    assert ids.shape == scores.shape == (0, 3)


def test_the_shape_is_known(tmp_path: Path) -> None:
    assert saved(tmp_path, unit(9, 4, 7)).shape == (9, 4)


@pytest.mark.parametrize("bad", [np.zeros((3, 4)), np.zeros(4, np.float32), np.zeros((0, 4), np.float32)])
def test_a_file_of_anything_but_float32_rows_is_refused(tmp_path: Path, bad: npt.NDArray[np.generic]) -> None:
    with pytest.raises(BundleError, match="not float32 rows"):
        saved(tmp_path, bad)


def test_a_file_that_is_absent_or_no_array_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("not an array")
    for name in ("absent.npy", "text.npy"):
        with pytest.raises(BundleError, match=name):
            ExactVectors(tmp_path / name)

"""Exact search against brute force, and vectors written through interruptions."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from index_builder.errors import BundleError
from index_builder.vectors.exact import FEW_QUERIES, ExactVectors

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

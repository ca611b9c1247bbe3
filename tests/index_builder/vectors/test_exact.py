"""Exact search against brute force, and vectors written through interruptions."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from index_builder.errors import BundleError
from index_builder.vectors.exact import QUERIES_AT_ONCE, ROWS_AT_ONCE, ExactVectors, fill_vectors

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
    vectors, queries = unit(300, 16, 1), unit(QUERIES_AT_ONCE + 3, 16, 2)
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


TOTAL = 2 * ROWS_AT_ONCE + 100


class Source:
    """Rows of known vectors, with a record of what was asked for."""

    def __init__(self, fail_at: int = TOTAL) -> None:
        self.vectors = unit(TOTAL, 8, 9)
        self.asked: list[tuple[int, int]] = []
        self.safe: list[int] = []
        self.fail_at = fail_at

    def rows(self, start: int, stop: int) -> Vectors:
        if stop > self.fail_at:
            raise KeyboardInterrupt
        self.asked.append((start, stop))
        return self.vectors[start:stop]

    def fill(self, path: Path) -> int:
        return fill_vectors(path, (TOTAL, 8), self.rows, self.safe.append)


def test_vectors_are_written_as_numpy_reads_them(tmp_path: Path) -> None:
    source = Source()
    assert source.fill(tmp_path / "v.npy") == 0
    assert np.array_equal(np.load(tmp_path / "v.npy"), source.vectors)
    assert source.safe == [ROWS_AT_ONCE, 2 * ROWS_AT_ONCE, TOTAL]


def test_a_stopped_writer_is_continued_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    with pytest.raises(KeyboardInterrupt):
        Source(fail_at=TOTAL - 1).fill(path)
    source = Source()
    assert source.fill(path) == 2 * ROWS_AT_ONCE
    assert source.asked == [(2 * ROWS_AT_ONCE, TOTAL)]
    assert np.array_equal(np.load(path), source.vectors)


@pytest.mark.parametrize("lost", [1, 32, 33, 5000])
def test_a_torn_end_is_written_again(tmp_path: Path, lost: int) -> None:
    path, source = tmp_path / "v.npy", Source()
    source.fill(path)
    path.write_bytes(path.read_bytes()[:-lost])
    # A row is 8 x 4 = 32 bytes: 1 or 32 lost bytes cost one row, 33 two, 5000 cost 157.
    assert source.fill(path) == TOTAL - -(-lost // 32)
    assert np.array_equal(np.load(path), source.vectors)


def test_zeros_that_a_crash_left_are_written_again(tmp_path: Path) -> None:
    path, source = tmp_path / "v.npy", Source()
    source.fill(path)
    path.write_bytes(path.read_bytes()[: -32 * 10] + bytes(32 * 10))
    assert source.fill(path) == TOTAL - 10
    assert np.array_equal(np.load(path), source.vectors)


def test_a_file_of_other_vectors_is_written_anew(tmp_path: Path) -> None:
    path, source = tmp_path / "v.npy", Source()
    np.save(path, unit(TOTAL, 9, 1))
    assert source.fill(path) == 0
    assert np.array_equal(np.load(path), source.vectors)

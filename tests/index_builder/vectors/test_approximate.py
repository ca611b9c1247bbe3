"""The graph beside exact search: what it finds, its order, its bytes, and files that are no graph."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from index_builder.errors import BundleError, EmbeddingError
from index_builder.vectors.approximate import ROWS_AT_ONCE, GraphVectors, write_graph
from index_builder.vectors.choice import VectorIndex
from index_builder.vectors.exact import Vectors
from tests.index_builder.vectors.test_exact import saved, unit


def graph(folder: Path, vectors: Vectors, expansion: int = 256) -> GraphVectors:
    write_graph(folder / "graph", vectors, lambda _: None)
    return GraphVectors(folder / "graph", expansion)


def test_a_graph_finds_nearly_all_that_exact_search_finds(tmp_path: Path) -> None:
    vectors, queries = unit(3000, 32, 1), unit(50, 32, 2)
    ids, scores = graph(tmp_path, vectors).search_batch(queries, 50)
    truth, exact = saved(tmp_path, vectors).search_batch(queries, 50)
    shares = [len(set(row) & set(true)) / 50 for row, true in zip(ids.tolist(), truth.tolist(), strict=True)]
    assert sum(shares) / 50 >= 0.98
    # bfloat16 keeps 8 bits, so that a product of unit rows is off by 2^-8 at most.
    assert scores == pytest.approx(exact, abs=2**-8)
    assert (np.diff(scores) <= 0).all()


def test_a_batch_finds_what_single_searches_find(tmp_path: Path) -> None:
    search, queries = graph(tmp_path, unit(3000, 48, 5), 64), unit(100, 48, 6)
    ids, scores = search.search_batch(queries, 40)
    assert (ids >= 0).all()
    for row in range(100):
        alone = search.search_batch(queries[row : row + 1], 40)
        assert np.array_equal(alone[0][0], ids[row])
        assert np.array_equal(alone[1][0], scores[row])


def test_the_same_vectors_give_the_same_bytes(tmp_path: Path) -> None:
    vectors = unit(2000, 16, 3)
    for name in ("one", "two"):
        write_graph(tmp_path / name, vectors, lambda _: None)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_progress_counts_the_rows(tmp_path: Path) -> None:
    told: list[int] = []
    write_graph(tmp_path / "graph", unit(ROWS_AT_ONCE + 10, 4, 1), told.append)
    assert told == [ROWS_AT_ONCE, ROWS_AT_ONCE + 10]


@pytest.mark.parametrize("depth", [1, 60, 1000])
def test_few_vectors_are_all_found_in_order(tmp_path: Path, depth: int) -> None:
    vectors = unit(60, 8, 4)
    search = graph(tmp_path, vectors)
    ids, scores = search.search_batch(vectors[:5], depth)
    assert search.shape == (60, 8)
    assert ids.shape == scores.shape == (5, min(depth, 60))
    assert ids[:, 0].tolist() == [0, 1, 2, 3, 4]
    if depth >= 60:
        assert [sorted(row) for row in ids.tolist()] == [list(range(60))] * 5


def test_a_single_vector_is_found_at_any_depth(tmp_path: Path) -> None:
    ids, scores = graph(tmp_path, np.eye(1, 8, dtype=np.float32)).search_batch(
        np.eye(2, 8, dtype=np.float32), 7
    )
    assert (ids.tolist(), scores.tolist()) == ([[0], [0]], [[1.0], [0.0]])


def test_vectors_that_are_all_the_same_are_distinct_rows_in_rising_order(tmp_path: Path) -> None:
    vectors = np.repeat(unit(1, 8, 4), 300, axis=0)
    search = graph(tmp_path, vectors)
    for queries in (vectors[:1], vectors[:3]):
        for found in search.search_batch(queries, 20)[0].tolist():
            assert found == sorted(set(found))
            assert found[0] >= 0


@pytest.mark.parametrize("queries", [1, 3])
def test_where_the_graph_leads_to_no_more_there_is_minus_one(tmp_path: Path, queries: int) -> None:
    """Of many equal rows a graph reaches a part only."""
    vectors = np.repeat(unit(1, 8, 4), 300, axis=0)
    ids, scores = graph(tmp_path, vectors).search_batch(vectors[:queries], 300)
    assert ids.shape == scores.shape == (queries, 300)
    assert ((ids < 0) == np.isneginf(scores)).all()
    for row in ids.tolist():
        held = [found for found in row if found >= 0]
        assert 50 < len(held) < 300
        assert row == sorted(set(held)) + [-1] * (300 - len(held))


def test_an_empty_batch_gives_an_empty_answer(tmp_path: Path) -> None:
    ids, scores = graph(tmp_path, unit(9, 4, 7)).search_batch(np.empty((0, 4), dtype=np.float32), 3)
    assert ids.shape == scores.shape == (0, 3)


def test_queries_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    search = graph(tmp_path, unit(9, 4, 7))
    with pytest.raises(EmbeddingError, match="4 columns"):
        search.search_batch(unit(3, 5, 2), 3)
    with pytest.raises(EmbeddingError, match="NaN"):
        search.search_batch(np.full((1, 4), np.nan, dtype=np.float32), 3)


@pytest.mark.parametrize("depth", [0, -1])
@pytest.mark.parametrize("make", [graph, saved])
def test_a_depth_below_one_is_refused(
    tmp_path: Path, make: Callable[[Path, Vectors], VectorIndex], depth: int
) -> None:
    vectors = unit(9, 4, 7)
    with pytest.raises(ValueError, match=f"at least 1 row, not {depth}"):
        make(tmp_path, vectors).search_batch(vectors, depth)
    assert make(tmp_path, vectors).search_batch(vectors[:0], 1)[0].shape == (0, 1)


def test_searches_from_many_threads_find_what_one_thread_finds(tmp_path: Path) -> None:
    search, queries = graph(tmp_path, unit(3000, 32, 1)), unit(60, 32, 2)
    alone = [search.search_batch(queries[row : row + 1], 20)[0].tolist() for row in range(60)]
    with ThreadPoolExecutor(6) as threads:
        parallel = list(
            threads.map(lambda row: search.search_batch(queries[row : row + 1], 20)[0].tolist(), range(60))
        )
    assert parallel == alone


@pytest.mark.parametrize("content", [b"", b"not a graph", bytes(4096)], ids=["empty", "text", "zeros"])
def test_a_file_that_is_no_graph_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "graph").write_bytes(content)
    with pytest.raises(BundleError, match="graph"):
        GraphVectors(tmp_path / "graph", 64)


def test_a_file_that_is_absent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot be read"):
        GraphVectors(tmp_path / "absent", 64)


def test_a_graph_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="no vector graph"):
        graph(tmp_path, np.empty((0, 4), dtype=np.float32))

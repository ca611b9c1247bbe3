"""Exact dense search: every query against every vector, in one matrix product.

Vectors are a float32 ``.npy`` file of unit rows in chunk order, mapped into memory, so that the inner
product is the cosine. ``choice`` says up to how many vectors this is the way to search.

A matrix product rounds differently with the number of queries in it. It therefore only picks candidates,
with a margin for its error; their order comes from products taken row by row, in double precision where
single precision leaves it open. So a query's result does not depend on which queries happen to be searched
beside it, and equal vectors tie.

A product of few queries is taken in pieces so small that BLAS does each in the calling thread: searching
runs beside an event loop and other processes, and threads that wait for each other cost more than so
little work. A product of many is taken whole, with as many threads as BLAS has: it goes through the
vectors once for all of them, which is worth the more the more there are.
"""

from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from index_builder.errors import BundleError, EmbeddingError

Ids = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
NO_SCORE = np.finfo(np.float32).min
N = TypeVar("N", np.float32, np.float64)

FEW_QUERIES = 32
SCORES_AT_ONCE = 2**24
ONE_THREAD = 2**18  # multiplications up to which OpenBLAS starts no threads
GROUPS_A_HIT = 8
ROWS_AT_ONCE = 4096
PRODUCT_ERROR = np.float32(1e-4)  # above what a float32 product of unit rows of 1,024 dimensions can be off
ROW_ERROR = np.float32(1e-6)  # the same for one row alone, whose sum is taken in lanes


class ExactVectors:
    """An open file of vectors; ids are row numbers. Safe to search from several threads."""

    def __init__(self, path: Path) -> None:
        """Map the file, or raise ``BundleError``."""
        try:
            vectors = np.load(path, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise BundleError(f"{path} cannot be read as vectors: {error}") from error
        if vectors.ndim != 2 or vectors.dtype != np.float32 or not vectors.size:
            raise BundleError(f"{path} holds {vectors.dtype} of shape {vectors.shape}, not float32 rows")
        self._vectors: Vectors = np.asarray(vectors)

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors, and of how many dimensions."""
        rows, dimensions = self._vectors.shape
        return rows, dimensions

    def search_batch(self, queries: Vectors, depth: int) -> tuple[Ids, Vectors]:
        """The nearest rows of each query, by falling inner product, then rising id.

        Args:
            queries: [q, dimensions], unit rows.
            depth: How many at most, at least 1; fewer when there are fewer vectors.

        Returns:
            Ids and scores, both [q, min(depth, vectors)].

        Raises:
            EmbeddingError: For queries of other dimensions, and NaN or infinity in them.
            ValueError: For a depth below 1.
        """
        rows, dimensions = self.shape
        queries, depth = checked(queries, depth, rows, dimensions)
        ids = np.empty((len(queries), depth), dtype=np.int64)
        scores = np.empty((len(queries), depth), dtype=np.float32)
        step = max(FEW_QUERIES, SCORES_AT_ONCE // rows)
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            rough = self._rough_scores(queries[part])
            ids[part], scores[part] = self._best(queries[part], rough, depth)
        return ids, scores

    def _rough_scores(self, queries: Vectors) -> Vectors:
        if len(queries) > FEW_QUERIES:
            return queries @ self._vectors.T
        rows, dimensions = self._vectors.shape
        rough = np.empty((len(queries), rows), dtype=np.float32)
        step = max(1, ONE_THREAD // (len(queries) * dimensions))
        for start in range(0, rows, step):
            stop = start + step
            np.matmul(queries, self._vectors[start:stop].T, out=rough[:, start:stop])
        return rough

    def _best(self, queries: Vectors, rough: Vectors, depth: int) -> tuple[Ids, Vectors]:
        """The best rows of each query, of those that its rough scores leave in question."""
        found = [np.flatnonzero(row >= low) for row, low in zip(rough, _lowest(rough, depth), strict=True)]
        rows = np.zeros((len(queries), max(map(len, found))), dtype=np.int64)
        scores = np.full(rows.shape, NO_SCORE)
        for at, candidates in enumerate(found):
            rows[at, : len(candidates)] = candidates
            scores[at, : len(candidates)] = self._products(queries[at], candidates, np.float32)
        order = np.argsort(-scores, axis=1, kind="stable")
        ranked = np.take_along_axis(scores, order, axis=1)
        near = (np.diff(ranked) > -ROW_ERROR) & (ranked[:, 1:] > NO_SCORE)
        for at in np.flatnonzero(near.any(axis=1)).tolist():
            unclear = order[at, np.append(near[at], False) | np.append(False, near[at])]
            exact = scores[at].astype(np.float64)
            exact[unclear] = self._products(queries[at], rows[at, unclear], np.float64)
            scores[at], order[at] = exact, np.argsort(-exact, kind="stable")
        order = order[:, :depth]
        return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def _products(self, query: Vectors, rows: Ids, precision: type[N]) -> npt.NDArray[N]:
        products = np.empty(len(rows), dtype=precision)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            np.vecdot(self._vectors.take(rows[part], axis=0), query, out=products[part], dtype=precision)
        return products


def _lowest(rough: Vectors, depth: int) -> Vectors:
    """For each query a score that none of its best can be below, and that few others reach.

    As many groups of rows as there are hits have a best row of at least that score, less the error.
    """
    queries, rows = rough.shape
    size = max(1, rows // (GROUPS_A_HIT * depth))
    groups = rows // size
    best = rough[:, : size * groups].reshape(queries, size, groups).max(axis=1)
    lowest: Vectors = np.partition(best, groups - depth, axis=1)[:, groups - depth] - PRODUCT_ERROR
    return lowest


def checked(queries: Vectors, depth: int, rows: int, dimensions: int) -> tuple[Vectors, int]:
    """The queries, contiguous and in single precision, and how many of so many rows can be found.

    Raises:
        EmbeddingError: When they have other dimensions than the rows they are to be compared with, or
            hold a NaN or an infinity, which would rank anything.
        ValueError: For a depth below 1.
    """
    if depth < 1:
        msg = f"a search finds at least 1 row, not {depth}"
        raise ValueError(msg)
    if queries.ndim != 2 or queries.shape[1] != dimensions:
        raise EmbeddingError(
            f"queries of shape {queries.shape} cannot search vectors of {dimensions} columns"
        )
    if not np.isfinite(queries).all():
        raise EmbeddingError("a query vector holds NaN or an infinity")
    return np.ascontiguousarray(queries, dtype=np.float32), min(depth, rows)

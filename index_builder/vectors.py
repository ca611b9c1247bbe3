"""Exact dense search: every query against every vector, in one matrix product.

Vectors are a float32 ``.npy`` file of unit rows in chunk order, mapped into memory, so that the inner
product is the cosine. Up to some 50,000 vectors this is faster than any approximate index.

A matrix product rounds differently with the number of queries in it. It therefore only picks candidates,
with a margin for its error; their order comes from products taken row by row in double precision. So a
query's result does not depend on which queries happen to be searched beside it, and equal vectors tie.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from index_builder.errors import BundleError

Ids = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

QUERIES_AT_ONCE = 64
CELLS_AT_ONCE = 16_000_000  # of the score matrix: 64 MB
ROWS_AT_ONCE = 512
LENGTH_ERROR = 1e-3
PRODUCT_ERROR = 1e-4  # above what a float32 product of unit rows of 1,024 dimensions can be off


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
            depth: How many at most; fewer when there are fewer vectors.

        Returns:
            Ids and scores, both [q, min(depth, vectors)].
        """
        at_once = max(1, min(QUERIES_AT_ONCE, CELLS_AT_ONCE // len(self._vectors)))
        parts = [
            self._search(queries[start : start + at_once], depth)
            for start in range(0, max(1, len(queries)), at_once)
        ]
        return np.concatenate([ids for ids, _ in parts]), np.concatenate([scores for _, scores in parts])

    def _search(self, queries: Vectors, depth: int) -> tuple[Ids, Vectors]:
        rough = queries @ self._vectors.T
        depth = min(depth, rough.shape[1])
        lowest = -np.partition(-rough, depth - 1, axis=1)[:, depth - 1 : depth]
        query, row = np.nonzero(rough >= lowest - PRODUCT_ERROR)
        products = self._vectors[row].astype(np.float64) * queries[query]
        scores = products.sum(axis=1)
        order = np.lexsort((row, -scores, query))
        starts = np.searchsorted(query, np.arange(len(queries)))
        best = order[starts[:, None] + np.arange(depth)]
        return row[best].astype(np.int64), scores[best].astype(np.float32)


def fill_vectors(
    path: Path, shape: tuple[int, int], rows: Callable[[int, int], Vectors], progress: Callable[[int], None]
) -> int:
    """Write a ``.npy`` file row by row, going on where a killed writer of the same vectors stopped.

    Args:
        path: The file; what it already holds is kept as far as it consists of unit rows.
        shape: Rows and dimensions of the finished file.
        rows: Gives the unit rows from a start to before a stop.
        progress: Told the number of rows that are safe on disk.

    Returns:
        How many rows were there already.
    """
    total, dimensions = shape
    header = _header(shape)
    kept = _kept_rows(path, header, shape)
    with path.open("r+b" if kept else "wb") as file:
        file.write(header)
        file.seek(kept * dimensions * 4, os.SEEK_CUR)
        file.truncate()
        for start in range(kept, total, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, total)
            file.write(np.ascontiguousarray(rows(start, stop), dtype="<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())
            progress(stop)
    return kept


def _header(shape: tuple[int, int]) -> bytes:
    buffer = io.BytesIO()
    description = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, description)
    return buffer.getvalue()


def _kept_rows(path: Path, header: bytes, shape: tuple[int, int]) -> int:
    """How many leading rows of the file are whole and of length one; a crash may leave zeros behind."""
    if not path.is_file():
        return 0
    total, dimensions = shape
    with path.open("rb") as file:
        if file.read(len(header)) != header:
            return 0
        written = np.fromfile(file, dtype="<f4", count=total * dimensions)
    whole = written[: len(written) // dimensions * dimensions].reshape(-1, dimensions)
    good = np.abs(np.linalg.norm(whole, axis=1) - 1) < LENGTH_ERROR
    return len(good) if good.all() else int(np.argmin(good))

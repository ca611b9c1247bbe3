"""Approximate dense search with usearch: a graph over bfloat16 vectors, searched in the mapped file.

A graph is built by one thread, row after row, so that the same vectors give the same bytes; threads
would link rows in the order they happen to come in. Whether the bytes are still those that were written
is for their reader to check: usearch loads flipped ones without a word.

A query is compared by the same arithmetic whatever is searched beside it, and equal scores fall by
rising id, so that a batch finds what single searches find.
"""

import mmap
from collections.abc import Callable
from pathlib import Path

import numpy as np

# Imported for its place before usearch alone: some versions of usearch, imported first, crash with it.
import onnxruntime  # noqa: F401
from usearch.index import BatchMatches, Index

from index_builder.errors import BundleError
from index_builder.vectors.exact import Ids, Vectors, checked

NO_ROW = -1
METRIC, NUMBERS = "ip", "bf16"
CONNECTIVITY = 32
EXPANSION_ADD = 128
ROWS_AT_ONCE = 4096


def write_graph(path: Path, vectors: Vectors, progress: Callable[[int], None]) -> None:
    """Build the graph over rows and write it; ids are row numbers.

    Args:
        path: The file.
        vectors: Unit rows; may be a mapped file, of which a part at a time is read.
        progress: Told how many rows are in.
    """
    rows, dimensions = vectors.shape
    # Key lookups stay on, though nothing looks up: without them usearch 2.26.0 corrupts its heap.
    graph = Index(
        ndim=dimensions,
        metric=METRIC,
        dtype=NUMBERS,
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
    )
    for start in range(0, rows, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, rows)
        graph.add(np.arange(start, stop), np.asarray(vectors[start:stop]), threads=1)
        progress(stop)
    graph.save(path)


class GraphVectors:
    """An open graph. Safe to search from several threads."""

    def __init__(self, path: Path, expansion: int) -> None:
        """Map the file, or raise ``BundleError``.

        Args:
            path: What ``write_graph`` wrote.
            expansion: How many candidates a search keeps; more find more and take longer.
        """
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            graph = Index.restore(memoryview(self._bytes), view=True, expansion_search=expansion)
        except (OSError, ValueError, RuntimeError) as error:
            raise BundleError(f"{path} cannot be read as a vector graph: {error}") from error
        if graph is None or not len(graph):
            raise BundleError(f"{path} holds no vector graph")
        # Opening passes over every row, which may be a quarter of the file; a search reads a few.
        self._bytes.madvise(mmap.MADV_DONTNEED)
        self._graph = graph

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors, and of how many dimensions."""
        return len(self._graph), self._graph.ndim

    def search_batch(self, queries: Vectors, depth: int) -> tuple[Ids, Vectors]:
        """The nearest rows of each query as far as the graph finds them, by falling score, then rising id.

        Args:
            queries: [q, dimensions], unit rows.
            depth: How many at most, at least 1; fewer when there are fewer vectors.

        Returns:
            Ids, -1 where the graph leads to no more, and inner products of bfloat16 vectors; both
            [q, min(depth, vectors)].

        Raises:
            EmbeddingError: For queries of other dimensions, and NaN or infinity in them.
            ValueError: For a depth below 1.
        """
        rows, dimensions = self.shape
        queries, depth = checked(queries, depth, rows, dimensions)
        if not len(queries):
            return np.empty((0, depth), dtype=np.int64), np.empty((0, depth), dtype=np.float32)
        ids = np.full((len(queries), depth), NO_ROW)
        scores = np.full((len(queries), depth), -np.inf, dtype=np.float32)
        found = self._graph.search(queries, depth)
        if isinstance(found, BatchMatches):
            held = np.arange(depth) < found.counts[:, None]
            ids[held], scores[held] = found.keys[held], 1 - found.distances[held]
        else:
            ids[0, : len(found)], scores[0, : len(found)] = found.keys, 1 - found.distances
        order = np.lexsort((ids, -scores), axis=1)
        return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)

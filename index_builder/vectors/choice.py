"""Which way the vectors of a bundle are searched: chosen by their number, measured, and recorded.

Exact search takes time in proportion to the rows, a graph hardly more for ten times as many. A graph is the
cheaper from some 10,000 rows on, but has to be built and misses about one row in a hundred; exact search is
kept for as long as it costs a busy run no more than a model call does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np

from index_builder.errors import EmbeddingError
from index_builder.records import Progress
from index_builder.vectors.approximate import GraphVectors, write_graph
from index_builder.vectors.exact import ExactVectors, Ids, Vectors

Kind: TypeAlias = Literal["exact", "usearch"]

EXACT_FILE, GRAPH_FILE = "vectors.npy", "vectors.usearch"
CROSSOVER_NUMBERS = 50_000 * 1024
"""2 ms of a processor a query in batches of 64, five times what the graph costs (``just bench dense``)."""
WANTED_RECALL = 0.98
# Queries to come find a little less than those that the expansion was chosen on.
AIMED_RECALL = 0.985
RECALL_DEPTH = 50
EXPANSIONS = (64, 96, 128, 192, 256, 384, 512)
LENGTH_ERROR = 1e-3
ROWS_AT_ONCE = 4096


class VectorIndex(Protocol):
    """Vectors that can be searched; ids are row numbers."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors, and of how many dimensions."""
        ...

    def search_batch(self, queries: Vectors, depth: int) -> tuple[Ids, Vectors]:
        """Ids and scores [q, min(depth, vectors)], by falling score, then rising id; -1 pads."""
        ...


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """How the vectors of a bundle are kept and searched.

    Attributes:
        kind: ``exact``, or ``usearch`` for a graph.
        file: Its file in the bundle.
        crossover: Up to how many vectors of these dimensions are searched exactly.
        expansion: How many candidates a search of the graph keeps; 0 without a graph.
        recall_at_50: The mean share of a query's 50 nearest rows that the graph finds, over
            ``recall_queries`` queries; None without a graph, and where there is no query.
        recall_queries: How many queries that was measured on.
    """

    kind: Kind
    file: str
    crossover: int
    expansion: int
    recall_at_50: float | None
    recall_queries: int


def crossover(dimensions: int) -> int:
    """Up to how many vectors exact search is chosen."""
    return CROSSOVER_NUMBERS // dimensions


def settle_vectors(
    npy: Path, folder: Path, queries: Callable[[], Vectors], progress: Progress
) -> VectorFacts:
    """Turn a finished file of unit rows into what a bundle is searched with.

    Args:
        npy: A float32 ``.npy`` file [rows, dimensions]; it is moved or deleted.
        folder: Where the bundle's file is put.
        queries: Gives unit rows [q, dimensions], queries such as will be asked; called for a graph only.
        progress: Told of the graph's growth.

    Raises:
        EmbeddingError: When a row is not of length one.
    """
    rows, dimensions = ExactVectors(npy).shape
    vectors = np.load(npy, mmap_mode="r")
    _check_lengths(vectors)
    most = crossover(dimensions)
    if rows <= most:
        npy.replace(folder / EXACT_FILE)
        return VectorFacts("exact", EXACT_FILE, most, 0, None, 0)
    facts = build_graph(npy, folder, queries(), progress)
    npy.unlink()
    return facts


def build_graph(npy: Path, folder: Path, queries: Vectors, progress: Progress) -> VectorFacts:
    """Put the graph of a file of vectors, which stays, into a folder, and measure what queries find."""
    vectors = np.load(npy, mmap_mode="r")
    rows, dimensions = vectors.shape
    write_graph(folder / GRAPH_FILE, vectors, lambda done: progress("graph", done, rows, ""))
    expansion, recall = _measured(folder / GRAPH_FILE, npy, queries)
    return VectorFacts("usearch", GRAPH_FILE, crossover(dimensions), expansion, recall, len(queries))


def open_vectors(folder: Path, facts: VectorFacts) -> VectorIndex:
    """Open the vectors of a bundle, or raise ``BundleError``."""
    if facts.kind == "exact":
        return ExactVectors(folder / facts.file)
    return GraphVectors(folder / facts.file, facts.expansion)


def _check_lengths(vectors: Vectors) -> None:
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        lengths = np.linalg.norm(vectors[start : start + ROWS_AT_ONCE], axis=1)
        bad = np.flatnonzero(~(np.abs(lengths - 1) < LENGTH_ERROR))
        if len(bad):
            raise EmbeddingError(f"vector {start + bad[0]} has length {lengths[bad[0]]}, not one")


def _measured(graph: Path, npy: Path, queries: Vectors) -> tuple[int, float | None]:
    """The least expansion that finds enough, and what it finds; without queries the largest."""
    if not len(queries):
        return EXPANSIONS[-1], None
    truth, _ = ExactVectors(npy).search_batch(queries, RECALL_DEPTH)
    for expansion in EXPANSIONS:
        found, _ = GraphVectors(graph, expansion).search_batch(queries, RECALL_DEPTH)
        hits = sum(np.isin(row, true).sum() for row, true in zip(found, truth, strict=True))
        recall = float(hits / truth.size)
        if recall >= AIMED_RECALL:
            break
    return expansion, recall

"""What exact dense search costs beside the bare product, and what the vector graph finds, costs and takes.

The graph stands over 1,000,000 seeded vectors (20,000 in a quick run) and over 50,000 sentences of the
real corpora, embedded by MiniLM; graphs are built once and kept. A seeded vector is one of the centres,
each a random direction of length one, plus noise of length one in a random direction, scaled to length
one; there are 1,000 vectors a centre, and queries are more of the same.

BLAS has as many threads here as OpenBLAS takes by itself, one a core, for ours and for the bare product.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import distinct, read_corpus
from index_builder.embedding.embedder import open_embedder
from index_builder.sentences import sentences
from index_builder.vectors import ExactVectors, VectorFacts, Vectors, open_vectors
from index_builder.vectors.choice import WANTED_RECALL, build_graph, crossover
from tests.bench.apart import apart
from tests.bench.places import SOURCES, made_once, real_corpus, real_file
from tests.bench.rows import Row, at_least, at_most, report
from tests.bench.timing import Timing, interleaved, timed

EXACT_ROWS, EXACT_DIMENSIONS, EXACT_BATCH = 10_000, 1024, 250
EXACT_BAR = 1.2
DEPTH, DEFAULT_DEPTH = 50, 100
SEEDED, QUICK_SEEDED, REAL = 1_000_000, 20_000, 50_000
DIMENSIONS, A_CENTRE, NOISE = 384, 1000, 1.0
QUERIES = 1000
MOST_MS, MOST_BYTES = 5, 1100
SEED = 7
AT_ONCE = 50_000
GRAPHS = ("index_builder/vectors", "tests/bench/dense.py")


def rows(*, quick: bool) -> Iterator[Row]:
    """Exact search, then a graph; in a full run also the crossover, and a graph over real vectors."""
    with tempfile.TemporaryDirectory() as place:
        yield from _exact_rows(Path(place))
    count = QUICK_SEEDED if quick else SEEDED
    yield from _graph_rows(f"{count:,} × {DIMENSIONS} seeded", _seeded(count))
    if not quick:
        yield _crossover_row(_seeded(crossover(DIMENSIONS)))
        real = made_once("dense-real", _make_real, made_by=(*GRAPHS, "index_builder/sentences.py"))
        yield from _graph_rows(f"{REAL:,} real MiniLM", real)


def _exact_rows(folder: Path) -> Iterator[Row]:
    """Batches of queries, beside the product and partition of the same batches, and beside faiss."""
    luck = np.random.default_rng(SEED)
    vectors, queries = (_unit(luck.standard_normal((n, EXACT_DIMENSIONS))) for n in (EXACT_ROWS, QUERIES))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "queries.npy", queries)
    exact = ExactVectors(folder / "vectors.npy")
    for depth, bar in ((DEPTH, EXACT_BAR), (DEFAULT_DEPTH, None)):
        with apart("faiss_search", folder, kind="flat", depth=depth, threads=2, batch=EXACT_BATCH) as faiss:
            took = interleaved(
                {
                    "ours": partial(timed, partial(_in_batches, exact.search_batch, queries, depth), QUERIES),
                    "bare": partial(timed, partial(_in_batches, _bare(vectors), queries, depth), QUERIES),
                    "faiss": faiss.round,
                }
            )
        micro = {name: timing.wall * 1e6 for name, timing in took.items()}
        name = f"exact top-{depth} of {EXACT_ROWS:,} × {EXACT_DIMENSIONS:,}"
        for theirs, what, most in (
            ("bare", "the bare product + partition", bar),
            ("faiss", f"faiss flat ({faiss.said})", None),
        ):
            yield at_most(
                f"{name}, beside {what}",
                micro["ours"],
                "µs a query",
                most,
                f"the product of batches of {EXACT_BATCH}, then reading the best rows again",
                theirs=micro[theirs],
                ratio=micro["ours"] / micro[theirs],
            )


def _in_batches(
    search: Callable[[Vectors, int], object], queries: Vectors, depth: int, size: int = EXACT_BATCH
) -> None:
    for start in range(0, len(queries), size):
        search(queries[start : start + size], depth)


def _bare(vectors: Vectors) -> Callable[[Vectors, int], npt.NDArray[np.intp]]:
    """The least that finds the best rows, in no order."""
    columns = vectors.T

    def search(queries: Vectors, depth: int) -> npt.NDArray[np.intp]:
        return np.argpartition(queries @ columns, -depth, axis=1)[:, -depth:]

    return search


def _graph_rows(name: str, folder: Path) -> Iterator[Row]:
    """Recall, time and size of a graph; one thread, a query at a time."""
    facts = VectorFacts(**json.loads((folder / "facts.json").read_text(encoding="utf-8")))
    queries, truth = np.load(folder / "queries.npy"), np.load(folder / "truth.npy")
    graph = open_vectors(folder, facts)
    found, _ = graph.search_batch(queries, DEPTH)
    recall = sum(np.intersect1d(row, true).size for row, true in zip(found, truth, strict=True)) / truth.size
    options = f"usearch bf16, {facts.expansion} candidates; at build {facts.recall_at_50:.4f}"
    yield at_least(f"graph recall@{DEPTH}, {name}", recall, "", WANTED_RECALL, options)
    times: list[float] = []
    with apart("faiss_search", folder, kind="hnsw", depth=DEPTH, threads=1, batch=1) as faiss:
        took = interleaved(
            {"ours": partial(_one_by_one, graph.search_batch, queries, times), "faiss": faiss.round}
        )
    p50, bound = median(times) * 1e3, "reading vectors in random order"
    yield at_most(f"graph p50, {name}", p50, "ms", MOST_MS, bound)
    mean, theirs = took["ours"].wall * 1e3, took["faiss"].wall * 1e3
    yield at_most(
        f"graph, {name}, beside faiss HNSW",
        mean,
        "ms a query",
        None,
        f"{bound}; theirs: {faiss.said}",
        theirs=theirs,
        ratio=mean / theirs,
    )
    size = (folder / facts.file).stat().st_size / graph.shape[0]
    yield at_most(
        f"graph file, {name}", size, "bytes a vector", MOST_BYTES, "2 bytes a number, 4 a link, 64 links"
    )


def _crossover_row(folder: Path) -> Row:
    """At the number of vectors from which on a graph is chosen: both ways, as a busy run asks."""
    facts = VectorFacts(**json.loads((folder / "facts.json").read_text(encoding="utf-8")))
    queries = np.load(folder / "queries.npy")
    exact, graph = ExactVectors(folder / "vectors.npy"), open_vectors(folder, facts)
    took = interleaved(
        {
            "exact": partial(
                timed, partial(_in_batches, exact.search_batch, queries, DEFAULT_DEPTH, 64), QUERIES
            ),
            "graph": partial(
                timed, partial(_in_batches, graph.search_batch, queries, DEFAULT_DEPTH, 64), QUERIES
            ),
        }
    )
    ours, theirs = took["exact"].cpu * 1e6, took["graph"].cpu * 1e6
    return at_most(
        f"exact beside graph at the crossover, {exact.shape[0]:,} × {DIMENSIONS}, batches of 64",
        ours,
        "µs of a processor a query",
        None,
        f"reading all vectors; the graph finds {facts.recall_at_50:.4f} of what exact search finds",
        theirs=theirs,
        ratio=ours / theirs,
    )


def _one_by_one(search: Callable[[Vectors, int], object], queries: Vectors, times: list[float]) -> Timing:
    def work() -> None:
        for row in range(len(queries)):
            started = time.perf_counter()
            search(queries[row : row + 1], DEPTH)
            times.append(time.perf_counter() - started)

    return timed(work, len(queries))


def _seeded(count: int) -> Path:
    return made_once(f"dense-{count}", _make_seeded(count), made_by=GRAPHS)


def _make_seeded(count: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        luck = np.random.default_rng(SEED)
        centres = _unit(luck.standard_normal((count // A_CENTRE, DIMENSIONS), dtype=np.float32))

        def drawn(size: int) -> Vectors:
            noise = luck.standard_normal((size, DIMENSIONS), dtype=np.float32)
            noise *= np.float32(NOISE / np.sqrt(DIMENSIONS))
            return _unit(noise + centres[luck.integers(len(centres), size=size)])

        shape = (count, DIMENSIONS)
        vectors = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
        for start in range(0, count, AT_ONCE):
            vectors[start : start + AT_ONCE] = drawn(min(AT_ONCE, count - start))
        vectors.flush()
        _finish(folder, drawn(2 * QUERIES))

    return make


def _make_real(folder: Path) -> None:
    """Distinct sentences of the three corpora, drawn by seed, each under its title; questions as queries."""
    texts = {
        f"{passage.title} {passage.text[start:end].strip()}": None
        for dataset in SOURCES
        for passage in distinct(read_corpus(real_corpus(dataset)))
        for start, end in sentences(passage.text)
    }
    every = list(texts)
    picked = np.random.default_rng(SEED).choice(len(every), REAL, replace=False).tolist()
    asked = [q.text for name, file in SOURCES.items() for q in LOADERS[name](real_file(file)).questions]
    embedder = open_embedder("minilm")
    parts = [[every[place] for place in picked[at : at + 64]] for at in range(0, REAL, 64)]
    with ThreadPoolExecutor(2) as threads:
        vectors = np.concatenate(list(threads.map(embedder.embed_documents, parts)))
    np.save(folder / "vectors.npy", vectors)
    some = np.random.default_rng(SEED).choice(len(asked), 2 * QUERIES, replace=False).tolist()
    _finish(folder, embedder.embed_queries([asked[place] for place in some]))


def _finish(folder: Path, drawn: Vectors) -> None:
    """What an exact search finds for the first half; the graph as a build makes it, tuned on the second."""
    queries, others = drawn[:QUERIES], drawn[QUERIES:]
    np.save(folder / "queries.npy", queries)
    np.save(folder / "truth.npy", ExactVectors(folder / "vectors.npy").search_batch(queries, DEPTH)[0])
    facts = build_graph(folder / "vectors.npy", folder, others, lambda *_: None)
    (folder / "facts.json").write_text(json.dumps(asdict(facts)), encoding="utf-8")


def _unit(drawn: npt.NDArray[np.floating]) -> Vectors:
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    rows_of_one: Vectors = (drawn / lengths).astype(np.float32)
    return rows_of_one


if __name__ == "__main__":
    report(rows)

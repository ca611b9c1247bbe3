"""faiss, flat and HNSW, searched with all queries in one call.

Options: ``kind`` (flat | hnsw), ``depth``, ``threads``, ``batch`` (queries a call). The folder holds
``vectors.npy`` and ``queries.npy`` (float32 unit rows), for HNSW ``truth.npy`` too (the ids of an exact
search to ``depth``), and keeps the graph for the next run. HNSW searches at the least ``efSearch`` of a
ladder that reaches a recall of 0.98, so that speed is compared at one quality.
"""

from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt

from tests.bench.apart import Options, Work, take_turns

LINKS = 32
EF_CONSTRUCTION = 128
EF_SEARCH = (50, 64, 96, 128, 192, 256, 384, 512, 768)
RECALL = 0.98


def prepare(folder: Path, options: Options) -> Work:
    """Build or open the index; facts: its options, bytes a vector and, for HNSW, recall and efSearch."""
    queries = np.load(folder / "queries.npy")
    depth, batch = int(options["depth"]), int(options["batch"])
    facts: dict[str, str | int | float] = {"threads": options["threads"], "batch": batch}
    if options["kind"] == "flat":
        faiss.omp_set_num_threads(int(options["threads"]))
        vectors = np.load(folder / "vectors.npy")
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        facts["bytes_a_vector"] = 4 * vectors.shape[1]
    else:
        index = _graph(folder)
        faiss.omp_set_num_threads(int(options["threads"]))
        truth = np.load(folder / "truth.npy")
        for ef_search in EF_SEARCH:
            index.hnsw.efSearch = ef_search
            recall = _recall(index.search(queries, depth)[1], truth)
            if recall >= RECALL:
                break
        size = (folder / "faiss.hnsw").stat().st_size
        facts |= {"efSearch": ef_search, "recall": recall, "bytes_a_vector": size / index.ntotal}

    def search() -> None:
        for start in range(0, len(queries), batch):
            index.search(queries[start : start + batch], depth)

    return Work(search, len(queries), facts)


def _graph(folder: Path) -> faiss.IndexHNSWFlat:
    saved = folder / "faiss.hnsw"
    if not saved.is_file():
        vectors = np.load(folder / "vectors.npy")
        index = faiss.IndexHNSWFlat(vectors.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = EF_CONSTRUCTION
        index.add(vectors)
        faiss.write_index(index, str(saved))
    return faiss.read_index(str(saved))


def _recall(found: npt.NDArray[np.int64], truth: npt.NDArray[np.int64]) -> float:
    hits = [np.intersect1d(row, true).size for row, true in zip(found, truth, strict=True)]
    return sum(hits) / truth.size


if __name__ == "__main__":
    take_turns(prepare)

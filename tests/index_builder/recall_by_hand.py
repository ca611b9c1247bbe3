"""Recall worked out from the definitions: no index, no ranking and no fusion of ours.

BM25 is the published formula over the analyser's terms, in single precision and term by term, as Lucene and
tantivy work it out: in another precision a few scores that are nearly equal would change places. Inner
products are in double precision, and fusion is in whole numbers: parts of one over a common denominator.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import lcm

import numpy as np
import numpy.typing as npt

from index_builder.records import Chunk
from tests.index_builder.lexical.bm25_by_hand import rounded

Vectors = npt.NDArray[np.floating]

RESULTS = (5, 10, 50)
RRF_K = 60
WHOLE = lcm(*range(RRF_K + 1, RRF_K + 201))
F32 = np.float32


class Bm25:
    """BM25 over title and text."""

    def __init__(self, chunks: Sequence[Chunk], terms: Callable[[str], Sequence[str]]) -> None:
        self._terms = terms
        documents = [Counter(terms(f"{chunk.title}\n{chunk.text}")) for chunk in chunks]
        lengths = [sum(document.values()) for document in documents]
        average = F32(sum(lengths)) / F32(len(lengths))
        stored = np.array([rounded(length) for length in lengths], dtype=F32)
        self._damping = F32(1.2) * (F32(1) - F32(0.75) + F32(0.75) * stored / average)
        holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, document in enumerate(documents):
            for term, count in document.items():
                holding[term].append((number, count))
        self._holding = {term: np.array(pairs).T for term, pairs in holding.items()}

    def ranking(self, query: str, depth: int) -> list[int]:
        """The best passages that hold a word of the query, each word counted once."""
        scores = np.zeros(len(self._damping), dtype=F32)
        for term in dict.fromkeys(self._terms(query)):
            if term in self._holding:
                numbers, counts = self._holding[term]
                without = F32(len(scores) - len(numbers))
                rarity = np.log(F32(1) + (without + F32(0.5)) / (F32(len(numbers)) + F32(0.5)))
                often = counts.astype(F32)
                scores[numbers] += rarity * F32(2.2) * (often / (often + self._damping[numbers]))
        return [number for number in best(scores, depth) if scores[number] > 0]


def best(scores: Vectors, depth: int) -> list[int]:
    """By falling score, then rising number."""
    order: list[int] = np.lexsort((np.arange(len(scores)), -scores))[:depth].tolist()
    return order


def dense(documents: Vectors, query: Vectors, depth: int) -> list[int]:
    """By falling inner product; the last digits of a double tell no products apart."""
    return best(np.round(documents.astype(np.float64) @ query.astype(np.float64), 12), depth)


def fused(rankings: Sequence[list[int]]) -> list[int]:
    """Reciprocal rank fusion with k = 60."""
    scores: dict[int, int] = defaultdict(int)
    for ranking in rankings:
        for rank, number in enumerate(ranking, start=1):
            scores[number] += WHOLE // (RRF_K + rank)
    return sorted(scores, key=lambda number: (-scores[number], number))


def figures(ranked: Sequence[list[int]], gold: Sequence[set[int]]) -> dict[str, float]:
    """Recall after 5, 10 and 50 results; any and all after 5."""
    pairs = list(zip(ranked, gold, strict=True))
    found: dict[str, list[float]] = {
        f"recall@{k}": [len(own & set(row[:k])) / len(own) for row, own in pairs] for k in RESULTS
    }
    found["any@5"] = [bool(own & set(row[:5])) for row, own in pairs]
    found["all@5"] = [own <= set(row[:5]) for row, own in pairs]
    return {name: sum(values) / len(values) for name, values in found.items()}

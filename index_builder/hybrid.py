"""Searching and reading an open bundle, as an agent does it: BM25, dense, or both fused.

``search`` is for one event loop: what its tasks ask at about the same time is searched together, in a
thread, so that the loop never waits for a model or an index. A query's hits are the same either way.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, Literal, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from index_builder.bundle import Bundle
from index_builder.coalescer import Coalescer
from index_builder.errors import InputError
from index_builder.fusion import fuse
from index_builder.query_text import query_text
from index_builder.records import Chunk, Hit
from index_builder.snippets import make_snippeter
from index_builder.vectors import VectorIndex

Retriever: TypeAlias = Literal["bm25", "dense", "hybrid"]
Ids = npt.NDArray[np.int64]
Ranking = tuple[Ids, npt.NDArray[np.floating]]
V = TypeVar("V")

RRF_K = 60
CACHED_QUERIES = 4096


class Recent(Generic[V]):
    """The values of the queries last asked for, up to a bound."""

    def __init__(self, bound: int) -> None:
        self._values: OrderedDict[str, V] = OrderedDict()
        self._bound = bound

    def get(self, query: str) -> V | None:
        """The value, or None when it is not there (any more)."""
        if query in self._values:
            self._values.move_to_end(query)
        return self._values.get(query)

    def put(self, query: str, value: V) -> None:
        """Keep a value, and let go of the one that was asked for longest ago."""
        self._values[query] = value
        self._values.move_to_end(query)
        if len(self._values) > self._bound:
            self._values.popitem(last=False)


class HybridSearch:
    """A bundle with a retriever chosen; search results are ``Hit``s as the agent is shown them."""

    def __init__(
        self,
        bundle: Bundle,
        *,
        retriever: Retriever = "hybrid",
        k: int = 5,
        depth: int = 100,
        snippet: str = "lead:200",
    ) -> None:
        """Prepare to search.

        Args:
            bundle: An open bundle.
            retriever: ``bm25``, ``dense``, or ``hybrid`` (reciprocal rank fusion of the two).
            k: How many hits a search shows.
            depth: How many candidates of each ranking are fused.
            snippet: What a hit shows of its chunk, such as ``lead:200``.

        Raises:
            InputError: When a setting is unknown or the bundle has no vectors to search.
        """
        if retriever not in get_args(Retriever):
            raise InputError(f"retriever is {retriever!r}; known: {', '.join(get_args(Retriever))}")
        if not 1 <= k <= depth:
            raise InputError(f"k is {k} and depth is {depth}; k must be at least 1 and at most depth")
        self._bundle = bundle
        self._rankers: list[Callable[[Sequence[str]], Ranking]] = []
        if retriever != "dense":
            self._rankers.append(self._lexical)
        if retriever != "bm25":
            if bundle.vectors is None:
                raise InputError(
                    f'{bundle.path} was built with the embedder "none" and holds no vectors: '
                    f'it can be searched with the retriever "bm25", not "{retriever}"'
                )
            self._rankers.append(partial(self._dense, bundle.vectors))
        self._k = k
        self._depth = depth
        self._snippet = make_snippeter(snippet)
        self._embed_seconds = 0.0
        self._vectors: Recent[npt.NDArray[np.float32]] = Recent(CACHED_QUERIES)
        self._found: Recent[tuple[Hit, ...]] = Recent(CACHED_QUERIES)
        self._coalescer = Coalescer(self.search_batch)

    @property
    def embed_seconds(self) -> float:
        """Processor time spent on embedding queries so far."""
        return self._embed_seconds

    def close(self) -> None:
        """End the search thread; ``search`` is an error afterwards, and for those who still wait."""
        self._coalescer.close()
        self._found = Recent(CACHED_QUERIES)

    def read(self, chunk_id: str) -> Chunk | None:
        """The chunk, or None when there is none of that id."""
        return self._bundle.chunks.by_id(chunk_id)

    async def search(self, query: str) -> tuple[Hit, ...]:
        """The hits for one query, best first; any text is a query."""
        text = query_text(query)
        found = self._found.get(text)
        if found is None:
            found = await self._coalescer.ask(text)
            self._found.put(text, found)
        return found

    def search_batch(self, queries: Sequence[str]) -> list[tuple[Hit, ...]]:
        """The hits for each query, in order; the same as searching them one by one."""
        ids, scores = self.rank_batch(queries)
        rows = zip(queries, ids.tolist(), scores.tolist(), strict=True)
        return [self._hits(query_text(query), ordinals, values) for query, ordinals, values in rows]

    def rank_batch(self, queries: Sequence[str]) -> tuple[Ids, npt.NDArray[np.float64]]:
        """Chunk ordinals and scores [queries, k], best first, -1 where there are no more."""
        texts = [query_text(query) for query in queries]
        rankings = [rank(texts) for rank in self._rankers]
        if len(rankings) > 1:
            return fuse([ids for ids, _ in rankings], k=RRF_K, depth=self._k)
        ids, scores = rankings[0]
        return ids[:, : self._k], scores[:, : self._k].astype(np.float64)

    def _lexical(self, texts: Sequence[str]) -> Ranking:
        return self._bundle.lexical.search_batch(texts, self._depth)

    def _dense(self, vectors: VectorIndex, texts: Sequence[str]) -> Ranking:
        return vectors.search_batch(self._embedded(texts), self._depth)

    def _embedded(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        known = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            embedder = self._bundle.embedder
            started = time.thread_time()
            vectors = embedder.embed_queries(new)
            self._embed_seconds += time.thread_time() - started
            for text, vector in zip(new, vectors, strict=True):
                known[text] = vector
                self._vectors.put(text, vector)
        empty = np.empty((0, self._bundle.manifest.dimensions), dtype=np.float32)
        return np.stack([known[text] for text in texts]) if texts else empty

    def _hits(self, query: str, ordinals: list[int], scores: list[float]) -> tuple[Hit, ...]:
        found = [(ordinal, score) for ordinal, score in zip(ordinals, scores, strict=True) if ordinal >= 0]
        hits = []
        for rank, (ordinal, score) in enumerate(found, start=1):
            chunk = self._bundle.chunks.at(ordinal)
            hits.append(Hit(chunk.chunk_id, rank, score, chunk.title, self._snippet(query, chunk.text)))
        return tuple(hits)

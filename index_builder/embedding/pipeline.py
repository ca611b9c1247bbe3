"""From texts to a file of their vectors: streamed, on every processor, and only those not made before.

Texts are taken in blocks, in order; two blocks are under way at any time, so that no thread waits for the
last text of a block, and memory holds no more than these. A finished block goes to the cache first and
then to the file: whatever stops the build, the next one has all but the blocks under way from the cache.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.lib.format import write_array_header_1_0

from index_builder.embedding.embedder import Embedder
from index_builder.embedding.vector_cache import TextVector, VectorCache, document_keys
from index_builder.errors import EmbeddingError
from index_builder.records import Progress

BLOCK = 64
UNDER_WAY = 2
LENGTH_ERROR = 1e-3


@dataclass(frozen=True, slots=True)
class Embedded:
    """What was done.

    Attributes:
        n_truncated: Texts too long to be embedded whole.
        n_cached: Texts whose vectors the cache held.
        n_tokens: Tokens that were embedded, those of cached texts and beyond cuts left out.
    """

    n_truncated: int
    n_cached: int
    n_tokens: int


@dataclass(frozen=True, slots=True)
class Block:
    """Some texts in a row, by their keys: vectors of the cache, and those that are being made."""

    keys: list[bytes]
    cached: Mapping[bytes, TextVector]
    coming: Mapping[bytes, Future[TextVector]]


def embed_corpus(
    texts: Callable[[int, int], list[str]],
    total: int,
    embedder: Embedder,
    cache: VectorCache | None,
    path: Path,
    progress: Progress,
    *,
    threads: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Embedded:
    """Write the vectors of texts, in their order, as a float32 ``.npy`` file [total, dimensions].

    Args:
        texts: Gives the texts from a start to before a stop; asked in order, once for each.
        total: How many texts there are.
        embedder: Makes the vectors.
        cache: Where vectors are looked for and kept; absent = all are made, and a build that is stopped
            begins anew.
        path: The file.
        progress: Told, block by block, how many vectors are in the file.
        threads: How many texts are embedded at the same time; absent = one a processor.
        clock: Seconds, for tokens a second.

    Raises:
        EmbeddingError: When the model returns something that is no embedding; names the text.
        InputError: When the cache cannot be used.
        OSError: When the file cannot be written.
    """
    tally = Tally(total, embedder.max_tokens, clock)
    pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, "embed")
    begin = partial(_begin, pool, embedder, document_keys(embedder), cache)
    starts = range(0, total, BLOCK)
    begun = (begin(start, texts(start, min(start + BLOCK, total))) for start in starts)
    try:
        with path.open("wb") as file:
            shape = (total, embedder.dimensions)
            write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            for block in _ahead(begun, UNDER_WAY):
                made = {key: coming.result() for key, coming in block.coming.items()}
                if cache is not None and made:
                    cache.put(made)
                vectors = {**block.cached, **made}
                file.writelines(vectors[key].vector.astype("<f4").tobytes() for key in block.keys)
                tally.add(block, vectors)
                progress("vectors", tally.done, total, tally.detail())
    finally:
        pool.shutdown(cancel_futures=True)
    return tally.embedded()


class Tally:
    """Counts what is done and how fast the model goes, the time of cached texts left out."""

    def __init__(self, total: int, max_tokens: int, clock: Callable[[], float]) -> None:
        self.done = 0
        self._total = total
        self._max_tokens = max_tokens
        self._truncated = self._cached = self._tokens = 0
        self._clock = clock
        self._last = clock()
        self._seconds = 0.0

    def add(self, block: Block, vectors: Mapping[bytes, TextVector]) -> None:
        """Count a finished block."""
        self.done += len(block.keys)
        self._truncated += sum(vectors[key].tokens > self._max_tokens for key in block.keys)
        self._cached += sum(key in block.cached for key in block.keys)
        self._tokens += sum(min(vectors[key].tokens, self._max_tokens) for key in block.coming)
        now = self._clock()
        if block.coming:
            self._seconds += now - self._last
        self._last = now

    def detail(self) -> str:
        """Such as "7,512 tokens/s · 3,100 of 6,119 from the cache"."""
        parts = []
        if self._seconds:
            parts.append(f"{self._tokens / self._seconds:,.0f} tokens/s")
        if self._cached:
            parts.append(f"{self._cached:,} of {self._total:,} from the cache")
        return " · ".join(parts)

    def embedded(self) -> Embedded:
        """The counts so far."""
        return Embedded(self._truncated, self._cached, self._tokens)


def _begin(
    pool: ThreadPoolExecutor,
    embedder: Embedder,
    key_of: Callable[[str], bytes],
    cache: VectorCache | None,
    start: int,
    texts: Sequence[str],
) -> Block:
    """Look a block up and let the pool make the rest, the longest text first; equal texts are one."""
    keys = [key_of(text) for text in texts]
    cached = {} if cache is None else cache.get(keys)
    new = {key: place for place, key in enumerate(keys) if key not in cached}
    longest_first = sorted(new.items(), key=lambda item: -len(texts[item[1]]))
    coming = {key: pool.submit(_embed, embedder, texts[place], start + place) for key, place in longest_first}
    return Block(keys, cached, coming)


def _embed(embedder: Embedder, text: str, ordinal: int) -> TextVector:
    """One text alone and unpadded: the fastest way on a CPU, and what int8 needs to give equal vectors."""
    try:
        rows = embedder.embed_documents([text])
    except EmbeddingError as error:
        raise EmbeddingError(f"text {ordinal + 1}: {error}") from error
    if rows.shape != (1, embedder.dimensions) or not abs(np.linalg.norm(rows) - 1) < LENGTH_ERROR:
        raise EmbeddingError(
            f"text {ordinal + 1}: the embedder {embedder.name} returned {rows.shape} numbers that are no "
            f"vector of {embedder.dimensions} dimensions and length one"
        )
    (tokens,) = embedder.token_counts([text])
    return TextVector(tokens, rows[0])


def _ahead(blocks: Iterator[Block], count: int) -> Iterator[Block]:
    """The blocks, each one given out when ``count`` of them are begun."""
    begun = deque(islice(blocks, count - 1))
    for block in blocks:
        begun.append(block)
        yield begun.popleft()
    yield from begun

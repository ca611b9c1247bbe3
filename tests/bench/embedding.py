"""What embedding a corpus costs beside a bare loop over the same model: tokenise, run, pool.

Passages are drawn by seed from a real corpus. Both use one thread a processor and sessions of one internal
thread, one unpadded text at a time, which is MiniLM's fastest way on a CPU. The bare loop checks, counts
and keeps nothing; ours also fills a new cache of vectors and writes the file.
"""

import os
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from index_builder.chunking import indexed_text
from index_builder.datasets.corpus import distinct, read_corpus
from index_builder.embedding.embedder import Embedder, open_embedder
from index_builder.embedding.minilm import MAX_TOKENS, MODEL, TOKENIZER, locate
from index_builder.embedding.pipeline import Embedded, embed_corpus
from index_builder.embedding.vector_cache import VectorCache
from index_builder.records import Chunk
from tests.bench.places import CORPORA, real_corpus
from tests.bench.rows import Row, at_least, at_most, report
from tests.bench.timing import Timing, interleaved, timed
from tests.index_builder.small_bundles import silent

Vectors = npt.NDArray[np.float32]

SEED = 7
PASSAGES, QUICK_PASSAGES = 600, 120
ROUNDS = 3
QUICK_CORPORA = ("two_wiki",)
BAR = 1.2
THREADS = os.cpu_count() or 1


def rows(*, quick: bool) -> Iterator[Row]:
    """Every real corpus; in a quick run one of them."""
    for dataset in QUICK_CORPORA if quick else CORPORA:
        yield from corpus_rows(dataset, QUICK_PASSAGES if quick else PASSAGES)


def corpus_rows(dataset: str, count: int) -> list[Row]:
    """One corpus beside the bare loop, and again from the cache."""
    texts = sample(dataset, count)
    model, bare = open_embedder("minilm"), BareLoop()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tokens = embed(texts, model, folder, "first").n_tokens
        np.testing.assert_allclose(np.load(folder / "first.npy"), bare(texts), atol=1e-5)
        taken = interleaved(
            {
                "ours": lambda: anew(texts, model, folder, tokens),
                "theirs": lambda: timed(partial(bare, texts), tokens),
                "again": lambda: timed(partial(embed, texts, model, folder, "first"), tokens),
            },
            ROUNDS,
        )
    ours, theirs, again = (1 / taken[name].wall for name in ("ours", "theirs", "again"))
    what = f"{count} passages of {dataset}, {tokens:,} tokens, {THREADS} threads"
    return [
        at_most(
            f"MiniLM indexing of {dataset}, beside a bare session loop",
            ours,
            "tokens/s",
            BAR,
            f"onnxruntime's session (our time by theirs is the ratio); {what}",
            theirs=theirs,
            ratio=theirs / ours,
        ),
        at_least(
            f"MiniLM indexing of {dataset} again, from the cache",
            again,
            "tokens/s",
            None,
            f"reading SQLite; {what}; theirs: embedding them",
            theirs=ours,
            ratio=again / ours,
        ),
    ]


def sample(dataset: str, count: int) -> list[str]:
    """Passages of a real corpus as they are embedded, drawn by seed."""
    passages = list(distinct(read_corpus(real_corpus(dataset))))
    drawn = random.Random(SEED).sample(passages, min(count, len(passages)))
    return [indexed_text(Chunk("", passage.title, passage.text)) for passage in drawn]


def embed(texts: list[str], model: Embedder, folder: Path, name: str) -> Embedded:
    """As a build does, with a cache of that name."""
    with VectorCache(folder / f"{name}.sqlite") as cache:
        return embed_corpus(
            lambda start, stop: texts[start:stop],
            len(texts),
            model,
            cache,
            folder / f"{name}.npy",
            silent,
            threads=THREADS,
        )


def anew(texts: list[str], model: Embedder, folder: Path, tokens: int) -> Timing:
    """Time the pipeline with an empty cache."""
    (folder / "anew.sqlite").unlink(missing_ok=True)
    return timed(partial(embed, texts, model, folder, "anew"), tokens)


class BareLoop:
    """The model's files and nothing of ours."""

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(locate(MODEL)), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(locate(TOKENIZER)))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def __call__(self, texts: list[str]) -> Vectors:
        with ThreadPoolExecutor(THREADS) as pool:
            return np.stack(list(pool.map(self._one, texts)))

    def _one(self, text: str) -> Vectors:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        mean: Vectors = self._session.run(None, given)[0][0].mean(axis=0)
        scaled: Vectors = mean / np.linalg.norm(mean)
        return scaled


if __name__ == "__main__":
    report(rows)

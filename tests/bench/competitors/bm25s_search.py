"""bm25s as its documentation runs it fastest: ids for tokens, PyStemmer, batches, numba or numpy.

Options: ``corpus`` (JSON lines of title and text), ``backend`` (numba | numpy), ``depth``, ``threads``.
The folder holds ``queries.json``, and keeps the index for the next run. One round tokenizes and looks up
all queries in one call; its 33 stop words and its stemmer are those of our ``english`` analyser.
"""

import json
import time
from pathlib import Path

import bm25s
import Stemmer

from tests.bench.apart import Options, Work, take_turns


def prepare(folder: Path, options: Options) -> Work:
    """Build or open the index; facts: options and, of a new index, passages a second of processor time."""
    stemmer = Stemmer.Stemmer("english")
    facts: dict[str, str | int | float] = {"backend": options["backend"], "threads": options["threads"]}
    saved = folder / "bm25s"
    if not saved.is_dir():
        texts = _texts(Path(str(options["corpus"])))
        begun = time.process_time()
        tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
        built = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
        built.index(tokens, show_progress=False)
        facts["built, passages/s a core"] = len(texts) / (time.process_time() - begun)
        built.save(saved)
    index = bm25s.BM25.load(saved, backend=str(options["backend"]))
    queries: list[str] = json.loads((folder / "queries.json").read_text(encoding="utf-8"))

    def search() -> None:
        tokens = bm25s.tokenize(queries, stopwords="en", stemmer=stemmer, show_progress=False)
        index.retrieve(
            tokens, k=int(options["depth"]), n_threads=int(options["threads"]), show_progress=False
        )

    return Work(search, len(queries), facts)


def _texts(corpus: Path) -> list[str]:
    with corpus.open("rb") as lines:
        return [f"{passage['title']}\n{passage['text']}" for passage in map(json.loads, lines)]


if __name__ == "__main__":
    take_turns(prepare)

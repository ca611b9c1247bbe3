"""What BM25 search costs beside bare tantivy and bm25s, what each analyser finds and costs, and building.

A generated world of 1,000,000 passages (100,000 in a quick run) with its own questions, and the real sets.
The bare query is tantivy's alone: terms given, one Should query, 50 ordinals read from the fast field.
"""

import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean

import tantivy

from index_builder.chunking import chunk_passages
from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import distinct, passage_key, read_corpus
from index_builder.lexical import ANALYSERS, DEFAULT_ANALYSER, LexicalIndex, write_lexical
from index_builder.lexical.analysers import analysers_of
from index_builder.lexical.writer import FREQUENCIES, ORDINAL
from index_builder.records import Chunk
from tests.bench.apart import apart
from tests.bench.places import SOURCES, real_corpus, real_file, world
from tests.bench.rows import Row, at_least, at_most, report
from tests.bench.timing import Timing, interleaved, timed

DEPTH = 50
DEPTHS = (5, 10, 50)
PASSAGES, QUICK_PASSAGES = 1_000_000, 100_000
MOST_MIB = 1536
QUERIES = 200
CORPUS = "2wikimultihopqa_corpus.jsonl"


def rows(*, quick: bool) -> Iterator[Row]:
    """Building and searching a world, then the analysers on the real sets."""
    made = world(QUICK_PASSAGES if quick else PASSAGES)
    corpus = made / "corpus" / CORPUS
    questions = LOADERS["two_wiki"](made / SOURCES["two_wiki"]).questions
    queries = [question.text for question in questions[:QUERIES]]
    with tempfile.TemporaryDirectory() as place:
        yield from (_built(Path(place, analyser), corpus, analyser) for analyser in ANALYSERS)
        yield from _searched(Path(place), corpus, queries, quick=quick)
    for dataset in ["two_wiki"] if quick else SOURCES:
        yield from _real_rows(dataset)


def _built(folder: Path, corpus: Path, analyser: str) -> Row:
    """Build from JSON lines; the peak is this process's, which does nothing bigger before."""
    folder.mkdir()
    started = time.process_time()
    passages = chunk_passages(read_corpus(corpus), "passage", seed=0)
    count = write_lexical(folder, (chunk for chunk, _ in passages), analyser)
    rate = count / (time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bound = f"tantivy's tokens and postings; peak {peak:,.0f} MiB (bar {MOST_MIB:,})"
    row = at_least(f"BM25 build of {count:,}, {analyser}", rate, "passages/s a core", 8000, bound)
    return replace(row, holds=row.holds and peak <= MOST_MIB)


def _searched(folder: Path, corpus: Path, queries: list[str], *, quick: bool) -> list[Row]:
    """Our searches, the bare query of the default analyser, and bm25s; per query, processor time."""
    indexes = {analyser: LexicalIndex(folder / analyser, analyser) for analyser in ANALYSERS}
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    contestants: dict[str, Callable[[], Timing]] = {
        name: partial(timed, partial(index.search_batch, queries, DEPTH), len(queries))
        for name, index in indexes.items()
    }
    contestants["bare"] = partial(timed, _bare(folder / DEFAULT_ANALYSER, queries), len(queries))
    facts: dict[str, str] = {}
    with ExitStack() as stack:
        for backend in ("numba",) if quick else ("numba", "numpy"):
            competitor = stack.enter_context(
                apart("bm25s_search", folder, corpus=str(corpus), backend=backend, depth=DEPTH, threads=1)
            )
            contestants[backend] = competitor.round
            facts[backend] = competitor.said
        took = {name: timing.cpu * 1e6 for name, timing in interleaved(contestants).items()}
    ours = took[DEFAULT_ANALYSER]
    bar = None if quick else 1.15  # it is of the big world, where analysing the query counts for little
    return [
        _cost(f"BM25 top-{DEPTH}, {DEFAULT_ANALYSER}, beside bare tantivy", ours, took["bare"], bar),
        _cost(
            "BM25, english-broad beside plain", took["english-broad"], took["plain"], None if quick else 0.2
        ),
        _cost("BM25, english beside plain", ours, took["plain"], None),
        *(
            _cost(f"BM25 beside bm25s on {name}", ours, took[name], None, f"; theirs: {fact}")
            for name, fact in facts.items()
        ),
    ]


def _cost(name: str, ours: float, theirs: float, bar: float | None, said: str = "") -> Row:
    bound = f"summed posting lengths{said}"
    return at_most(name, ours, "µs a query", bar, bound, theirs=theirs, ratio=ours / theirs)


def _bare(folder: Path, queries: Sequence[str]) -> Callable[[], None]:
    """The same terms through tantivy's own interface, in a tight loop."""
    analyser = analysers_of(DEFAULT_ANALYSER)[DEFAULT_ANALYSER]
    terms = [list(dict.fromkeys(analyser.analyze(query))) for query in queries]
    index = tantivy.Index.open(str(folder))
    schema, searcher = index.schema, index.searcher()

    def search() -> None:
        for each in terms:
            clauses = [
                (
                    tantivy.Occur.Should,
                    tantivy.Query.term_query(schema, DEFAULT_ANALYSER, term, FREQUENCIES),
                )
                for term in each
            ]
            hits = searcher.search(tantivy.Query.boolean_query(clauses), DEPTH, count=False).hits
            searcher.fast_field_values(ORDINAL, [address for _, address in hits])

    return search


def _real_rows(dataset: str) -> Iterator[Row]:
    """Recall and cost of each analyser on a real set, its questions as queries."""
    questions = LOADERS[dataset](real_file(SOURCES[dataset])).questions
    passages = list(distinct(read_corpus(real_corpus(dataset))))
    ordinals = {passage_key(passage): ordinal for ordinal, passage in enumerate(passages)}
    keys = {question.text: map(passage_key, question.gold or ()) for question in questions}
    gold = {text: {ordinals[key] for key in each if key in ordinals} for text, each in keys.items()}
    chunks = [Chunk(str(number), passage.title, passage.text) for number, passage in enumerate(passages)]
    queries = [text for text, wanted in gold.items() if wanted]
    with tempfile.TemporaryDirectory() as place:
        indexes = {name: _index(Path(place, name), chunks, name) for name in ANALYSERS}
        took = interleaved(
            {
                name: partial(timed, partial(index.search_batch, queries, DEPTH), len(queries))
                for name, index in indexes.items()
            }
        )
        for name, index in indexes.items():
            wanted = [gold[query] for query in queries]
            ranked = [row.tolist() for row in index.search_batch(queries, DEPTH)[0]]
            said = " / ".join(f"{100 * _recall(ranked, wanted, depth):.1f}" for depth in DEPTHS)
            ours, plain = took[name].cpu * 1e6, took["plain"].cpu * 1e6
            found = f"; recall@5/10/50 {said} %; theirs: plain"
            yield _cost(f"BM25 on {dataset}, {name}", ours, plain, None, found)


def _recall(ranked: Sequence[Sequence[int]], gold: Sequence[set[int]], depth: int) -> float:
    """The mean share of a question's gold passages among its first hits."""
    pairs = zip(ranked, gold, strict=True)
    return mean(len(wanted.intersection(row[:depth])) / len(wanted) for row, wanted in pairs)


def _index(folder: Path, chunks: Sequence[Chunk], analyser: str) -> LexicalIndex:
    folder.mkdir()
    write_lexical(folder, chunks, analyser)
    return LexicalIndex(folder, analyser)


if __name__ == "__main__":
    report(rows)

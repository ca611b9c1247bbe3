"""How fast a bundle is searched: whole batches on the real sets, and single searches through the coalescer.

Vectors of the queries are known already in both. The first counts hits with their snippets, per second of
processor time. The second is a world of 100,000 passages with vectors of 384 dimensions made of hashed
words: 64 searches that tasks ask at once, beside ``search_batch`` with one query, 64 times in a row,
without anything in between. Neither finds results of an earlier round.
"""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from index_builder.bundle import Bundle, open_bundle
from index_builder.hybrid import HybridSearch
from tests.bench.places import SOURCES, LongHashedWords, real_bundle, vectors_bundle
from tests.bench.rows import Row, at_least, report
from tests.bench.timing import Timing, interleaved, timed

A_SECOND = 1500
AT_ONCE, TIMES_FASTER = 64, 3
PASSAGES = 100_000
QUICK = "two_wiki"


def rows(*, quick: bool) -> Iterator[Row]:
    """The real sets, one of them in a quick run, then the coalescer."""
    for dataset in [QUICK] if quick else SOURCES:
        yield _batch_row(dataset, open_bundle(real_bundle(dataset, quick=quick), verify_hashes=False))
    yield _coalescer_row(vectors_bundle(PASSAGES))


def _batch_row(dataset: str, bundle: Bundle) -> Row:
    queries = [question.question for question in bundle.questions]
    search = HybridSearch(bundle)
    took = interleaved({"ours": partial(timed, partial(search.search_batch, queries), len(queries))})
    search.close()
    return at_least(
        f"hybrid search_batch, {dataset}",
        1 / took["ours"].cpu,
        "queries/s a core",
        A_SECOND,
        f"BM25 and the product over {bundle.manifest.n_chunks:,} chunks; {len(queries):,} queries",
    )


def _coalescer_row(folder: Path) -> Row:
    bundle = open_bundle(folder, verify_hashes=False)
    # What the bundle would open by its spec has other dimensions.
    bundle.__dict__["embedder"] = LongHashedWords()
    queries = [question.question for question in bundle.questions[:AT_ONCE]]
    took = interleaved(
        {"together": partial(_together, bundle, queries), "one by one": partial(_one_by_one, bundle, queries)}
    )
    rates = {name: 1 / timing.wall for name, timing in took.items()}
    return at_least(
        f"{AT_ONCE} single searches at once, {len(bundle.chunks):,} passages, beside one by one",
        rates["together"],
        "queries/s",
        TIMES_FASTER,
        "reading all vectors once for all, not once a query",
        theirs=rates["one by one"],
        ratio=rates["together"] / rates["one by one"],
    )


def _together(bundle: Bundle, queries: Sequence[str]) -> Timing:
    search = _knowing(bundle, queries)

    async def program() -> None:
        await asyncio.gather(*map(search.search, queries))

    taken = timed(lambda: asyncio.run(program()), len(queries))
    search.close()
    return taken


def _one_by_one(bundle: Bundle, queries: Sequence[str]) -> Timing:
    search = _knowing(bundle, queries)
    taken = timed(lambda: [search.search_batch([query]) for query in queries], len(queries))
    search.close()
    return taken


def _knowing(bundle: Bundle, queries: Sequence[str]) -> HybridSearch:
    """A search that has embedded the queries, and found nothing yet."""
    search = HybridSearch(bundle)
    search.rank_batch(queries)
    return search


if __name__ == "__main__":
    report(rows)

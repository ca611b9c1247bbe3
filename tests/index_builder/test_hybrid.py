"""Searching a bundle: retrievers, hostile queries, coalescing, and a loop that stays free."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.core.ports import Library
from index_builder.build import Recipe, write_bundle
from index_builder.bundle import Bundle, open_bundle
from index_builder.datasets import LOADERS
from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.errors import EmbeddingError, InputError
from index_builder.hybrid import HybridSearch, Recent, Retriever
from index_builder.records import Dataset, Hit, Passage
from index_builder.snippets import lead
from index_builder.vectors import choice

RETRIEVERS: tuple[Retriever, ...] = get_args(Retriever)
SETS = {"hotpotqa": "hotpotqa.json", "two_wiki": "2wikimultihopqa.json", "musique": "musique.jsonl"}
HOSTILE = [
    "",
    "\x00",
    "\ud800",
    "x" * 1_000_000,
    'NOT "(',
    "*",
    "don't",
    "the of",
    "😀",
    "\u202eשלום",
    "\x1b[2J",
    "ordinal:[0 TO *]",
    "a " * 500_000,
]


class Watched(HashedWords):
    """An embedder that records its calls, can be held up, and can fail."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.called = threading.Event()
        self.error: Exception | None = None
        self.fails_on: str | None = None

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.batches.append(list(texts))
        self.called.set()
        self.may_go_on.wait(30)
        if self.error is not None and (self.fails_on is None or self.fails_on in texts):
            raise self.error
        return super().embed_queries(texts)


@pytest.fixture
def embedder() -> Watched:
    return Watched()


@pytest.fixture
def bundle(tmp_path: Path, dataset: Dataset, embedder: Watched) -> Bundle:
    more = tuple(Passage(f"Town {n}", f"Town {n} has {n} houses. " + "It is old. " * 30) for n in range(40))
    recipe = Recipe("hotpotqa", "passage", 7, HashedWords(), {})
    write_bundle(dataset, (*dataset.passages, *more), recipe, tmp_path / "b", lambda *_: None)
    opened = open_bundle(tmp_path / "b", verify_hashes=True)
    # The cached embedder of this bundle: what ``open_embedder`` would have returned.
    opened.__dict__["embedder"] = embedder
    return opened


def titles(hits: Sequence[Hit]) -> list[str]:
    return [hit.title for hit in hits]


def test_a_hybrid_search_is_a_library(bundle: Bundle) -> None:
    library: Library = HybridSearch(bundle)
    hits = asyncio.run(library.search("Who designed the Analytical Engine?"))
    assert library.read(hits[0].chunk_id) == bundle.chunks.by_id(hits[0].chunk_id)
    assert library.read("c-unknown") is None


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_hits_are_ranked_and_show_title_and_snippet(bundle: Bundle, retriever: Retriever) -> None:
    search = HybridSearch(bundle, retriever=retriever, k=3, snippet="lead:30")
    (hits,) = search.search_batch(["Charles Babbage designed the Analytical Engine in London"])
    assert titles(hits)[0] == "Charles Babbage"
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        chunk = search.read(hit.chunk_id)
        assert chunk is not None
        assert (hit.title, hit.snippet) == (chunk.title, lead(chunk.text, 30))


def test_a_snippet_may_depend_on_the_query(tmp_path: Path) -> None:
    passages = (Passage("Towns", "Arv is old and grey. Bol has houses. Cem has a tower."),)
    write_bundle(
        Dataset((), passages, {}),
        passages,
        Recipe("hotpotqa", "passage", 7, None, {}),
        tmp_path / "b",
        lambda *_: None,
    )
    opened = open_bundle(tmp_path / "b", verify_hashes=True)
    search = HybridSearch(opened, retriever="bm25", snippet="best-sentences:24")
    shown = [hits[0].snippet for hits in search.search_batch(["a tower", "houses of towns"])]
    assert shown == ["… Cem has a tower.", "… Bol has houses. …"]


def test_hybrid_is_the_fusion_of_its_two_parts(bundle: Bundle) -> None:
    query = "Which town is old and has houses?"
    parts = [
        HybridSearch(bundle, retriever=name, k=20, depth=20).search_batch([query])[0]
        for name in ("bm25", "dense")
    ]
    scores: dict[str, float] = {}
    for hits in parts:
        for hit in hits:
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0) + 1 / (60 + hit.rank)
    (fused,) = HybridSearch(bundle, k=20, depth=20).search_batch([query])
    assert [hit.score for hit in fused] == pytest.approx([scores[hit.chunk_id] for hit in fused])
    assert {hit.chunk_id for hit in fused} <= set(scores)
    assert fused[0].score == pytest.approx(max(scores.values()))


@pytest.mark.parametrize("retriever", RETRIEVERS)
@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:12]))
def test_no_query_raises_and_none_empties_a_search_that_has_vectors(
    bundle: Bundle, retriever: Retriever, query: str
) -> None:
    hits = asyncio.run(HybridSearch(bundle, retriever=retriever).search(query))
    assert len(hits) == 5 if retriever != "bm25" else len(hits) <= 5


def test_a_batch_finds_what_single_searches_find(bundle: Bundle) -> None:
    search = HybridSearch(bundle)
    queries = [question.question for question in bundle.questions] + HOSTILE + ["old houses", "Town 7"]
    assert search.search_batch(queries) == [search.search_batch([query])[0] for query in queries]
    assert search.search_batch([]) == []

    async def all_at_once() -> list[tuple[Hit, ...]]:
        return await asyncio.gather(*(search.search(query) for query in queries))

    assert asyncio.run(all_at_once()) == search.search_batch(queries)


def test_searches_that_arrive_together_are_searched_together_and_once(
    bundle: Bundle, embedder: Watched
) -> None:
    search = HybridSearch(bundle)

    async def program() -> None:
        embedder.may_go_on.clear()
        first = asyncio.create_task(search.search("first"))
        await asyncio.to_thread(embedder.called.wait, 30)
        others = [asyncio.create_task(search.search(query)) for query in ("a", "b", "a", " b ")]
        await asyncio.sleep(0)
        embedder.may_go_on.set()
        found = await asyncio.gather(first, *others)
        assert found[1] == found[3]
        assert found[2] == found[4]

    asyncio.run(program())
    assert embedder.batches == [["first"], ["a", "b"]]


def test_the_loop_is_free_while_a_query_is_embedded(bundle: Bundle, embedder: Watched) -> None:
    search = HybridSearch(bundle)

    async def program() -> int:
        embedder.may_go_on.clear()
        task = asyncio.create_task(search.search("slow"))
        turns = 0
        while not embedder.batches or turns < 1000:
            await asyncio.sleep(0)
            turns += 1
        assert not task.done()
        embedder.may_go_on.set()
        await task
        return turns

    assert asyncio.run(program()) >= 1000


def test_a_query_asked_again_costs_nothing(bundle: Bundle, embedder: Watched) -> None:
    search = HybridSearch(bundle)
    first = asyncio.run(search.search("once"))
    assert asyncio.run(search.search("once ")) == first
    search.search_batch(["once", "once"])
    assert embedder.batches == [["once"]]


def test_the_processor_time_of_embedding_is_counted(bundle: Bundle) -> None:
    search = HybridSearch(bundle)
    assert search.embed_seconds == 0
    search.search_batch(["one", "two"])
    spent = search.embed_seconds
    assert spent > 0
    search.search_batch(["one", "two"])
    assert search.embed_seconds == spent


def test_an_error_of_every_query_reaches_all_who_asked_and_the_next_search_works(
    bundle: Bundle, embedder: Watched
) -> None:
    search = HybridSearch(bundle)
    embedder.error = EmbeddingError("NaN")

    async def program() -> None:
        found = await asyncio.gather(*(search.search(query) for query in "ab"), return_exceptions=True)
        assert [str(error) for error in found] == ["NaN", "NaN"]
        embedder.error = None
        assert len(await search.search("a")) == 5

    asyncio.run(program())


def test_a_query_the_model_cannot_embed_fails_alone(bundle: Bundle, embedder: Watched) -> None:
    search = HybridSearch(bundle)
    embedder.error, embedder.fails_on = EmbeddingError("NaN"), "bad"

    async def program() -> None:
        found = await asyncio.gather(*map(search.search, ["a", "bad", "b"]), return_exceptions=True)
        assert [len(hits) if isinstance(hits, tuple) else str(hits) for hits in found] == [5, "NaN", 5]

    asyncio.run(program())


def test_one_who_gives_up_does_not_disturb_the_others(bundle: Bundle, embedder: Watched) -> None:
    search = HybridSearch(bundle)

    async def program() -> None:
        embedder.may_go_on.clear()
        impatient, patient = (asyncio.create_task(search.search("same")) for _ in range(2))
        await asyncio.to_thread(embedder.called.wait, 30)
        impatient.cancel()
        embedder.may_go_on.set()
        assert len(await patient) == 5
        assert impatient.cancelled()

    asyncio.run(program())


def test_a_closed_search_says_so_to_those_who_ask(bundle: Bundle) -> None:
    search = HybridSearch(bundle)
    asyncio.run(search.search("known"))
    search.close()
    for query in ("late", "known"):
        with pytest.raises(RuntimeError, match="closed"):
            asyncio.run(search.search(query))


def test_fewer_chunks_than_k_are_all_shown(tmp_path: Path, dataset: Dataset) -> None:
    recipe = Recipe("hotpotqa", "passage", 7, HashedWords(), {})
    write_bundle(dataset, dataset.passages, recipe, tmp_path / "b", lambda *_: None)
    opened = open_bundle(tmp_path / "b", verify_hashes=True)
    for retriever in ("dense", "hybrid"):
        (hits,) = HybridSearch(opened, retriever=retriever, k=50).search_batch(["Mercury"])
        assert len({hit.chunk_id for hit in hits}) == len(hits) == len(dataset.passages)


def test_a_bundle_without_vectors_is_searched_by_words_alone(tmp_path: Path, dataset: Dataset) -> None:
    recipe = Recipe("hotpotqa", "passage", 7, None, {})
    write_bundle(dataset, dataset.passages, recipe, tmp_path / "b", lambda *_: None)
    opened = open_bundle(tmp_path / "b", verify_hashes=True)
    (hits,) = HybridSearch(opened, retriever="bm25").search_batch(["smallest planet"])
    assert titles(hits)[0] == "Mercury (planet)"
    for retriever in ("dense", "hybrid"):
        with pytest.raises(InputError, match=f'retriever "bm25", not "{retriever}"'):
            HybridSearch(opened, retriever=retriever)


@pytest.mark.parametrize(("k", "depth"), [(0, 100), (101, 100), (5, 0)])
def test_sizes_that_make_no_sense_are_refused(bundle: Bundle, k: int, depth: int) -> None:
    with pytest.raises(InputError, match="k must be"):
        HybridSearch(bundle, k=k, depth=depth)


def test_an_unknown_retriever_is_refused(bundle: Bundle) -> None:
    misspelt: Any = "bm26"
    with pytest.raises(InputError, match="known: bm25, dense, hybrid"):
        HybridSearch(bundle, retriever=misspelt)


def test_recent_values_are_kept_up_to_the_bound() -> None:
    recent: Recent[int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(query) for query in "abc"] == [1, None, 3]


@pytest.mark.parametrize("kind", SETS)
def test_the_real_model_finds_real_gold(tmp_path: Path, shared_data: Path, kind: str) -> None:
    """120 passages a set, the contexts of its first five questions among them."""
    dataset = LOADERS[kind](shared_data / SETS[kind])
    few = Dataset(dataset.questions[:5], dataset.passages[:120], {})
    recipe = Recipe(kind, "passage", 7, open_embedder("minilm"), {})
    write_bundle(few, few.passages, recipe, tmp_path / "b", lambda *_: None)
    bundle = open_bundle(tmp_path / "b", verify_hashes=True)
    assert bundle.manifest.unmatched_gold == ()
    found = HybridSearch(bundle, retriever="dense", k=12).search_batch([q.question for q in bundle.questions])
    gold = [set(question.gold_chunks or ()) for question in bundle.questions]
    shares = [
        len({hit.chunk_id for hit in hits} & own) / len(own) for own, hits in zip(gold, found, strict=True)
    ]
    # By chance 12 of 120 passages hold a tenth of the gold.
    assert sum(shares) / len(shares) > 0.6


def test_more_vectors_than_the_crossover_are_searched_in_a_graph_that_finds_the_same_here(
    tmp_path: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = [question.text for question in dataset.questions]
    found = {}
    for kind, most in (("exact", 6), ("usearch", 5)):
        monkeypatch.setattr(choice, "crossover", lambda _, most=most: most)
        recipe = Recipe("hotpotqa", "passage", 7, HashedWords(), {})
        write_bundle(dataset, dataset.passages, recipe, tmp_path / kind, lambda *_: None)
        opened = open_bundle(tmp_path / kind, verify_hashes=True)
        facts = opened.manifest.vectors
        assert facts is not None
        assert (facts.kind, facts.recall_queries) == (kind, 3 if kind == "usearch" else 0)
        search = HybridSearch(opened, k=3)
        found[kind] = [[hit.chunk_id for hit in hits] for hits in search.search_batch(queries)]
        search.close()
    assert found["usearch"] == found["exact"]

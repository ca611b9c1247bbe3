"""Recall against a brute force that uses nothing of ours, on invented passages and on the real sets."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.build import Recipe, build_bundle, write_bundle
from index_builder.bundle import Bundle, open_bundle
from index_builder.embedding.hashed_words import HashedWords
from index_builder.hybrid import HybridSearch, Retriever
from index_builder.lexical.analysers import analysers_of
from index_builder.recall import recall_figures, recall_table
from index_builder.records import Dataset, Passage, Question
from tests.index_builder import recall_by_hand


@given(st.data())
def test_figures_are_those_of_a_brute_force(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    rows = [data.draw(st.lists(st.integers(0, 80), unique=True, max_size=50)) for _ in range(count)]
    gold = [data.draw(st.sets(st.integers(0, 80), min_size=1, max_size=6)) for _ in range(count)]
    ranked = np.array([row + [-1] * (50 - len(row)) for row in rows])
    assert recall_figures(ranked, gold) == pytest.approx(recall_by_hand.figures(rows, gold), abs=1e-9, rel=0)


def test_figures_of_no_questions_are_null() -> None:
    figures = recall_figures(np.empty((0, 50), dtype=np.int64), [])
    assert set(figures.values()) == {None}


def small_bundle(folder: Path, dataset: Dataset, embedder: HashedWords | None) -> Bundle:
    more = tuple(Passage(f"Town {n}", f"A question of {n} planets and engines.") for n in range(60))
    recipe = Recipe("hotpotqa", "passage", 7, embedder, {})
    write_bundle(dataset, (*dataset.passages, *more), recipe, folder, lambda *_: None)
    return open_bundle(folder, verify_hashes=True)


def test_the_table_is_what_searching_each_question_finds(tmp_path: Path, dataset: Dataset) -> None:
    bundle = small_bundle(tmp_path / "b", dataset, HashedWords())
    known = [question for question in bundle.questions if question.gold_chunks]
    table = recall_table(bundle)
    assert table["n_questions"] == len(known) == 2
    number = {chunk.chunk_id: place for place, chunk in enumerate(bundle.chunks)}
    gold = [{number[name] for name in question.gold_chunks or ()} for question in known]

    def found(retriever: Retriever, depth: int) -> dict[str, float]:
        search = HybridSearch(bundle, retriever=retriever, k=min(depth, 50), depth=depth)
        hits = [search.search_batch([question.question])[0] for question in known]
        search.close()
        return recall_by_hand.figures([[number[hit.chunk_id] for hit in each] for each in hits], gold)

    assert table["bm25"] == pytest.approx(found("bm25", 100))
    assert table["dense"] == pytest.approx(found("dense", 100))
    assert table["hybrid"] == pytest.approx(found("hybrid", 100))
    assert list(table["hybrid_by_depth"]) == ["10", "20", "50", "100", "200"]
    for depth, figures in table["hybrid_by_depth"].items():
        shown = found("hybrid", int(depth))
        if int(depth) < 50:
            assert figures.pop("recall@50") is None
            del shown["recall@50"]
        assert figures == pytest.approx(shown)


def test_a_bundle_without_vectors_has_a_row_for_bm25_alone(tmp_path: Path, dataset: Dataset) -> None:
    assert set(recall_table(small_bundle(tmp_path / "b", dataset, None))) == {"n_questions", "bm25"}


def test_a_bundle_without_known_gold_has_null_figures(tmp_path: Path, dataset: Dataset) -> None:
    unknown: tuple[Question, ...] = tuple(dataclasses.replace(q, gold=None) for q in dataset.questions)
    bundle = small_bundle(tmp_path / "b", dataclasses.replace(dataset, questions=unknown), HashedWords())
    table = recall_table(bundle)
    assert table["n_questions"] == 0
    assert table["hybrid"] == dict.fromkeys(("recall@5", "recall@10", "recall@50", "any@5", "all@5"))


@pytest.mark.parametrize(
    ("kind", "source", "at_5", "at_50"),
    [
        ("hotpotqa", "hotpotqa.json", 0.746, 0.953),
        ("two_wiki", "2wikimultihopqa.json", 0.661, 0.763),
        ("musique", "musique.jsonl", 0.451, 0.676),
    ],
)
def test_on_the_real_sets_every_figure_is_that_of_a_brute_force(
    tmp_path: Path, shared_data: Path, kind: str, source: str, at_5: float, at_50: float
) -> None:
    corpus = shared_data / "corpus" / f"{Path(source).stem}_corpus.json"
    build_bundle(
        kind, shared_data / source, corpus, "passage", HashedWords(), tmp_path / "b", 7, lambda *_: None
    )
    bundle = open_bundle(tmp_path / "b", verify_hashes=True)
    table = recall_table(bundle)

    chunks = list(bundle.chunks)
    number = {chunk.chunk_id: place for place, chunk in enumerate(chunks)}
    known = [question for question in bundle.questions if question.gold_chunks]
    gold = [{number[name] for name in question.gold_chunks or ()} for question in known]
    bm25 = recall_by_hand.Bm25(chunks, analysers_of("english")["english"].analyze)
    lexical = [bm25.ranking(question.question, 200) for question in known]
    vectors = np.load(tmp_path / "b" / "vectors.npy").astype(np.float64)
    queries = HashedWords().embed_queries([question.question for question in known])
    dense = [recall_by_hand.dense(vectors, query, 200) for query in queries]

    assert table["n_questions"] == len(known)
    assert table["bm25"] == pytest.approx(recall_by_hand.figures(lexical, gold), abs=1e-9)
    assert table["dense"] == pytest.approx(recall_by_hand.figures(dense, gold), abs=1e-9)
    assert table["hybrid"] == table["hybrid_by_depth"]["100"]
    for depth in (10, 20, 50, 100, 200):
        both = zip(lexical, dense, strict=True)
        fused = [recall_by_hand.fused([one[:depth], other[:depth]]) for one, other in both]
        expected = recall_by_hand.figures(fused, gold)
        figures = table["hybrid_by_depth"][str(depth)]
        for name, value in figures.items():
            beyond = name == "recall@50" and depth < 50
            assert value is None if beyond else value == pytest.approx(expected[name], abs=1e-9)
    # Measured with a script of its own on the same corpora: separate reading, matching and counting.
    assert table["bm25"]["recall@5"] == pytest.approx(at_5, abs=0.005)
    assert table["bm25"]["recall@50"] == pytest.approx(at_50, abs=0.005)


def test_packing_in_shuffled_order_does_not_leak_gold_together(tmp_path: Path, shared_data: Path) -> None:
    source, corpus = (
        shared_data / "2wikimultihopqa.json",
        shared_data / "corpus" / "2wikimultihopqa_corpus.json",
    )
    build_bundle("two_wiki", source, corpus, "packed:1000", None, tmp_path / "b", 7, lambda *_: None)
    figures = recall_table(open_bundle(tmp_path / "b", verify_hashes=True))["bm25"]
    # 0.93 when packed in corpus order, where a question's passages are neighbours.
    assert 0.55 < (figures["recall@5"] or 0) < 0.75

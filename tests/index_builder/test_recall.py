"""Recall against a brute force that knows no arrays, and on the real sets."""

import dataclasses
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.build import Recipe, build_bundle, write_bundle
from index_builder.bundle import Bundle, open_bundle
from index_builder.embedding.hashed_words import HashedWords
from index_builder.hybrid import HybridSearch
from index_builder.recall import recall_figures, recall_table
from index_builder.records import Dataset, Passage, Question


def by_hand(ranked: list[list[int]], gold: list[set[int]]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for k in (5, 10, 50):
        shares = [len(own & set(row[:k])) / len(own) for row, own in zip(ranked, gold, strict=True)]
        figures[f"recall@{k}"] = sum(shares) / len(shares)
    figures["any@5"] = sum(bool(own & set(row[:5])) for row, own in zip(ranked, gold, strict=True)) / len(
        gold
    )
    figures["all@5"] = sum(own <= set(row[:5]) for row, own in zip(ranked, gold, strict=True)) / len(gold)
    return figures


@given(st.data())
def test_figures_are_those_of_a_brute_force(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    rows = [data.draw(st.lists(st.integers(0, 80), unique=True, max_size=50)) for _ in range(count)]
    gold = [data.draw(st.sets(st.integers(0, 80), min_size=1, max_size=6)) for _ in range(count)]
    ranked = np.array([row + [-1] * (50 - len(row)) for row in rows])
    assert recall_figures(ranked, gold) == pytest.approx(by_hand(rows, gold))


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
    assert set(table) == {"n_questions", "bm25", "dense", "hybrid"}
    names: tuple[Literal["bm25", "dense", "hybrid"], ...] = ("bm25", "dense", "hybrid")
    for name in names:
        search = HybridSearch(bundle, retriever=name, k=50, depth=100)
        ranked = [[hit.chunk_id for hit in search.search_batch([question.question])[0]] for question in known]
        gold = [set(question.gold_chunks or ()) for question in known]
        number = {chunk.chunk_id: place for place, chunk in enumerate(bundle.chunks)}
        expected = by_hand(
            [[number[name] for name in row] for row in ranked],
            [{number[name] for name in own} for own in gold],
        )
        assert table[name] == pytest.approx(expected)


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
def test_bm25_on_the_real_sets_finds_what_it_found_when_measured_apart(
    tmp_path: Path, shared_data: Path, kind: str, source: str, at_5: float, at_50: float
) -> None:
    """Measured with a script of its own on the same corpora: separate reading, matching and counting."""
    corpus = shared_data / "corpus" / f"{Path(source).stem}_corpus.json"
    build_bundle(kind, shared_data / source, corpus, "passage", None, tmp_path / "b", 7, lambda *_: None)
    bundle = open_bundle(tmp_path / "b", verify_hashes=True)
    figures = recall_table(bundle)["bm25"]
    assert isinstance(figures, dict)
    assert figures["recall@5"] == pytest.approx(at_5, abs=0.005)
    assert figures["recall@50"] == pytest.approx(at_50, abs=0.005)


def test_packing_in_shuffled_order_does_not_leak_gold_together(tmp_path: Path, shared_data: Path) -> None:
    source, corpus = (
        shared_data / "2wikimultihopqa.json",
        shared_data / "corpus" / "2wikimultihopqa_corpus.json",
    )
    build_bundle("two_wiki", source, corpus, "packed:1000", None, tmp_path / "b", 7, lambda *_: None)
    figures = recall_table(open_bundle(tmp_path / "b", verify_hashes=True))["bm25"]
    assert isinstance(figures, dict)
    # 0.93 when packed in corpus order, where a question's passages are neighbours.
    assert 0.55 < (figures["recall@5"] or 0) < 0.75

"""How vectors are settled by their number, and opened as they were settled."""

from pathlib import Path

import numpy as np
import pytest

from index_builder.errors import EmbeddingError
from index_builder.vectors import ExactVectors, VectorFacts, Vectors, choice, open_vectors, settle_vectors
from tests.index_builder.vectors.test_exact import unit

NOT_ASKED = np.empty((0, 16), dtype=np.float32)


def settled(folder: Path, queries: Vectors) -> VectorFacts:
    return settle_vectors(folder / "part.npy", folder, lambda: queries, lambda *_: None)


def test_few_vectors_are_moved_and_searched_exactly(tmp_path: Path) -> None:
    vectors = unit(300, 16, 1)
    np.save(tmp_path / "part.npy", vectors)
    facts = settled(tmp_path, NOT_ASKED)
    assert (facts.kind, facts.file, facts.recall_at_50) == ("exact", "vectors.npy", None)
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.npy"]
    assert isinstance(open_vectors(tmp_path, facts), ExactVectors)


def test_many_vectors_become_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "crossover", lambda _: 299)
    vectors = unit(300, 16, 1)
    np.save(tmp_path / "part.npy", vectors)
    facts = settled(tmp_path, vectors)
    assert (facts.kind, facts.crossover) == ("usearch", 299)
    assert facts.recall_at_50 is not None
    assert facts.recall_at_50 >= 0.98
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.usearch"]
    ids, _ = open_vectors(tmp_path, facts).search_batch(vectors, 1)
    assert ids[:, 0].tolist() == list(range(300))


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, 2.0])
def test_rows_that_are_not_of_length_one_are_refused_by_number(tmp_path: Path, bad: float) -> None:
    vectors = unit(300, 16, 1)
    vectors[123] *= bad
    np.save(tmp_path / "part.npy", vectors)
    with pytest.raises(EmbeddingError, match="vector 123 has length"):
        settled(tmp_path, NOT_ASKED)


@pytest.mark.parametrize(("wanted", "expansion"), [(0.5, 64), (1.1, 256)])
def test_the_least_expansion_that_finds_enough_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: float, expansion: int
) -> None:
    monkeypatch.setattr(choice, "crossover", lambda _: 299)
    monkeypatch.setattr(choice, "EXPANSIONS", (64, 128, 256))
    monkeypatch.setattr(choice, "AIMED_RECALL", wanted)
    np.save(tmp_path / "part.npy", unit(1500, 64, 1))
    facts = settled(tmp_path, unit(40, 64, 2))
    assert facts.expansion == expansion
    assert facts.recall_at_50 is not None
    assert facts.recall_at_50 >= 0.5
    assert facts.recall_queries == 40


def test_a_graph_that_finds_too_little_is_kept_at_the_largest_expansion_and_its_recall_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of equal rows a graph reaches a part, and exact search has others."""
    monkeypatch.setattr(choice, "crossover", lambda _: 299)
    monkeypatch.setattr(choice, "EXPANSIONS", (50, 60))
    np.save(tmp_path / "part.npy", np.repeat(unit(1, 16, 1), 2000, axis=0))
    facts = settled(tmp_path, unit(40, 16, 2))
    assert facts.expansion == 60
    assert facts.recall_at_50 is not None
    assert facts.recall_at_50 < 0.98


def test_the_recall_told_is_what_the_given_queries_find_beside_a_sort_of_all_products(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "crossover", lambda _: 299)
    monkeypatch.setattr(choice, "EXPANSIONS", (50,))
    vectors, queries = unit(4000, 96, 1), unit(20, 96, 2)
    np.save(tmp_path / "part.npy", vectors)
    facts = settled(tmp_path, queries)
    found, _ = open_vectors(tmp_path, facts).search_batch(queries, 50)
    nearest = np.argsort(-(queries.astype(np.float64) @ vectors.T.astype(np.float64)), axis=1)[:, :50]
    share = np.mean([len(set(row) & set(true)) / 50 for row, true in zip(found, nearest, strict=True)])
    assert facts.recall_at_50 == pytest.approx(share, abs=1e-12)
    assert share < 1


def test_without_queries_the_largest_expansion_is_taken_and_no_recall_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "crossover", lambda _: 299)
    np.save(tmp_path / "part.npy", unit(300, 16, 1))
    facts = settled(tmp_path, NOT_ASKED)
    assert (facts.expansion, facts.recall_at_50, facts.recall_queries) == (512, None, 0)

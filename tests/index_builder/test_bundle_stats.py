"""The figures of a bundle."""

from pathlib import Path

import orjson

from index_builder.build import Recipe, write_bundle
from index_builder.bundle import open_bundle
from index_builder.bundle_stats import bundle_stats
from index_builder.embedding.hashed_words import HashedWords
from index_builder.records import Dataset, Passage


def test_figures_count_what_is_there(tmp_path: Path, dataset: Dataset) -> None:
    # Texts of 4, 5 and 8 bytes are 1, 2 and 2 tokens of four bytes.
    passages = (Passage("a", "four"), Passage("b", "fives"), Passage("c", "東京ab"))
    recipe = Recipe("hotpotqa", "passage", 7, HashedWords(), {})
    write_bundle(dataset, passages, recipe, tmp_path / "b", lambda *_: None)
    stats = bundle_stats(open_bundle(tmp_path / "b", verify_hashes=True))
    assert stats["n_chunks"] == 3
    assert stats["analyser"] == "english"
    assert stats["vectors"] == {
        "kind": "exact",
        "file": "vectors.npy",
        "crossover": 50_000 * 1024 // HashedWords.dimensions,
        "expansion": 0,
        "recall_at_50": None,
        "recall_queries": 0,
    }
    assert stats["chunk_tokens"] == {"min": 1.0, "median": 2.0, "mean": 5 / 3, "p95": 2.0, "max": 2.0}
    assert stats["questions_by_kind"] == {"bridge": 2, "comparison": 1}
    assert stats["questions_by_hops"] == {"1": 1, "2": 2}
    assert stats["n_known_gold"] == 0
    assert stats["unmatched_gold"] == [
        {"question_id": "q1", "title": "Ada Lovelace"},
        {"question_id": "q1", "title": "Charles Babbage"},
        {"question_id": "q2", "title": "Mercury (planet)"},
        {"question_id": "q2", "title": "Venus"},
    ]
    on_disk = (p for p in (tmp_path / "b").rglob("*") if p.is_file() and p.suffix != ".lock")
    assert stats["bytes"] == sum(p.stat().st_size for p in on_disk if p.name != "manifest.json")
    assert orjson.loads(orjson.dumps(stats)) == stats

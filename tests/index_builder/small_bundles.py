"""Bundles built of records, for tests."""

from pathlib import Path

from index_builder.build import BundleSummary, Recipe, write_bundle
from index_builder.embedding.embedder import Embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.records import Dataset, Passage


def silent(stage: str, done: int, total: int, detail: str) -> None:
    """A progress that shows nothing."""


def build(
    dataset: Dataset,
    out: Path,
    *,
    embedder: Embedder | None,
    chunking: str = "passage",
    seed: int = 7,
    vector_cache: Path | None = None,
) -> BundleSummary:
    recipe = Recipe("hotpotqa", chunking, seed, embedder, {}, vector_cache=vector_cache)
    return write_bundle(dataset, dataset.passages, recipe, out, silent)


def numbered(count: int) -> Dataset:
    """Passages that differ by a number."""
    return Dataset((), tuple(Passage(f"T{n}", f"text {n} word{n}") for n in range(count)), {})


def build_numbered(out: Path, count: int = 50) -> BundleSummary:
    return build(numbered(count), out, embedder=HashedWords())

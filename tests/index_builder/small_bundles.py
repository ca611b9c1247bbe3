"""Bundles built of records, for tests."""

from pathlib import Path

from index_builder.build import BundleSummary, Recipe, write_bundle
from index_builder.embedding.embedder import Embedder
from index_builder.records import Dataset


def silent(stage: str, done: int, total: int, detail: str) -> None:
    """A progress that shows nothing."""


def build(
    dataset: Dataset, out: Path, *, embedder: Embedder | None, chunking: str = "passage", seed: int = 7
) -> BundleSummary:
    recipe = Recipe("hotpotqa", chunking, seed, embedder, {})
    return write_bundle(dataset, dataset.passages, recipe, out, silent)

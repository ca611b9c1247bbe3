"""A bundle opens as it was built, and every change is noticed and its file named."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from index_builder.bundle import open_bundle, verify_bundle
from index_builder.embedding.hashed_words import HashedWords
from index_builder.errors import BundleError
from index_builder.manifest import write_manifest
from index_builder.records import Dataset
from tests.index_builder.small_bundles import build


def test_a_flipped_byte_in_any_file_is_noticed_and_the_file_named(tmp_path: Path, dataset: Dataset) -> None:
    build(dataset, tmp_path / "b", embedder=HashedWords())
    luck = np.random.default_rng(1)
    for path in sorted(p for p in (tmp_path / "b").rglob("*") if p.is_file()):
        whole = path.read_bytes()
        for at in {0, len(whole) - 1, *luck.integers(len(whole), size=12).tolist()}:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << int(luck.integers(8))]) + whole[at + 1 :])
            with pytest.raises(BundleError, match=path.name):
                open_bundle(tmp_path / "b", verify_hashes=True)
        path.write_bytes(whole)
    verify_bundle(tmp_path / "b")


def test_a_file_that_is_missing_or_shorter_is_noticed_without_hashing(
    tmp_path: Path, dataset: Dataset
) -> None:
    build(dataset, tmp_path / "b", embedder=HashedWords())
    path = tmp_path / "b" / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BundleError, match=r"vectors\.npy was altered"):
        open_bundle(tmp_path / "b", verify_hashes=False)
    path.unlink()
    with pytest.raises(BundleError, match=r"vectors\.npy is missing"):
        open_bundle(tmp_path / "b", verify_hashes=False)


def test_opening_alters_no_file(tmp_path: Path, dataset: Dataset) -> None:
    build(dataset, tmp_path / "b", embedder=HashedWords())
    for _ in range(2):
        open_bundle(tmp_path / "b", verify_hashes=True).lexical.search("Engine", 3)


class OtherModel(HashedWords):
    """The same name with other files."""

    files: Mapping[str, str] = MappingProxyType({"model.onnx": "0" * 64})


def test_vectors_of_another_model_than_is_installed_are_not_searched(
    tmp_path: Path, dataset: Dataset
) -> None:
    build(dataset, tmp_path / "b", embedder=OtherModel())
    with pytest.raises(BundleError, match="other files of hashed_words"):
        _ = open_bundle(tmp_path / "b", verify_hashes=True).embedder


def test_a_bundle_of_another_analyser_is_not_searched(tmp_path: Path, dataset: Dataset) -> None:
    manifest = build(dataset, tmp_path / "b", embedder=None).manifest
    write_manifest(tmp_path / "b", dataclasses.replace(manifest, analyser="german"))
    with pytest.raises(BundleError, match="'german'"):
        open_bundle(tmp_path / "b", verify_hashes=True)

"""A bundle opens as it was built, and every change is noticed and its file named."""

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import numpy as np
import pytest

from index_builder.build import Recipe, write_bundle
from index_builder.bundle import open_bundle, verify_bundle
from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.errors import BundleError, InputError
from index_builder.manifest import strangers, write_manifest
from index_builder.records import Dataset
from tests.index_builder.small_bundles import build, silent


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


class OtherModel(HashedWords):
    """The same name with other files."""

    files: Mapping[str, str] = MappingProxyType({"model.onnx": "0" * 64})


def test_vectors_of_another_model_than_is_installed_are_not_searched(
    tmp_path: Path, dataset: Dataset
) -> None:
    build(dataset, tmp_path / "b", embedder=OtherModel())
    with pytest.raises(BundleError, match=r"other files of hashed_words .*: model\.onnx; put those back"):
        _ = open_bundle(tmp_path / "b", verify_hashes=True).embedder


def test_a_bundle_of_qwen3_finds_its_model_from_the_working_directory_and_has_the_same_hash_for_any_place(
    tmp_path: Path, dataset: Dataset, tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny("fused")
    monkeypatch.chdir(tmp_path)
    here, there = open_embedder("qwen3:fused", 32), open_embedder(f"qwen3:{folder}", 32)
    one, two = build(dataset, Path("one"), embedder=here), build(dataset, Path("two"), embedder=there)
    assert (one.manifest.embedder_spec, one.manifest.dimensions) == ("qwen3:fused", 32)
    assert one.manifest.bundle_hash == two.manifest.bundle_hash
    bundle = open_bundle(Path("one"), verify_hashes=True)
    assert bundle.embedder is here
    monkeypatch.chdir(folder)
    with pytest.raises(BundleError, match=rf"with qwen3:fused: {folder}/fused is no folder; put the model"):
        _ = open_bundle(tmp_path / "one", verify_hashes=True).embedder


def test_a_model_that_gives_fewer_dimensions_than_the_bundle_has_does_not_search_it(
    tmp_path: Path, dataset: Dataset, tiny: Callable[[str], Path]
) -> None:
    build(dataset, tmp_path / "b", embedder=open_embedder(f"qwen3:{tiny('fused')}"))
    manifest = open_bundle(tmp_path / "b", verify_hashes=True).manifest
    assert manifest.dimensions == 40
    bundle = open_bundle(tmp_path / "b", verify_hashes=True)
    other = dataclasses.replace(bundle, manifest=dataclasses.replace(manifest, dimensions=41))
    with pytest.raises(BundleError, match=r"with qwen3:.* gives vectors of 32 to 40 dimensions, not 41"):
        _ = other.embedder


def test_a_bundle_of_an_unknown_analyser_is_not_searched(tmp_path: Path, dataset: Dataset) -> None:
    manifest = build(dataset, tmp_path / "b", embedder=None).manifest
    write_manifest(tmp_path / "b", dataclasses.replace(manifest, analyser="german"))
    with pytest.raises(InputError, match="'german'; known: plain, english"):
        open_bundle(tmp_path / "b", verify_hashes=True)


def test_a_bundle_is_searched_with_the_analyser_it_was_built_with(tmp_path: Path, dataset: Dataset) -> None:
    for analyser, found in (("plain", 0), ("english", 2)):
        out = tmp_path / analyser
        recipe = Recipe("hotpotqa", "passage", 7, None, {}, analyser)
        write_bundle(dataset, dataset.passages, recipe, out, silent)
        # Two passages speak of an "Engine"; only the stemmer makes "engines" the same word.
        assert len(open_bundle(out, verify_hashes=True).lexical.search("engines", 5)[0]) == found


def test_files_that_are_not_those_the_manifest_tells_of_are_refused(tmp_path: Path, dataset: Dataset) -> None:
    manifest = build(dataset, tmp_path / "b", embedder=HashedWords()).manifest
    write_manifest(tmp_path / "b", dataclasses.replace(manifest, n_chunks=7))
    with pytest.raises(BundleError, match="b holds 6 chunks, not 7 as its manifest says"):
        open_bundle(tmp_path / "b", verify_hashes=False)
    write_manifest(tmp_path / "b", dataclasses.replace(manifest, dimensions=65))
    with pytest.raises(BundleError, match=r"shape \(6, 64\), not 6 of 65 dimensions as its manifest says"):
        open_bundle(tmp_path / "b", verify_hashes=False)


def test_a_line_that_is_no_question_is_refused_though_its_time_is_right(
    tmp_path: Path, dataset: Dataset
) -> None:
    manifest = build(dataset, tmp_path / "b", embedder=None).manifest
    path = tmp_path / "b" / "questions.jsonl"
    path.write_bytes(b"?" + path.read_bytes()[1:])
    os.utime(path, ns=(0, manifest.modified_ns["questions.jsonl"]))
    with pytest.raises(BundleError, match=r"questions\.jsonl holds a line that is no question"):
        open_bundle(tmp_path / "b", verify_hashes=False)


def test_a_copy_is_as_good_as_the_bundle_and_other_files_beside_it_do_not_matter(
    tmp_path: Path, dataset: Dataset
) -> None:
    manifest = build(dataset, tmp_path / "b", embedder=HashedWords()).manifest
    shutil.copytree(tmp_path / "b", tmp_path / "copy", copy_function=shutil.copyfile)
    (tmp_path / "copy" / "lexical" / "notes.txt").write_text("mine")
    (tmp_path / "copy" / "vectors.usearch").write_text("mine")
    for hashes in (False, True):
        bundle = open_bundle(tmp_path / "copy", verify_hashes=hashes)
        assert bundle.manifest == manifest
        assert bundle.lexical.search("Thames", 3)[0].tolist() == [2]
    assert strangers(tmp_path / "copy", manifest) == ["lexical/notes.txt", "vectors.usearch"]


SEARCHING = """
import os, sys
from pathlib import Path
from index_builder.build import Recipe, write_bundle
from index_builder.bundle import open_bundle
from index_builder.hybrid import HybridSearch

if os.getuid() == 0:
    os.setuid(65534)
for hashes in (True, False):
    search = HybridSearch(open_bundle(Path(sys.argv[1]), verify_hashes=hashes))
    print([hit.title for hit in search.search_batch(["Who designed the Analytical Engine in London?"])[0]])
    search.close()
"""


def test_several_processes_search_one_bundle_at_once_in_a_folder_none_of_them_may_write(
    dataset: Dataset,
) -> None:
    # Not in a folder of pytest's, into which only its owner can look.
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        out = Path(name, "b")
        build(dataset, out, embedder=HashedWords())
        before = {path: path.stat() for path in out.rglob("*")}
        for path in (out, *before):
            path.chmod(0o555 if path.is_dir() else 0o444)
        command = [sys.executable, "-c", SEARCHING, str(out)]
        readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        answers = {reader.communicate()[0] for reader in readers}
        assert [reader.returncode for reader in readers] == [0] * 4
        (told,) = answers
        first, second = told.splitlines()
        assert first == second
        assert first.startswith("['Charles Babbage', ")
        assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == {
            path: status.st_mtime_ns for path, status in before.items()
        }
        for path in (out, out / "lexical"):
            path.chmod(0o755)

"""A manifest comes back as it was written, or not at all."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from index_builder.errors import BundleError
from index_builder.manifest import (
    FORMAT,
    FileFacts,
    Manifest,
    UnmatchedGold,
    check_files,
    file_facts,
    files_below,
    read_manifest,
    write_manifest,
)
from index_builder.vectors import VectorFacts

MANIFEST = Manifest(
    format=FORMAT,
    dataset="musique",
    chunking="packed:1000",
    seed=7,
    analyser="english",
    embedder="none",
    embedder_spec="none",
    embedder_files={},
    dimensions=384,
    vectors=VectorFacts("usearch", "vectors.usearch", 7, 96, 0.99, 3),
    n_chunks=2,
    n_questions=1,
    n_known_gold=1,
    n_truncated=0,
    notes={"repaired": 1},
    unmatched_gold=(UnmatchedGold("q", "東京"),),
    sources={"s.jsonl": FileFacts("ab", 5)},
    files={},
    modified_ns={},
    bundle_hash="00ff",
)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path, MANIFEST)
    assert read_manifest(tmp_path) == MANIFEST


def test_a_file_is_known_by_sha256_and_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    # The published test vector of SHA-256 for "abc".
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_facts(tmp_path / "f") == FileFacts(expected, 3)


def test_files_are_listed_by_their_path_in_the_folder_and_without_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "lexical").mkdir()
    for name in ("b", "lexical/a", "manifest.json", "lexical/manifest.json"):
        (tmp_path / name).write_text(name)
    assert files_below(tmp_path) == ["b", "lexical/a", "lexical/manifest.json"]


def test_an_absent_folder_and_an_unfinished_bundle_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="absent does not exist"):
        read_manifest(tmp_path / "absent")
    with pytest.raises(BundleError, match="no finished bundle"):
        read_manifest(tmp_path)


def test_another_version_says_so(tmp_path: Path) -> None:
    write_manifest(tmp_path, MANIFEST)
    path = tmp_path / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"format": 2', b'"format": 9'))
    with pytest.raises(BundleError, match="format 9; this program reads 2: remove the folder"):
        read_manifest(tmp_path)


def without(key: str) -> Callable[[bytes], bytes]:
    def change(raw: bytes) -> bytes:
        tree = orjson.loads(raw)
        del tree[key]
        return orjson.dumps(tree)

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw[:-1],
        lambda raw: raw.replace(b" ", b"\t", 1),
        lambda raw: raw.replace(b'"n_chunks": 2', b'"n_chunks": 3'),
        lambda raw: raw.replace(b"musique", b"musiquf"),
        lambda _: b"",
        lambda _: b"[]",
        lambda _: b'{"format": 2}',
        without("manifest_sha256"),
        without("dataset"),
        without("format"),
    ],
)
def test_any_change_of_a_manifest_is_noticed(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    write_manifest(tmp_path, MANIFEST)
    path = tmp_path / "manifest.json"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(BundleError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def manifest_of(folder: Path) -> Manifest:
    names = files_below(folder)
    return dataclasses.replace(
        MANIFEST,
        files={name: file_facts(folder / name) for name in names},
        modified_ns={name: (folder / name).stat().st_mtime_ns for name in names},
    )


def test_a_file_with_the_size_and_time_it_had_is_believed_unless_hashes_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    manifest = manifest_of(tmp_path)
    path.write_bytes(b"abd")
    os.utime(path, ns=(0, manifest.modified_ns["f"]))
    check_files(tmp_path, manifest, hashes=False)
    with pytest.raises(BundleError, match="f was altered"):
        check_files(tmp_path, manifest, hashes=True)


@pytest.mark.parametrize("hashes", [True, False])
def test_a_file_with_another_time_is_hashed(tmp_path: Path, *, hashes: bool) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    manifest = manifest_of(tmp_path)
    os.utime(path, ns=(0, manifest.modified_ns["f"] - 1))  # as a copy or a clone has it
    check_files(tmp_path, manifest, hashes=hashes)
    path.write_bytes(b"abd")
    os.utime(path, ns=(0, manifest.modified_ns["f"] - 1))
    with pytest.raises(BundleError, match="f was altered"):
        check_files(tmp_path, manifest, hashes=hashes)

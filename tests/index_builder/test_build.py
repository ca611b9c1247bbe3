"""Bundles are built whole or not at all, and are the same for the same input."""

import dataclasses
import hashlib
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson
import pytest

from index_builder.build import Recipe, build_bundle, write_bundle
from index_builder.bundle import open_bundle, verify_bundle
from index_builder.datasets.corpus import REPEATED
from index_builder.embedding.hashed_words import HashedWords
from index_builder.embedding.pipeline import BLOCK
from index_builder.errors import BundleError, DatasetError, EmbeddingError, InputError
from index_builder.manifest import FileFacts
from index_builder.records import Dataset, Passage
from tests.index_builder.small_bundles import build, numbered, silent
from tests.index_builder.test_material import RECORD, TEXT


def test_a_bundle_holds_what_it_was_built_from(tmp_path: Path, dataset: Dataset) -> None:
    summary = build(dataset, tmp_path / "b", embedder=HashedWords())
    bundle = open_bundle(tmp_path / "b", verify_hashes=True)
    assert bundle.manifest == summary.manifest == verify_bundle(tmp_path / "b")
    assert [(chunk.title, chunk.text) for chunk in bundle.chunks] == [
        (p.title, p.text) for p in dataset.passages
    ]
    first, second, third = bundle.questions
    ids = [chunk.chunk_id for chunk in bundle.chunks]
    assert (first.question_id, first.question, first.answers) == (
        "q1",
        "Who designed the Analytical Engine?",
        ("Charles Babbage",),
    )
    assert [question.gold_chunks for question in (first, second, third)] == [tuple(ids[:2]), (ids[3],), None]
    texts = [f"{p.title}\n{p.text}" for p in dataset.passages]
    assert np.array_equal(np.load(tmp_path / "b" / "vectors.npy"), HashedWords().embed_documents(texts))


def test_the_manifest_counts_and_lists_what_matters(tmp_path: Path, dataset: Dataset) -> None:
    long = Passage("Long", "word " * 300)
    dataset = dataclasses.replace(dataset, passages=(*dataset.passages, long))
    manifest = build(dataset, tmp_path / "b", embedder=HashedWords()).manifest
    assert (manifest.n_chunks, manifest.n_questions, manifest.n_known_gold, manifest.n_truncated) == (
        7,
        3,
        2,
        1,
    )
    assert (manifest.embedder, manifest.dimensions, manifest.analyser) == ("hashed_words", 64, "english")
    assert manifest.notes == {"spaces removed": 2}
    assert [(gold.question_id, gold.title) for gold in manifest.unmatched_gold] == [("q2", "Venus")]
    on_disk = {p.relative_to(tmp_path / "b").as_posix() for p in (tmp_path / "b").rglob("*") if p.is_file()}
    assert set(manifest.files) == on_disk - {"manifest.json"}


def test_the_same_input_has_the_same_hash_wherever_and_whenever_it_is_built(
    tmp_path: Path, dataset: Dataset
) -> None:
    one = build(dataset, tmp_path / "one", embedder=HashedWords()).manifest
    two = build(dataset, tmp_path / "deep" / "two", embedder=HashedWords()).manifest
    assert one.bundle_hash == two.bundle_hash
    assert one.files["vectors.npy"] == two.files["vectors.npy"]


def test_another_input_has_another_hash(tmp_path: Path, dataset: Dataset) -> None:
    edited = dataclasses.replace(dataset.questions[0], answers=("Ada",))
    variants = [
        build(dataset, tmp_path / "a", embedder=HashedWords()),
        build(dataset, tmp_path / "b", embedder=None),
        build(dataset, tmp_path / "c", embedder=HashedWords(), chunking="packed:30"),
        build(dataset, tmp_path / "d", embedder=HashedWords(), chunking="packed:30", seed=8),
        build(
            dataclasses.replace(dataset, questions=(edited, *dataset.questions[1:])),
            tmp_path / "e",
            embedder=HashedWords(),
        ),
        build(
            dataclasses.replace(dataset, passages=dataset.passages[:-1]),
            tmp_path / "f",
            embedder=HashedWords(),
        ),
    ]
    assert len({summary.manifest.bundle_hash for summary in variants}) == len(variants)


def test_gold_of_packed_chunks_is_the_chunk_that_holds_the_passage(tmp_path: Path, dataset: Dataset) -> None:
    build(dataset, tmp_path / "b", embedder=None, chunking="packed:40")
    bundle = open_bundle(tmp_path / "b", verify_hashes=True)
    gold = bundle.questions[1].gold_chunks or ()
    holding = [chunk.chunk_id for chunk in bundle.chunks if "smallest planet" in chunk.text]
    assert list(gold) == holding


def test_building_again_finds_the_same_bundle_and_writes_nothing(tmp_path: Path, dataset: Dataset) -> None:
    first = build(dataset, tmp_path / "b", embedder=HashedWords())
    before = (tmp_path / "b" / "manifest.json").stat().st_mtime_ns
    again = build(dataset, tmp_path / "b", embedder=HashedWords())
    assert (first.already_there, again.already_there) == (False, True)
    assert again.manifest == first.manifest
    assert (tmp_path / "b" / "manifest.json").stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_finished_bundle_of_other_content_is_never_overwritten(tmp_path: Path, dataset: Dataset) -> None:
    first = build(dataset, tmp_path / "b", embedder=HashedWords())
    with pytest.raises(BundleError, match=r"another bundle \(hotpotqa, passage, hashed_words"):
        build(dataset, tmp_path / "b", embedder=None)
    assert verify_bundle(tmp_path / "b") == first.manifest
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_building_over_a_damaged_bundle_says_what_is_wrong_with_it(tmp_path: Path, dataset: Dataset) -> None:
    build(dataset, tmp_path / "b", embedder=HashedWords())
    (tmp_path / "b" / "vectors.npy").write_bytes(b"")
    with pytest.raises(BundleError, match=r"vectors\.npy was altered"):
        build(dataset, tmp_path / "b", embedder=HashedWords())


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    (tmp_path / "file").write_text("")
    for name in ("thesis", "file"):
        with pytest.raises(InputError, match="is no bundle; choose another place"):
            build(dataset, tmp_path / name, embedder=None)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"


def test_an_empty_folder_may_become_a_bundle(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "b").mkdir()
    build(dataset, tmp_path / "b", embedder=None)
    verify_bundle(tmp_path / "b")


def test_a_corpus_without_passages_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    with pytest.raises(InputError, match="no passage"):
        build(dataclasses.replace(dataset, passages=()), tmp_path / "b", embedder=None)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_corpus_leaves_nothing_behind(tmp_path: Path) -> None:
    source, corpus = tmp_path / "absent.json", tmp_path / "nowhere.json"
    with pytest.raises(DatasetError, match=r"nowhere\.json"):
        build_bundle("hotpotqa", source, corpus, "passage", None, tmp_path / "b", 0, silent)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "chunking", "word"), [("hotpot", "passage", "musique"), ("musique", "x", "packed")]
)
def test_settings_are_checked_before_any_file_is_read(
    tmp_path: Path, kind: str, chunking: str, word: str
) -> None:
    with pytest.raises(InputError, match=word):
        build_bundle(kind, tmp_path / "absent", None, chunking, None, tmp_path / "b", 0, silent)


def test_a_missing_source_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"absent\.json"):
        build_bundle("hotpotqa", tmp_path / "absent.json", None, "passage", None, tmp_path / "b", 0, silent)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_stage_by_stage(tmp_path: Path, dataset: Dataset) -> None:
    told: list[tuple[str, int, int, str]] = []
    recipe = Recipe("hotpotqa", "passage", 7, HashedWords(), {})
    write_bundle(dataset, dataset.passages, recipe, tmp_path / "b", lambda *step: told.append(step))
    assert [step[:3] for step in told] == [
        ("chunks", 6, 6),
        ("BM25", 0, 6),
        ("BM25", 6, 6),
        ("vectors", 6, 6),
    ]
    assert re.fullmatch(r"[\d,]+ tokens/s", told[-1][3])


class Counting(HashedWords):
    """Keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked += texts
        return super().embed_documents(texts)


def test_a_bundle_of_changed_passages_embeds_only_the_changed_and_is_as_without_a_cache(
    tmp_path: Path, dataset: Dataset
) -> None:
    cache = tmp_path / "v.sqlite"
    assert build(dataset, tmp_path / "a", embedder=HashedWords(), vector_cache=cache).cached_vectors == 0
    edited = dataclasses.replace(dataset, passages=(Passage("New", "text"), *dataset.passages[1:]))
    counting = Counting()
    cached = build(edited, tmp_path / "b", embedder=counting, vector_cache=cache)
    assert (cached.cached_vectors, counting.asked) == (5, ["New\ntext"])
    anew = build(edited, tmp_path / "c", embedder=HashedWords())
    assert cached.manifest.files == anew.manifest.files
    assert cached.manifest.bundle_hash == anew.manifest.bundle_hash


def test_chunks_that_another_chunking_leaves_as_they_are_are_not_embedded_again(tmp_path: Path) -> None:
    # A passage fills most of a chunk of 30 tokens, so that packing changes the two short ones alone.
    long = [Passage(f"T{number}", f"word{number} " * 25) for number in range(20)]
    dataset = Dataset((), (*long, Passage("", "one"), Passage("", "two")), {})
    counting, cache = Counting(), tmp_path / "v.sqlite"
    before = build(dataset, tmp_path / "a", embedder=counting, chunking="packed:30", vector_cache=cache)
    asked = len(counting.asked)
    after = build(dataset, tmp_path / "b", embedder=counting, chunking="packed:31", vector_cache=cache)
    assert (before.cached_vectors, asked) == (0, before.manifest.n_chunks)
    assert len(counting.asked) - asked == after.manifest.n_chunks - after.cached_vectors
    assert after.cached_vectors >= 18


def test_a_model_that_returns_nan_is_told_and_nothing_is_left(tmp_path: Path, dataset: Dataset) -> None:
    class Broken(HashedWords):
        def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            return super().embed_documents(texts) * np.float32("nan")

    with pytest.raises(EmbeddingError, match="text 1: the embedder hashed_words returned"):
        build(dataset, tmp_path / "b", embedder=Broken())
    assert list(tmp_path.iterdir()) == []


BUILDING = """
import os, signal, sys
from pathlib import Path
from index_builder.embedding.hashed_words import HashedWords
from tests.index_builder.small_bundles import build, numbered

class Fatal(HashedWords):
    def embed_documents(self, texts):
        if f"T{sys.argv[3]}\\n" in texts[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)

folder = Path(sys.argv[1])
build(numbered(600), folder / sys.argv[2], embedder=Fatal(), vector_cache=folder / "v.sqlite")
"""


def in_its_own_process(folder: Path, name: str, fatal: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-W", "ignore", "-c", BUILDING, str(folder), name, str(fatal)]
    return subprocess.Popen(command)


def test_a_killed_build_goes_on_with_the_vectors_it_had_made(tmp_path: Path) -> None:
    assert in_its_own_process(tmp_path, "b", fatal=500).wait() == -signal.SIGKILL
    made = build(numbered(600), tmp_path / "b", embedder=HashedWords(), vector_cache=tmp_path / "v.sqlite")
    # All blocks before that of the fatal text but the one under way.
    assert 500 - 2 * BLOCK <= made.cached_vectors <= 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "v.sqlite"]
    assert made.manifest.files == build(numbered(600), tmp_path / "c", embedder=HashedWords()).manifest.files


def test_two_builds_at_the_same_time_share_a_cache(tmp_path: Path) -> None:
    programs = [in_its_own_process(tmp_path, name, fatal=-1) for name in ("a", "b")]
    assert [program.wait() for program in programs] == [0, 0]
    one, two = (verify_bundle(tmp_path / name) for name in ("a", "b"))
    assert one.files == two.files
    again = build(numbered(600), tmp_path / "c", embedder=HashedWords(), vector_cache=tmp_path / "v.sqlite")
    assert again.cached_vectors == 600


def test_without_a_corpus_the_contexts_of_the_questions_are_searched(
    tmp_path: Path, shared_data: Path
) -> None:
    source = shared_data / "2wikimultihopqa.json"
    corpus = shared_data / "corpus" / "2wikimultihopqa_corpus.json"
    with_corpus = build_bundle(
        "two_wiki", source, corpus, "passage", None, tmp_path / "a", 7, silent
    ).manifest
    without = build_bundle("two_wiki", source, None, "passage", None, tmp_path / "b", 7, silent).manifest
    assert with_corpus.unmatched_gold == without.unmatched_gold == ()
    assert with_corpus.n_known_gold == with_corpus.n_questions == without.n_questions == 1000
    assert set(with_corpus.sources) == {f"source: {source.name}", f"corpus: {corpus.name}"}
    # The contexts hold one passage that the corpus file leaves out; it is nobody's gold.
    assert (with_corpus.n_chunks, without.n_chunks) == (6119, 6120)


def test_files_of_one_name_are_both_recorded(tmp_path: Path) -> None:
    paths = [tmp_path / role / "data.json" for role in ("source", "corpus")]
    for path, content in zip(paths, (RECORD, [{"title": "Ada", "text": TEXT}]), strict=True):
        path.parent.mkdir()
        path.write_bytes(orjson.dumps(content))
    made = build_bundle("musique", paths[0], paths[1], "passage", None, tmp_path / "a", 7, silent).manifest
    assert made.sources == {
        f"{path.parent.name}: data.json": FileFacts(
            hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size
        )
        for path in paths
    }


def test_passages_that_a_corpus_repeats_are_merged_and_counted(tmp_path: Path, shared_data: Path) -> None:
    source, corpus = shared_data / "musique.jsonl", shared_data / "corpus" / "musique_corpus.json"
    made = build_bundle("musique", source, corpus, "passage", None, tmp_path / "a", 7, silent).manifest
    # Two of the 11,656 passages differ from another in white space alone.
    assert (made.n_chunks, made.notes[REPEATED]) == (11_654, 2)

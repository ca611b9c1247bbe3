"""Building a bundle: from official files to a finished folder, whole or not at all.

A bundle is built in a hidden folder beside its own and takes its name when finished; a killed build leaves
nothing that looks like a bundle, and the next one goes on with the vectors it had finished.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from index_builder import manifest as manifests
from index_builder.chunk_store import ChunkStore, write_chunks
from index_builder.chunking import chunk_passages, gold_chunk_ids, indexed_text, missing_gold, packed_tokens
from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import distinct, passage_key, read_corpus
from index_builder.embedding.embedder import Embedder
from index_builder.errors import BundleError, DatasetError, InputError
from index_builder.lexical import ANALYSER, write_lexical
from index_builder.manifest import CHUNKS, LEXICAL, NO_EMBEDDER, QUESTIONS, VECTORS, Manifest, UnmatchedGold
from index_builder.records import Chunk, Dataset, IndexedQuestion, Passage, Progress
from index_builder.vectors import ROWS_AT_ONCE, Vectors, fill_vectors


@dataclass(frozen=True, slots=True)
class BundleSummary:
    """What a build did.

    Attributes:
        manifest: Of the bundle that now stands there.
        already_there: The same bundle stood there before; nothing was written.
        resumed_vectors: Vectors taken over from a build that was stopped.
    """

    path: Path
    manifest: Manifest
    already_there: bool
    resumed_vectors: int


def build_bundle(
    dataset_kind: str,
    source: Path,
    corpus: Path | None,
    chunking: str,
    embedder: Embedder | None,
    out: Path,
    seed: int,
    progress: Progress,
) -> BundleSummary:
    """Build a bundle from official files.

    Args:
        dataset_kind: A key of ``LOADERS``.
        source: The dataset file.
        corpus: The passages to search; absent = the distinct contexts of the questions.
        chunking: ``passage`` or ``packed:N``.
        embedder: Absent = BM25 only.
        out: The bundle's folder.
        seed: Of the shuffle before packing.
        progress: Called from time to time.

    Raises:
        InputError: When a setting or a file cannot be used, or another bundle stands at ``out``.
    """
    packed_tokens(chunking)
    if dataset_kind not in LOADERS:
        raise InputError(f"dataset is {dataset_kind!r}; known: {', '.join(sorted(LOADERS))}")
    if corpus is not None and not corpus.is_file():
        raise DatasetError(corpus, "file", "a corpus file that exists")
    _refuse_what_is_no_bundle(out)
    dataset = LOADERS[dataset_kind](source)
    notes = Counter(dataset.notes)
    passages = distinct(dataset.passages if corpus is None else read_corpus(corpus, notes), notes)
    sources = {path.name: manifests.file_facts(path) for path in (source, corpus) if path is not None}
    recipe = Recipe(dataset_kind, chunking, seed, embedder, sources)
    # The notes go on growing while the passages are read; the manifest is written after that.
    return write_bundle(replace(dataset, notes=notes), passages, recipe, out, progress)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a bundle is made of a dataset; attributes as in ``build_bundle`` and ``Manifest``."""

    dataset: str
    chunking: str
    seed: int
    embedder: Embedder | None
    sources: Mapping[str, manifests.FileFacts]

    @property
    def embedder_name(self) -> str:
        """The embedder's name, or ``none``."""
        return self.embedder.name if self.embedder else NO_EMBEDDER

    @property
    def embedder_files(self) -> dict[str, str]:
        """Name and sha256 of the files that decide the vectors."""
        return dict(self.embedder.files) if self.embedder else {}

    def identity(self, folder: Path) -> str:
        """The hash of the bundle whose chunks and questions stand in the folder."""
        return manifests.bundle_hash(
            folder,
            dataset=self.dataset,
            chunking=self.chunking,
            analyser=ANALYSER,
            embedder=self.embedder_name,
            embedder_files=self.embedder_files,
        )


def write_bundle(
    dataset: Dataset, passages: Iterable[Passage], recipe: Recipe, out: Path, progress: Progress
) -> BundleSummary:
    """Build a bundle from records; passages are distinct. Errors as ``build_bundle``."""
    _refuse_what_is_no_bundle(out)
    place = out.resolve()
    building = place.parent / f".{place.name}.building"
    questions, unmatched = _write_texts(building, dataset, passages, recipe, progress)
    identity = recipe.identity(building)
    if (out / manifests.FILE_NAME).exists():
        shutil.rmtree(building)
        return BundleSummary(out, _same_bundle(out, identity), already_there=True, resumed_vectors=0)
    store = ChunkStore(building / CHUNKS)
    _write_lexical(building, store, progress)
    truncated, resumed = _write_vectors(building, store, recipe.embedder, identity, progress)
    manifest = Manifest(
        format=manifests.FORMAT,
        dataset=recipe.dataset,
        chunking=recipe.chunking,
        seed=recipe.seed,
        analyser=ANALYSER,
        embedder=recipe.embedder_name,
        embedder_files=recipe.embedder_files,
        dimensions=recipe.embedder.dimensions if recipe.embedder else 0,
        n_chunks=len(store),
        n_questions=len(questions),
        n_known_gold=sum(bool(question.gold_chunks) for question in questions),
        n_truncated=truncated,
        notes=dict(dataset.notes),
        unmatched_gold=unmatched,
        sources=recipe.sources,
        files=dict(manifests.files_below(building)),
        bundle_hash=identity,
    )
    manifests.write_manifest(building, manifest)
    _finish(building, place)
    return BundleSummary(out, manifest, already_there=False, resumed_vectors=resumed)


def _refuse_what_is_no_bundle(out: Path) -> None:
    """Guard folders of other things: a bundle is put where nothing, or an empty folder, stands."""
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / manifests.FILE_NAME).exists()):
        raise InputError(f"{out} exists and is no bundle; choose another place for the bundle")


def _same_bundle(out: Path, identity: str) -> Manifest:
    manifest = manifests.read_manifest(out)
    if manifest.bundle_hash != identity:
        raise BundleError(
            f"{out} holds another bundle ({manifest.dataset}, {manifest.chunking}, {manifest.embedder}, "
            f"{manifest.bundle_hash[:12]}…), which is not overwritten; choose another place or remove it"
        )
    manifests.check_files(out, manifest, hashes=True)
    return manifest


def _write_texts(
    building: Path, dataset: Dataset, passages: Iterable[Passage], recipe: Recipe, progress: Progress
) -> tuple[list[IndexedQuestion], tuple[UnmatchedGold, ...]]:
    """Write chunks and questions; returns the questions and the gold that stands in no chunk."""
    goes_on = building.exists()
    building.mkdir(parents=True, exist_ok=True)
    try:
        index = _write_chunks(building / CHUNKS, passages, recipe, progress)
    except InputError:
        if not goes_on:
            shutil.rmtree(building)
        raise
    questions = [
        IndexedQuestion(
            question_id=question.question_id,
            question=question.text,
            answers=question.answers,
            kind=question.kind,
            hops=question.hops,
            gold_chunks=gold_chunk_ids(question, index),
        )
        for question in dataset.questions
    ]
    with (building / QUESTIONS).open("wb") as file:
        file.writelines(orjson.dumps(question, option=orjson.OPT_APPEND_NEWLINE) for question in questions)
    unmatched = tuple(
        UnmatchedGold(question.question_id, passage.title)
        for question in dataset.questions
        for passage in missing_gold(question, index)
    )
    return questions, unmatched


def _write_chunks(
    path: Path, passages: Iterable[Passage], recipe: Recipe, progress: Progress
) -> dict[bytes, str]:
    """Write chunks; returns the id of the chunk that holds each passage, by passage key."""
    index: dict[bytes, str] = {}

    def indexed() -> Iterator[Chunk]:
        for chunk, held in chunk_passages(passages, recipe.chunking, recipe.seed):
            index.update((passage_key(passage), chunk.chunk_id) for passage in held)
            yield chunk

    count = write_chunks(path, indexed())
    if not count:
        raise InputError("there is no passage to make a bundle of")
    progress("chunks", count, count, "")
    return index


def _write_lexical(building: Path, store: ChunkStore, progress: Progress) -> None:
    folder = building / LEXICAL
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    progress("BM25", 0, len(store), "")
    progress("BM25", write_lexical(folder, store), len(store), "")


def _write_vectors(
    building: Path, store: ChunkStore, embedder: Embedder | None, identity: str, progress: Progress
) -> tuple[int, int]:
    """Embed every chunk; returns how many were cut and how many vectors were there already."""
    unfinished = building / f"{identity}.part"
    for other in {*building.glob("*.part"), building / VECTORS} - {unfinished}:
        other.unlink(missing_ok=True)
    if embedder is None:
        return 0, 0

    def texts(start: int, stop: int) -> list[str]:
        return [indexed_text(store.at(ordinal)) for ordinal in range(start, stop)]

    def rows(start: int, stop: int) -> Vectors:
        return embedder.embed_documents(texts(start, stop))

    total = len(store)
    starts = range(0, total, ROWS_AT_ONCE)
    truncated = sum(
        embedder.count_truncated(texts(start, min(start + ROWS_AT_ONCE, total))) for start in starts
    )
    resumed = fill_vectors(
        unfinished, (total, embedder.dimensions), rows, lambda done: progress("vectors", done, total, "")
    )
    unfinished.rename(building / VECTORS)
    return truncated, resumed


def _finish(building: Path, out: Path) -> None:
    """Make sure all of it is on disk, then let it appear under its name."""
    for path in (*building.rglob("*"), building):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    building.rename(out)

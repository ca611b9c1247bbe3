"""Building a bundle: from official files to a finished folder, whole or not at all.

A bundle is built in a hidden folder beside its own and takes its name when finished; a killed build leaves
nothing that looks like a bundle, and the next one finds the vectors it had finished in the cache.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from index_builder import manifest as manifests
from index_builder.building_folder import building_folder, finish, usable_place
from index_builder.chunk_store import ChunkStore, write_chunks
from index_builder.chunking import ChunkOfPassages, chunk_passages, gold_chunk_ids, indexed_text, missing_gold
from index_builder.datasets.corpus import passage_key
from index_builder.embedding.embedder import Embedder
from index_builder.embedding.pipeline import Embedded, embed_corpus
from index_builder.embedding.vector_cache import VectorCache
from index_builder.errors import BundleError, InputError
from index_builder.lexical import DEFAULT_ANALYSER, check_analyser, write_lexical
from index_builder.manifest import LEXICAL, NO_EMBEDDER, QUESTIONS, Manifest, UnmatchedGold
from index_builder.material import read_material
from index_builder.records import Chunk, Dataset, IndexedQuestion, Passage, Progress
from index_builder.vectors import VectorFacts, settle_vectors

EMBEDDED = "embedded.npy"
# Of the questions whose vectors tell how far a graph has to be searched.
SAMPLED_QUESTIONS, SEED = 1000, 7
NOTHING_EMBEDDED = Embedded(n_truncated=0, n_cached=0, n_tokens=0)


@dataclass(frozen=True, slots=True)
class BundleSummary:
    """What a build did.

    Attributes:
        manifest: Of the bundle that now stands there.
        already_there: The same bundle stood there before; nothing was written.
        cached_vectors: Vectors that were made before, for a build that was stopped or another bundle.
    """

    path: Path
    manifest: Manifest
    already_there: bool
    cached_vectors: int


def build_bundle(
    dataset_kind: str,
    source: Path,
    corpus: Path | None,
    chunking: str | None,
    embedder: Embedder | None,
    out: Path,
    seed: int,
    progress: Progress,
    *,
    official: Path | None = None,
    analyser: str = DEFAULT_ANALYSER,
    vector_cache: Path | None = None,
) -> BundleSummary:
    """Build a bundle from files.

    Args:
        dataset_kind: One of ``KINDS``.
        source: The dataset file.
        corpus: The passages to search; absent = the distinct contexts of the questions.
        chunking: ``passage`` (where it is absent) or ``packed:N``; none for A-RAG's chunks.
        embedder: Absent = BM25 only.
        out: The bundle's folder.
        seed: Of the shuffle before packing.
        progress: Called from time to time.
        official: For A-RAG only: the official file of the set, which says what is gold.
        analyser: How BM25 takes text apart, one of ``ANALYSERS``.
        vector_cache: Where vectors are looked for and kept; absent = all are made.

    Raises:
        InputError: When a setting or a file cannot be used, or another bundle stands at ``out``.
    """
    check_analyser(analyser)
    _refuse_what_is_no_bundle(out)
    _refuse_a_cache_within(out, vector_cache)
    material = read_material(dataset_kind, source, corpus, official, chunking, seed)
    sources = {f"{role}: {path.name}": manifests.file_facts(path) for role, path in material.files.items()}
    recipe = Recipe(dataset_kind, material.chunking, seed, embedder, sources, analyser, vector_cache)
    return write_chunked(material.dataset, material.chunks, recipe, out, progress)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a bundle is made of a dataset; attributes as in ``build_bundle`` and ``Manifest``."""

    dataset: str
    chunking: str
    seed: int
    embedder: Embedder | None
    sources: Mapping[str, manifests.FileFacts]
    analyser: str = DEFAULT_ANALYSER
    vector_cache: Path | None = None

    @property
    def embedder_name(self) -> str:
        """The embedder's name, or ``none``."""
        return self.embedder.name if self.embedder else NO_EMBEDDER

    @property
    def embedder_files(self) -> dict[str, str]:
        """Name and sha256 of the files that decide the vectors."""
        return dict(self.embedder.files) if self.embedder else {}

    @property
    def dimensions(self) -> int:
        """Of the vectors; 0 without."""
        return self.embedder.dimensions if self.embedder else 0

    def identity(self, folder: Path) -> str:
        """The hash of the bundle whose chunks and questions stand in the folder."""
        return manifests.bundle_hash(
            folder,
            dataset=self.dataset,
            chunking=self.chunking,
            analyser=self.analyser,
            embedder=self.embedder_name,
            embedder_files=self.embedder_files,
            dimensions=self.dimensions,
        )


def write_bundle(
    dataset: Dataset, passages: Iterable[Passage], recipe: Recipe, out: Path, progress: Progress
) -> BundleSummary:
    """Build a bundle from records; passages are distinct. Errors as ``build_bundle``."""
    chunks = chunk_passages(passages, recipe.chunking, recipe.seed)
    return write_chunked(dataset, chunks, recipe, out, progress)


def write_chunked(
    dataset: Dataset, chunks: Iterable[ChunkOfPassages], recipe: Recipe, out: Path, progress: Progress
) -> BundleSummary:
    """Build a bundle from records and chunks, each with the passages it holds. Errors as ``build_bundle``."""
    _refuse_what_is_no_bundle(out)
    with building_folder(out) as building:
        questions, unmatched = _write_texts(building, dataset, chunks, progress)
        identity = recipe.identity(building)
        if (out / manifests.FILE_NAME).exists():
            return BundleSummary(out, _same_bundle(out, identity), already_there=True, cached_vectors=0)
        store = ChunkStore(building)
        with _vector_cache(recipe) as cache:
            _write_lexical(building, store, recipe.analyser, progress)
            embedded, vectors = _write_vectors(building, store, questions, recipe.embedder, cache, progress)
        files = manifests.files_below(building)
        manifest = Manifest(
            format=manifests.FORMAT,
            dataset=recipe.dataset,
            chunking=recipe.chunking,
            seed=recipe.seed,
            analyser=recipe.analyser,
            embedder=recipe.embedder_name,
            embedder_spec=recipe.embedder.spec if recipe.embedder else NO_EMBEDDER,
            embedder_files=recipe.embedder_files,
            dimensions=recipe.dimensions,
            vectors=vectors,
            n_chunks=len(store),
            n_questions=len(questions),
            n_known_gold=sum(bool(question.gold_chunks) for question in questions),
            n_truncated=embedded.n_truncated,
            notes=dict(dataset.notes),
            unmatched_gold=unmatched,
            sources=recipe.sources,
            files={name: manifests.file_facts(building / name) for name in files},
            modified_ns={name: (building / name).stat().st_mtime_ns for name in files},
            bundle_hash=identity,
        )
        manifests.write_manifest(building, manifest)
        finish(building, out)
    return BundleSummary(out, manifest, already_there=False, cached_vectors=embedded.n_cached)


def _refuse_what_is_no_bundle(out: Path) -> None:
    """Guard folders of other things: a bundle is put where nothing, or an empty folder, stands."""
    place = usable_place(out)
    if place.is_dir() and any(place.iterdir()) and not (place / manifests.FILE_NAME).exists():
        raise InputError(f"{out} exists and is no bundle; choose another place for the bundle")


def _refuse_a_cache_within(out: Path, vector_cache: Path | None) -> None:
    """Guard the cache: whatever stands where a bundle is built goes with it."""
    if vector_cache is None:
        return
    place, cache = usable_place(out), vector_cache.resolve()
    hidden = tuple(place.with_name(f".{place.name}.{end}") for end in ("building", "lock"))
    if not {place, *hidden}.isdisjoint((cache, *cache.parents)):
        raise InputError(
            f"the cache of vectors {vector_cache} would stand within the bundle; choose another place"
        )


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
    building: Path, dataset: Dataset, chunks: Iterable[ChunkOfPassages], progress: Progress
) -> tuple[list[IndexedQuestion], tuple[UnmatchedGold, ...]]:
    """Write chunks and questions; returns the questions and the gold that stands in no chunk."""
    gold = {passage_key(passage) for question in dataset.questions for passage in question.gold or ()}
    index: dict[bytes, list[str]] = {key: [] for key in gold}

    def indexed() -> Iterator[Chunk]:
        for chunk, held in chunks:
            for key in gold.intersection(map(passage_key, held)):
                index[key].append(chunk.chunk_id)
            yield chunk

    count = write_chunks(building, indexed())
    if not count:
        raise InputError("there is no passage to make a bundle of")
    progress("chunks", count, count, "")
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


def _write_lexical(building: Path, store: ChunkStore, analyser: str, progress: Progress) -> None:
    folder = building / LEXICAL
    folder.mkdir()
    progress("BM25", 0, len(store), "")
    progress("BM25", write_lexical(folder, store, analyser), len(store), "")


def _vector_cache(recipe: Recipe) -> AbstractContextManager[VectorCache | None]:
    if recipe.embedder is None or recipe.vector_cache is None:
        return nullcontext()
    return VectorCache(recipe.vector_cache)


def _write_vectors(
    building: Path,
    store: ChunkStore,
    questions: Sequence[IndexedQuestion],
    embedder: Embedder | None,
    cache: VectorCache | None,
    progress: Progress,
) -> tuple[Embedded, VectorFacts | None]:
    """Embed every chunk, and make what is searched of the vectors."""
    if embedder is None:
        return NOTHING_EMBEDDED, None

    def texts(start: int, stop: int) -> list[str]:
        return [indexed_text(store.at(ordinal)) for ordinal in range(start, stop)]

    def queries() -> npt.NDArray[np.float32]:
        sample = np.random.default_rng(SEED).permutation(len(questions))[:SAMPLED_QUESTIONS]
        return embedder.embed_queries([questions[place].question for place in np.sort(sample).tolist()])

    embedded = embed_corpus(texts, len(store), embedder, cache, building / EMBEDDED, progress)
    return embedded, settle_vectors(building / EMBEDDED, building, queries, progress)

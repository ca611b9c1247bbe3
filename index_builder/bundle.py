"""Bundles, opened: chunks, questions, BM25 index and vectors of a finished folder, checked as asked for."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from index_builder import manifest as manifests
from index_builder.chunk_store import ChunkStore
from index_builder.embedding.embedder import Embedder, open_embedder
from index_builder.errors import BundleError, InputError
from index_builder.lexical import LexicalIndex
from index_builder.manifest import LEXICAL, QUESTIONS, Manifest
from index_builder.records import IndexedQuestion
from index_builder.vectors import VectorIndex, open_vectors

QUESTION = TypeAdapter(IndexedQuestion)


@dataclass(frozen=True)
class Bundle:
    """An open bundle; ``vectors`` is None when it was built without an embedder."""

    path: Path
    manifest: Manifest
    chunks: ChunkStore
    questions: tuple[IndexedQuestion, ...]
    lexical: LexicalIndex
    vectors: VectorIndex | None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder its vectors were made with, loaded when first asked for.

        Raises:
            BundleError: When it is not where it was, or is another one now.
        """
        spec = self.manifest.embedder_spec
        try:
            embedder = open_embedder(spec, self.manifest.dimensions)
        except InputError as error:
            raise BundleError(f"{self.path} was embedded with {spec}: {error}") from error
        others = dict(embedder.files.items() ^ self.manifest.embedder_files.items())
        if others:
            raise BundleError(
                f"{self.path} was embedded with other files of {embedder.name} than {spec} has now: "
                f"{', '.join(sorted(others))}; put those back, or remove the bundle and build it again"
            )
        return embedder


def open_bundle(path: Path, *, verify_hashes: bool) -> Bundle:
    """Open a finished bundle.

    Args:
        path: Its folder.
        verify_hashes: Read every file and compare its hash; otherwise only those that have another time
            than when they were built. Sizes are compared either way.

    Raises:
        BundleError: When it is absent, unfinished, of another version, or altered; names the file.
        InputError: When its analyser is not known here.
    """
    manifest = manifests.read_manifest(path)
    manifests.check_files(path, manifest, hashes=verify_hashes)
    chunks = ChunkStore(path)
    vectors = None if manifest.vectors is None else open_vectors(path, manifest.vectors)
    if len(chunks) != manifest.n_chunks:
        raise BundleError(f"{path} holds {len(chunks)} chunks, not {manifest.n_chunks} as its manifest says")
    if vectors is not None and vectors.shape != (manifest.n_chunks, manifest.dimensions):
        raise BundleError(
            f"{path} holds vectors of shape {vectors.shape}, not {manifest.n_chunks} of "
            f"{manifest.dimensions} dimensions as its manifest says"
        )
    return Bundle(
        path=path,
        manifest=manifest,
        chunks=chunks,
        questions=_read_questions(path / QUESTIONS),
        lexical=LexicalIndex(path / LEXICAL, manifest.analyser),
        vectors=vectors,
    )


def verify_bundle(path: Path) -> Manifest:
    """Compare every file with its hash; the manifest when all is well, else ``BundleError``."""
    manifest = manifests.read_manifest(path)
    manifests.check_files(path, manifest, hashes=True)
    return manifest


def _read_questions(path: Path) -> tuple[IndexedQuestion, ...]:
    try:
        with path.open("rb") as lines:
            return tuple(QUESTION.validate_json(line) for line in lines)
    except ValueError as error:
        raise BundleError(f"{path} holds a line that is no question: {error}") from error

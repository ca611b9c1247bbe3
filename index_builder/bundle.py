"""Bundles, opened: chunks, questions, BM25 index and vectors of a finished folder, checked as asked for."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from index_builder import manifest as manifests
from index_builder.chunk_store import ChunkStore
from index_builder.embedding.embedder import Embedder, open_embedder
from index_builder.errors import BundleError
from index_builder.lexical import ANALYSER, LexicalIndex
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
        """The embedder its vectors were made with, loaded when first asked for."""
        embedder = open_embedder(self.manifest.embedder)
        if dict(embedder.files) != dict(self.manifest.embedder_files):
            raise BundleError(
                f"{self.path} was embedded with other files of {embedder.name} than are installed"
            )
        return embedder


def open_bundle(path: Path, *, verify_hashes: bool) -> Bundle:
    """Open a finished bundle.

    Args:
        path: Its folder.
        verify_hashes: Read every file and compare its hash; sizes are compared either way.

    Raises:
        BundleError: When it is absent, unfinished, of another version, or altered; names the file.
    """
    manifest = manifests.read_manifest(path)
    manifests.check_files(path, manifest, hashes=verify_hashes)
    if manifest.analyser != ANALYSER:
        raise BundleError(
            f"{path} was indexed with the analyser {manifest.analyser!r}, which is not known here"
        )
    with (path / QUESTIONS).open("rb") as lines:
        questions = tuple(QUESTION.validate_json(line) for line in lines)
    return Bundle(
        path=path,
        manifest=manifest,
        chunks=ChunkStore(path),
        questions=questions,
        lexical=LexicalIndex(path / LEXICAL),
        vectors=None if manifest.vectors is None else open_vectors(path, manifest.vectors),
    )


def verify_bundle(path: Path) -> Manifest:
    """Compare every file with its hash; the manifest when all is well, else ``BundleError``."""
    manifest = manifests.read_manifest(path)
    manifests.check_files(path, manifest, hashes=True)
    return manifest

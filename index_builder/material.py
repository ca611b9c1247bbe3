"""What a bundle is made of: the user's files, read into questions and chunks, whichever set they are of."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from index_builder.chunking import ChunkOfPassages, chunk_passages, packed_tokens
from index_builder.datasets import ARAG, KINDS, LOADERS, arag
from index_builder.datasets.corpus import distinct, read_corpus
from index_builder.errors import DatasetError, InputError
from index_builder.records import Dataset

PASSAGE, AS_GIVEN = "passage", "given"


@dataclass(frozen=True, slots=True)
class Material:
    """Questions, and the chunks to search.

    Attributes:
        dataset: Its notes go on growing while the chunks are read.
        chunks: To be read once; each with the passages it holds, or of these the gold ones.
        chunking: ``passage``, ``packed:N``, or ``given`` for chunks that come packed.
        files: What was read, by role.
    """

    dataset: Dataset
    chunks: Iterable[ChunkOfPassages]
    chunking: str
    files: Mapping[str, Path]


def read_material(
    kind: str, source: Path, corpus: Path | None, official: Path | None, chunking: str | None, seed: int
) -> Material:
    """Read the files of a set.

    Args:
        kind: One of ``KINDS``.
        source: The dataset file.
        corpus: The passages to search, absent = the distinct contexts of the questions; A-RAG's chunks.
        official: For A-RAG only: the official file of the set, which says what is gold.
        chunking: ``passage`` (where it is absent) or ``packed:N``; none for A-RAG's chunks.
        seed: Of the shuffle before packing.

    Raises:
        InputError: When a setting or a file cannot be used.
    """
    if kind not in KINDS:
        raise InputError(f"dataset is {kind!r}; known: {', '.join(KINDS)}")
    if kind == ARAG:
        return _of_arag(source, corpus, official, chunking)
    if official is not None:
        raise InputError(f"an official file belongs to A-RAG's questions only; {kind} is official itself")
    if corpus is not None and not corpus.is_file():
        raise DatasetError(corpus, "file", "a corpus file that exists")
    chosen = PASSAGE if chunking is None else chunking
    packed_tokens(chosen)
    dataset = LOADERS[kind](source)
    notes = Counter(dataset.notes)
    passages = distinct(dataset.passages if corpus is None else read_corpus(corpus, notes), notes)
    files = _by_role(source, corpus)
    return Material(replace(dataset, notes=notes), chunk_passages(passages, chosen, seed), chosen, files)


def _of_arag(source: Path, corpus: Path | None, official: Path | None, chunking: str | None) -> Material:
    if chunking is not None:
        raise InputError(f"chunking is {chunking!r}, but A-RAG's chunks come packed: leave it out")
    if corpus is None:
        raise InputError("A-RAG's questions hold no passages: its chunks.json must be given as the corpus")
    packed = arag.load(source, corpus, official)
    return Material(packed.dataset, packed.chunks, AS_GIVEN, _by_role(source, corpus, official))


def _by_role(source: Path, corpus: Path | None, official: Path | None = None) -> dict[str, Path]:
    given = {"source": source, "corpus": corpus, "official": official}
    return {role: path for role, path in given.items() if path is not None}

"""What an embedder is, and how one is opened by what commands and manifests call it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from index_builder.embedding.hashed_words import HashedWords
from index_builder.embedding.minilm import MiniLM, minilm
from index_builder.embedding.qwen3 import Qwen3, qwen3
from index_builder.errors import InputError


class Embedder(Protocol):
    """Text to unit vectors, in the calling thread; several threads may call at the same time.

    The vector of a text never depends on the texts beside it.
    """

    @property
    def name(self) -> str:
        """Which model it is, wherever its files stand."""
        ...

    @property
    def spec(self) -> str:
        """How ``open_embedder`` opens it again."""
        ...

    @property
    def dimensions(self) -> int:
        """Of its vectors."""
        ...

    @property
    def max_tokens(self) -> int:
        """Where a text is cut."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """Name and sha256 of the files that decide its vectors."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit rows [texts, dimensions]."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit rows [texts, dimensions]; any text is a query."""
        ...

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each of the texts has as a document, before it is cut."""
        ...


MODELS: Mapping[str, Callable[[], Embedder]] = MappingProxyType(
    {MiniLM.name: minilm, HashedWords.name: HashedWords}
)
"""Models without a choice of files and dimensions."""


def open_embedder(spec: str, dimensions: int | None = None) -> Embedder:
    """Open an embedder, once a process.

    Args:
        spec: ``minilm``, or ``qwen3:`` and the folder it stands in, seen from the working directory.
        dimensions: How many its vectors shall have; absent = as many as the model gives.

    Raises:
        InputError: When the spec is not known, the model is not there, or it has other dimensions.
    """
    kind, _, folder = spec.partition(":")
    if kind == Qwen3.name and folder:
        if not Path(folder).is_dir():
            raise InputError(
                f"{Path(folder).absolute()} is no folder; put the model of {spec}, or a link, there"
            )
        return _qwen3(Path(folder), dimensions)
    if spec not in MODELS:
        raise InputError(f"embedder is {spec!r}; known: minilm, qwen3:DIR, or none")
    embedder = _model(spec)
    if dimensions not in {None, embedder.dimensions}:
        raise InputError(f"{spec} gives vectors of {embedder.dimensions} dimensions, not {dimensions}")
    return embedder


@cache
def _model(name: str) -> Embedder:
    return MODELS[name]()


@cache
def _qwen3(folder: Path, dimensions: int | None) -> Embedder:
    return qwen3(folder, dimensions)

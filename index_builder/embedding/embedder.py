"""What an embedder is, and how one is opened by its name."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from index_builder.embedding.hashed_words import HashedWords
from index_builder.embedding.minilm import minilm
from index_builder.errors import InputError


class Embedder(Protocol):
    """Text to unit vectors; those of one text never depend on the texts beside it. Thread-safe."""

    @property
    def name(self) -> str:
        """What commands and manifests call it."""
        ...

    @property
    def dimensions(self) -> int:
        """Of its vectors."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """Name and sha256 of the files that decide its vectors."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit rows [texts, dimensions]."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit rows [texts, dimensions], in the calling thread; any text is a query."""
        ...

    def count_truncated(self, texts: Sequence[str]) -> int:
        """How many of the texts are too long to be embedded whole."""
        ...


EMBEDDERS: Mapping[str, Callable[[], Embedder]] = MappingProxyType(
    {"minilm": minilm, HashedWords.name: HashedWords}
)


@cache
def open_embedder(name: str) -> Embedder:
    """The embedder of that name, loaded once a process; ``InputError`` for a name that is not known."""
    if name not in EMBEDDERS:
        raise InputError(f"embedder is {name!r}; known: {', '.join(sorted(EMBEDDERS))}, or none")
    return EMBEDDERS[name]()

"""A fake embedder for tests: hashed words instead of a model, instant and without any file.

Texts that share words get near vectors, which is all that tests of search and bundles need.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from index_builder.embedding.pooling import unit_rows

WORD = re.compile(r"\w+")


class HashedWords:
    """Each word adds one to the dimension its checksum picks; the first dimension is always there."""

    name = spec = "hashed_words"
    dimensions = 64
    max_tokens = 200
    files: Mapping[str, str] = MappingProxyType({})

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit rows of the first 200 words of each text."""
        counts = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        counts[:, 0] = 1
        for row, text in enumerate(texts):
            for word in WORD.findall(text.casefold())[: self.max_tokens]:
                counts[row, zlib.crc32(word.encode()) % self.dimensions] += 1
        return unit_rows(counts, self.dimensions)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """As documents."""
        return self.embed_documents(texts)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """How many words each text has."""
        return [len(WORD.findall(text)) for text in texts]

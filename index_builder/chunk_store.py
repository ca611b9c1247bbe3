"""The chunks of a bundle: a file of JSON lines, mapped into memory and read one line at a time.

Only the place of each line and the ordinal of each id are held; texts stay on disk until asked for.
"""

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import orjson

from index_builder.errors import BundleError
from index_builder.records import Chunk

NEWLINE = b"\n"


def write_chunks(path: Path, chunks: Iterable[Chunk]) -> int:
    """Write chunks in their order, one a line; returns how many."""
    count = 0
    with path.open("wb") as file:
        for chunk in chunks:
            file.write(orjson.dumps(chunk, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
    return count


class ChunkStore:
    """Chunks by ordinal and by id; safe to read from several threads."""

    def __init__(self, path: Path) -> None:
        """Open what ``write_chunks`` wrote.

        Raises:
            BundleError: When the file is absent, empty, or holds a line that is no chunk.
        """
        self._path = path
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise BundleError(f"{path} cannot be read: {error}") from error
        ends = np.flatnonzero(np.frombuffer(self._bytes, dtype=np.uint8) == NEWLINE[0])
        self._starts = np.concatenate(([0], ends + 1))
        self._ordinals = {chunk.chunk_id: ordinal for ordinal, chunk in enumerate(self)}

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[Chunk]:
        return (self.at(ordinal) for ordinal in range(len(self)))

    def at(self, ordinal: int) -> Chunk:
        """The chunk of that ordinal, counted from 0."""
        line = self._bytes[self._starts[ordinal] : self._starts[ordinal + 1]]
        try:
            return Chunk(**orjson.loads(line))
        except (orjson.JSONDecodeError, TypeError) as error:
            raise BundleError(f"{self._path}, line {ordinal + 1}: expected a chunk: {error}") from error

    def by_id(self, chunk_id: str) -> Chunk | None:
        """The chunk of that id, or None when there is none."""
        ordinal = self._ordinals.get(chunk_id)
        return None if ordinal is None else self.at(ordinal)

    def ordinal(self, chunk_id: str) -> int:
        """The ordinal of an id that is known to exist."""
        return self._ordinals[chunk_id]

"""The chunks of a bundle: a file of JSON lines and two tables that find a line by ordinal and by id.

All three are mapped into memory, so that a million chunks are open at once and only what is read of them
is ever loaded. ``chunks.starts.npy`` holds where each line starts, and the file's length at its end.
``chunks.ids.npy`` holds the digests of all ids in rising order, and below them their ordinals.
"""

import hashlib
import mmap
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from index_builder.errors import BundleError, InputError
from index_builder.records import Chunk

LINES, STARTS, IDS = "chunks.jsonl", "chunks.starts.npy", "chunks.ids.npy"
ID_DIGEST_BYTES = 8


def write_chunks(folder: Path, chunks: Iterable[Chunk]) -> int:
    """Write chunks in their order, one a line, and the tables; returns how many.

    Raises:
        InputError: When two chunks have the same id.
    """
    starts, digests = array("q", [0]), array("Q")
    with (folder / LINES).open("wb") as file:
        for chunk in chunks:
            starts.append(starts[-1] + file.write(orjson.dumps(chunk, option=orjson.OPT_APPEND_NEWLINE)))
            digests.append(_digest(chunk.chunk_id))
    found = np.array(digests, dtype="<u8")
    order = np.argsort(found, kind="stable")
    np.save(folder / STARTS, np.array(starts, dtype="<i8"))
    np.save(folder / IDS, np.stack([found[order], order.astype("<u8")]))
    if digests:
        _refuse_repeated_ids(ChunkStore(folder), found[order], order)
    return len(digests)


class ChunkStore:
    """Chunks by ordinal and by id; safe to read from several threads."""

    def __init__(self, folder: Path) -> None:
        """Open what ``write_chunks`` wrote.

        Raises:
            BundleError: When a file is absent or empty, or they do not belong together.
        """
        self._path = folder / LINES
        try:
            with self._path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise BundleError(f"{self._path} cannot be read: {error}") from error
        self._starts = _table(folder / STARTS, "<i8", 1).data
        digests, ordinals = _table(folder / IDS, "<u8", 2)
        self._digests, self._ordinals = digests.data, ordinals.data
        if self._starts[-1] != len(self._bytes) or len(self._digests) != len(self):
            raise BundleError(f"{folder / STARTS} and {folder / IDS} are not the tables of {self._path}")

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
        found = self._find(chunk_id)
        return None if found is None else found[1]

    def ordinal(self, chunk_id: str) -> int:
        """The ordinal of an id; ``KeyError`` when there is none."""
        found = self._find(chunk_id)
        if found is None:
            raise KeyError(chunk_id)
        return found[0]

    def _find(self, chunk_id: str) -> tuple[int, Chunk] | None:
        digest = _digest(chunk_id)
        place = bisect_left(self._digests, digest)
        while place < len(self) and self._digests[place] == digest:
            chunk = self.at(self._ordinals[place])
            if chunk.chunk_id == chunk_id:
                return self._ordinals[place], chunk
            place += 1
        return None


def _digest(chunk_id: str) -> int:
    """Eight bytes that all but tell an id; the line says whose they are."""
    content = chunk_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=ID_DIGEST_BYTES).digest(), "little")


def _table(path: Path, kind: str, dimensions: int) -> npt.NDArray[np.integer]:
    """A table, mapped into memory."""
    try:
        table: npt.NDArray[np.integer] = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise BundleError(f"{path} cannot be read as a table of chunks: {error}") from error
    if table.dtype != np.dtype(kind) or table.ndim != dimensions or not table.size:
        raise BundleError(f"{path} is no table of chunks: it holds {table.dtype} of shape {table.shape}")
    return table


def _refuse_repeated_ids(
    store: ChunkStore, digests: npt.NDArray[np.uint64], ordinals: npt.NDArray[np.integer]
) -> None:
    """Compare the ids that share a digest; different ids may, though hardly ever do."""
    repeated = np.flatnonzero(digests[1:] == digests[:-1])
    lines: dict[str, int] = {}
    for ordinal in ordinals[np.union1d(repeated, repeated + 1)].tolist():
        chunk_id = store.at(ordinal).chunk_id
        if chunk_id in lines:
            raise InputError(
                f"the chunks {lines[chunk_id] + 1} and {ordinal + 1} have the same id {chunk_id!r}; "
                "ids must be distinct"
            )
        lines[chunk_id] = ordinal

"""Vectors that were made before, kept in one SQLite file, so that no text is embedded twice.

A vector is found by everything that decides it: the text, the model with its files, its dimensions and
where it cuts. What a killed process had stored is there for the next one; a crash of the machine loses at
most what was being stored. Several processes may share the file.
"""

import hashlib
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import orjson

from index_builder.building_folder import CHOOSE, MAKE_ROOM, storage_errors
from index_builder.embedding.embedder import Embedder
from index_builder.errors import InputError, StorageError

FILE_NAME = ".vectors.sqlite"
MARK = 0x52475631
"""Tells this kind of file, and its version, from other SQLite files."""
SECONDS_TO_WAIT = 60.0
DELETE = "delete it, and its vectors are made again"
FAULTS: Mapping[int, tuple[type[InputError], str]] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: (StorageError, MAKE_ROOM),
        sqlite3.SQLITE_IOERR: (StorageError, MAKE_ROOM),
        sqlite3.SQLITE_CANTOPEN: (StorageError, CHOOSE),
        sqlite3.SQLITE_READONLY: (StorageError, CHOOSE),
        sqlite3.SQLITE_BUSY: (InputError, "another process holds it: wait until that has ended"),
        sqlite3.SQLITE_CORRUPT: (InputError, DELETE),
        sqlite3.SQLITE_NOTADB: (InputError, "it is another kind of file: choose another place"),
        sqlite3.SQLITE_MISMATCH: (InputError, DELETE),
        sqlite3.SQLITE_CONSTRAINT: (InputError, DELETE),
        sqlite3.SQLITE_ERROR: (InputError, DELETE),  # of a damaged schema: the statements are fixed
    }
)
TOKENS, SEAL = struct.Struct("<I"), struct.Struct("<I")


@dataclass(frozen=True, slots=True, eq=False)
class TextVector:
    """What an embedder makes of a text.

    Attributes:
        tokens: Of the text, before it is cut.
        vector: Its unit row.
    """

    tokens: int
    vector: npt.NDArray[np.float32]


class VectorCache:
    """An open file; to be used, and closed, by the thread that opened it."""

    def __init__(self, path: Path) -> None:
        """Open the file, or begin it.

        Raises:
            InputError: When it is damaged, of another kind, or held by another process for a minute.
            StorageError: When there is none and none can be made there.
        """
        self._path = path
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with _told(path):
            self._db = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None)
            self._db.text_factory = bytes  # a damaged row may pass for text
            try:
                self._begin()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, TextVector]:
        """What is known of the keys; a damaged row is not.

        Raises:
            InputError: When the file is damaged.
        """
        with _told(self._path), self._db:
            self._db.execute("BEGIN")
            ask = "SELECT row FROM vectors WHERE key = ?"
            rows = [(key, row) for key in keys for (row,) in self._db.execute(ask, (key,))]
        return {key: _unsealed(row) for key, row in rows if _is_sealed(key, row)}

    def put(self, vectors: Mapping[bytes, TextVector]) -> None:
        """Store vectors: all of them, safe on disk, or none.

        Raises:
            StorageError: When there is no room for them, or the file cannot be written.
        """
        with _told(self._path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            rows = ((key, _sealed(key, vector)) for key, vector in vectors.items())
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def _begin(self) -> None:
        """Make the table in a file that is empty; refuse a file of another kind."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            ((mark,),) = self._db.execute("PRAGMA application_id")
            ((holds,),) = self._db.execute("SELECT count(*) FROM sqlite_schema")
            if not mark and not holds:
                self._db.execute(f"PRAGMA application_id = {MARK}")
                self._db.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL)")
            elif mark != MARK:
                raise InputError(f"{self._path} is no cache of vectors that this program made; {CHOOSE}")


def document_keys(embedder: Embedder) -> Callable[[str], bytes]:
    """Gives the key of a text's vector as a document."""
    decides = [embedder.name, dict(embedder.files), embedder.dimensions, embedder.max_tokens, "document"]
    begun = hashlib.sha256(orjson.dumps(decides, option=orjson.OPT_SORT_KEYS))

    def key(text: str) -> bytes:
        whole = begun.copy()
        whole.update(text.encode("utf-8", "surrogatepass"))
        return whole.digest()

    return key


def _sealed(key: bytes, vector: TextVector) -> bytes:
    """A row: tokens and vector, and a checksum over them and the key they belong to."""
    content = TOKENS.pack(vector.tokens) + vector.vector.astype("<f4").tobytes()
    return content + SEAL.pack(zlib.crc32(key + content))


def _is_sealed(key: bytes, row: object) -> bool:
    if not isinstance(row, bytes) or len(row) < TOKENS.size + SEAL.size:
        return False
    return SEAL.pack(zlib.crc32(key + row[: -SEAL.size])) == row[-SEAL.size :]


def _unsealed(row: bytes) -> TextVector:
    (tokens,) = TOKENS.unpack_from(row)
    vector = np.frombuffer(row[TOKENS.size : -SEAL.size], dtype="<f4").astype(np.float32, copy=False)
    return TextVector(tokens, vector)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of a foreseen fault which file it concerns and what to do."""
    try:
        yield
    except UnicodeDecodeError as error:  # what a damaged file makes SQLite say
        raise InputError(f"the cache of vectors {path} cannot be used: it is damaged; {DELETE}") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the detail in the upper bits
        if code not in FAULTS:
            raise
        kind, remedy = FAULTS[code]
        raise kind(f"the cache of vectors {path} cannot be used: {error}; {remedy}") from error

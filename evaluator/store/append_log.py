"""Append-only JSON lines with one writer: nothing that was appended is lost with the process.

``append`` returns once its line has been handed to the operating system, so the death of the process
loses no finished record. A thread syncs the file to the disk in groups, every ``GROUP_RECORDS`` lines
or ``GROUP_SECONDS``, so the death of the machine loses no more than that.
"""

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Self

import orjson

from evaluator.core.errors import RunFolderError

GROUP_RECORDS = 100
GROUP_SECONDS = 0.05
TAIL_BLOCK = 1 << 16
DEEPEST = 200
"""Levels of nesting that are kept; orjson writes no more than 254."""
LARGEST_INTEGER = (1 << 63) - 1


class AppendLog:
    """The one writer of a file of JSON lines; satisfies ``Sink``.

    Opening locks the file and repairs its tail: a last line without newline is completed when it
    parses, and cut otherwise.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise _cannot_write(path, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._size = _repair_tail(self._file)
        except OSError as error:
            os.close(self._file)
            raise _cannot_write(path, error) from error
        self._unsynced = 0
        self._closed = False
        self._failure: OSError | None = None
        self._wake = threading.Condition()
        self._syncer = threading.Thread(target=self._sync_in_groups, name=f"sync {path.name}", daemon=True)
        self._syncer.start()

    async def append(self, record: object) -> None:
        """Write one record as one line.

        Raises:
            RunFolderError: The disk is full, read-only or broken; the file ends in a whole line.
        """
        line = encode(record)
        if self._failure is not None:
            raise _cannot_write(self.path, self._failure) from self._failure
        try:
            _write_all(self._file, line)
        except OSError as error:
            self._failure = error
            os.ftruncate(self._file, self._size)
            raise _cannot_write(self.path, error) from error
        self._size += len(line)
        with self._wake:
            self._unsynced += 1
            if self._unsynced in {1, GROUP_RECORDS}:
                self._wake.notify()

    def close(self) -> None:
        """Sync what is left, end the thread, release the lock."""
        with self._wake:
            if self._closed:
                return
            self._closed = True
            self._wake.notify()
        self._syncer.join()
        os.close(self._file)
        if self._failure is not None:
            raise _cannot_write(self.path, self._failure) from self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _sync_in_groups(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._unsynced or self._closed)
                self._wake.wait_for(lambda: self._unsynced >= GROUP_RECORDS or self._closed, GROUP_SECONDS)
                closing, waiting, self._unsynced = self._closed, self._unsynced, 0
            if waiting:
                try:
                    os.fdatasync(self._file)
                except OSError as error:
                    self._failure = error
            if closing:
                return


def encode(record: object) -> bytes:
    """One record as one line of UTF-8 JSON, whatever text a model put into it."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a lone surrogate, an integer above 64 bits, or nesting without end
        return orjson.dumps(_writable(record, 0), option=orjson.OPT_APPEND_NEWLINE)


def read_lines(paths: Sequence[Path]) -> Iterator[bytes]:
    """The lines of several files in order, without their newlines; never touches a file.

    A last line without newline is given when it parses and left out otherwise: the writer may be at
    it, or have died at it.
    """
    return (line for path in paths for _, line in read_places(path))


def read_places(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of one file as ``read_lines`` gives them, each with the byte it begins at."""
    offset = 0
    try:
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield offset, line[:-1]
                elif _parses(line):
                    yield offset, line
                offset += len(line)
    except OSError as error:
        raise RunFolderError(f"cannot read {path}: {error.strerror}") from error


def _repair_tail(file: int) -> int:
    """Complete or cut a last line that has no newline; return the size of the file."""
    size = os.fstat(file).st_size
    start, tail = size, b""
    while start > 0 and b"\n" not in tail:
        step = min(TAIL_BLOCK, start)
        start -= step
        tail = os.pread(file, step, start) + tail
    torn = tail[tail.rfind(b"\n") + 1 :]
    if not torn:
        return size
    if _parses(torn):
        _write_all(file, b"\n")
        return size + 1
    os.ftruncate(file, size - len(torn))
    return size - len(torn)


def _parses(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _write_all(file: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(file, rest) :]


def _cannot_write(path: Path, error: OSError) -> RunFolderError:
    if isinstance(error, BlockingIOError):
        return RunFolderError(
            f"{path} is being written by another process; wait for it, or give another --out"
        )
    return RunFolderError(f"cannot write {path}: {error.strerror}; mend that and give the same command again")


def _writable(value: object, depth: int) -> object:
    """The value with what orjson refuses replaced: lone surrogates, huge integers, endless nesting."""
    if depth > DEEPEST:
        return "(nested too deeply)"
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return str(value)
    if is_dataclass(value):
        return {each.name: _writable(getattr(value, each.name), depth + 1) for each in fields(value)}
    if isinstance(value, Mapping):
        return {_writable(str(key), depth): _writable(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(inner, depth + 1) for inner in value]
    return value

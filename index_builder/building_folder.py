"""The hidden folder in which a bundle is built, beside its own place, until it is finished.

One build at a time holds it. What a killed build leaves there never looks finished, and the next build of
that bundle clears it away. The lock is the system's: it ends with its process, however that ends.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from index_builder.errors import InputError, StorageError

MAKE_ROOM = "make room there or choose another place, then give the same command again"
CHOOSE = "choose another place, or see to the rights of this one"
REMEDIES = MappingProxyType(
    {
        errno.ENOSPC: MAKE_ROOM,
        errno.EDQUOT: MAKE_ROOM,
        errno.EFBIG: MAKE_ROOM,
        errno.EACCES: CHOOSE,
        errno.EPERM: CHOOSE,
        errno.EROFS: CHOOSE,
        errno.ENOTDIR: CHOOSE,
        errno.EEXIST: CHOOSE,
        errno.ENOTEMPTY: CHOOSE,
        errno.ENAMETOOLONG: CHOOSE,
        errno.EISDIR: CHOOSE,
        errno.EBUSY: CHOOSE,
        errno.EXDEV: CHOOSE,
    }
)
"""What to do about a place that cannot be written; other faults are not foreseen."""


def usable_place(out: Path) -> Path:
    """Where a bundle is to stand, without links: a place that a finished folder can take.

    Raises:
        InputError: When it is the working directory, a mounted disk, no folder, or no path that can be.
    """
    try:
        str(out).encode()
        place = out.resolve()
    except UnicodeEncodeError as error:
        raise InputError(f"{str(out)!r} is no path in UTF-8; choose another name") from error
    except (OSError, RuntimeError) as error:
        raise InputError(f"{out} leads nowhere: {error}; choose another place") from error
    if place == Path.cwd():
        raise InputError(f"{str(out)!r} is the folder this command runs in; give the name of one inside it")
    if place.is_mount():
        raise InputError(f"{out} is where a disk is mounted; give the name of a folder inside it")
    if place.exists() and not place.is_dir():
        raise InputError(f"{out} exists and is no bundle; choose another place for the bundle")
    return place


@contextmanager
def building_folder(out: Path) -> Iterator[Path]:
    """An empty folder to build in, held by this process; gone afterwards unless ``finish`` moved it.

    Args:
        out: Where the bundle is to stand; the folders above it are made.

    Raises:
        InputError: When another process is building there, or the place cannot be used.
        StorageError: When the disk is full or the place cannot be written, now or while building.
    """
    place = usable_place(out)
    building = place.parent / f".{place.name}.building"
    with storage_errors(out):
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = place.parent / f".{place.name}.lock"
        with _held(lock, out):
            try:
                _clear(building)
                building.mkdir()
                yield building
            finally:
                _clear(building)
                lock.unlink()


def finish(building: Path, out: Path) -> None:
    """Make sure all of it is on disk, then let it appear under its name."""
    for path in (*building.rglob("*"), building):
        _sync(path)
    place = out.resolve()
    building.rename(place)
    _sync(place.parent)


@contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Say of a foreseen fault of the disk which place it concerns and what to do."""
    try:
        yield
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0)
        if remedy is None:
            raise
        raise StorageError(f"{place} cannot be written: {error.strerror}; {remedy}") from error


def _held(path: Path, out: Path) -> BinaryIO:
    """The lock file, locked; whoever holds it removes it at the end."""
    while True:
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise InputError(f"another process is building {out}; wait until it has ended") from error
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # whoever held it has just removed it


def _clear(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

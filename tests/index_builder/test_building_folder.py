"""A bundle is built whole or not at all, by one process at a time, whatever happens to it."""

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest

from index_builder.building_folder import CHOOSE, MAKE_ROOM, building_folder, finish, storage_errors
from index_builder.bundle import verify_bundle
from index_builder.errors import InputError, StorageError
from tests.index_builder.small_bundles import build_numbered

BUILDING = """
import os, resource, signal, sys
from pathlib import Path
from index_builder.errors import StorageError
from tests.index_builder.small_bundles import build_numbered
"""
"""Begins a program that builds a bundle in a process of its own."""

KILLED_AT_EVERY_STEP = """
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir"}

def killed(folder, fatal):
    '''Build in a process that kills itself before a step on the folder; whether it got that far.'''
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == signal.SIGKILL
    left = fatal
    def step(event, arguments):
        nonlocal left
        if event in STEPS and str(folder) in str(arguments[0]):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(step)
    build_numbered(folder / "b")
    os._exit(0)

fatal = 1
while killed(Path(sys.argv[1], f"step{fatal}."), fatal):
    fatal += 1
print(fatal)
"""

WITHOUT_ROOM = """
sizes = [int(word) for word in sys.argv[2:]]
for size in sizes:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        build_numbered(Path(sys.argv[1]))
    except StorageError as error:
        print(error)
"""

WITHOUT_RIGHTS = """
if os.getuid() == 0:
    os.setuid(65534)
try:
    build_numbered(Path(sys.argv[1]))
except StorageError as error:
    print(error)
"""


def run(program: str, *words: object) -> str:
    command = [sys.executable, "-W", "ignore", "-c", BUILDING + program, *map(str, words)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_build_killed_at_any_step_is_finished_or_absent_and_can_be_made_again(tmp_path: Path) -> None:
    fatal = int(run(KILLED_AT_EVERY_STEP, tmp_path))
    straight = build_numbered(tmp_path / "straight").manifest
    finished = 0
    for step in range(1, fatal + 1):
        out = tmp_path / f"step{step}." / "b"
        if out.exists():
            assert verify_bundle(out).files == straight.files
            finished += 1
        assert build_numbered(out).manifest.files == straight.files
        assert names(out.parent) == ["b"]
    # The last build was not killed at all; of the others only those that had given the bundle its name.
    assert fatal > 30
    assert 1 < finished < 6


def test_a_second_build_of_the_same_bundle_is_refused_and_does_not_disturb_the_first(tmp_path: Path) -> None:
    with building_folder(tmp_path / "b") as building:
        (building / "file").write_text("half")
        with pytest.raises(InputError, match=r"another process is building .*/b; wait"):
            build_numbered(tmp_path / "b")
        with building_folder(tmp_path / "other"):
            assert (building / "file").read_text() == "half"
        finish(building, tmp_path / "b")
    assert names(tmp_path) == ["b"]


def test_what_was_left_behind_is_cleared_away_and_what_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / ".b.building").mkdir()
    (tmp_path / ".b.building" / "old").touch()
    (tmp_path / ".b.lock").touch()
    with building_folder(tmp_path / "b") as building:
        assert names(building) == []
        (building / "new").touch()
    assert names(tmp_path) == []


def test_a_lock_that_was_removed_while_it_was_asked_for_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, flock = tmp_path / ".b.lock", fcntl.flock
    given: list[int] = []

    def slow(file: IO[bytes], operation: int) -> None:
        flock(file, operation)
        if not given:
            lock.unlink()  # as its holder does just before another one gets it
        given.append(os.fstat(file.fileno()).st_ino)

    monkeypatch.setattr(fcntl, "flock", slow)
    with building_folder(tmp_path / "b"):
        assert len(given) == 2
        assert lock.stat().st_ino == given[1]


def test_without_room_the_place_and_the_remedy_are_told_and_nothing_is_left(tmp_path: Path) -> None:
    # The system refuses files above a size, as it refuses any on a full disk; the last build has room.
    out = tmp_path / "b"
    told = run(WITHOUT_ROOM, out, 1_000, 3_000, 12_000, 10**9).splitlines()
    assert told == [f"{out} cannot be written: File too large; {MAKE_ROOM}"] * 3
    assert names(tmp_path) == ["b"]
    verify_bundle(out)


def test_a_folder_without_rights_is_named() -> None:
    # Not in a folder of pytest's, into which only its owner can look.
    with TemporaryDirectory() as name:
        Path(name).chmod(0o555)
        told = run(WITHOUT_RIGHTS, Path(name, "b"))
        assert told == f"{Path(name, 'b')} cannot be written: Permission denied; {CHOOSE}\n"
        assert names(Path(name)) == []


def test_a_file_in_the_way_is_a_reason_to_choose_another_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"file/deep/b cannot be written: Not a directory; choose another"):
        build_numbered(tmp_path / "file" / "deep" / "b")


def test_faults_that_are_not_of_the_place_pass_unchanged(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), storage_errors(tmp_path):
        raise BrokenPipeError(errno.EPIPE, "nobody reads the progress")

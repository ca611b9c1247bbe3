"""Vectors come back as they were stored, or not at all, whatever happens to the file."""

import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import numpy as np
import pytest

from index_builder.building_folder import CHOOSE, MAKE_ROOM
from index_builder.embedding import vector_cache
from index_builder.embedding.hashed_words import HashedWords
from index_builder.embedding.vector_cache import MARK, TextVector, VectorCache, document_keys
from index_builder.errors import InputError, StorageError


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def vectors(*numbers: int) -> dict[bytes, TextVector]:
    return {key(n): TextVector(n, np.random.default_rng(n).random(48, np.float32)) for n in numbers}


def stored(path: Path, *numbers: int) -> dict[bytes, TextVector]:
    made = vectors(*numbers)
    with VectorCache(path) as cache:
        cache.put(made)
    return made


def found(path: Path, *numbers: int) -> dict[bytes, TextVector]:
    with VectorCache(path) as cache:
        return cache.get(map(key, numbers))


def assert_equal(some: Mapping[bytes, TextVector], others: Mapping[bytes, TextVector]) -> None:
    assert some.keys() == others.keys()
    for each, other in zip(some.values(), (others[known] for known in some), strict=True):
        assert each.tokens == other.tokens
        assert each.vector.dtype == np.float32
        assert np.array_equal(each.vector, other.vector)


def test_what_was_stored_is_found_later_and_nothing_else(tmp_path: Path) -> None:
    made = stored(tmp_path / "deep" / "v.sqlite", 1, 2, 3)
    assert_equal(found(tmp_path / "deep" / "v.sqlite", 3, 4, 1), {key(n): made[key(n)] for n in (3, 1)})
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["v.sqlite"]


def test_a_vector_that_is_stored_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    stored(tmp_path / "v.sqlite", 1)
    with VectorCache(tmp_path / "v.sqlite") as cache:
        cache.put({key(1): vectors(2)[key(2)]})
        assert_equal(cache.get([key(1)]), {key(1): vectors(2)[key(2)]})


def test_damage_is_noticed_and_no_wrong_vector_is_ever_found(tmp_path: Path) -> None:
    path, numbers = tmp_path / "v.sqlite", range(40)
    made = stored(path, *numbers)
    whole = path.read_bytes()
    luck = np.random.default_rng(5)
    lost = refused = 0
    for at in (*range(100), *luck.integers(len(whole), size=400).tolist()):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << int(luck.integers(8))]) + whole[at + 1 :])
        try:
            left = found(path, *numbers)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - whether it raises depends on the byte
            refused += 1
        else:
            assert_equal(left, {known: made[known] for known in left})
            lost += len(left) < len(made)
    # Both happen: the file is mostly rows, of which a flipped byte loses one; its first bytes are its head.
    assert lost > 100
    assert refused > 10


@pytest.mark.parametrize("row", ["text", b"", b"1234567", 3.5])
def test_a_row_of_another_kind_is_none(tmp_path: Path, row: object) -> None:
    stored(tmp_path / "v.sqlite", 1, 2)
    with sqlite3.connect(tmp_path / "v.sqlite") as other:
        other.execute("UPDATE vectors SET row = ? WHERE key = ?", (row, key(1)))
    other.close()
    assert found(tmp_path / "v.sqlite", 1, 2).keys() == {key(2)}


def test_a_file_that_is_no_database_is_left_to_its_owner(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"something else entirely" * 100)
    with pytest.raises(InputError, match=r"v\.sqlite cannot be used: .*; it is another kind of file"):
        VectorCache(tmp_path / "v.sqlite")


def test_a_damaged_schema_is_to_be_deleted(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "v.sqlite") as other:
        other.execute(f"PRAGMA application_id = {MARK}")
        other.execute("CREATE TABLE vectors (key INTEGER PRIMARY KEY, row INT CHECK (row < 0))")
    other.close()
    with (
        VectorCache(tmp_path / "v.sqlite") as cache,
        pytest.raises(InputError, match="delete it, and its vectors are made again"),
    ):
        cache.put(vectors(1))


def test_a_message_of_sqlite_that_is_no_text_is_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def garbled(_: VectorCache) -> None:
        b"\x8e".decode()

    monkeypatch.setattr(VectorCache, "_begin", garbled)
    with pytest.raises(InputError, match="it is damaged; delete it"):
        VectorCache(tmp_path / "v.sqlite")


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "photos.db") as other:
        other.execute("CREATE TABLE photos (name TEXT)")
    other.close()
    before = (tmp_path / "photos.db").read_bytes()
    with pytest.raises(InputError, match=r"photos\.db is no cache of vectors that this program made"):
        VectorCache(tmp_path / "photos.db")
    assert (tmp_path / "photos.db").read_bytes() == before


def test_a_full_disk_is_told_and_takes_nothing_of_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    made = stored(path, *range(50))
    with VectorCache(path) as cache:
        cache._db.execute("PRAGMA max_page_count = 1")  # the pages it has are all it gets
        with pytest.raises(StorageError, match=rf"v\.sqlite cannot be used: .* full; {MAKE_ROOM}"):
            cache.put(vectors(*range(50, 200)))
        assert_equal(cache.get(map(key, range(200))), made)
        cache._db.execute("PRAGMA max_page_count = 1000000")
        cache.put(vectors(*range(50, 200)))
    assert_equal(found(path, *range(200)), vectors(*range(200)))


def test_a_folder_cannot_be_a_cache(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=f"cannot be used: unable to open database file; {CHOOSE}"):
        VectorCache(tmp_path)


def test_a_place_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=f"file/v.sqlite cannot be written: .*; {CHOOSE}"):
        VectorCache(tmp_path / "file" / "v.sqlite")


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from index_builder.embedding.vector_cache import VectorCache
from index_builder.errors import StorageError
from tests.index_builder.embedding.test_vector_cache import key, vectors
new = vectors(2)
if os.getuid() == 0:
    os.setuid(65534)
cache = VectorCache(Path(sys.argv[1]))
print(len(cache.get([key(1)])))
try:
    cache.put(new)
except StorageError as error:
    print(error)
"""


def test_a_file_that_may_only_be_read_is_read_and_takes_nothing_new() -> None:
    # Not in a folder of pytest's, into which only its owner can look.
    with TemporaryDirectory() as folder:
        path = Path(folder, "v.sqlite")
        stored(path, 1)
        Path(folder).chmod(0o755)
        path.chmod(0o444)
        command = [sys.executable, "-W", "ignore", "-c", WITHOUT_RIGHTS, str(path)]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said == (
        f"1\nthe cache of vectors {path} cannot be used: attempt to write a readonly database; {CHOOSE}\n"
    )


def test_two_may_store_in_turn_and_one_that_never_gets_its_turn_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "SECONDS_TO_WAIT", 0)
    with VectorCache(tmp_path / "v.sqlite") as one, VectorCache(tmp_path / "v.sqlite") as two:
        one.put(vectors(1))
        two.put(vectors(2))
        assert_equal(one.get([key(1), key(2)]), vectors(1, 2))
        one._db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match=r"database is locked; another process holds it: wait until"):
            two.put(vectors(3))
        one._db.execute("COMMIT")
        two.put(vectors(3))
        assert_equal(one.get([key(3)]), vectors(3))


STORING = """
import sys
from pathlib import Path
from index_builder.embedding.vector_cache import VectorCache
from tests.index_builder.embedding.test_vector_cache import vectors
first = int(sys.argv[2])
with VectorCache(Path(sys.argv[1])) as cache:
    for number in range(first, first + 50):
        cache.put(vectors(number))
"""


def test_two_processes_begin_and_fill_one_file(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", STORING, str(tmp_path / "v.sqlite")]
    programs = [subprocess.Popen([*command, first]) for first in ("0", "50")]
    assert [program.wait() for program in programs] == [0, 0]
    assert_equal(found(tmp_path / "v.sqlite", *range(100)), vectors(*range(100)))


def test_a_fault_that_is_not_foreseen_passes_unchanged(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    cache.close()
    with pytest.raises(sqlite3.ProgrammingError):
        cache.get([key(1)])


def test_all_that_decides_a_vector_decides_its_key() -> None:
    class Other(HashedWords):
        name = "other"

    class Wide(HashedWords):
        dimensions = 128

    class Long(HashedWords):
        max_tokens = 512

    class Trained(HashedWords):
        files: Mapping[str, str] = MappingProxyType({"model.onnx": "a" * 64})

    class TrainedAgain(HashedWords):
        files: Mapping[str, str] = MappingProxyType({"model.onnx": "b" * 64})

    kinds = [HashedWords(), Other(), Wide(), Long(), Trained(), TrainedAgain()]
    texts = ["a", "a ", "", "\ud800", "\ud801"]
    keys = {document_keys(kind)(text) for kind in kinds for text in texts}
    assert len(keys) == len(kinds) * len(texts)
    assert {len(each) for each in keys} == {32}


def test_a_key_does_not_depend_on_where_the_model_stands() -> None:
    class Moved(HashedWords):
        spec = "elsewhere"

    assert document_keys(Moved())("text") == document_keys(HashedWords())("text")

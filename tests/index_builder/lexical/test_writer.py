"""Index folders: the same bytes for the same chunks, in one segment or in many."""

import errno
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tantivy

from index_builder.errors import InputError
from index_builder.lexical import ANALYSERS, LexicalIndex, write_lexical, writer
from index_builder.records import Chunk

WORDS = ("zorb", "quim", "brax", "flod", "gund", "plim")


def chunks(count: int, *, seed: int = 7) -> Iterator[Chunk]:
    """Passages of few words, so that many scores are equal; all under one id."""
    chance = random.Random(seed)
    for _ in range(count):
        yield Chunk("same", chance.choice(WORDS), " ".join(chance.choices(WORDS, k=chance.randrange(1, 4))))


def written(folder: Path, count: int, analyser: str = "english") -> Path:
    folder.mkdir()
    assert write_lexical(folder, chunks(count), analyser) == count
    return folder


@contextmanager
def files_of_at_most(most_bytes: int) -> Iterator[None]:
    """Let no file of this process grow above a size, as a quota would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("analyser", ANALYSERS)
def test_the_same_chunks_give_the_same_bytes(tmp_path: Path, analyser: str) -> None:
    first, second = (written(tmp_path / name, 500, analyser) for name in ("a", "b"))
    assert contents(first) == contents(second)


def test_a_folder_holds_a_meta_file_and_one_segment_and_nothing_else(tmp_path: Path) -> None:
    names = sorted(contents(written(tmp_path / "a", 500)))
    assert names.pop() == "meta.json"
    assert {name.partition(".")[0] for name in names} == {"0" * 32}


def test_text_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    write_lexical(tmp_path / "a", [Chunk("c", "Zorbax", "Quimbrel flodded " * 9)], "english")
    for content in contents(tmp_path / "a").values():
        assert b"flodded " not in content


def test_many_segments_search_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = LexicalIndex(written(tmp_path / "one", 2000), "english")
    monkeypatch.setattr(writer, "SEGMENT_CHARACTERS", 1500)
    many = LexicalIndex(written(tmp_path / "many", 2000), "english")
    assert tantivy.Index.open(str(tmp_path / "many")).searcher().num_segments > 8
    for query in ("zorb", "zorb quim", "brax flod gund", "plim zorb quim brax"):
        for depth in (1, 10, 100, 2000):
            ids, scores = one.search(query, depth)
            other_ids, other_scores = many.search(query, depth)
            assert ids.tolist() == other_ids.tolist()
            assert scores.tolist() == other_scores.tolist()


def test_many_segments_too_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SEGMENT_CHARACTERS", 1500)
    assert contents(written(tmp_path / "a", 500)) == contents(written(tmp_path / "b", 500))


def test_a_segment_that_ends_with_the_chunks_leaves_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "SEGMENT_CHARACTERS", 8)
    assert write_lexical(tmp_path, [Chunk("c", "", "zorbzorb")] * 3, "plain") == 3
    assert tantivy.Index.open(str(tmp_path)).searcher().num_segments == 3


def test_no_chunks_make_an_index_that_finds_nothing(tmp_path: Path) -> None:
    assert write_lexical(tmp_path, [], "english") == 0
    ids, scores = LexicalIndex(tmp_path, "english").search("zorb", 5)
    assert ids.shape == scores.shape == (0,)


def test_a_passage_of_one_character_and_one_of_100_000_words_are_found(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(100_000))
    made = [Chunk("a", "", "x"), Chunk("b", "", long), Chunk("c", "", "")]
    assert write_lexical(tmp_path, made, "english") == 3
    index = LexicalIndex(tmp_path, "english")
    assert [index.search(query, 5)[0].tolist() for query in ("x", "word99999")] == [[0], [1]]


def test_too_many_different_words_for_a_segment_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "WRITER_BYTES", 15_000_000)  # the least that tantivy takes
    text = " ".join(f"{number:x}" for number in range(200_000))
    with pytest.raises(InputError, match="too many different words"):
        write_lexical(tmp_path, [Chunk("a", "", text), Chunk("b", "", "zorb")], "english")


def test_an_unknown_analyser_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="klingon"):
        write_lexical(tmp_path, chunks(1), "klingon")


@pytest.mark.parametrize(("most_bytes", "count"), [(10, 1), (1500, 300), (1500, 60_000)])
def test_a_place_that_takes_no_more_is_an_error_of_the_system(
    tmp_path: Path, most_bytes: int, count: int
) -> None:
    # Too little to begin; enough until the commit; a writer that fails while it is given passages.
    with files_of_at_most(most_bytes), pytest.raises(OSError, match="File too large"):
        write_lexical(tmp_path, chunks(count), "english")


@pytest.mark.parametrize(
    "said",
    [
        "IoError: No space left on device (os error 28)",
        "IoError(Os { code: 28, kind: StorageFull",
    ],
)
def test_a_full_disk_is_an_error_of_the_system_however_tantivy_words_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    def full(*_: object) -> bool:
        raise ValueError(said)

    monkeypatch.setattr(writer, "_write_segment", full)
    with pytest.raises(OSError, match="No space left") as told:
        write_lexical(tmp_path, chunks(1), "english")
    assert told.value.errno == errno.ENOSPC


def test_a_fault_of_the_chunks_comes_out_as_it_is(tmp_path: Path) -> None:
    def broken() -> Iterator[Chunk]:
        yield from chunks(3)
        raise ValueError("of the chunks")

    with pytest.raises(ValueError, match="of the chunks"):
        write_lexical(tmp_path, broken(), "english")

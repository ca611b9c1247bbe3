"""Chunks come back as they were written, by ordinal and by id."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.chunk_store import ChunkStore, write_chunks
from index_builder.errors import BundleError
from index_builder.records import Chunk

CHUNKS = [
    Chunk("c1", "T", "one\ntwo"),
    Chunk("c2", "", "\u2028 東京 😀"),
    Chunk("c3", 'quote " \\', "\x00\t"),
]


def test_chunks_are_read_in_their_order_by_ordinal_and_by_id(tmp_path: Path) -> None:
    assert write_chunks(tmp_path / "chunks.jsonl", CHUNKS) == 3
    store = ChunkStore(tmp_path / "chunks.jsonl")
    assert len(store) == 3
    assert list(store) == CHUNKS
    assert store.at(1) == store.by_id("c2") == CHUNKS[1]
    assert store.ordinal("c3") == 2


def test_an_unknown_id_has_no_chunk(tmp_path: Path) -> None:
    write_chunks(tmp_path / "chunks.jsonl", CHUNKS)
    store = ChunkStore(tmp_path / "chunks.jsonl")
    assert [store.by_id(chunk_id) for chunk_id in ("", "c4", "C1", "c1 ", "\ud800", "0")] == [None] * 6


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=8))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("store") / "chunks.jsonl"
    chunks = [Chunk(f"c{number}", title, text) for number, (title, text) in enumerate(texts)]
    write_chunks(path, chunks)
    assert list(ChunkStore(path)) == chunks


@pytest.mark.parametrize("line", [b"{broken\n", b'{"chunk_id":"c"}\n', b"[1]\n", b'{"chunk_id":"\xff"}\n'])
def test_a_line_that_is_no_chunk_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "chunks.jsonl"
    write_chunks(path, CHUNKS)
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(BundleError, match=r"chunks\.jsonl, line 4"):
        ChunkStore(path)


def test_an_absent_or_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    for name in ("empty.jsonl", "absent.jsonl"):
        with pytest.raises(BundleError, match=name):
            ChunkStore(tmp_path / name)

"""Chunks come back as they were written, by ordinal and by id."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder import chunk_store
from index_builder.chunk_store import IDS, LINES, STARTS, ChunkStore, write_chunks
from index_builder.errors import BundleError, InputError
from index_builder.records import Chunk

CHUNKS = [
    Chunk("c1", "T", "one\ntwo"),
    Chunk("c2", "", "\u2028 東京 😀"),
    Chunk("c3", 'quote " \\', "\x00\t"),
]


def test_chunks_are_read_in_their_order_by_ordinal_and_by_id(tmp_path: Path) -> None:
    assert write_chunks(tmp_path, CHUNKS) == 3
    store = ChunkStore(tmp_path)
    assert len(store) == 3
    assert list(store) == CHUNKS
    assert store.at(1) == store.by_id("c2") == CHUNKS[1]
    assert [store.ordinal(chunk.chunk_id) for chunk in CHUNKS] == [0, 1, 2]


def test_an_unknown_id_has_no_chunk(tmp_path: Path) -> None:
    write_chunks(tmp_path, CHUNKS)
    store = ChunkStore(tmp_path)
    assert [store.by_id(chunk_id) for chunk_id in ("", "c4", "C1", "c1 ", "\ud800", "0")] == [None] * 6
    with pytest.raises(KeyError, match="c4"):
        store.ordinal("c4")


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=8))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("store")
    chunks = [Chunk(f"c{number}", title, text) for number, (title, text) in enumerate(texts)]
    write_chunks(folder, chunks)
    assert list(ChunkStore(folder)) == chunks


def test_ids_are_found_though_their_digests_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three digests for 30 ids: every look-up meets nine others first, and an absent id all ten.
    monkeypatch.setattr(chunk_store, "_digest", lambda chunk_id: len(chunk_id) % 3)
    chunks = [Chunk("x" * n, "", str(n)) for n in range(1, 31)]
    write_chunks(tmp_path, chunks)
    store = ChunkStore(tmp_path)
    assert [store.by_id(chunk.chunk_id) for chunk in chunks] == chunks
    assert [store.by_id(chunk_id) for chunk_id in ("", "y", "yy")] == [None] * 3


def test_an_id_that_stands_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="chunks 2 and 4 have the same id 'c2'"):
        write_chunks(tmp_path, [*CHUNKS, Chunk("c2", "other", "text")])


@pytest.mark.parametrize("line", [b"{broken", b'{"chunk_id":"c"}', b"[1]", b'{"chunk_id":"\xff"}'])
def test_a_line_that_is_no_chunk_is_named_when_it_is_read(tmp_path: Path, line: bytes) -> None:
    write_chunks(tmp_path, CHUNKS)
    lines = (tmp_path / LINES).read_bytes().splitlines(keepends=True)
    lines[1] = line.ljust(len(lines[1]) - 1) + b"\n"
    (tmp_path / LINES).write_bytes(b"".join(lines))
    store = ChunkStore(tmp_path)
    assert store.at(2) == CHUNKS[2]
    with pytest.raises(BundleError, match=r"chunks\.jsonl, line 2"):
        store.at(1)


@pytest.mark.parametrize("name", [LINES, STARTS, IDS])
@pytest.mark.parametrize("content", [None, b"", b"nothing of the kind"])
def test_a_file_that_is_absent_or_another_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    write_chunks(tmp_path, CHUNKS)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BundleError, match=name):
        ChunkStore(tmp_path)


@pytest.mark.parametrize("table", [np.zeros(0, "<i8"), np.zeros((2, 3), "<i8"), np.zeros(4, "<f8")], ids=str)
def test_a_table_of_another_form_is_refused(tmp_path: Path, table: np.ndarray) -> None:
    write_chunks(tmp_path, CHUNKS)
    np.save(tmp_path / STARTS, table)
    with pytest.raises(BundleError, match=r"chunks\.starts\.npy (is no table|cannot be read)"):
        ChunkStore(tmp_path)


def test_the_tables_of_other_chunks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    write_chunks(tmp_path, CHUNKS)
    write_chunks(tmp_path / "other", CHUNKS[:2])
    for name in (IDS, STARTS):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes((tmp_path / "other" / name).read_bytes())
        with pytest.raises(BundleError, match="are not the tables of"):
            ChunkStore(tmp_path)
        (tmp_path / name).write_bytes(kept)

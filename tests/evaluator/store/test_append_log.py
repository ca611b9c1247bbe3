"""Appending, repairing and reading JSON lines."""

import asyncio
import errno
import os
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.errors import RunFolderError
from evaluator.store import append_log
from evaluator.store.append_log import AppendLog, encode, read_lines


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    extra: object = None


def append(path: Path, *records: object) -> None:
    async def go() -> None:
        with AppendLog(path) as log:
            for record in records:
                await log.append(record)

    asyncio.run(go())


def test_a_line_stands_in_the_file_as_soon_as_append_returns(tmp_path: Path) -> None:
    async def go() -> bytes:
        with AppendLog(tmp_path / "a.jsonl") as log:
            await log.append(Note("one"))
            return (tmp_path / "a.jsonl").read_bytes()

    assert asyncio.run(go()) == b'{"text":"one","extra":null}\n'


def test_a_second_opening_appends_behind_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    append(path, {"n": 1})
    append(path, {"n": 2})
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"n":1}\n{"n":2', b'{"n":1}\n'),
        (b'{"n":1}\n{"n":2}', b'{"n":1}\n{"n":2}\n'),
        (b'{"n":1', b""),
        (b"", b""),
        (b'{"n":1}\n', b'{"n":1}\n'),
        (b'{"n":1}\n{"t":"\xc3', b'{"n":1}\n'),
        (b'{"n":1}\n12', b'{"n":1}\n'),  # the first digits of a torn number parse, but are no record
        (b'{"n":1}\n{"t":"' + b"x" * 200_000, b'{"n":1}\n'),
        (b'{"t":"' + b"x" * 200_000 + b'"}', b'{"t":"' + b"x" * 200_000 + b'"}\n'),
    ],
)
def test_opening_completes_a_whole_last_line_and_cuts_a_torn_one(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(before)
    AppendLog(path).close()
    assert path.read_bytes() == after


@given(cut=st.integers(min_value=0, max_value=60), records=st.lists(st.text(max_size=8), max_size=4))
def test_after_a_cut_at_any_byte_the_whole_lines_survive_and_the_log_goes_on(
    tmp_path_factory: pytest.TempPathFactory, cut: int, records: list[str]
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    whole = [encode({"t": text}) for text in records]
    path.write_bytes(b"".join(whole)[:cut])
    append(path, {"t": "next"})
    survived = path.read_bytes().splitlines(keepends=True)
    expected, length = [], 0
    for line in whole:
        length += len(line)
        if length - 1 <= cut:  # the newline may be missing: the line parses without it
            expected.append(line)
    assert survived == [*expected, encode({"t": "next"})]


def test_a_second_writer_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with AppendLog(path):
        torn = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(torn, b'{"half')
        os.close(torn)
        with pytest.raises(RunFolderError, match="is being written by another process"):
            AppendLog(path)
        assert path.read_bytes() == b'{"half'


def test_the_lock_is_free_again_after_closing_and_closing_twice_is_harmless(tmp_path: Path) -> None:
    log = AppendLog(tmp_path / "a.jsonl")
    log.close()
    log.close()
    AppendLog(tmp_path / "a.jsonl").close()


def test_a_path_that_cannot_be_opened_is_a_run_folder_error(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"cannot write .*missing.*No such file"):
        AppendLog(tmp_path / "missing" / "a.jsonl")


def test_a_full_disk_leaves_whole_lines_and_refuses_all_further_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    real_write = os.write

    def half_then_full(file: int, data: memoryview) -> int:
        if len(data) > 10:
            return real_write(file, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    async def go() -> None:
        log = AppendLog(path)
        await log.append({"n": 1})
        monkeypatch.setattr(os, "write", half_then_full)
        with pytest.raises(RunFolderError, match="No space left on device"):
            await log.append({"n": 22222222})
        monkeypatch.setattr(os, "write", real_write)
        with pytest.raises(RunFolderError, match="No space left on device"):
            await log.append({"n": 3})
        with pytest.raises(RunFolderError, match="No space left on device"):
            log.close()

    asyncio.run(go())
    assert path.read_bytes() == b'{"n":1}\n'


def test_a_failing_sync_is_told_at_the_latest_on_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    async def go() -> None:
        log = AppendLog(tmp_path / "a.jsonl")
        monkeypatch.setattr(os, "fdatasync", broken)
        await log.append({"n": 1})
        with pytest.raises(RunFolderError, match="Input/output error"):
            log.close()

    asyncio.run(go())


def test_records_are_synced_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs: list[int] = []
    monkeypatch.setattr(os, "fdatasync", syncs.append)
    append(tmp_path / "a.jsonl", *({"n": n} for n in range(1000)))
    assert 1 <= len(syncs) <= 1000 // append_log.GROUP_RECORDS + 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("plain é", "plain é"),
    ],
)
def test_lone_surrogates_become_the_replacement_character(text: str, written: str) -> None:
    assert orjson.loads(encode(Note(text, {text: [text]}))) == {
        "text": written,
        "extra": {written: [written]},
    }


def test_integers_beyond_64_bits_are_written_as_text() -> None:
    assert orjson.loads(encode(Note("big", (10**30, -5, True)))) == {
        "text": "big",
        "extra": [str(10**30), -5, True],
    }


def test_nesting_without_end_is_cut_and_does_not_stop_the_run() -> None:
    deep: object = "bottom"
    for _ in range(900):
        deep = [deep]
    line = encode(Note("deep", deep))
    assert b"nested too deeply" in line


def test_not_a_number_is_never_written() -> None:
    assert encode({"score": float("nan")}) == b'{"score":null}\n'


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_written_and_read_back_as_one_line(text: str) -> None:
    line = encode({"t": text})
    assert line.count(b"\n") == 1
    assert orjson.loads(line)["t"] == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_readers_leave_a_torn_tail_alone_and_give_a_whole_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "a.1.jsonl"
    first.write_bytes(b'{"n":1}\n{"n":2}')
    second.write_bytes(b'{"n":3}\n{"n":')
    assert list(read_lines([first, second])) == [b'{"n":1}', b'{"n":2}', b'{"n":3}']
    assert first.read_bytes() == b'{"n":1}\n{"n":2}'
    assert second.read_bytes() == b'{"n":3}\n{"n":'


def test_a_file_that_cannot_be_read_is_a_run_folder_error(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="cannot read"):
        list(read_lines([tmp_path]))

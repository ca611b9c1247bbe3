"""The index of a journal: finds calls by what makes them the same, and keeps no line of them."""

import asyncio
import hashlib
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import RunFolderError
from evaluator.core.journal import Returned, Sent
from evaluator.store.append_log import AppendLog
from evaluator.store.finished_calls import JournalIndex

CELL = Cell("d", "c")
BODY, OTHER = b"this", b"that"


def sha(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def sent(trajectory_id: str, turn: int, body: bytes = BODY, judge: str = "") -> Sent:
    return Sent(
        attempt_id=f"{trajectory_id}{turn}{judge}",
        purpose="judge" if judge else "agent",
        cell=CELL,
        trajectory_id=trajectory_id,
        judge=judge,
        turn=turn,
        request_sha256=sha(body),
        requested_model="m",
        reserved_usd=0.5,
    )


def returned(of: Sent, response: object = None) -> Returned:
    return Returned(
        attempt_id=of.attempt_id,
        purpose=of.purpose,
        cell=of.cell,
        trajectory_id=of.trajectory_id,
        judge=of.judge,
        turn=of.turn,
        request_sha256=of.request_sha256,
        requested_model="m",
        status=200,
        returned_model="m-1",
        response_id="r",
        usage=None,
        cost_usd=0.25,
        latency_s=1.0,
        response=response,
        error=None,
    )


def tag(trajectory_id: str, turn: int, judge: str = "") -> CallTag:
    return CallTag("judge" if judge else "agent", CELL, trajectory_id, judge, turn)


def write(path: Path, lines: Iterable[Sent | Returned]) -> Path:
    async def go() -> None:
        with AppendLog(path) as log:
            for line in lines:
                await log.append(line)

    asyncio.run(go())
    return path


def everything(_purpose: str, _trajectory_id: str) -> bool:
    return True


FIRST = sent("a", 1)
SECOND = sent("a", 2, OTHER)
JUDGING = sent("a", 1, BODY, judge="j")


def test_an_agents_call_is_found_by_trajectory_and_turn_whatever_its_body(tmp_path: Path) -> None:
    lines: list[Sent | Returned] = [
        FIRST,
        returned(FIRST, {"é": 1}),
        sent("b", 1),
        SECOND,
        returned(SECOND),
        JUDGING,
    ]
    index = JournalIndex([write(tmp_path / "calls.jsonl", lines)], everything)
    assert index.lines(tag("a", 1), BODY) == [FIRST, returned(FIRST, {"é": 1})]
    assert index.lines(tag("a", 2), BODY) == [SECOND, returned(SECOND)]
    assert index.lines(tag("a", 3), BODY) == []
    assert index.lines(tag("c", 1), BODY) == []
    assert list(index.all_lines("a")) == [FIRST, returned(FIRST, {"é": 1}), SECOND, returned(SECOND)]


def test_a_judges_call_is_found_by_judge_try_and_body_whatever_the_trajectory(tmp_path: Path) -> None:
    lines: list[Sent | Returned] = [
        FIRST,
        JUDGING,
        returned(JUDGING),
        sent("a", 1, OTHER, judge="j"),
        sent("a", 1, judge="k"),
    ]
    index = JournalIndex([write(tmp_path / "calls.jsonl", lines)], everything)
    assert index.lines(tag("zzz", 1, "j"), BODY) == [JUDGING, returned(JUDGING)]
    assert index.lines(tag("a", 2, "j"), BODY) == []
    assert index.lines(tag("a", 1, "l"), BODY) == []


def test_a_call_over_several_files_is_found_in_all_of_them(tmp_path: Path) -> None:
    paths = [write(tmp_path / "0", [SECOND, FIRST]), write(tmp_path / "1", [returned(FIRST)])]
    assert JournalIndex(paths, everything).lines(tag("a", 1), BODY) == [FIRST, returned(FIRST)]


def test_a_trajectory_may_have_another_name_in_the_journal(tmp_path: Path) -> None:
    index = JournalIndex([write(tmp_path / "calls.jsonl", [FIRST])], everything, {"new": "a"})
    assert index.lines(tag("new", 1), BODY) == [FIRST]
    assert list(index.all_lines("new")) == [FIRST]


def test_only_what_is_wanted_is_kept_and_no_line_of_it(tmp_path: Path) -> None:
    long = "x" * 100_000
    lines = [returned(sent(name, turn), long) for name in "ab" for turn in range(1, 21)]
    path = write(tmp_path / "calls.jsonl", lines)
    index = JournalIndex([path], lambda purpose, name: (purpose, name) == ("agent", "a"))
    assert index.lines(tag("b", 1), BODY) == []
    assert index.lines(tag("a", 20), BODY) == [lines[19]]
    (kept,) = index._places.values()
    # 4 numbers of 8 bytes a line; an array that grows keeps some room.
    assert sys.getsizeof(kept) < 2 * 20 * 4 * 8


def test_a_torn_tail_is_no_call_and_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "calls.jsonl", [FIRST, returned(FIRST)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(JournalIndex([path], everything).lines(tag("a", 1), BODY)) == 2
    path.write_bytes(whole[:-20])
    assert JournalIndex([path], everything).lines(tag("a", 1), BODY) == [FIRST]
    assert path.read_bytes() == whole[:-20]


@pytest.mark.parametrize("line", [b"nonsense\n", b"[]\n", b"{}\n", b'"calls"\n'])
def test_a_line_that_is_no_call_is_named(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path / "calls.jsonl", [FIRST])
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(RunFolderError, match=f"calls.jsonl, at byte {size}: expected a call"):
        JournalIndex([path], everything)


def test_a_call_that_lacks_fields_or_is_gone_is_told_when_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'{"purpose":"agent","trajectory_id":"a","turn":1}\n')
    index = JournalIndex([path], everything)
    with pytest.raises(RunFolderError, match="at byte 0: expected a call"):
        index.lines(tag("a", 1), BODY)
    path.unlink()
    with pytest.raises(RunFolderError, match="cannot read"):
        index.lines(tag("a", 1), BODY)


def test_lines_taken_over_from_another_run_are_marked(tmp_path: Path) -> None:
    path = write(tmp_path / "calls.jsonl", [replace(FIRST, replayed=True)])
    (line,) = JournalIndex([path], everything).lines(tag("a", 1), BODY)
    assert line.replayed

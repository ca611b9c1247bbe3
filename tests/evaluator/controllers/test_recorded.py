"""The journal's layer: both lines of an attempt, in time and complete."""

import asyncio
import hashlib
import zlib

import orjson
import pytest

from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.controllers.recorded import Recorded
from evaluator.core.cell import Cell
from evaluator.core.journal import Returned, Sent
from evaluator.core.messages import Usage
from evaluator.run.clocks import InstantClock
from tests.contract.whole_stack import MemoryJournal, tag

BODY = b'{"model":"m"}'
ATTEMPT = Attempt(BODY, tag(3), "m", Deadline(InstantClock(), 1), worst_usd=0.5, reserved_usd=0.5)
BILL = Bill(Usage(5, 4, 3, 2), 0.25, "m-1", "r-9")


def _record(*outcomes: RawReply) -> MemoryJournal:
    journal = MemoryJournal()
    layer = Recorded(FakeLine(outcomes), journal)

    async def scenario() -> None:
        for outcome in outcomes:
            assert await layer.send(ATTEMPT) is outcome

    asyncio.run(scenario())
    return journal


def test_an_attempt_is_two_lines_with_all_their_fields() -> None:
    journal = _record(RawReply(200, b'{"id": 1}', BILL, tree={"id": 1}, is_json=True, latency_s=1.5))
    sent, returned = (orjson.loads(line) for line in journal.lines)
    shared = {
        "attempt_id": sent["attempt_id"],
        "purpose": "agent",
        "cell": {"dataset": "hotpotqa", "condition": "minimal"},
        "trajectory_id": "0" * 32,
        "judge": "",
        "turn": 3,
        "request_sha256": hashlib.sha256(BODY).hexdigest(),
        "requested_model": "m",
    }
    assert sent == {
        **shared,
        "kind": "sent",
        "reserved_usd": 0.5,
        "request_parts": f"{zlib.crc32(BODY):08x}",
        "replayed": False,
    }
    assert returned == {
        **shared,
        "kind": "returned",
        "status": 200,
        "returned_model": "m-1",
        "response_id": "r-9",
        "usage": {"input_tokens": 5, "cached_tokens": 4, "output_tokens": 3, "reasoning_tokens": 2},
        "cost_usd": 0.25,
        "latency_s": 1.5,
        "response": {"id": 1},
        "error": None,
        "replayed": False,
    }


def test_every_attempt_has_an_id_of_its_own() -> None:
    journal = _record(RawReply(500, b"", Bill()), RawReply(200, b"{}", BILL, tree={}, is_json=True))
    ids = [call.attempt_id for call in journal.calls]
    assert ids[0] == ids[1] != ids[2] == ids[3]


@pytest.mark.parametrize(
    ("raw", "response", "error"),
    [
        (RawReply(0, b"", Bill(), error="reset"), None, "reset"),
        (RawReply(502, b"<html>", Bill()), "<html>", "HTTP 502"),
        (RawReply(429, b'{"a": 1}', Bill(), tree={"a": 1}, is_json=True), {"a": 1}, "HTTP 429"),
        (RawReply(200, b"\xff", Bill()), "\ufffd", "HTTP 200 without JSON"),
        (RawReply(200, b"", Bill()), None, "HTTP 200 without JSON"),
        (
            RawReply(200, b'{\r\n  "a": [1,\n 2]\n}\n', BILL, tree={"a": [1, 2]}, is_json=True),
            {"a": [1, 2]},
            None,
        ),
        (RawReply(200, b'{"a": NaN}', BILL, tree={"a": "NaN"}), {"a": "NaN"}, None),
    ],
    ids=["reset", "html", "error", "bytes", "empty", "pretty-printed", "lenient"],
)
def test_whatever_came_back_is_kept_whole_on_one_line(
    raw: RawReply, response: object, error: str | None
) -> None:
    (returned,) = _record(raw).returned
    assert (returned.response, returned.error) == (response, error)


def test_the_first_line_is_written_before_dispatch_and_stands_alone_when_nothing_comes_back() -> None:
    journal = MemoryJournal()

    class Interrupted:
        async def send(self, _: Attempt) -> RawReply:
            assert len(journal.lines) == 1
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Recorded(Interrupted(), journal).send(ATTEMPT))
    (sent,) = journal.calls
    assert isinstance(sent, Sent)
    assert sent.cell == Cell("hotpotqa", "minimal")


def test_nothing_is_dispatched_when_it_cannot_be_recorded() -> None:
    class FullDisk:
        async def append(self, _: object) -> None:
            raise OSError(28, "No space left on device")

    line = FakeLine([])
    with pytest.raises(OSError, match="No space left"):
        asyncio.run(Recorded(line, FullDisk()).send(ATTEMPT))
    assert line.sent == []


def test_a_judges_call_bears_its_name() -> None:
    journal = MemoryJournal()
    attempt = Attempt(BODY, tag(1, "judge"), "m", Deadline(InstantClock(), 1))
    asyncio.run(Recorded(FakeLine([RawReply(500, b"", Bill())]), journal).send(attempt))
    assert [(call.purpose, call.judge) for call in journal.calls] == [("judge", "primary")] * 2
    assert isinstance(journal.calls[1], Returned)

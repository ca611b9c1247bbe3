"""The end of a line without a provider: what the journal holds, taken over once, and what it lacks, named."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from evaluator.controllers.fakes import FakeCalls
from evaluator.controllers.line import Attempt, Deadline, RawReply
from evaluator.controllers.offline import Offline
from evaluator.controllers.request_parts import checksums
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import ModelError, ReplayError
from evaluator.core.journal import Returned, Sent
from evaluator.run.clocks import InstantClock
from tests.contract.whole_stack import MemoryJournal

BODY = b'{"model":"m","messages":[{"role":"user","content":"Who?"}]}'
AGENT = CallTag("agent", Cell("d", "c"), "t1", "", 2)
JUDGE = CallTag("judge", Cell("d", "c"), "t1", "primary", 1)


def sent(tag: CallTag, attempt_id: str, body: bytes = BODY) -> Sent:
    return Sent(
        attempt_id=attempt_id,
        purpose=tag.purpose,
        cell=Cell("d", "there"),
        trajectory_id=tag.trajectory_id,
        judge=tag.judge,
        turn=tag.turn,
        request_sha256=hashlib.sha256(body).hexdigest(),
        requested_model="m",
        reserved_usd=0.5,
        request_parts=checksums(body),
    )


def returned(of: Sent, status: int = 200) -> Returned:
    return Returned(
        attempt_id=of.attempt_id,
        purpose=of.purpose,
        cell=of.cell,
        trajectory_id=of.trajectory_id,
        judge=of.judge,
        turn=of.turn,
        request_sha256=of.request_sha256,
        requested_model="m",
        status=status,
        returned_model="m-1",
        response_id="r",
        usage=None,
        cost_usd=0.25,
        latency_s=1.0,
        response={"of": of.attempt_id},
        error=None,
    )


def answered(
    lines: Sequence[Sent | Returned], tag: CallTag = AGENT, taken: Sequence[Sent | Returned] = ()
) -> tuple[RawReply, MemoryJournal]:
    journal = MemoryJournal()
    line = Offline(FakeCalls(lines), FakeCalls(taken), journal, lambda raw: raw.status == 200)
    attempt = Attempt(BODY, tag, "m", Deadline(InstantClock(), 1))
    return asyncio.run(line.send(attempt)), journal


LOST, FAULTY, GOOD = (sent(AGENT, name) for name in ("lost", "faulty", "good"))
LINES: list[Sent | Returned] = [LOST, FAULTY, returned(FAULTY, 500), GOOD, returned(GOOD)]


def ours(line: Sent | Returned) -> Sent | Returned:
    return replace(line, cell=Cell("d", "c"), replayed=True)


def test_the_recorded_reply_is_given_and_all_lines_of_its_call_are_taken_over() -> None:
    raw, journal = answered(LINES)
    assert raw.tree == {"of": "good"}
    assert journal.calls == [ours(line) for line in LINES]


def test_a_line_that_was_taken_over_before_is_not_taken_over_again() -> None:
    _, journal = answered(LINES, taken=[ours(line) for line in LINES[:2]])
    assert journal.calls == [ours(line) for line in LINES[2:]]


def test_a_judges_try_that_came_to_nothing_there_comes_to_nothing_here() -> None:
    asked = sent(JUDGE, "asked")
    with pytest.raises(ModelError, match="no try of m was answered in the replayed run either"):
        answered([asked, returned(asked, 500)], JUDGE)


@pytest.mark.parametrize(
    ("lines", "tag", "told"),
    [
        ([], AGENT, r"the replayed run made no such call: turn 2 of trajectory t1 \(d, c\)$"),
        ([], JUDGE, r"made no such call: judge primary, try 1, of trajectory t1 \(d, c\)$"),
        ([LOST], AGENT, "the replayed run got no usable reply: turn 2 of trajectory t1"),
        (
            [sent(AGENT, "other", BODY.replace(b"Who", b"When"))],
            AGENT,
            r"the request differs.*: turn 2 of trajectory t1 \(d, c\), in message 1, within 26 bytes",
        ),
        (
            [returned(sent(AGENT, "other", b"{}"))],
            AGENT,
            r"turn 2 of trajectory t1 \(d, c\), somewhere in its 59 bytes$",
        ),
    ],
    ids=["no call", "no verdict", "no reply", "another request", "another request of unknown parts"],
)
def test_what_the_journal_lacks_is_named(lines: list[Sent | Returned], tag: CallTag, told: str) -> None:
    with pytest.raises(ReplayError, match=told):
        answered(lines, tag)

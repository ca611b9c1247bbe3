"""The retry layer: how often, how long, until when."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from random import Random

import pytest

from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.controllers.retrying import FIRST_WAIT, LONGEST_WAIT, MOST_ATTEMPTS, Retrying
from evaluator.core.errors import (
    AttemptError,
    CapReachedError,
    DeadlineError,
    RefusedError,
    RetryableError,
)
from evaluator.run.clocks import InstantClock
from tests.contract.whole_stack import tag

GOOD = RawReply(200, b"", Bill())
BUSY = RawReply(503, b"", Bill())
REFUSED = RawReply(400, b"", Bill())


class MostLuck(Random):
    """Always draws the upper end: the longest waits that jitter allows."""

    def uniform(self, _: float, b: float) -> float:
        return b


def _fault(raw: RawReply, _: datetime) -> AttemptError | None:
    if raw.status == 503:
        after = raw.headers.get("retry-after")
        return RetryableError("busy", status=503, retry_after=None if after is None else float(after))
    return RefusedError("refused", status=400) if raw.status == 400 else None


def _send(
    outcomes: Sequence[RawReply | Exception], *, seconds: float = 1e6, luck: Random | None = None
) -> tuple[RawReply | Exception, FakeLine, list[float]]:
    """What comes out, the line, and the waits."""
    clock, line = InstantClock(), FakeLine(outcomes)
    waits: list[float] = []

    class Watched(InstantClock):
        async def sleep(self, seconds: float) -> None:
            waits.append(seconds)
            await clock.sleep(seconds)

        def monotonic(self) -> float:
            return clock.monotonic()

    watched = Watched()
    layer = Retrying(line, fault_of=_fault, clock=watched, luck=luck or MostLuck())
    attempt = Attempt(b"body", tag(), "m", Deadline(watched, seconds))
    try:
        return asyncio.run(layer.send(attempt)), line, waits
    except Exception as error:  # noqa: BLE001 - the outcome is what the tests look at
        return error, line, waits


def test_a_good_outcome_passes_at_once() -> None:
    assert _send([GOOD])[0] is GOOD


def test_the_limits_of_the_waits_double_up_to_the_longest() -> None:
    outcome, line, waits = _send([BUSY] * (MOST_ATTEMPTS - 1) + [GOOD])
    assert outcome is GOOD
    assert len(line.sent) == MOST_ATTEMPTS
    assert waits == [min(LONGEST_WAIT, FIRST_WAIT * 2**doublings) for doublings in range(MOST_ATTEMPTS - 1)]
    assert waits[-1] == LONGEST_WAIT


def test_the_waits_are_spread_over_the_whole_range_from_zero() -> None:
    first_waits = sorted(_send([BUSY, GOOD], luck=Random(seed))[2][0] for seed in range(400))
    assert first_waits[0] < FIRST_WAIT * 0.02
    assert first_waits[-1] > FIRST_WAIT * 0.98
    assert abs(first_waits[200] - FIRST_WAIT / 2) < FIRST_WAIT * 0.1


def test_what_the_server_asks_for_is_added_to_the_jitter() -> None:
    asked = RawReply(503, b"", Bill(), headers={"retry-after": "20"})
    assert _send([asked, GOOD])[2] == [20 + FIRST_WAIT]


@pytest.mark.parametrize("left", [1e6, LONGEST_WAIT, 1.0])
def test_after_the_last_attempt_the_fault_itself_comes_out(left: float) -> None:
    """However little time is left then: a wait that nobody would spend cannot be what failed."""
    waits = sum(min(LONGEST_WAIT, FIRST_WAIT * 2**doublings) for doublings in range(MOST_ATTEMPTS - 1))
    outcome, line, _ = _send([BUSY] * MOST_ATTEMPTS, seconds=waits + left)
    assert isinstance(outcome, RetryableError)
    assert len(line.sent) == MOST_ATTEMPTS


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_refusal_ends_the_attempts_whenever_it_comes(before: int) -> None:
    outcome, line, _ = _send([BUSY] * before + [REFUSED])
    assert isinstance(outcome, RefusedError)
    assert len(line.sent) == before + 1


@pytest.mark.parametrize("before", [0, 2])
def test_a_reached_cap_and_a_mistake_below_pass_through(before: int) -> None:
    for error in (CapReachedError("no money"), ZeroDivisionError()):
        outcome, line, _ = _send([*[BUSY] * before, error])
        assert outcome is error
        assert len(line.sent) == before + 1


def test_no_wait_goes_beyond_the_deadline() -> None:
    # With the longest waits, attempts are at 0, 0.25, 0.75 and 1.75 s; the next would be at 3.75 s.
    outcome, line, waits = _send([BUSY] * 9, seconds=3.75)
    assert isinstance(outcome, DeadlineError)
    assert str(outcome) == "m gave no reply within 3.75 s (4 attempts); the last: busy"
    assert (len(line.sent), sum(waits)) == (4, 1.75)


def test_calls_at_the_same_time_do_not_disturb_each_other() -> None:
    async def scenario() -> list[int]:
        clock = InstantClock()
        luck = Random(3)
        failures = {number: luck.randrange(8) for number in range(200)}
        attempts = dict.fromkeys(failures, 0)

        class Flaky:
            async def send(self, attempt: Attempt) -> RawReply:
                number = attempt.tag.turn
                attempts[number] += 1
                for _ in range(luck.randrange(3)):
                    await asyncio.sleep(0)
                return BUSY if attempts[number] <= failures[number] else GOOD

        layer = Retrying(Flaky(), fault_of=_fault, clock=clock, luck=luck)
        deadline = Deadline(clock, 1e9)
        await asyncio.gather(*(layer.send(Attempt(b"", tag(n), "m", deadline)) for n in failures))
        return [attempts[number] - failures[number] for number in failures]

    assert asyncio.run(scenario()) == [1] * 200

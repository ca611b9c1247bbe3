"""Our own rate limits: no minute holds more than was asked for, and whoever comes first goes first."""

import asyncio
from collections.abc import Mapping
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Attempt, Bill, Deadline, Line, RawReply
from evaluator.controllers.throttled import LONGEST_HOLD, Pace, Throttled, TokenBucket, window
from evaluator.core.messages import Usage
from evaluator.core.ports import Clock
from evaluator.core.settings import RateSettings
from evaluator.run.clocks import InstantClock
from tests.contract.virtual_time import VirtualClock, run_virtually
from tests.contract.whole_stack import tag


@pytest.mark.parametrize(
    ("per_minute", "requests", "seconds"),
    [(3000, 50, 1.0), (60, 1, 1.0), (100, 1, 0.6), (1, 1, 60.0), (131, 2, 60 / 65), (60_000, 1000, 1.0)],
)
def test_the_window_is_a_second_or_the_time_of_one_request(
    per_minute: int, requests: int, seconds: float
) -> None:
    assert window(per_minute) == (requests, seconds)


@given(st.integers(1, 100_000))
def test_a_minute_holds_a_whole_number_of_windows_and_nearly_the_whole_limit(per_minute: int) -> None:
    requests, seconds = window(per_minute)
    windows = round(60 / seconds)
    assert Fraction(60, windows) == pytest.approx(seconds)
    assert per_minute * 59 / 61 <= requests * windows <= per_minute


@settings(max_examples=60, deadline=None)
@given(
    per_minute=st.integers(600, 100_000),
    sizes=st.lists(st.integers(1, 3000), min_size=1, max_size=150),
    seed=st.integers(0, 999),
)
def test_no_minute_has_more_tokens_than_its_limit_and_one_large_call(
    per_minute: int, sizes: list[int], seed: int
) -> None:
    luck, clock = Random(seed), InstantClock()
    bucket = TokenBucket(per_minute, clock)
    taken: list[tuple[float, int]] = []

    async def scenario() -> None:
        for size in sizes:
            if luck.random() < 0.2:
                await clock.sleep(luck.uniform(0, 40))
            await bucket.take(size)
            taken.append((clock.monotonic(), size))

    asyncio.run(scenario())
    for start, _ in taken:
        within = [size for at, size in taken if start <= at < start + 60]
        assert sum(within) <= per_minute + max(sizes)


def test_a_bucket_is_used_to_nine_tenths_or_more() -> None:
    async def scenario() -> float:
        clock = InstantClock()
        bucket = TokenBucket(60_000, clock)
        for _ in range(600):
            await bucket.take(1_000)
        return clock.monotonic()

    # 600,000 tokens at 60,000 a minute are ten minutes.
    assert 600 - 2 <= asyncio.run(scenario()) <= 600 / 0.9


def test_an_estimate_is_reconciled_with_the_truth() -> None:
    async def scenario() -> list[float]:
        clock = InstantClock()
        bucket = TokenBucket(62_000, clock)  # 1,000 a second, holding 2,000
        waits = []
        await bucket.take(2_000)
        bucket.give_back(1_500)  # it used 500 only
        await bucket.take(1_500)
        waits.append(clock.monotonic())
        bucket.give_back(-3_000)  # it used 4,500
        await bucket.take(1_000)
        waits.append(clock.monotonic())
        bucket.give_back(10**9)  # never more than it holds
        await bucket.take(2_000)
        await bucket.take(1_000)
        waits.append(clock.monotonic())
        return waits

    # 3,000 in debt and 1,000 to take is 4 s; then 2,000 at once and 1 s for 1,000.
    assert asyncio.run(scenario()) == pytest.approx([0.0, 4.0, 5.0])


def _layer(line: Line, pace: Pace, clock: Clock) -> Throttled:
    return Throttled(line, pace, fault_of=wire.fault, clock=clock)


def _attempt(tokens: int, clock: InstantClock, turn: int = 1) -> Attempt:
    return Attempt(b"", tag(turn), "m", Deadline(clock, 10), estimated_tokens=tokens)


def test_the_layer_takes_the_estimate_first_and_the_truth_afterwards() -> None:
    async def scenario() -> list[float]:
        clock = InstantClock()
        replies = [
            RawReply(200, b"", Bill(Usage(400, 0, 100, 0))),
            RawReply(500, b"", Bill()),  # no usage: the estimate stands
            RawReply(200, b"", Bill(Usage(1, 0, 1, 0))),
        ]
        pace = Pace(RateSettings(tokens_per_minute=62_000), clock)
        layer = _layer(FakeLine(replies), pace, clock)
        times, deadlines = [], []
        for tokens in (2_000, 1_500, 2_000):
            attempt = _attempt(tokens, clock)
            await layer.send(attempt)
            times.append(clock.monotonic())
            deadlines.append(attempt.deadline.remaining())
        assert deadlines == pytest.approx([10.0] * 3)  # our own limits are no fault of the provider
        return times

    # 2,000 taken, 1,500 given back; 1,500 taken for good; 2 s for the next 2,000.
    assert asyncio.run(scenario()) == pytest.approx([0.0, 0.0, 2.0])


def test_requests_go_in_the_order_in_which_they_came_and_no_more_than_the_window_holds() -> None:
    async def scenario() -> tuple[list[int], int]:
        clock = InstantClock()
        line = FakeLine([RawReply(200, b"", Bill())] * 100)
        layer = _layer(line, Pace(RateSettings(requests_per_minute=1), clock), clock)
        calls = [asyncio.create_task(layer.send(_attempt(1, clock, turn))) for turn in range(1, 6)]
        for _ in range(200):
            await asyncio.sleep(0)
        waiting = sum(not call.done() for call in calls)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return [attempt.tag.turn for attempt in line.sent], waiting

    assert asyncio.run(scenario()) == ([1], 4)


def test_within_a_window_the_first_to_come_are_the_first_to_go() -> None:
    async def scenario() -> list[int]:
        clock = InstantClock()
        line = FakeLine([RawReply(200, b"", Bill())] * 50)
        rate = RateSettings(requests_per_minute=3000, tokens_per_minute=600)
        layer = _layer(line, Pace(rate, clock), clock)
        await asyncio.gather(*(layer.send(_attempt(number * 7 % 13, clock, number)) for number in range(50)))
        return [attempt.tag.turn for attempt in line.sent]

    assert asyncio.run(scenario()) == list(range(50))


def test_a_cancelled_waiter_leaves_the_turnstile_open() -> None:
    async def scenario() -> int:
        clock = InstantClock()
        pace = Pace(RateSettings(tokens_per_minute=62_000), clock)
        waiting = [asyncio.create_task(pace.admit(2_000)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await pace.admit(1)
        return sum(task.cancelled() for task in waiting)

    assert asyncio.run(scenario()) == 1


def test_without_limits_nothing_waits() -> None:
    clock = InstantClock()
    pace = Pace(RateSettings(), clock)

    async def scenario() -> float:
        for _ in range(1000):
            await pace.admit(10**9)
        return clock.monotonic()

    assert asyncio.run(scenario()) == 0.0


async def _ended(layer: Throttled, clock: Clock, turn: int, ended: list[tuple[int, float]]) -> None:
    await layer.send(_attempt(1, InstantClock(), turn))
    ended.append((turn, clock.monotonic()))


class Answering:
    """Answers by number of the attempt, each after some seconds."""

    def __init__(self, answers: Mapping[int, tuple[float, RawReply]]) -> None:
        self._answers = answers

    async def send(self, attempt: Attempt) -> RawReply:
        seconds, raw = self._answers[attempt.tag.turn]
        await asyncio.sleep(seconds)
        return raw


def _times(answers: Mapping[int, tuple[float, RawReply]], starts: Mapping[int, float]) -> dict[int, float]:
    """When each attempt had its answer."""
    ended: list[tuple[int, float]] = []

    async def scenario() -> None:
        clock = VirtualClock()
        layer = _layer(Answering(answers), Pace(RateSettings(), clock), clock)

        async def call(turn: int, start: float) -> None:
            await asyncio.sleep(start)
            await _ended(layer, clock, turn, ended)

        await asyncio.gather(*(call(turn, start) for turn, start in starts.items()))

    run_virtually(scenario())
    return {turn: round(at, 1) for turn, at in ended}


def _busy(status: int = 429, /, **headers: str) -> RawReply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RawReply(status, b"", Bill(), named, tree={"error": {"message": "busy"}})


GOOD = RawReply(200, b"", Bill(), tree={"choices": [{"message": {"content": "x"}}]})

USED_UP = {
    "x_ratelimit_limit_tokens": "100",
    "x_ratelimit_remaining_tokens": "0",
    "x_ratelimit_reset_tokens": "20s",
}


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (_busy(retry_after="30"), 30),
        (_busy(retry_after_ms="2500"), 2.5),
        (_busy(503, retry_after="5"), 5),
        (_busy(**USED_UP), 20),
        (_busy(retry_after="7", **USED_UP), 20),
        (_busy(retry_after="86400"), LONGEST_HOLD),
        (_busy(), 0),
        (_busy(503), 0),
    ],
)
def test_a_wait_that_is_asked_for_holds_everyone_on_the_key(fault: RawReply, seconds: float) -> None:
    # The first is told to wait when a tenth of a second has passed; the second comes at 1 s.
    times = _times({1: (0.1, fault), 2: (0.0, GOOD)}, {1: 0.0, 2: 1.0})
    assert times[2] == pytest.approx(max(1.0, 0.1 + seconds), abs=0.11)


def test_an_exhausted_quota_holds_nobody() -> None:
    no_money = RawReply(
        429, b"", Bill(), {"retry-after": "30"}, tree={"error": {"code": "insufficient_quota"}}
    )
    assert _times({1: (0.1, no_money), 2: (0.0, GOOD)}, {1: 0.0, 2: 1.0})[2] == 1.0


def test_an_answer_to_a_later_call_ends_a_hold_and_one_to_an_earlier_call_does_not() -> None:
    busy = _busy(retry_after="60")
    starts = {1: 0.0, 2: 0.1, 3: 0.2, 4: 1.0}
    # 2 is told to wait at 0.3 s. 1, sent before it, is answered at 5 s; 3, sent after it, at 10 s.
    answers = {1: (5.0, GOOD), 2: (0.2, busy), 3: (9.8, GOOD), 4: (0.0, GOOD)}
    assert _times(answers, starts)[4] == pytest.approx(10.0, abs=0.11)
    # Without 3, the hold lasts for what was asked.
    del starts[3]
    assert _times(answers, starts)[4] == pytest.approx(60.3, abs=0.11)


def test_no_hold_begins_when_a_later_call_was_answered_before() -> None:
    answers = {1: (0.5, _busy(retry_after="60")), 2: (0.1, GOOD), 3: (0.0, GOOD)}
    assert _times(answers, {1: 0.0, 2: 0.1, 3: 1.0})[3] == 1.0


def test_a_stated_limit_of_tokens_holds_as_one_of_requests_does() -> None:
    said = {"x-ratelimit-limit-tokens": "100", "x-ratelimit-remaining-tokens": "0"}
    usage = Bill(Usage(60, 0, 40, 0))
    answer = RawReply(200, b"", usage, said, tree=GOOD.tree)
    times = _times({1: (0.0, answer), 2: (0.0, answer)}, {1: 0.0, 2: 1.0})
    assert 60 <= times[2] <= 63


def test_waiting_for_a_stated_limit_does_not_count_against_the_deadline() -> None:
    async def scenario() -> float:
        clock = InstantClock()
        layer = _layer(FakeLine([_busy(retry_after="50"), GOOD]), Pace(RateSettings(), clock), clock)
        await layer.send(_attempt(1, clock))
        attempt = _attempt(1, clock)
        await layer.send(attempt)
        assert clock.monotonic() == pytest.approx(50)
        return attempt.deadline.remaining()

    assert asyncio.run(scenario()) == pytest.approx(10.0)

"""Both clocks keep the contract of the port, and timestamps sort as time does."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from evaluator.core.ports import Clock
from evaluator.run.clocks import START, InstantClock, SystemClock, timestamp


@pytest.mark.parametrize("clock", [SystemClock(), InstantClock()])
def test_a_clock_says_utc_and_never_goes_back(clock: Clock) -> None:
    before, instant = clock.monotonic(), clock.now()
    asyncio.run(clock.sleep(0))
    assert clock.monotonic() >= before
    assert clock.now() >= instant
    assert instant.utcoffset() == timedelta(0)


def test_the_system_clock_is_this_machine_s() -> None:
    assert abs((SystemClock().now() - datetime.now(UTC)).total_seconds()) < 60


def test_the_instant_clock_moves_by_what_is_slept_and_by_nothing_else() -> None:
    clock = InstantClock()
    asyncio.run(clock.sleep(3600))
    asyncio.run(clock.sleep(-5))
    assert clock.monotonic() == 3600
    assert clock.now() == START + timedelta(hours=1)


def test_sleeping_on_the_instant_clock_lets_other_tasks_run() -> None:
    order: list[str] = []

    async def sleeper() -> None:
        order.append("asleep")
        await InstantClock().sleep(1_000_000)
        order.append("awake")

    async def other() -> None:
        order.append("other")

    async def both() -> None:
        await asyncio.gather(sleeper(), other())

    asyncio.run(both())
    assert order == ["asleep", "other", "awake"]


def test_timestamps_are_utc_and_of_one_width() -> None:
    whole = datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp(whole) == "2026-01-01T00:00:00.000000Z"
    assert timestamp(whole + timedelta(microseconds=5)) == "2026-01-01T00:00:00.000005Z"

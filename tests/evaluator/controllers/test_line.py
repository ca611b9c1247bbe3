"""The deadline of a call: what counts against it and what does not."""

import asyncio
from contextlib import suppress

from evaluator.controllers.line import Deadline
from evaluator.run.clocks import InstantClock


def test_time_runs_against_the_deadline_save_where_it_is_paused() -> None:
    async def scenario() -> list[float]:
        clock = InstantClock()
        await clock.sleep(1000)
        deadline = Deadline(clock, 120)
        seen = [deadline.remaining()]
        await clock.sleep(50)
        seen.append(deadline.remaining())
        with deadline.paused():
            await clock.sleep(500)
        seen.append(deadline.remaining())
        await clock.sleep(80)
        return [*seen, deadline.remaining()]

    assert asyncio.run(scenario()) == [120, 70, 70, -10]


def test_a_pause_that_is_broken_off_is_a_pause_all_the_same() -> None:
    async def scenario() -> float:
        clock = InstantClock()
        deadline = Deadline(clock, 10)
        with suppress(KeyError), deadline.paused():
            await clock.sleep(5)
            raise KeyError
        return deadline.remaining()

    assert asyncio.run(scenario()) == 10

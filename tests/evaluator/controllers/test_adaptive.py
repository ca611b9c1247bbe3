"""How many are in flight: as many as the provider puts up with, and not fewer for what is not its load."""

import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.adaptive import MOST_NOTES, Adaptive, Concurrency, LimitNote
from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.run.clocks import InstantClock
from tests.contract.virtual_time import VirtualClock, run_virtually
from tests.contract.whole_stack import tag

GOOD = RawReply(200, b"", Bill(), tree={"choices": [{"message": {"content": "x"}}]})
TOO_MANY = RawReply(429, b"", Bill(), tree={"error": {"message": "too many"}})
NO_MONEY = RawReply(429, b"", Bill(), tree={"error": {"code": "insufficient_quota"}})
BROKEN = RawReply(503, b"", Bill())


class Bearing:
    """A provider that bears so many at a time and refuses some at random besides."""

    def __init__(self, bears: int, *, refuses: float = 0.0, breaks: float = 0.0) -> None:
        self.bears = bears
        self.at_once = 0
        self.most = 0
        self.answered = 0
        self._refuses = refuses
        self._breaks = breaks
        self._luck = Random(5)

    async def send(self, _: Attempt) -> RawReply:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            if self.at_once > self.bears or self._luck.random() < self._refuses:
                await asyncio.sleep(0.01)
                return TOO_MANY
            await asyncio.sleep(self._luck.uniform(0.5, 1.5))
            if self._luck.random() < self._breaks:
                return BROKEN
            self.answered += 1
            return GOOD
        finally:
            self.at_once -= 1


def _work(
    provider: Bearing, *, most: int, seconds: float, changes: dict[float, int] | None = None
) -> tuple[Concurrency, Sequence[LimitNote]]:
    """Keep ``most`` workers at it for so long; what the provider bears changes at given times."""

    async def scenario() -> tuple[Concurrency, Sequence[LimitNote]]:
        clock = VirtualClock()
        concurrency = Concurrency(most, clock)
        line = Adaptive(provider, concurrency, fault_of=wire.fault, clock=clock)

        async def worker() -> None:
            while clock.monotonic() < seconds:
                await line.send(Attempt(b"", tag(), "m", Deadline(clock, 1e9)))

        async def change() -> None:
            for at, bears in (changes or {}).items():
                await asyncio.sleep(at - clock.monotonic())
                provider.bears = bears

        await asyncio.gather(change(), *(worker() for _ in range(most)))
        return concurrency, concurrency.history()

    return run_virtually(scenario())


def test_a_provider_that_bears_all_gets_all() -> None:
    provider = Bearing(64)
    concurrency, history = _work(provider, most=64, seconds=30)
    assert (concurrency.limit, concurrency.least, concurrency.refusals, provider.most) == (64, 64, 0, 64)
    assert [(note.limit, note.why) for note in history] == [(64, "start")]


@pytest.mark.parametrize("bears", [1, 5, 20])
def test_a_provider_that_bears_less_is_met_at_what_it_bears(bears: int) -> None:
    provider = Bearing(bears)
    concurrency, _ = _work(provider, most=64, seconds=300)
    assert bears <= concurrency.limit <= 1.3 * bears + 1
    # It is kept busy all the time, a call taking a second on the average.
    assert provider.answered >= 0.9 * bears * 300


def test_the_limit_grows_again_when_the_provider_bears_more() -> None:
    provider = Bearing(4)
    concurrency, history = _work(provider, most=64, seconds=200, changes={60.0: 64})
    assert concurrency.least <= 6
    assert concurrency.limit == 64
    assert {note.why for note in history} == {"start", "429", "answers"}


def test_refusals_now_and_then_whatever_the_load_slow_nothing_down() -> None:
    provider = Bearing(10**9, refuses=0.05)
    concurrency, _ = _work(provider, most=64, seconds=100)
    assert concurrency.least >= 50
    assert provider.answered >= 0.9 * 64 * 100


def test_faults_of_the_server_change_nothing() -> None:
    provider = Bearing(10**9, breaks=0.5)
    concurrency, _ = _work(provider, most=64, seconds=30)
    assert (concurrency.limit, concurrency.least) == (64, 64)


def test_those_in_flight_together_halve_the_limit_at_most() -> None:
    concurrency = Concurrency(64, InstantClock())
    for _ in range(64):
        concurrency.refused(limit_then=64)
    assert concurrency.limit == 32
    for _ in range(1000):
        concurrency.refused(limit_then=concurrency.limit)
    assert (concurrency.limit, concurrency.least, concurrency.refusals) == (1, 1, 1064)


def test_the_history_is_bounded_and_keeps_its_beginning_and_its_end() -> None:
    async def scenario() -> Sequence[LimitNote]:
        clock = VirtualClock()
        concurrency = Concurrency(8, clock)
        for _ in range(200):
            for _ in range(8):
                concurrency.refused(limit_then=2)
            for _ in range(80):
                concurrency.answered()
            await clock.sleep(1)
        for _ in range(8):
            concurrency.refused(limit_then=2)
        return concurrency.history()

    history = run_virtually(scenario())
    assert len(history) <= MOST_NOTES + 1
    assert (history[0].limit, history[0].why) == (8, "start")
    assert (history[-1].limit, history[-1].why) == (1, "429")
    assert [note.at for note in history] == sorted(note.at for note in history)
    assert (history[-1].at - history[0].at).total_seconds() == 200


def test_an_exhausted_quota_is_no_pressure() -> None:
    assert _after(NO_MONEY).limit == 8
    assert _after(TOO_MANY).limit == 7


def _after(raw: RawReply) -> Concurrency:
    async def scenario() -> Concurrency:
        clock = InstantClock()
        concurrency = Concurrency(8, clock)
        line = Adaptive(FakeLine([raw]), concurrency, fault_of=wire.fault, clock=clock)
        assert await line.send(Attempt(b"", tag(), "m", Deadline(clock, 10))) is raw
        return concurrency

    return asyncio.run(scenario())


def test_whoever_asks_first_gets_the_first_free_place_and_a_cancelled_one_passes_it_on() -> None:
    async def scenario() -> list[int]:
        places, order = Concurrency(1, VirtualClock()), list[int]()
        assert places.has_place()
        assert not places.has_place()

        async def wait(number: int) -> None:
            await places.place()
            order.append(number)

        waiting = [asyncio.create_task(wait(number)) for number in range(4)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        places.leave()  # to the second, for the first has gone
        waiting[1].cancel()  # as it is served
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        places.leave()
        await asyncio.gather(*waiting, return_exceptions=True)
        return order

    assert run_virtually(scenario()) == [2, 3]

"""An event loop whose time is a number: waits cost nothing, and happen in the order of their ends.

``InstantClock`` moves on by every sleep there is; here sleeps at the same time end at the same time, so a
simulated server sees calls as a real one would.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import TypeVar

from evaluator.run.clocks import START

Result = TypeVar("Result")


class _NoSelector(selectors.DefaultSelector):
    """Where a loop would wait for sockets, time passes at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("everything waits and nothing will ever happen")
        self.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop for tasks that wait for each other and for time, and for nothing outside."""

    def __init__(self) -> None:
        self._virtual = _NoSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._virtual.now


class VirtualClock:
    """The time of the running loop, as a clock of the project."""

    def now(self) -> datetime:
        """The instant of the loop."""
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Seconds since the loop was made."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Wait in the loop's time."""
        await asyncio.sleep(seconds)


def run_virtually(main: Coroutine[object, object, Result]) -> Result:
    """As ``asyncio.run``, in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)

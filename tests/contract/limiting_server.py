"""A provider that limits requests, in every way providers do, simulated in virtual time.

It counts a request when it arrives, states the limit in the headers of every response, answers 429 above
it, and keeps the log by which a test judges whoever called it. It is a ``Line``.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.adaptive import Adaptive
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.controllers.pressure import Pressure
from evaluator.controllers.retrying import Retrying
from evaluator.controllers.throttled import Throttled
from evaluator.core.messages import Usage
from evaluator.core.settings import RateSettings
from tests.contract.virtual_time import VirtualClock, run_virtually
from tests.contract.whole_stack import tag

Kind: TypeAlias = Literal["fixed", "sliding, until one is free", "sliding, until all are", "bucket"]


@dataclass
class LimitingServer:
    """Allows ``limit`` requests a ``window``.

    Attributes:
        latency: The shortest and the longest time from a request to its response.
        used_before: What another process sent just before.
        begun: How far the first window, where windows are fixed, has gone at the start.
    """

    kind: Kind
    limit: int
    window: float
    latency: tuple[float, float]
    seed: int = 0
    used_before: int = 0
    begun: float = 0.0
    wire_seconds: float = 0.02
    arrivals: list[float] = field(default_factory=list)
    above: list[float] = field(default_factory=list)
    first_word: float | None = None

    def __post_init__(self) -> None:
        self._luck = Random(self.seed)
        self._log: deque[float] = deque([0.0] * self.used_before)
        self._level = float(self.limit - self.used_before)
        self._filled = 0.0

    async def send(self, attempt: Attempt) -> RawReply:
        """Let it arrive, count it, answer after a while."""
        del attempt
        time = asyncio.get_running_loop().time
        left = time()
        await asyncio.sleep(self._luck.uniform(0.2, 1.0) * self.wire_seconds)
        status, headers = self._count(time(), left)
        seconds = self._luck.uniform(*self.latency) if status == 200 else 0.0
        await asyncio.sleep(seconds + self._luck.uniform(0.2, 1.0) * self.wire_seconds)
        self.first_word = self.first_word or time()
        bill = Bill(Usage(10, 0, 10, 0) if status == 200 else None, 0.0)
        tree = {"choices": [{"message": {"content": "x"}}]} if status == 200 else {"error": {"message": "no"}}
        return RawReply(status, b"", bill, headers, tree=tree)

    def used_share(self) -> float:
        """The share of what the server would have allowed, from the start to the last arrival."""
        answered = len(self.arrivals) - len(self.above)
        return answered / (self.limit * max(1.0, self.arrivals[-1] / self.window))

    def _count(self, now: float, left: float) -> tuple[int, Mapping[str, str]]:
        self.arrivals.append(now)
        self._refill(now)
        allowed = self._level >= 1
        if allowed:
            self._level -= 1
            self._log.append(now)
        elif self.first_word is not None and left > self.first_word:
            self.above.append(now)
        headers = {
            "x-ratelimit-limit-requests": str(self.limit),
            "x-ratelimit-remaining-requests": str(int(self._level)),
            "x-ratelimit-reset-requests": f"{max(0.0, self._reset(now)) * 1000:.3f}ms",
        }
        return (200 if allowed else 429), headers

    def _refill(self, now: float) -> None:
        """Bring the number of requests that may still come up to date."""
        if self.kind == "bucket":
            self._level += (now - self._filled) * self.limit / self.window
            self._level = min(float(self.limit), self._level)
        elif self.kind == "fixed":
            if (now + self.begun) // self.window > (self._filled + self.begun) // self.window:
                self._level = float(self.limit)
        else:
            while self._log and self._log[0] <= now - self.window:
                self._log.popleft()
            self._level = float(self.limit - len(self._log))
        self._filled = now

    def _reset(self, now: float) -> float:
        if self.kind == "bucket":
            return (self.limit - self._level) * self.window / self.limit
        if self.kind == "fixed":
            return self.window - (now + self.begun) % self.window
        oldest, newest = self._log[0], self._log[-1]
        return (oldest if self.kind == "sliding, until one is free" else newest) + self.window - now


def work_through(server: LimitingServer, *, calls: int, workers: int) -> float:
    """Send calls by so many workers through all but budget and journal; the seconds that it took."""

    async def scenario() -> float:
        clock = VirtualClock()
        pressure = Pressure("simulated", RateSettings(trajectories=workers), clock)
        paced = Throttled(server, pressure.pace, fault_of=wire.fault, clock=clock)
        bearable = Adaptive(paced, pressure.concurrency, fault_of=wire.fault, clock=clock)
        line = Retrying(bearable, fault_of=wire.fault, clock=clock, luck=Random(server.seed))
        queue = iter(range(calls))

        async def worker() -> None:
            for turn in queue:
                await line.send(Attempt(b"", tag(turn), "m", Deadline(clock, 1e9), estimated_tokens=20))

        await asyncio.gather(*(worker() for _ in range(workers)))
        return clock.monotonic()

    return run_virtually(scenario())

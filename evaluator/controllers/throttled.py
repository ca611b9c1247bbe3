"""Our own rate limits: requests and tokens a minute, for all models of a run together.

Whoever asks first goes first. One waiter at a time polls the throttler: asyncio-throttle is exact but
thousands of pollers would starve each other.
"""

import asyncio
from typing import Protocol

from asyncio_throttle.throttler import Throttler

from evaluator.controllers.line import Attempt, Line, RawReply
from evaluator.core.ports import Clock
from evaluator.core.settings import RateSettings

BURST_SECONDS = 2.0
"""What the token bucket holds when full; the refill is slower by that, so that no minute has more."""

SHORTEST_SLEEP = 0.001
"""Rounding can leave a rest that no clock would move by."""


class Limiter(Protocol):
    """What this module uses of a Throttler, which has no annotations."""

    async def acquire(self) -> None:
        """Return when a request may go."""
        ...


class TokenBucket:
    """Tokens a minute: an estimate is taken before a call, and its difference to the truth after it.

    A call larger than the bucket waits until it is full and leaves a debt.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_second = per_minute / (60 + BURST_SECONDS)
        self._size = self._per_second * BURST_SECONDS
        self._level = self._size
        self._clock = clock
        self._filled_at = clock.monotonic()

    async def take(self, tokens: int) -> None:
        """Wait until that many tokens, or a full bucket, are there, and take them."""
        needed = min(float(tokens), self._size)
        self._fill()
        while self._level < needed:
            missing = (needed - self._level) / self._per_second
            await self._clock.sleep(max(missing, SHORTEST_SLEEP))
            self._fill()
        self._level -= tokens

    def give_back(self, tokens: int) -> None:
        """Return what was taken too much; negative when it was too little."""
        self._level += tokens

    def _fill(self) -> None:
        now = self._clock.monotonic()
        self._level = min(self._size, self._level + (now - self._filled_at) * self._per_second)
        self._filled_at = now


class Pace:
    """How fast a run may go; one for all its models."""

    def __init__(self, rate: RateSettings, clock: Clock) -> None:
        self._turnstile = asyncio.Lock()
        self._requests: Limiter | None = None
        if rate.requests_per_minute is not None:
            self._requests = Throttler(*window(rate.requests_per_minute))
        self._tokens = None if rate.tokens_per_minute is None else TokenBucket(rate.tokens_per_minute, clock)

    async def admit(self, tokens: int) -> None:
        """Return when a call of about that many tokens may go; first come, first served."""
        async with self._turnstile:
            if self._tokens is not None:
                await self._tokens.take(tokens)
            if self._requests is not None:
                await self._requests.acquire()

    def reconcile(self, estimated: int, used: int) -> None:
        """Correct the estimate that a call was admitted with."""
        if self._tokens is not None:
            self._tokens.give_back(estimated - used)


class Throttled:
    """Admits attempts to the inner line at the pace of the run; a retry is an attempt as any other."""

    def __init__(self, line: Line, pace: Pace) -> None:
        self._line = line
        self._pace = pace

    async def send(self, attempt: Attempt) -> RawReply:
        """Wait for admission, outside the deadline of the call, then send."""
        with attempt.deadline.paused():
            await self._pace.admit(attempt.estimated_tokens)
        raw = await self._line.send(attempt)
        usage = raw.bill.usage
        if usage is not None:
            self._pace.reconcile(attempt.estimated_tokens, usage.input_tokens + usage.output_tokens)
        return raw


def window(per_minute: int) -> tuple[int, float]:
    """A short window with the same limit: requests, and the seconds in which no more may go.

    A minute holds a whole number of windows, so that no minute ever holds more than the limit.
    """
    requests = max(1, per_minute // 60)
    return requests, 60 / (per_minute // requests)

"""The rates of one provider key: requests and tokens a minute, as set by us and as stated by the provider.

Whichever is lower holds, for all models behind the key together. A wait that the provider asks for holds
everyone, not only the call that met it. Whoever asks first goes first, and one waiter at a time polls:
asyncio-throttle is exact but thousands of pollers would starve each other.
"""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from asyncio_throttle.throttler import Throttler

from evaluator.controllers.line import Attempt, FaultOf, Line, RawReply
from evaluator.controllers.rate_headers import stated
from evaluator.controllers.stated_limit import Sending, StatedLimit
from evaluator.core.errors import RetryableError
from evaluator.core.ports import Clock
from evaluator.core.settings import RateSettings

BURST_SECONDS = 2.0
"""What the token bucket holds when full; the refill is slower by that, so that no minute has more."""

SHORTEST_SLEEP = 0.001
"""Rounding can leave a rest that no clock would move by."""

POLL_SECONDS = 0.02
"""How often the first in the queue looks whether a provider's limit lets it go."""

LONGEST_HOLD = 600.0
"""After that many seconds a provider that asked for a longer wait is asked again."""


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


@dataclass(frozen=True, slots=True)
class Admission:
    """A call that was let go, as both stated limits count it, and the tokens it was taken to need."""

    request: Sending
    tokens: Sending
    estimated: int


class Pace:
    """How fast calls with one provider key may go."""

    def __init__(self, rate: RateSettings, clock: Clock) -> None:
        self._clock = clock
        self._turnstile = asyncio.Lock()
        self._requests: Limiter | None = None
        if rate.requests_per_minute is not None:
            self._requests = Throttler(*window(rate.requests_per_minute))
        self._tokens = None if rate.tokens_per_minute is None else TokenBucket(rate.tokens_per_minute, clock)
        self._stated_requests = StatedLimit()
        self._stated_tokens = StatedLimit()
        self._held_until = 0.0
        self._held_by = 0  # number of the last call that was told to wait
        self._answered = 0  # highest number of a call that was answered

    async def admit(self, tokens: int) -> Admission:
        """Return when a call of about that many tokens may go; first come, first served."""
        async with self._turnstile:
            if self._tokens is not None:
                await self._tokens.take(tokens)
            if self._requests is not None:
                await self._requests.acquire()
            now = self._clock.monotonic()
            while not self._is_open(tokens, now):
                held = self._held_until - now
                await self._clock.sleep(min(held, POLL_SECONDS) if held > SHORTEST_SLEEP else POLL_SECONDS)
                now = self._clock.monotonic()
            request = self._stated_requests.send(1, now)
            return Admission(request, self._stated_tokens.send(tokens, now), tokens)

    def done(self, admission: Admission, raw: RawReply | None) -> None:
        """Note how an admitted call ended; None when it was abandoned."""
        now = self._clock.monotonic()
        headers = raw.headers if raw else {}
        usage = raw.bill.usage if raw else None
        used = usage.input_tokens + usage.output_tokens if usage else None
        ok = raw is not None and 200 <= raw.status < 300
        request, tokens = admission.request, admission.tokens
        said = stated(headers, "requests") if headers else None
        self._stated_requests.end(request, now, said=said, used=None, ok=ok)
        said = stated(headers, "tokens") if headers else None
        self._stated_tokens.end(tokens, now, said=said, used=used, ok=ok)
        if used is not None and self._tokens is not None:
            self._tokens.give_back(admission.estimated - used)
        if ok:
            self._answered = max(self._answered, request.number)
            if request.number > self._held_by:
                self._held_until = 0.0

    def hold(self, admission: Admission, seconds: float) -> None:
        """Let nobody go for so long because a call was told to wait.

        Unless one that was sent after it was answered: then it was not the key that it met with, and
        such an answer ends a hold.
        """
        number = admission.request.number
        if number > self._answered:
            until = self._clock.monotonic() + min(seconds, LONGEST_HOLD)
            self._held_until = max(self._held_until, until)
            self._held_by = max(self._held_by, number)

    def _is_open(self, tokens: int, now: float) -> bool:
        return (
            now >= self._held_until
            and self._stated_requests.may_send(1, now)
            and self._stated_tokens.may_send(tokens, now)
        )


class Throttled:
    """Admits attempts to the inner line at the pace of their key; a retry is an attempt as any other."""

    def __init__(self, line: Line, pace: Pace, *, fault_of: FaultOf, clock: Clock) -> None:
        self._line = line
        self._pace = pace
        self._fault_of = fault_of
        self._clock = clock

    async def send(self, attempt: Attempt) -> RawReply:
        """Wait for admission, outside the deadline of the call, then send."""
        with attempt.deadline.paused():
            admission = await self._pace.admit(attempt.estimated_tokens)
        raw: RawReply | None = None
        try:
            raw = await self._line.send(attempt)
        finally:
            self._pace.done(admission, raw)
        if raw.status >= 400:
            self._heed(admission, raw)
        return raw

    def _heed(self, admission: Admission, raw: RawReply) -> None:
        """Hold everyone when the fault says for how long, or which limit is used up and until when."""
        fault = self._fault_of(raw, self._clock.now())
        if not isinstance(fault, RetryableError):
            return
        waits = [fault.retry_after or 0.0]
        if fault.status == 429:
            limits = [stated(raw.headers, "requests"), stated(raw.headers, "tokens")]
            waits += [said.reset or 0.0 for said in limits if said and said.remaining == 0]
        if max(waits) > 0:
            self._pace.hold(admission, max(waits))


def window(per_minute: int) -> tuple[int, float]:
    """A short window with the same limit: requests, and the seconds in which no more may go.

    A minute holds a whole number of windows, so that no minute ever holds more than the limit.
    """
    requests = max(1, per_minute // 60)
    return requests, 60 / (per_minute // requests)

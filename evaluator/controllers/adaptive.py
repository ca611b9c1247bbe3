"""How many attempts with one provider key are in flight: as many as the provider puts up with.

The limit begins at what the run may have in flight. An attempt that is told "too many" (429) takes the
place away that it was refused; answers give places back, one for ten, or one for each round of answers
while the limit is below ten. So a provider that bears less is met at what it bears, and one that refuses
now and then, whatever the load, slows nothing down. Other faults change nothing.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluator.controllers.line import Attempt, FaultOf, Line, RawReply
from evaluator.core.errors import RetryableError
from evaluator.core.ports import Clock

GROWTH = 0.1
"""Places that an answer gives back when the limit is ten or more."""

NOTED_CHANGE = 4
"""A change of the limit by a quarter of what was noted last is noted."""

MOST_NOTES = 200
FIRST_NOTES = 20
"""When there are too many notes the first ones and the latest stay."""


@dataclass(frozen=True, slots=True)
class LimitNote:
    """The limit at some time, and why it had become that: ``start``, ``429`` or ``answers``."""

    at: datetime
    limit: int
    why: str


class Concurrency:
    """The places of one provider key; whoever asks first gets the first that is free.

    Attributes:
        least: The lowest that the limit has been.
        refusals: How many attempts were told that they are too many.
    """

    def __init__(self, most: int, clock: Clock) -> None:
        self._most = most
        self._limit = float(most)
        self._clock = clock
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.least = most
        self.refusals = 0
        self._why = "start"
        self._notes = [LimitNote(clock.now(), most, self._why)]

    @property
    def limit(self) -> int:
        """How many may be in flight now."""
        return int(self._limit)

    def history(self) -> Sequence[LimitNote]:
        """The limit over time, up to now."""
        if self._notes[-1].limit == self.limit:
            return tuple(self._notes)
        return (*self._notes, LimitNote(self._clock.now(), self.limit, self._why))

    def has_place(self) -> bool:
        """Take a place when one is free and nobody waits for it."""
        if self._waiting or self._in_flight >= self.limit:
            return False
        self._in_flight += 1
        return True

    async def place(self) -> None:
        """Wait for a place and take it."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give a place back to whoever is next."""
        self._in_flight -= 1
        while self._waiting and self._in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._in_flight += 1

    def answered(self) -> None:
        """Grow: an attempt was answered."""
        if self._limit < self._most:
            self._limit = min(self._most, self._limit + max(GROWTH, 1 / self._limit))
            self._note("answers")

    def refused(self, limit_then: int) -> None:
        """Shrink: an attempt that was sent under that limit was one too many.

        What was in flight together with it halves the limit at most.
        """
        self.refusals += 1
        self._limit = min(self._limit, max(1.0, limit_then / 2, self._limit - 1))
        self.least = min(self.least, self.limit)
        self._note("429")

    def _note(self, why: str) -> None:
        self._why = why
        last = self._notes[-1].limit
        if abs(self.limit - last) * NOTED_CHANGE >= last:
            self._notes.append(LimitNote(self._clock.now(), self.limit, why))
        if len(self._notes) > MOST_NOTES:
            del self._notes[FIRST_NOTES]


class Adaptive:
    """Sends attempts through the inner line when there is a place for them."""

    def __init__(self, line: Line, concurrency: Concurrency, *, fault_of: FaultOf, clock: Clock) -> None:
        self._line = line
        self._concurrency = concurrency
        self._fault_of = fault_of
        self._clock = clock

    async def send(self, attempt: Attempt) -> RawReply:
        """Wait for a place, outside the deadline of the call; send; learn from what comes back."""
        places = self._concurrency
        if not places.has_place():
            with attempt.deadline.paused():
                await places.place()
        limit_then = places.limit
        try:
            raw = await self._line.send(attempt)
            if 200 <= raw.status < 300:
                places.answered()
            elif self._is_refusal(raw):
                places.refused(limit_then)
        finally:
            places.leave()
        return raw

    def _is_refusal(self, raw: RawReply) -> bool:
        fault = self._fault_of(raw, self._clock.now())
        return isinstance(fault, RetryableError) and fault.status == 429

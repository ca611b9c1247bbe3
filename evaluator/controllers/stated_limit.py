"""One limit that a provider states of itself, requests or tokens, and what may be sent within it.

Headers do not say how long a window is, whether it slides, nor which calls in flight it has counted. Two
rules are right all the same, and a call may go by either:

- by the log: what we sent in the last minute and what others sent stay within the limit. That holds for
  every window of a minute or less, whatever the provider counts.
- by its word: what was said to remain, less all that is in flight. That holds for every window, and uses
  up one that is shorter than a minute. When it has passed, those in flight or else one call that goes
  first bring the new word.

Both spread what they allow: limits of a minute are often enforced by the second.
"""

import math
from collections import deque
from dataclasses import dataclass

from evaluator.controllers.rate_headers import Stated

WINDOW = 60.0
"""Seconds of a window that does not say when it ends."""

PADDED = 61.5
"""A minute by our clock and a little more: calls may arrive closer together than they left."""

SLACK = 0.1
"""Seconds by which calls may be late without being fewer."""

HASTE = 1.25
"""How much faster than evenly a window is used by its word: its last calls must have come back in it."""

SPARED = 25
"""One call in so many of a window is never used by its word: some arrive on its far side."""


@dataclass(slots=True, eq=False)
class Sending:
    """One call as a limit counts it.

    Attributes:
        number: In order.
        at: When it was sent.
        weight: 1, or its tokens.
        logged: The weight of all calls of the minute up to it.
    """

    number: int
    at: float
    weight: float
    logged: float


class StatedLimit:
    """What a provider said last of a limit, and the log of what was sent."""

    def __init__(self) -> None:
        self._limit: int | None = None
        self._log: deque[Sending] = deque()
        self._logged = 0.0
        self._forgotten = 0  # number of the last call that has
        self._number = 0  # of the last call
        self._in_flight = 0.0
        self._due = -math.inf  # when the next call may go
        self._remaining = 0.0
        self._others = 0.0  # what the window holds that is not of ours
        self._from = -math.inf  # no word on a call sent before then is of this window
        self._ends = -math.inf
        self._within_a_minute = True
        self._mark = 0  # calls up to this number were sent before the last word came

    def may_send(self, weight: float, now: float) -> bool:
        """Whether a call of that weight may go now."""
        if self._limit is None:
            return True
        return now >= self._due and self._rate(self._limit, weight, now) > 0

    def send(self, weight: float, now: float) -> Sending:
        """Count a call that goes now."""
        self._number += 1
        self._logged += weight
        sending = Sending(self._number, now, weight, self._logged)
        if self._limit is not None:
            rate = self._rate(self._limit, weight, now) or math.inf
            self._due = max(self._due, now - SLACK) + weight / rate
        self._log.append(sending)
        self._in_flight += weight
        return sending

    def end(self, sending: Sending, now: float, *, said: Stated | None, used: float | None, ok: bool) -> None:
        """Note that a call is over.

        Args:
            sending: As ``send`` gave it.
            now: When.
            said: What its response states of the limit.
            used: What it really weighed, None when that is not known.
            ok: Whether it was answered.
        """
        self._in_flight -= sending.weight
        if used is not None:
            if sending.number > self._forgotten:
                self._logged += used - sending.weight
            sending.weight = used
        if said is not None:
            self._hear(said, sending, now)
        elif ok and self._limit is None:
            self._forget(math.inf)  # a provider that states no limit: nothing is to be kept

    def _hear(self, said: Stated, sending: Sending, now: float) -> None:
        """Take a statement for the latest word, unless it says more than one as new as it."""
        if sending.at < self._from:
            return
        self._limit = said.limit
        remaining, others = 0.0, 0.0
        if said.remaining is not None:
            remaining = float(said.remaining)
            # What was sent after this call was not counted yet; what was sent before it was.
            others = max(0.0, said.limit - remaining - sending.logged)
        if sending.number <= self._mark:
            self._remaining = min(self._remaining, remaining)
            self._others = max(self._others, others)
            return
        if sending.at >= self._ends:
            self._from = self._ends
        reset = WINDOW if said.reset is None else said.reset
        self._ends, self._within_a_minute = now + reset, reset <= PADDED
        self._mark, self._remaining, self._others = self._number, remaining, others

    def _rate(self, limit: int, weight: float, now: float) -> float:
        """How fast calls may go now, in weight a second; 0 when one of that weight may not go at all."""
        self._forget(now - PADDED)
        weight = min(weight, limit)
        known = now < self._ends
        rate = 0.0
        if not known or self._within_a_minute:
            others = self._others if known else 0.0
            if self._logged + others + weight <= limit:
                rate = limit / PADDED
        if not known:
            return rate if self._in_flight else math.inf
        free = self._remaining - self._in_flight - limit // SPARED
        if free >= weight:
            rate = max(rate, HASTE * free / (self._ends - now))
        return rate

    def _forget(self, before: float) -> None:
        log = self._log
        while log and log[0].at < before:
            sending = log.popleft()
            self._logged -= sending.weight
            self._forgotten = sending.number

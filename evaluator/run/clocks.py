"""Clocks: the system's, and one that makes every wait instant for tests."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The current instant, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for real."""
        await asyncio.sleep(seconds)


class InstantClock:
    """A clock that moves only when someone sleeps, and then at once."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The start, moved on by all sleeps so far."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds slept so far."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Move on and let the other tasks run."""
        self._elapsed += max(seconds, 0.0)
        await asyncio.sleep(0)


def timestamp(instant: datetime) -> str:
    """RFC 3339 in UTC with microseconds, always of one width: text order is time order."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

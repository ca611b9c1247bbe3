"""What all calls with one provider key share: their pace, and how many of them are in flight.

A provider counts by key, not by model or by run: the models of a run that go to one place with one key
go at one pace together.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from evaluator.controllers.adaptive import Concurrency
from evaluator.controllers.throttled import Pace
from evaluator.core.ports import Clock
from evaluator.core.settings import RateSettings


class Pressure:
    """The pace and the places of one provider key."""

    def __init__(self, name: str, rate: RateSettings, clock: Clock) -> None:
        """Begin at what the settings allow.

        Args:
            name: For people; it tells nothing of the key.
            rate: What the settings allow each key.
            clock: Of waits.
        """
        self.name = name
        self.pace = Pace(rate, clock)
        self.concurrency = Concurrency(rate.trajectories, clock)


class Pressures:
    """The pressure of every provider key of a run."""

    def __init__(self, rate: RateSettings, clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._by_key: dict[tuple[str, str | None], Pressure] = {}

    def of(self, url: str, key: str | None) -> Pressure:
        """That of calls to a URL with a key; the same object for every path of one host."""
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        identity = f"{parts.scheme}://{host}", key
        if identity not in self._by_key:
            others = sum(urlsplit(known).netloc == host for known, _ in self._by_key)
            name = f"{host} (key {others + 1})" if others else host
            self._by_key[identity] = Pressure(name, self._rate, self._clock)
        return self._by_key[identity]

    def __iter__(self) -> Iterator[Pressure]:
        return iter(self._by_key.values())

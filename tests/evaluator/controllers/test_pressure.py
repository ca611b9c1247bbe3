"""One pressure a provider key: whoever goes to one host with one key goes at one pace."""

import asyncio

from evaluator.controllers.pressure import Pressures
from evaluator.core.settings import RateSettings
from evaluator.run.clocks import InstantClock


def _pressures() -> Pressures:
    return Pressures(RateSettings(trajectories=3), InstantClock())


def test_one_key_at_one_host_is_one_pressure_whatever_the_path() -> None:
    pressures = _pressures()
    one = pressures.of("https://api.example.com/v1/chat/completions", "sk-1")
    assert pressures.of("https://api.example.com/v1/responses", "sk-1") is one
    assert len(list(pressures)) == 1
    assert one.concurrency.limit == 3


def test_another_key_another_host_or_another_port_is_another_one() -> None:
    pressures = _pressures()
    given = [
        ("https://api.example.com/v1", "sk-1"),
        ("https://api.example.com/v1", "sk-2"),
        ("https://api.example.com/v1", None),
        ("http://api.example.com/v1", "sk-1"),
        ("https://other.example.com/v1", "sk-1"),
        ("http://127.0.0.1:8000/v1", None),
        ("http://127.0.0.1:8001/v1", None),
    ]
    assert len({id(pressures.of(url, key)) for url, key in given}) == len(given)
    names = [each.name for each in pressures]
    assert len(set(names)) == len(names)


def test_a_name_tells_the_host_and_nothing_of_a_key_or_a_password() -> None:
    pressures = _pressures()
    for key in ("sk-secret-1", "sk-secret-2"):
        pressures.of("https://user:password@api.example.com:8443/v1", key)
    assert [each.name for each in pressures] == ["api.example.com:8443", "api.example.com:8443 (key 2)"]


def test_the_pace_of_one_key_does_not_hold_up_another() -> None:
    async def scenario() -> list[float]:
        clock = InstantClock()
        pressures = Pressures(RateSettings(tokens_per_minute=62), clock)  # one a second, holding two
        times = []
        for key in ("sk-1", "sk-1", "sk-2"):
            await pressures.of("http://host", key).pace.admit(2)
            times.append(clock.monotonic())
        return times

    assert asyncio.run(scenario()) == [0.0, 2.0, 2.0]

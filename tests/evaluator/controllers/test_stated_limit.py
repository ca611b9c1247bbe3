"""Limits as providers state them: nothing goes above one once it is known, and it is used up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.controllers.rate_headers import Stated
from evaluator.controllers.stated_limit import PADDED, StatedLimit
from tests.contract.limiting_server import Kind, LimitingServer, work_through

KINDS: list[Kind] = ["fixed", "sliding, until one is free", "sliding, until all are", "bucket"]


@pytest.mark.parametrize("latency", [(0.0, 0.05), (0.2, 0.2), (5.0, 15.0)], ids=str)
@pytest.mark.parametrize("limit", [10, 240])
@pytest.mark.parametrize("kind", KINDS)
def test_a_minute_is_never_exceeded_and_used_to_nine_tenths(
    kind: Kind, limit: int, latency: tuple[float, float]
) -> None:
    server = LimitingServer(kind, limit, 60.0, latency)
    work_through(server, calls=3 * limit, workers=100)
    assert server.above == []
    assert server.used_share() >= 0.9


@pytest.mark.parametrize("kind", ["fixed", "sliding, until one is free", "bucket"])
@pytest.mark.parametrize(("limit", "window"), [(20, 2.0), (100, 10.0)])
def test_a_window_shorter_than_a_minute_is_used_to_nine_tenths_too(
    kind: Kind, limit: int, window: float
) -> None:
    server = LimitingServer(kind, limit, window, (0.0, 0.05))
    work_through(server, calls=6 * limit, workers=64)
    assert server.above == []
    assert server.used_share() >= 0.9


@settings(max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    limit=st.integers(2, 300),
    window=st.sampled_from([1.0, 5.0, 20.0, 60.0]),
    shortest=st.floats(0.0, 5.0),
    spread=st.floats(0.0, 5.0),
    workers=st.integers(1, 100),
    seed=st.integers(0, 10**6),
    before=st.floats(0.0, 1.0),
    begun=st.floats(0.0, 1.0),
)
def test_no_request_goes_above_a_stated_limit_whatever_it_is(
    kind: Kind,
    limit: int,
    window: float,
    shortest: float,
    spread: float,
    workers: int,
    seed: int,
    before: float,
    begun: float,
) -> None:
    server = LimitingServer(
        kind,
        limit,
        window,
        (shortest, shortest + spread),
        seed,
        used_before=int(before * limit),
        begun=begun * window,
    )
    work_through(server, calls=3 * limit, workers=workers)
    assert server.above == []


def test_a_limit_of_more_than_a_minute_is_spread_by_its_word_alone() -> None:
    limit = StatedLimit()
    first = limit.send(1, 0.0)
    limit.end(first, 1.0, said=Stated(1000, 3, 8 * 3600.0), used=None, ok=True)
    sent = []
    now = 1.0
    while now < 8 * 3600:
        if limit.may_send(1, now):
            limit.end(limit.send(1, now), now, said=None, used=None, ok=True)
            sent.append(now)
        now += 60
    # 3 remain and one in 25 of 1,000 is spared: nothing may go before the day is over.
    assert sent == []
    assert limit.may_send(1, 1.0 + 8 * 3600)


def test_without_a_word_on_what_remains_the_log_alone_counts() -> None:
    limit = StatedLimit()
    limit.end(limit.send(1, 0.0), 0.0, said=Stated(6, None, None), used=None, ok=True)
    sent, now = [], 0.0
    while now < 2 * PADDED:
        if limit.may_send(1, now):
            sent.append(limit.send(1, now))
        now += 0.05
    # The first call and five more fill a minute; each place is free again after it.
    assert len(sent) == 5 + 6
    assert [round(each.at) for each in sent[:3]] == [0, 10, 20]


def test_tokens_are_counted_as_estimated_and_then_as_used() -> None:
    limit = StatedLimit()
    first = limit.send(100, 0.0)
    limit.end(first, 1.0, said=Stated(1000, None, None), used=700, ok=True)
    assert not limit.may_send(301, 10.0)
    assert limit.may_send(300, 10.0)
    assert limit.may_send(5000, 100.0)  # larger than the limit: it goes when nothing else is in the minute


def test_a_provider_that_states_nothing_leaves_nothing_behind() -> None:
    limit = StatedLimit()
    for number in range(1000):
        assert limit.may_send(1, float(number))
        limit.end(limit.send(1, float(number)), number + 0.5, said=None, used=None, ok=True)
    assert len(limit._log) == 0
    assert limit._logged == 0

"""The ledger: what is committed and reserved never exceeds the cap."""

import asyncio
import gc
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.budget.ledger import Ledger, Reservation
from evaluator.core.cell import Cell
from evaluator.core.errors import CapReachedError
from evaluator.core.journal import Returned, Sent


def _sent(attempt_id: str, reserved_usd: float) -> Sent:
    return Sent(
        attempt_id=attempt_id,
        purpose="agent",
        cell=Cell("d", "c"),
        trajectory_id="t",
        judge="",
        turn=1,
        request_sha256="",
        requested_model="m",
        reserved_usd=reserved_usd,
    )


def _returned(attempt_id: str, cost_usd: float | None) -> Returned:
    return Returned(
        attempt_id=attempt_id,
        purpose="agent",
        cell=Cell("d", "c"),
        trajectory_id="t",
        judge="",
        turn=1,
        request_sha256="",
        requested_model="m",
        status=200,
        returned_model="m",
        response_id="r",
        usage=None,
        cost_usd=cost_usd,
        latency_s=0.1,
        response=None,
        error=None,
    )


def test_a_bill_replaces_the_reserve() -> None:
    ledger = Ledger(1.0)
    reservation = asyncio.run(ledger.reserve(0.4))
    assert (ledger.committed, ledger.reserved) == (0.0, 0.4)
    ledger.settle(reservation, 0.1)
    assert (ledger.committed, ledger.reserved) == (0.1, 0.0)


def test_an_unknown_bill_keeps_its_reserve_for_ever() -> None:
    ledger = Ledger(1.0)
    ledger.settle(asyncio.run(ledger.reserve(0.6)), None)
    assert (ledger.committed, ledger.reserved) == (0.0, 0.6)
    with pytest.raises(CapReachedError, match=r"budget of 1 USD.*0\.600000 reserved.*0\.500000 needed"):
        asyncio.run(ledger.reserve(0.5))


def test_money_adds_up_without_rounding() -> None:
    ledger = Ledger(1.0)
    for _ in range(10):  # ten times 0.1 is below 1.0 in floats, and exactly 1.0 here
        ledger.settle(asyncio.run(ledger.reserve(0.1)), 0.1)
    assert ledger.committed == 1.0
    with pytest.raises(CapReachedError):
        asyncio.run(ledger.reserve(1e-12))


def test_without_a_cap_everything_fits_and_is_still_counted() -> None:
    ledger = Ledger(None)
    ledger.settle(asyncio.run(ledger.reserve(1e6)), 123.0)
    assert ledger.committed == 123.0


def test_a_reservation_that_does_not_fit_waits_for_the_calls_in_flight() -> None:
    async def scenario() -> tuple[bool, float]:
        ledger = Ledger(1.0)
        first = await ledger.reserve(0.7)
        second = asyncio.create_task(ledger.reserve(0.7))
        await asyncio.sleep(0)
        waited = not second.done()
        ledger.settle(first, 0.2)
        await second
        return waited, ledger.reserved

    assert asyncio.run(scenario()) == (True, 0.7)


def test_it_raises_only_when_nothing_is_left_in_flight() -> None:
    async def scenario() -> None:
        ledger = Ledger(1.0)
        first, second = await ledger.reserve(0.4), await ledger.reserve(0.4)
        third = asyncio.create_task(ledger.reserve(0.5))
        ledger.settle(first, 0.4)
        await asyncio.sleep(0)
        assert not third.done()
        ledger.settle(second, 0.3)
        with pytest.raises(CapReachedError):
            await third
        # A smaller call still fits: 0.7 + 0.3.
        await ledger.reserve(0.3)

    asyncio.run(scenario())


def test_a_large_reserve_that_waits_is_not_starved_by_small_ones() -> None:
    async def scenario() -> list[str]:
        ledger, order = Ledger(1.0), list[str]()
        flying = [await ledger.reserve(0.3) for _ in range(3)]

        async def call(name: str, worst: float) -> None:
            reservation = await ledger.reserve(worst)
            order.append(name)
            ledger.settle(reservation, 0.0)

        calls = [asyncio.create_task(call("large", 0.9))]
        await asyncio.sleep(0)
        calls += [asyncio.create_task(call(f"small {number}", 0.1)) for number in range(3)]
        await asyncio.sleep(0)
        assert order == []  # a small one would fit, and waits for its turn
        for reservation in flying:
            ledger.settle(reservation, 0.0)
        await asyncio.gather(*calls)
        return order

    assert asyncio.run(scenario()) == ["large", "small 0", "small 1", "small 2"]


def test_when_the_first_in_the_queue_is_refused_the_next_has_its_turn() -> None:
    async def scenario() -> tuple[object, object]:
        ledger = Ledger(1.0)
        flying = await ledger.reserve(0.5)
        large = asyncio.create_task(ledger.reserve(0.8))
        await asyncio.sleep(0)
        small = asyncio.create_task(ledger.reserve(0.4))
        await asyncio.sleep(0)
        ledger.settle(flying, 0.5)
        outcomes = await asyncio.gather(large, small, return_exceptions=True)
        return outcomes[0], outcomes[1]

    large, small = asyncio.run(scenario())
    assert isinstance(large, CapReachedError)
    assert isinstance(small, Reservation)


@pytest.mark.parametrize("when", ["while it waits", "as it is served"])
def test_a_cancelled_waiter_lets_the_next_one_through(when: str) -> None:
    async def scenario() -> float:
        ledger = Ledger(1.0)
        flying = [await ledger.reserve(0.4), await ledger.reserve(0.2)]
        large = asyncio.create_task(ledger.reserve(0.8))
        await asyncio.sleep(0)
        small = asyncio.create_task(ledger.reserve(0.3))
        await asyncio.sleep(0)
        if when == "as it is served":
            for each in flying:
                ledger.settle(each, 0.0)
        large.cancel()
        await asyncio.gather(large, return_exceptions=True)
        await small
        return ledger.reserved

    assert asyncio.run(scenario()) == pytest.approx(0.3 if when == "as it is served" else 0.9)


def test_a_waiter_that_is_refused_and_cancelled_at_once_leaves_no_complaint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        ledger = Ledger(1.0)
        flying = await ledger.reserve(0.5)
        waiting = asyncio.create_task(ledger.reserve(0.8))
        await asyncio.sleep(0)
        ledger.settle(flying, 0.5)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(scenario())
    gc.collect()
    assert caplog.text == ""


def test_a_cancelled_waiter_holds_nothing() -> None:
    async def scenario() -> float:
        ledger = Ledger(1.0)
        first = await ledger.reserve(0.9)
        waiting = asyncio.create_task(ledger.reserve(0.9))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        ledger.settle(first, 0.0)
        return ledger.reserved

    assert asyncio.run(scenario()) == 0.0


def test_a_journal_restores_bills_and_keeps_what_never_returned() -> None:
    ledger = Ledger(1.0)
    ledger.replay(
        [
            _sent("billed", 0.3),
            _sent("killed", 0.25),
            _returned("billed", 0.1),
            _sent("unknown", 0.2),
            _returned("unknown", None),
            _sent("refused", 0.2),
            _returned("refused", 0.0),
        ]
    )
    assert ledger.committed == 0.1
    assert ledger.reserved == 0.45  # 0.25 never returned + 0.2 of unknown bill
    with pytest.raises(CapReachedError):
        asyncio.run(ledger.reserve(0.46))
    asyncio.run(ledger.reserve(0.45))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    cap=st.floats(0.001, 2.0),
    calls=st.lists(st.floats(0.0, 0.3), max_size=30),
    workers=st.integers(1, 8),
)
def test_no_schedule_exceeds_the_cap(seed: int, cap: float, calls: list[float], workers: int) -> None:
    """Random sizes, bills, unknown bills and interleavings, checked against exact fractions."""
    luck = Random(seed)
    ledger = Ledger(cap)
    held: dict[Reservation, Fraction] = {}
    spent = Fraction(0)
    rounding = Fraction(len(calls) + 2, 10**12)
    queue = iter(calls)

    async def worker() -> None:
        nonlocal spent
        for worst in queue:
            try:
                reservation = await ledger.reserve(worst)
            except CapReachedError:
                return
            held[reservation] = Fraction(worst)
            assert spent + sum(held.values()) <= Fraction(cap) + rounding
            for _ in range(luck.randrange(4)):
                await asyncio.sleep(0)
            if luck.random() < 0.2:
                ledger.settle(reservation, None)  # its share stays in ``held``
                continue
            bill = worst * luck.random()
            spent += Fraction(bill)
            del held[reservation]
            ledger.settle(reservation, bill)

    async def schedule() -> None:
        await asyncio.gather(*(worker() for _ in range(workers)))

    asyncio.run(schedule())
    assert ledger.committed == pytest.approx(float(spent), abs=1e-9)
    assert ledger.reserved == pytest.approx(float(sum(held.values())), abs=1e-9)
    assert ledger.committed + ledger.reserved <= cap + 1e-9
    if next(queue, None) is not None:  # it stopped early: some call of the largest size does not fit
        assert ledger.committed + ledger.reserved + max(calls) > cap - 1e-9


def test_what_was_taken_over_from_a_replayed_run_was_spent_there() -> None:
    there: list[Sent | Returned] = [_sent("a", 0.5), _returned("a", 0.25), _sent("b", 0.5)]
    ledger = Ledger(0.5)
    ledger.replay(
        [*(replace(line, replayed=True) for line in there), _sent("c", 0.25), _returned("c", 0.125)]
    )
    assert (ledger.committed, ledger.reserved) == (0.125, 0.0)

"""The budget's layer: the worst case is held while a call is under way, and its bill thereafter."""

import asyncio

import pytest

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers.capped import Capped, worst_case_usd
from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.core.errors import CapReachedError
from evaluator.run.clocks import InstantClock
from tests.contract.whole_stack import tag

PRICE = Price(input=1.0, cached_input=0.1, output=10.0)


def _attempt(worst_usd: float, clock: InstantClock | None = None) -> Attempt:
    return Attempt(b"{}", tag(), "m", Deadline(clock or InstantClock(), 10), worst_usd=worst_usd)


def test_the_bill_replaces_the_reserve_and_the_line_is_told_what_is_held() -> None:
    ledger, line = Ledger(1.0), FakeLine([RawReply(200, b"", Bill(cost_usd=0.25))])
    asyncio.run(Capped(line, ledger).send(_attempt(0.75)))
    assert (ledger.committed, ledger.reserved) == (0.25, 0.0)
    assert line.sent[0].reserved_usd == 0.75


@pytest.mark.parametrize("outcome", [RawReply(0, b"", Bill()), RuntimeError("a mistake below")])
def test_without_a_bill_the_reserve_stays(outcome: RawReply | Exception) -> None:
    ledger = Ledger(1.0)
    results = asyncio.run(_gather(Capped(FakeLine([outcome]), ledger), _attempt(0.75)))
    assert isinstance(results[0], type(outcome))
    assert (ledger.committed, ledger.reserved) == (0.0, 0.75)


async def _gather(layer: Capped, *attempts: Attempt) -> list[RawReply | BaseException]:
    return await asyncio.gather(*(layer.send(each) for each in attempts), return_exceptions=True)


def test_a_cancelled_call_keeps_its_reserve() -> None:
    async def scenario() -> float:
        ledger, reached = Ledger(1.0), asyncio.Event()

        class Hanging:
            async def send(self, _: Attempt) -> RawReply:
                reached.set()
                return await asyncio.Future()

        call = asyncio.create_task(Capped(Hanging(), ledger).send(_attempt(0.5)))
        await reached.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        return ledger.reserved

    assert asyncio.run(scenario()) == 0.5


def test_a_call_that_does_not_fit_is_not_sent() -> None:
    line = FakeLine([])
    with pytest.raises(CapReachedError):
        asyncio.run(Capped(line, Ledger(0.5)).send(_attempt(0.6)))
    assert line.sent == []


def test_waiting_for_the_budget_does_not_count_against_the_deadline() -> None:
    async def scenario() -> float:
        clock, ledger = InstantClock(), Ledger(1.0)
        before = await ledger.reserve(0.9)
        attempt = _attempt(0.9, clock)
        call = asyncio.create_task(Capped(FakeLine([RawReply(200, b"", Bill())]), ledger).send(attempt))
        await asyncio.sleep(0)
        await clock.sleep(300)
        ledger.settle(before, 0.0)
        await call
        return attempt.deadline.remaining()

    assert asyncio.run(scenario()) == 10


def test_the_worst_case_is_a_token_a_byte_within_the_context_and_a_full_reply() -> None:
    body = b"x" * 1000
    # 1,000 × 1.0/M + 500 × 10.0/M
    assert worst_case_usd(body, ModelFacts(), PRICE, 500) == 0.006
    # a prompt of more than 200 tokens would be refused: 200 × 1.0/M + 500 × 10.0/M
    assert worst_case_usd(body, ModelFacts(context=200), PRICE, 500) == 0.0052
    assert worst_case_usd(body, ModelFacts(), None, 500) == 0.0

"""The budget's layer: the worst case of an attempt is held before it is dispatched.

What the bill says replaces it; when the bill is unknown, or the attempt was abandoned on its way, the
worst case stays held for ever.
"""

from dataclasses import replace

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers.line import Attempt, Line, RawReply


class Capped:
    """Reserves and settles every attempt in the run's ledger."""

    def __init__(self, line: Line, ledger: Ledger) -> None:
        self._line = line
        self._ledger = ledger

    async def send(self, attempt: Attempt) -> RawReply:
        """Reserve, outside the deadline of the call, then send and settle.

        Raises:
            CapReachedError: The budget cannot hold the attempt's worst case.
        """
        with attempt.deadline.paused():
            reservation = await self._ledger.reserve(attempt.worst_usd)
        cost: float | None = None
        try:
            raw = await self._line.send(replace(attempt, reserved_usd=attempt.worst_usd))
            cost = raw.bill.cost_usd
        finally:
            self._ledger.settle(reservation, cost)
        return raw


def worst_case_usd(body: bytes, facts: ModelFacts, price: Price | None, max_output: int) -> float:
    """The most that a request can cost; 0 when it has no price.

    A token is at least one byte, so the body's bytes bound the prompt's tokens, and so does the
    model's context.
    """
    if price is None:
        return 0.0
    prompt = len(body) if facts.context is None else min(len(body), facts.context)
    return price.worst_usd(prompt, max_output)

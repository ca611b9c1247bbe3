"""What may still be spent: worst cases are reserved before dispatch and settled by the bill.

``committed + reserved`` never exceeds the cap, whatever runs at the same time. An attempt whose bill
is unknown keeps its reserve for ever, and so does one that was sent by a process that then died.

Whoever asks first is served first: a large reserve that waits is not starved by small ones that would
fit beside it. So when the end comes, less than the worst case of the call that was refused is left.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.budget.prices import PICO
from evaluator.core.errors import CapReachedError
from evaluator.core.journal import Returned, Sent


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """A part of the budget held for one attempt; settled once."""

    pico: int


class Ledger:
    """The money of a run folder, in whole picodollars so that no rounding ever adds up."""

    def __init__(self, cap_usd: float | None) -> None:
        self.cap_usd = cap_usd
        self._cap = None if cap_usd is None else round(cap_usd * PICO)
        self._committed = 0
        self._in_flight: set[Reservation] = set()
        self._open = 0
        self._kept = 0
        self._waiting: deque[tuple[Reservation, asyncio.Future[None]]] = deque()

    @property
    def committed(self) -> float:
        """USD billed."""
        return self._committed / PICO

    @property
    def reserved(self) -> float:
        """USD held: for attempts in flight, and for ever for those whose bill is unknown."""
        return (self._open + self._kept) / PICO

    async def reserve(self, worst_usd: float) -> Reservation:
        """Hold the worst case of an attempt, waiting for others in flight when it does not fit yet.

        Raises:
            CapReachedError: It does not fit and nothing is in flight that could free any of the cap.
        """
        reservation = Reservation(round(worst_usd * PICO))
        if not self._waiting and self._fits(reservation):
            self._hold(reservation)
            return reservation
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((reservation, turn))
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if reservation in self._in_flight:  # served and cancelled at once: nothing was sent
                self.settle(reservation, 0.0)
            elif not turn.cancelled():
                turn.exception()  # refused and cancelled at once: the refusal has been seen
            self._serve()
            raise
        return reservation

    def settle(self, reservation: Reservation, cost_usd: float | None) -> None:
        """Replace a reserve by the bill; an unknown bill (None) leaves it reserved for ever."""
        self._in_flight.remove(reservation)
        self._open -= reservation.pico
        if cost_usd is None:
            self._kept += reservation.pico
        else:
            self._committed += round(cost_usd * PICO)
        self._serve()

    def replay(self, calls: Iterable[Sent | Returned]) -> None:
        """Take over what the lines of a run folder's ``calls.jsonl`` spent and left reserved.

        What was replayed from another run was spent there.
        """
        unsettled: dict[str, int] = {}
        for call in calls:
            if call.replayed:
                continue
            if isinstance(call, Sent):
                unsettled[call.attempt_id] = round(call.reserved_usd * PICO)
            elif call.cost_usd is not None:
                unsettled.pop(call.attempt_id, None)
                self._committed += round(call.cost_usd * PICO)
        self._kept += sum(unsettled.values())

    def _serve(self) -> None:
        """Let those in the queue go, first come, first served; refuse the first when nothing can free it."""
        while self._waiting:
            reservation, turn = self._waiting[0]
            if not turn.done():
                if self._fits(reservation):
                    self._hold(reservation)
                    turn.set_result(None)
                elif self._in_flight:
                    return
                else:
                    turn.set_exception(CapReachedError(self._sentence(reservation)))
            self._waiting.popleft()

    def _hold(self, reservation: Reservation) -> None:
        self._in_flight.add(reservation)
        self._open += reservation.pico

    def _fits(self, reservation: Reservation) -> bool:
        return self._cap is None or self._committed + self._open + self._kept + reservation.pico <= self._cap

    def _sentence(self, reservation: Reservation) -> str:
        return (
            f"the budget of {self.cap_usd:g} USD cannot hold the next call: {self.committed:.6f} spent, "
            f"{self.reserved:.6f} reserved for calls whose bill is unknown, "
            f"{reservation.pico / PICO:.6f} needed at worst; "
            "raise [budget] usd or --budget-usd and give the same command again"
        )

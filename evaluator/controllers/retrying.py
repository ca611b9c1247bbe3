"""The only retry layer: which faults are tried again, after how long, and until when.

Waits are drawn between zero and a doubling limit (full jitter), on top of what the server asks for.
"""

from random import Random
from typing import Never, cast

from tenacity import Future, RetryCallState, retry_if_exception_type
from tenacity.asyncio import AsyncRetrying

from evaluator.controllers.line import Attempt, FaultOf, Line, RawReply
from evaluator.core.errors import AttemptError, DeadlineError, RetryableError
from evaluator.core.ports import Clock

MOST_ATTEMPTS = 12
FIRST_WAIT = 0.25
LONGEST_WAIT = 30.0


class Retrying:
    """Sends an attempt again and again until it holds a reply, is refused, or time is up."""

    def __init__(self, line: Line, *, fault_of: FaultOf, clock: Clock, luck: Random) -> None:
        self._line = line
        self._fault_of = fault_of
        self._clock = clock
        self._luck = luck
        self._pattern = AsyncRetrying(
            retry=retry_if_exception_type(RetryableError),
            wait=self._wait,
            stop=_is_over,
            sleep=clock.sleep,
            retry_error_callback=_give_up,
        )

    async def send(self, attempt: Attempt) -> RawReply:
        """The first outcome without a fault.

        Raises:
            RefusedError: No repetition would mend it.
            RetryableError: It failed too often.
            DeadlineError: The call's time is up, or would be before the next attempt.
        """
        raw, fault = await self._try(attempt)
        if fault is None:
            return raw
        # tenacity costs as much CPU as the HTTP client, so it is entered with the first fault only; by a
        # copy, as its own decorator does, because the state of a running loop is kept in the object.
        repeated: RawReply = await self._pattern.copy()(self._once, attempt, [fault])
        return repeated

    async def _once(self, attempt: Attempt, known: list[AttemptError]) -> RawReply:
        """One try for tenacity; the first one has been made already, and its fault is known."""
        if known:
            raise known.pop()
        raw, fault = await self._try(attempt)
        if fault is not None:
            raise fault
        return raw

    async def _try(self, attempt: Attempt) -> tuple[RawReply, AttemptError | None]:
        raw = await self._line.send(attempt)
        return raw, self._fault_of(raw, self._clock.now())

    def _wait(self, state: RetryCallState) -> float:
        limit = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (state.attempt_number - 1))
        return (_fault(state).retry_after or 0.0) + self._luck.uniform(0.0, limit)


def _is_over(state: RetryCallState) -> bool:
    attempt: Attempt = state.args[0]
    return state.attempt_number >= MOST_ATTEMPTS or state.upcoming_sleep >= attempt.deadline.remaining()


def _give_up(state: RetryCallState) -> Never:
    attempt: Attempt = state.args[0]
    fault = _fault(state)
    if state.attempt_number >= MOST_ATTEMPTS:
        raise fault
    raise DeadlineError(
        f"{attempt.requested_model} gave no reply within {attempt.deadline.seconds:g} s "
        f"({state.attempt_number} attempts); the last: {fault}"
    ) from fault


def _fault(state: RetryCallState) -> RetryableError:
    """The fault of the last attempt; only retryable ones are waited for."""
    outcome = cast("Future", state.outcome)
    return cast("RetryableError", outcome.exception())

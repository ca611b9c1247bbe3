"""What passes between the layers around a provider: one attempt down, one raw reply up.

Every layer is a ``Line``, from the HTTP client to the outermost one; ``stack`` orders them. A fault is
a ``RawReply`` like any other until the retrying layer judges it, so that recording and settling see
all attempts alike.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from evaluator.core.cell import CallTag
from evaluator.core.errors import AttemptError
from evaluator.core.messages import Usage
from evaluator.core.ports import Clock


class Deadline:
    """The end of one model call, retries included.

    Waiting for our own rate limit or for the budget is not the provider's delay: it moves the end.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left; negative when it has passed."""
        return self._end - self._clock.monotonic()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no time pass for the call while the block runs."""
        started = self._clock.monotonic()
        try:
            yield
        finally:
            self._end += self._clock.monotonic() - started


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP attempt.

    Attributes:
        body: The request as it goes over the wire.
        tag: Whom the call is for.
        requested_model: The model id in the body.
        deadline: The end of the call this attempt belongs to.
        worst_usd: The most it can cost; 0 when it has no price.
        estimated_tokens: What it takes from a tokens-per-minute limit until its usage is known.
        reserved_usd: What is held for it, set by the layer that holds it.
    """

    body: bytes
    tag: CallTag
    requested_model: str
    deadline: Deadline
    worst_usd: float = 0.0
    estimated_tokens: int = 0
    reserved_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Bill:
    """What a response says about its own cost; ``cost_usd`` None when that cannot be known."""

    usage: Usage | None = None
    cost_usd: float | None = None
    returned_model: str = ""
    response_id: str = ""


@dataclass(frozen=True, slots=True)
class RawReply:
    """What came of an attempt, uninterpreted save for its bill; it never holds the key.

    Attributes:
        status: The HTTP status, 0 when no whole response came.
        body: The bytes of the response.
        bill: Read from the response before anything else is.
        headers: Those that say when to try again, names in lower case.
        tree: The parsed body for the provider's wire module, None when it is not JSON.
        is_json: Whether ``body`` is strict JSON, which can be stored as it is.
        latency_s: Seconds from dispatch to the last byte.
        error: What went wrong on the connection, "" when a response came.
    """

    status: int
    body: bytes
    bill: Bill
    headers: Mapping[str, str] = field(default_factory=dict)
    tree: object = None
    is_json: bool = False
    latency_s: float = 0.0
    error: str = ""


FaultOf = Callable[[RawReply, datetime], AttemptError | None]
"""Says what is wrong with the outcome of an attempt: the provider's wire module."""


class Line(Protocol):
    """A way to the provider: the HTTP client itself, or a layer around another line."""

    async def send(self, attempt: Attempt) -> RawReply:
        """Make the attempt; what comes back may be a fault."""
        ...

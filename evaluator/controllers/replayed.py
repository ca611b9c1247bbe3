"""The outermost layer: a call that the journal holds a usable reply to is not made again.

So a run that was killed goes on inside its trajectories and pays for nothing twice. What is given again
is in the journal already: it takes no rate, no budget and no new line.
"""

import hashlib
from collections.abc import Callable, Sequence

import orjson

from evaluator.controllers.line import Attempt, Bill, Line, RawReply
from evaluator.core.journal import Returned, Sent
from evaluator.core.ports import FinishedCalls

Usable = Callable[[RawReply], bool]
"""Whether the outcome of an attempt holds a reply by the model that was asked."""


class Replayed:
    """Gives again what the journal holds, and sends the rest to the inner line."""

    def __init__(self, line: Line, finished: FinishedCalls, usable: Usable) -> None:
        self._line = line
        self._finished = finished
        self._usable = usable

    async def send(self, attempt: Attempt) -> RawReply:
        """The recorded outcome, or that of the inner line."""
        lines = self._finished.lines(attempt.tag, attempt.body)
        recorded = usable_outcome(lines, attempt.body, self._usable) if lines else None
        return recorded or await self._line.send(attempt)


def usable_outcome(lines: Sequence[Sent | Returned], body: bytes, usable: Usable) -> RawReply | None:
    """The last usable outcome among the lines of one call, None when there is none to this very body."""
    request_sha256 = hashlib.sha256(body).hexdigest()
    for line in reversed(lines):
        if isinstance(line, Returned) and line.request_sha256 == request_sha256:
            raw = raw_reply(line)
            if usable(raw):
                return raw
    return None


def raw_reply(line: Returned) -> RawReply:
    """What the line says came of its attempt, its bill as it was then."""
    is_text = isinstance(line.response, str)
    return RawReply(
        status=line.status,
        body=str(line.response).encode() if is_text else orjson.dumps(line.response),
        bill=Bill(line.usage, line.cost_usd, line.returned_model, line.response_id),
        tree=None if is_text else line.response,
        latency_s=line.latency_s,
        error=line.error or "",
    )

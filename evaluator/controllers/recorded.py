"""The journal's layer: every attempt is a line before it is dispatched and a line before it is used.

An attempt that never came back (the process died, the episode was cancelled) has the first line only,
which counts as its whole reserve.
"""

import hashlib
import uuid

import orjson

from evaluator.controllers.line import Attempt, Line, RawReply
from evaluator.controllers.request_parts import checksums
from evaluator.core.journal import Returned, Sent
from evaluator.core.ports import Sink


class Recorded:
    """Writes ``sent`` and ``returned`` around the inner line, faults included."""

    def __init__(self, line: Line, journal: Sink) -> None:
        self._line = line
        self._journal = journal

    async def send(self, attempt: Attempt) -> RawReply:
        """Record, dispatch, record."""
        tag = attempt.tag
        attempt_id = uuid.uuid4().hex
        request_sha256 = hashlib.sha256(attempt.body).hexdigest()
        await self._journal.append(
            Sent(
                attempt_id=attempt_id,
                purpose=tag.purpose,
                cell=tag.cell,
                trajectory_id=tag.trajectory_id,
                judge=tag.judge,
                turn=tag.turn,
                request_sha256=request_sha256,
                requested_model=attempt.requested_model,
                reserved_usd=attempt.reserved_usd,
                request_parts=checksums(attempt.body),
            )
        )
        raw = await self._line.send(attempt)
        await self._journal.append(
            Returned(
                attempt_id=attempt_id,
                purpose=tag.purpose,
                cell=tag.cell,
                trajectory_id=tag.trajectory_id,
                judge=tag.judge,
                turn=tag.turn,
                request_sha256=request_sha256,
                requested_model=attempt.requested_model,
                status=raw.status,
                returned_model=raw.bill.returned_model,
                response_id=raw.bill.response_id,
                usage=raw.bill.usage,
                cost_usd=raw.bill.cost_usd,
                latency_s=raw.latency_s,
                response=_storable(raw),
                error=_error(raw),
            )
        )
        return raw


def _storable(raw: RawReply) -> object:
    """The body as JSON when it is that, its bytes as they came where they will do; else its text."""
    if raw.is_json:
        # Line breaks can only stand between the tokens of valid JSON, and a record is one line.
        return orjson.Fragment(raw.body.replace(b"\n", b" ").replace(b"\r", b" "))
    if raw.tree is not None:
        return raw.tree
    return raw.body.decode("utf-8", "replace") or None


def _error(raw: RawReply) -> str | None:
    if raw.status == 0:
        return raw.error
    if not 200 <= raw.status < 300:
        return f"HTTP {raw.status}"
    return None if raw.tree is not None else f"HTTP {raw.status} without JSON"

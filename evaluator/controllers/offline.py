"""Ends a line in place of a provider when a whole run is replayed: recorded replies, and nothing else.

The lines of a replayed call are taken over into the journal of the new run, faults and costs included,
marked as spent elsewhere. A request that the recorded run did not make cannot be answered.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from evaluator.controllers.line import Attempt, RawReply
from evaluator.controllers.replayed import Usable, usable_outcome
from evaluator.controllers.request_parts import first_difference
from evaluator.core.cell import CallTag
from evaluator.core.errors import ModelError, ReplayError
from evaluator.core.journal import Returned, Sent
from evaluator.core.ports import FinishedCalls, Sink


class Offline:
    """Answers attempts out of the journal of another run."""

    def __init__(self, source: FinishedCalls, taken: FinishedCalls, journal: Sink, usable: Usable) -> None:
        """Bind to two journals.

        Args:
            source: The calls of the run that is replayed.
            taken: The lines that an earlier start of this replay took over.
            journal: Of the new run.
            usable: Whether an outcome holds a reply.
        """
        self._source = source
        self._taken = taken
        self._journal = journal
        self._usable = usable

    async def send(self, attempt: Attempt) -> RawReply:
        """The recorded outcome.

        Raises:
            ReplayError: The recorded run did not make this request; it says where the two differ.
            ModelError: A judge's try came to nothing there, and so it does here.
        """
        lines = self._source.lines(attempt.tag, attempt.body)
        raw = usable_outcome(lines, attempt.body, self._usable)
        if raw is None and not (lines and attempt.tag.purpose == "judge"):
            raise ReplayError(_difference(attempt, lines))
        await take_over(lines, attempt.tag, self._taken.lines(attempt.tag, attempt.body), self._journal)
        if raw is None:
            raise ModelError(f"no try of {attempt.requested_model} was answered in the replayed run either")
        return raw


async def take_over(
    lines: Iterable[Sent | Returned], tag: CallTag, taken: Iterable[Sent | Returned], journal: Sink
) -> None:
    """Write the lines of another run's calls into the journal of this one, each once.

    Args:
        lines: As they stand there.
        tag: Whom the calls are for here.
        taken: Those that stand here already.
        journal: Of this run.
    """
    known = {(line.attempt_id, line.kind) for line in taken}
    for line in lines:
        if (line.attempt_id, line.kind) not in known:
            ours = replace(line, cell=tag.cell, trajectory_id=tag.trajectory_id, replayed=True)
            await journal.append(ours)


def _difference(attempt: Attempt, lines: Sequence[Sent | Returned]) -> str:
    """What is not in the replayed journal, and where the request leaves what is."""
    tag = attempt.tag
    name = lines[0].trajectory_id if lines else tag.trajectory_id
    whose = f"of trajectory {name} ({tag.cell.dataset}, {tag.cell.condition})"
    which = (
        f"turn {tag.turn} {whose}"
        if tag.purpose == "agent"
        else f"judge {tag.judge}, try {tag.turn}, {whose}"
    )
    if not lines:
        return f"the replayed run made no such call: {which}"
    request_sha256 = hashlib.sha256(attempt.body).hexdigest()
    if any(line.request_sha256 == request_sha256 for line in lines):
        return f"the replayed run got no usable reply: {which}"
    sent = [line for line in lines if isinstance(line, Sent)]
    where = first_difference(sent[-1].request_parts if sent else "", attempt.body)
    return f"the request differs from that of the replayed run: {which}, {where}"

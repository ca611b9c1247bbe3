"""The lines of ``calls.jsonl`` and ``verdicts.jsonl``, and the readers of every file of a run folder.

Field names are a contract: other programs read these files. ``Trajectory``, the line of the third
file, stands in ``trajectory``.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from evaluator.core.cell import Cell
from evaluator.core.messages import Usage
from evaluator.core.trajectory import Trajectory

Purpose: TypeAlias = Literal["agent", "judge"]
VerdictWord: TypeAlias = Literal["correct", "incorrect", "unjudged"]
AnswerRole: TypeAlias = Literal["final", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """An HTTP attempt about to be dispatched; without a ``Returned`` its reserve counts for ever.

    Attributes:
        attempt_id: Distinct for every attempt, shared with the ``Returned`` line.
        purpose: Whom the call serves.
        judge: The judge's name, "" for agents.
        turn: The turn of the episode, or the try of the judge, from 1.
        request_sha256: The hash of the request body, in hex.
        reserved_usd: The worst this attempt can cost.
        request_parts: Checksums of the request's messages, by which a replay says where one differs.
        replayed: Whether the line was taken over from the run that this one replays: not spent here.
    """

    attempt_id: str
    purpose: Purpose
    cell: Cell
    trajectory_id: str
    judge: str
    turn: int
    request_sha256: str
    requested_model: str
    reserved_usd: float
    request_parts: str = ""
    replayed: bool = False
    kind: Literal["sent"] = "sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What came of an attempt, recorded before it is parsed any further.

    Attributes:
        status: The HTTP status, 0 when no response came.
        returned_model: "" when the response names none.
        response_id: The provider's id of the response, "" when it gives none.
        usage: None when the response gives none.
        cost_usd: None when it cannot be known: the reserve of the ``Sent`` line stays.
        response: The body: the parsed JSON, or its text when it does not parse, or None.
        error: One sentence when the attempt went wrong, else None.
        replayed: As of the ``Sent`` line.
    """

    attempt_id: str
    purpose: Purpose
    cell: Cell
    trajectory_id: str
    judge: str
    turn: int
    request_sha256: str
    requested_model: str
    status: int
    returned_model: str
    response_id: str
    usage: Usage | None
    cost_usd: float | None
    latency_s: float
    response: object
    error: str | None
    replayed: bool = False
    kind: Literal["returned"] = "returned"


CallLine: TypeAlias = Annotated[Sent | Returned, Field(discriminator="kind")]
"""A line of ``calls.jsonl``."""


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """What makes a judge that judge: another model or prompt is another judge."""

    name: str
    model: str
    prompt_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One line of ``verdicts.jsonl``; it belongs to a trajectory id *and* the answer it judged.

    Attributes:
        answer: The answer that was judged; a trajectory with another answer makes this line stale.
        role: ``final``, or ``rejected`` for the first rejected answer of a gated trajectory.
        contain_substring: Whether the normalised gold answer stands in the normalised answer.
        contain_token: As that, on word boundaries.
        raw: The reply that decided, as it came; equal answers of a run share one.
        cost_usd: Billed for this verdict; 0 when it was taken from an equal answer; None = unknown.
    """

    trajectory_id: str
    answer: str
    judge: JudgeIdentity
    verdict: VerdictWord
    contain_substring: bool
    contain_token: bool
    raw: str
    cost_usd: float | None
    role: AnswerRole = "final"


CALL_LINES: TypeAdapter[Sent | Returned] = TypeAdapter(CallLine)
TRAJECTORY_LINES: TypeAdapter[Trajectory] = TypeAdapter(Trajectory)
VERDICT_LINES: TypeAdapter[Verdict] = TypeAdapter(Verdict)

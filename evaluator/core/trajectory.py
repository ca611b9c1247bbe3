"""The record of one episode: a line of ``trajectories.jsonl``.

Field names are a contract: other programs read these files. ``turn`` counts model calls from 1.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from evaluator.core.cell import Cell
from evaluator.core.messages import ToolCall, Usage
from evaluator.core.outcome import Outcome
from index_builder.records import Hit

Decision: TypeAlias = Literal["accepted", "rejected", "exhausted", "injected", "shadowed"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One model call and its reply."""

    turn: int
    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage
    cost_usd: float | None
    latency_s: float
    returned_model: str
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True)
class Searched:
    """One executed search with everything it showed."""

    turn: int
    call_id: str
    query: str
    hits: tuple[Hit, ...]
    kind: Literal["searched"] = "searched"


@dataclass(frozen=True, slots=True)
class WasRead:
    """One read: ``new`` when the chunk exists and had not been read before; only then it bears text.

    ``tokens`` is ``bytes4`` of the text: ceil(UTF-8 bytes / 4).
    """

    turn: int
    call_id: str
    chunk_id: str
    found: bool
    new: bool
    title: str
    text: str
    tokens: int
    kind: Literal["was_read"] = "was_read"


@dataclass(frozen=True, slots=True)
class Fired:
    """Which rules fire on some evidence; None where a rule has nothing to judge by."""

    read: bool
    snippet: bool | None
    low_evidence: bool | None


@dataclass(frozen=True, slots=True)
class Ruled:
    """The ruling on one unforced ``final``, recorded whatever the gate's mode.

    Attributes:
        fired: The ruling of every rule on the evidence the model had been sent.
        decision: What the environment did.
        blind: True when the same reply also searched or read: that was no evidence for this final.
        observation: What the model was told when the final was rejected or injected, else "".
    """

    turn: int
    answer: str
    fired: Fired
    decision: Decision
    blind: bool
    observation: str
    kind: Literal["ruled"] = "ruled"


@dataclass(frozen=True, slots=True)
class Injected:
    """A passage that the environment put before the model; it is no read."""

    turn: int
    chunk_id: str
    role: Literal["user", "tool"]
    text: str
    kind: Literal["injected"] = "injected"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply, or a call in it, that could not be carried out, and what the model was told."""

    turn: int
    problem: str
    observation: str
    kind: Literal["malformed"] = "malformed"


Step: TypeAlias = Annotated[
    Asked | Searched | WasRead | Ruled | Injected | Malformed, Field(discriminator="kind")
]


@dataclass(frozen=True, slots=True)
class Episode:
    """What the agent loop returns: all of a trajectory that does not depend on clock or run.

    ``search_count`` and ``read_count`` are those at the evidence of the last final (all of them
    when there is none, or when the last answer was forced).
    """

    steps: tuple[Step, ...]
    outcome: Outcome
    search_count: int
    read_count: int
    turns: int
    corrections: int
    retrieved_tokens: int
    usage: Usage
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One line of ``trajectories.jsonl``."""

    trajectory_id: str
    cell: Cell
    question_id: str
    question: str
    answers: tuple[str, ...]
    gold_chunks: tuple[str, ...] | None
    steps: tuple[Step, ...]
    outcome: Outcome
    search_count: int
    read_count: int
    turns: int
    corrections: int
    retrieved_tokens: int
    usage: Usage
    cost_usd: float | None
    started_at: str
    seconds: float

"""What the agent loop asks of the world: one model call, one search, one read.

The loop yields these and is sent the results; who carries them out, and how, is the driver's part:
an asyncio runner, or a plain test.
"""

from dataclasses import dataclass
from typing import TypeAlias

from evaluator.core.messages import ModelRequest, Reply
from index_builder.records import Chunk, Hit


@dataclass(frozen=True, slots=True)
class AskModel:
    """One model call; answered with a ``Reply``.

    Attributes:
        request: The conversation so far.
        turn: The turn of this call, from 1; the forced last call bears one more than the turns made.
    """

    request: ModelRequest
    turn: int


@dataclass(frozen=True, slots=True)
class Search:
    """One search; answered with its hits, best first, possibly none."""

    query: str


@dataclass(frozen=True, slots=True)
class Read:
    """One look into the bundle; answered with the chunk, or None when there is none of that id."""

    chunk_id: str


Effect: TypeAlias = AskModel | Search | Read
Result: TypeAlias = Reply | tuple[Hit, ...] | Chunk | None
"""What the loop is sent: a ``Reply`` for AskModel, hits for Search, a chunk or None for Read."""

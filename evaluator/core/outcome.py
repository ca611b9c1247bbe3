"""How an episode can end. Only ``failed`` is owed again; it is never scored as wrong."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

AbstainReason: TypeAlias = Literal["gate_exhausted", "clarify", "declined"]


@dataclass(frozen=True, slots=True)
class Answered:
    """The episode gave an answer; ``forced`` when a limit, not the model, ended it."""

    answer: str
    forced: bool = False
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class Abstained:
    """The episode ended without an answer on purpose; scored as not correct, with its own rate."""

    reason: AbstainReason
    kind: Literal["abstained"] = "abstained"


@dataclass(frozen=True, slots=True)
class Failed:
    """The episode could not be carried out; outside every rate and always counted.

    Attributes:
        boundary: Where it broke: model, retrieval, deadline.
        detail: One sentence for a person.
    """

    boundary: str
    detail: str
    kind: Literal["failed"] = "failed"


Outcome: TypeAlias = Annotated[Answered | Abstained | Failed, Field(discriminator="kind")]
"""The union, told apart by ``kind`` when read from JSON."""

"""Everything a gate can say to a model, and the preset for production.

The wording is this project's choice (the paper's is unknown) and part of every trajectory's identity.
A rejected ``final`` is answered with ``CORRECTIVE``; one that is answered by an injected passage gets
``NEUTRAL``, which asks for nothing. The passage itself is ``INJECTED_PREFIX``, a line feed, and the
chunk as one JSON object in the form of a read: {"chunk_id", "title", "text"}, without an empty title.
"""

from collections.abc import Mapping
from types import MappingProxyType

from evaluator.core.settings import GateSettings

CORRECTIVE = (
    "Your answer was not accepted: when you gave it, you had searched but not read any chunk. Search results "
    "show only a snippet of each chunk. Read the chunks that matter for the question with the read tool, "
    "then call final with your answer."
)
NEUTRAL = "Your answer has not been submitted yet. Call final again when you are ready."
INJECTED_PREFIX = "A chunk from the search results:"

GATE_WORDING: Mapping[str, str] = MappingProxyType(
    {
        "gate.corrective": CORRECTIVE,
        "gate.neutral": NEUTRAL,
        "gate.injected_prefix": INJECTED_PREFIX,
    }
)

PRODUCTION = GateSettings(mode="enforce", rules=("read",), max_corrections=2, when_exhausted="abstain")
"""For agents that serve people: at most two corrections, then no answer rather than an unread one."""


def injected_passage(chunk: str) -> str:
    """The passage as the model is shown it; ``chunk`` is rendered as a read renders it."""
    return f"{INJECTED_PREFIX}\n{chunk}"


def neutral_with(passage: str) -> str:
    """The neutral reply and the passage in one message."""
    return f"{NEUTRAL}\n\n{passage}"

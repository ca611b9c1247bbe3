"""Values out of JSON trees of any shape: what is missing or of another kind is empty, and nothing raises.

Every provider's wire module reads through here, because servers leave out what their documents promise.
"""

from typing import Any

from evaluator.controllers.lenient_json import clean
from evaluator.core.messages import Usage

LARGEST_COUNT = 2**53
"""Every JSON reader keeps such a number exactly, and sums of many still fit 64 bits."""


def text(value: object) -> str:
    """The text, "" when it is none; lone surrogates are replaced."""
    return clean(value) if isinstance(value, str) else ""


def fields(value: object) -> dict[str, Any]:
    """The object, empty when it is none."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The list, empty when it is none."""
    return value if isinstance(value, list) else []


def count(value: object) -> int | None:
    """A number of things, None when it is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST_COUNT else None


def usage_within(prompt: int, cached: object, output: int, reasoning: object) -> Usage:
    """Usage in which what is part of a total never exceeds it.

    Args:
        prompt: Tokens of the prompt, cached ones included.
        cached: As the server gives them.
        output: Tokens of the reply, reasoning included.
        reasoning: As the server gives them.
    """
    return Usage(prompt, min(count(cached) or 0, prompt), output, min(count(reasoning) or 0, output))

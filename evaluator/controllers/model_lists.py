"""What a provider's list of models says: every id, and the day it is switched off where that is told.

The answers of ``GET <address>/models``; of another shape, they list nothing.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from evaluator.controllers.json_values import count, fields, items, text

GEMINI_PREFIX = "models/"


def openai_models(tree: object) -> Mapping[str, str]:
    """Model ids with their shutdown dates, "" where none is given: OpenAI and what speaks as it does."""
    return {text(model.get("id")): _day(model) for model in _entries(tree, "data", "id")}


def gemini_models(tree: object) -> Mapping[str, str]:
    """Model ids with no shutdown dates, which this list does not tell."""
    names = [text(model.get("name")) for model in _entries(tree, "models", "name")]
    return {name.removeprefix(GEMINI_PREFIX): "" for name in names}


def _entries(tree: object, key: str, named: str) -> Iterator[dict[str, Any]]:
    """The entries of a list that have a name."""
    return (entry for entry in map(fields, items(fields(tree).get(key))) if text(entry.get(named)))


def _day(model: dict[str, Any]) -> str:
    """The shutdown date as YYYY-MM-DD, out of a text that begins so or of seconds since 1970."""
    told = model.get("shutdown_date")
    seconds = count(told)
    if seconds is None:
        return text(told)[:10]
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""

"""Chat Completions of OpenAI itself, of vLLM and other servers that speak it, and of scripted programs.

What is said stands in ``openai_chat_wire``; here is whom it is said to.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.json_values import count, fields, items, text
from evaluator.controllers.wire import Provider

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"


def listed(tree: object) -> Mapping[str, str]:
    """The model ids of ``GET /models`` with their shutdown dates, "" where none is given."""
    models = [fields(model) for model in items(fields(tree).get("data"))]
    return {text(model.get("id")): _day(model.get("shutdown_date")) for model in models if model.get("id")}


def _day(value: object) -> str:
    """A date as YYYY-MM-DD, out of a text that begins so or of seconds since 1970."""
    seconds = count(value)
    if seconds is None:
        return text(value)[:10]
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


OPENAI = Provider(
    wire=wire,
    home=OPENAI_URL,
    key_variable=OPENAI_KEY,
    listed=listed,
)

SCRIPTED = Provider(wire=wire, home=None, key_variable=None, listed=listed)
"""Programs of this project behind the same format, each at the address it is served at."""

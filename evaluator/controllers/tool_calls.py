"""Tool calls as models write them: arguments that may be no JSON, ids that may be no ids.

Every provider's wire module reads through here, so that a malformed call means the same everywhere.
"""

from collections.abc import Mapping, Sequence

from evaluator.controllers.lenient_json import dumps, loads
from evaluator.core.messages import Arguments


def read_arguments(given: object) -> Arguments:
    """The arguments of a tool call: an object, parsed once more out of a string when need be.

    Whatever gives no object stays the raw string.
    """
    if isinstance(given, dict):
        return given
    raw = given if isinstance(given, str) else "" if given is None else dumps(given).decode()
    try:
        parsed = loads(raw)
        if isinstance(parsed, str):
            parsed = loads(parsed)
    except ValueError:
        return raw
    return parsed if isinstance(parsed, dict) else raw


def sent_arguments(arguments: Arguments) -> str:
    """The arguments as they are replayed to a model: always the text of a JSON object.

    Servers that render the conversation from a template parse them and fail on broken JSON.
    """
    return dumps(arguments if isinstance(arguments, Mapping) else {"unparsed": arguments}).decode()


def distinct_ids(given: Sequence[str]) -> list[str]:
    """The ids, with a made-up one in place of each that is empty or stood before."""
    taken = set(given)
    fresh = (f"call_{number}" for number in range(1, 2 * len(given) + 1))
    free = (made_up for made_up in fresh if made_up not in taken)
    seen = {""}
    distinct = []
    for call_id in given:
        distinct.append(next(free) if call_id in seen else call_id)
        seen.add(call_id)
    return distinct

"""How OpenAI, and servers that speak its formats, word their errors; shared by its two wires."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from evaluator.controllers import faults
from evaluator.controllers.json_values import text
from evaluator.controllers.lenient_json import dumps
from evaluator.controllers.line import RawReply
from evaluator.core.errors import AttemptError, RefusedError, RetryableError

RUN_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "account_deactivated",
        "model_not_found",
        "unsupported_parameter",
        "unsupported_value",
        "unknown_parameter",
    }
)
"""Values of ``error.code`` that every call of the run would meet."""

RUN_FIELDS = frozenset(
    {
        "model",
        "temperature",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning",
        "reasoning_effort",
        "seed",
        "include",
        "service_tier",
        "store",
    }
)
"""Fields that are equal in all requests of a model: when ``error.param`` names one, all are refused."""


def error_of(tree: object) -> Mapping[str, object]:
    """The error object of a response, whichever of the known shapes it has; empty when there is none."""
    if isinstance(tree, list) and tree:
        return error_of(tree[0])
    if not isinstance(tree, dict):
        return {}
    error = tree.get("error")
    if isinstance(error, dict):
        return error
    said = error or tree.get("detail") or (tree.get("object") == "error" and tree.get("message"))
    return {"message": said if isinstance(said, str) else dumps(said).decode()} if said else {}


def fault_of(raw: RawReply, now: datetime, *, holds_reply: bool) -> AttemptError | None:
    """What is wrong with the outcome of an attempt, or None.

    Args:
        raw: The response, or what became of the connection.
        now: The instant by which a Retry-After date is read.
        holds_reply: Whether its tree is a reply.
    """
    error = error_of(raw.tree)
    code = text(error.get("code")) or text(error.get("type"))
    said = text(error.get("message")) or raw.body[: faults.LONGEST_DETAIL].decode("utf-8", "replace")
    by_status = faults.of_status(raw, said, now, concerns=_concerns(raw.status, code, error.get("param")))
    if by_status is not None or holds_reply:
        return by_status
    if code in RUN_CODES:
        return RefusedError(f"HTTP {raw.status} with an error: {said}", status=raw.status, concerns="run")
    return RetryableError(f"HTTP {raw.status} without a reply: {said[:120]}", status=raw.status)


def tier_of(tree: Mapping[str, object]) -> str:
    """The tier that a response was billed as."""
    tier = text(tree.get("service_tier"))
    return "standard" if tier in {"", "default", "auto"} else tier


def _concerns(status: int, code: str, field: object) -> Literal["call", "run", "key"] | None:
    if code in RUN_CODES:
        return "run"
    root = field.partition("[")[0].partition(".")[0] if isinstance(field, str) else ""
    return "run" if status in {400, 422} and root in RUN_FIELDS else None

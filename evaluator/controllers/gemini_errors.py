"""How Gemini words its errors: a status in words, and details that say what they are about.

An exhausted limit comes as 429 and as 503, a refused key as 400.
"""

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from evaluator.controllers import faults
from evaluator.controllers.json_values import fields, items, text
from evaluator.controllers.line import RawReply
from evaluator.core.errors import AttemptError, RefusedError, RetryableError

EXHAUSTED = "RESOURCE_EXHAUSTED"
KEY_REASONS = frozenset({"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_EXPIRED"})
RUN_FIELDS = frozenset({"tools", "tool_config", "generation_config", "service_tier"})
"""Fields that are equal in all requests of a model: when a violation names one, all are refused."""

_DAILY = re.compile(r"PerDay(?![a-z])")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def fault_of(raw: RawReply, now: datetime) -> AttemptError | None:
    """What a response's status and error mean, or None when it may hold a reply."""
    error = _error(raw.tree)
    word = text(error.get("status"))
    details = list(map(fields, items(error.get("details"))))
    said = text(error.get("message")) or raw.body[: faults.LONGEST_DETAIL].decode("utf-8", "replace")
    wrong = faults.of_status(raw, said, now, concerns=_concerns(raw.status, word, details))
    if wrong is None and error:
        return RetryableError(f"HTTP {raw.status} with an error: {said[:120]}", status=raw.status)
    if not isinstance(wrong, RetryableError) or not error:
        return wrong
    asked = [each for each in (wrong.retry_after, _retry_delay(details)) if each is not None]
    status = 429 if word == EXHAUSTED else raw.status
    return RetryableError(str(wrong), status=status, retry_after=max(asked, default=None))


def blocked(raw: RawReply) -> RefusedError | None:
    """The error that a blocked prompt stands for; the same prompt would be blocked again."""
    feedback = fields(fields(raw.tree).get("promptFeedback"))
    reason = text(feedback.get("blockReason"))
    return RefusedError(f"the prompt was blocked: {reason}", status=raw.status) if reason else None


def is_reported(tree: object) -> bool:
    """Whether the provider itself reports an error."""
    return bool(_error(tree))


def _error(tree: object) -> dict[str, Any]:
    """The error object, which some endpoints put into a list; empty when there is none."""
    first = tree[0] if isinstance(tree, list) and tree else tree
    return fields(fields(first).get("error"))


def _concerns(status: int, word: str, details: list[dict[str, Any]]) -> Literal["run", "key"] | None:
    if KEY_REASONS & {text(detail.get("reason")) for detail in details}:
        return "key"
    violations = list(_violations(details))
    if word == EXHAUSTED:
        daily = any(_DAILY.search(text(violation.get("quotaId"))) for violation in violations)
        return "run" if daily else None
    if status != 400:
        return None
    roots = {_snake(text(violation.get("field"))) for violation in violations}
    return "run" if word == "FAILED_PRECONDITION" or roots & RUN_FIELDS else None


def _violations(details: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for detail in details:
        yield from map(fields, [*items(detail.get("violations")), *items(detail.get("fieldViolations"))])


def _snake(path: str) -> str:
    """The first name of a path of fields, which come in either case."""
    root = path.partition(".")[0].partition("[")[0]
    return _CAPITAL.sub("_", root).lower()


def _retry_delay(details: list[dict[str, Any]]) -> float | None:
    """The longest wait that a RetryInfo asks for, in seconds."""
    found = [_DURATION.fullmatch(text(detail.get("retryDelay"))) for detail in details]
    delays = [float(match[1]) for match in found if match]
    return max((delay for delay in delays if math.isfinite(delay)), default=None)

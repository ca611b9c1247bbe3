"""Gemini's errors: what they concern, and how long they ask to wait."""

from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.controllers.gemini_errors import blocked, fault_of, is_reported
from evaluator.controllers.lenient_json import loads
from evaluator.controllers.line import Bill, RawReply
from evaluator.core.errors import RefusedError, RetryableError

NOW = datetime(2026, 11, 30, tzinfo=UTC)
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


def _raw(status: int, error: object, headers: dict[str, str] | None = None) -> RawReply:
    tree = {"error": error}
    return RawReply(status, orjson.dumps(tree), Bill(), headers=headers or {}, tree=tree)


def _quota(quota_id: object) -> dict[str, object]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


def _bad(field: object) -> dict[str, object]:
    return {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": field}]}


@pytest.mark.parametrize("status", [429, 503])
def test_an_exhausted_rate_is_a_rate_limit_whatever_its_status(status: int) -> None:
    minute = _quota("GenerateRequestsPerMinutePerProjectPerModel")
    error = {"status": "RESOURCE_EXHAUSTED", "message": "slow down", "details": [minute, RETRY_INFO]}
    fault = fault_of(_raw(status, error), NOW)
    assert isinstance(fault, RetryableError)
    assert (fault.status, fault.retry_after) == (429, 34.5)
    assert str(fault) == f"HTTP {status}: slow down"


@pytest.mark.parametrize(
    ("delay", "headers", "seconds"),
    [
        ("7s", {}, 7.0),
        ("0.25s", {"retry-after": "3"}, 3.0),
        ("9s", {"retry-after": "3"}, 9.0),
        ("soon", {}, None),
        ("s", {}, None),
        ("-1s", {}, None),
        (f"{'9' * 400}s", {}, None),
        (9, {}, None),
    ],
)
def test_the_wait_is_the_longest_that_is_asked_for(
    delay: object, headers: dict[str, str], seconds: float | None
) -> None:
    error = {"status": "UNAVAILABLE", "details": [{"retryDelay": delay}]}
    fault = fault_of(_raw(503, error, headers), NOW)
    assert isinstance(fault, RetryableError)
    assert (fault.status, fault.retry_after) == (503, seconds)


@pytest.mark.parametrize(
    ("status", "error", "concerns"),
    [
        (
            429,
            {"status": "RESOURCE_EXHAUSTED", "details": [_quota("RequestsPerDay"), RETRY_INFO]},
            "run",
        ),
        (400, {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}, "key"),
        (403, {"status": "PERMISSION_DENIED"}, "key"),
        (404, {"status": "NOT_FOUND"}, "run"),
        (400, {"status": "FAILED_PRECONDITION"}, "run"),
        (400, {"status": "INVALID_ARGUMENT", "details": [_bad("tools[0].function_declarations")]}, "run"),
        (400, {"status": "INVALID_ARGUMENT", "details": [_bad("generationConfig.temperature")]}, "run"),
        (400, {"status": "INVALID_ARGUMENT", "details": [_bad("contents[2].parts")]}, "call"),
        (400, {"status": "INVALID_ARGUMENT", "details": [_bad(None), None, 7]}, "call"),
        (400, {"status": ["odd"], "details": "odd"}, "call"),
    ],
)
def test_a_refusal_concerns_the_call_the_key_or_every_call(status: int, error: object, concerns: str) -> None:
    fault = fault_of(_raw(status, error), NOW)
    assert isinstance(fault, RefusedError)
    assert (fault.status, fault.concerns) == (status, concerns)


@pytest.mark.parametrize("quota", ["GenerateRequestsPerMinute", "PerDayish", None, 7])
def test_only_a_daily_limit_ends_a_run(quota: object) -> None:
    error = {"status": "RESOURCE_EXHAUSTED", "details": [_quota(quota)]}
    assert isinstance(fault_of(_raw(429, error), NOW), RetryableError)


def test_an_error_in_a_list_or_with_status_200_is_an_error() -> None:
    listed = RawReply(500, b"", Bill(), tree=[{"error": {"message": "sorry"}}])
    assert str(fault_of(listed, NOW)) == "HTTP 500: sorry"
    assert is_reported(listed.tree)
    assert isinstance(fault_of(_raw(200, {"message": "sorry"}), NOW), RetryableError)


@pytest.mark.parametrize(
    "tree", [None, [], {"promptFeedback": None}, {"promptFeedback": {"blockReason": ""}}]
)
def test_what_blocks_nothing_is_no_error(tree: object) -> None:
    assert blocked(RawReply(200, b"", Bill(), tree=tree)) is None


@given(st.binary(max_size=200), st.integers(0, 599))
def test_no_bytes_raise(body: bytes, status: int) -> None:
    try:
        tree = loads(body)
    except ValueError:
        tree = None
    fault_of(RawReply(status, body, Bill(), tree=tree), NOW)

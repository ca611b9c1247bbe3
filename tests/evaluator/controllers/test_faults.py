"""Statuses: what is tried again, what is refused, and what it becomes in the end."""

from datetime import UTC, datetime

import pytest

from evaluator.controllers import faults
from evaluator.controllers.line import Bill, RawReply
from evaluator.core.errors import (
    AttemptError,
    CredentialError,
    InputError,
    ModelError,
    RefusedError,
    RetryableError,
)

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def _of(status: int, said: str = "why", **headers: str) -> AttemptError | None:
    kept = {name.replace("_", "-"): value for name, value in headers.items()}
    return faults.of_status(RawReply(status, b"", Bill(), headers=kept, error="reset"), said, NOW)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 501, 502, 503, 504, 520, 529])
def test_a_passing_trouble_of_the_server_is_retryable(status: int) -> None:
    fault = _of(status, retry_after="7")
    assert isinstance(fault, RetryableError)
    assert (fault.status, fault.retry_after, str(fault)) == (status, 7.0, f"HTTP {status}: why")


@pytest.mark.parametrize(
    ("status", "concerns"),
    [
        (301, "run"),
        (400, "call"),
        (401, "key"),
        (403, "key"),
        (404, "run"),
        (405, "run"),
        (413, "call"),
        (422, "call"),
    ],
)
def test_a_refusal_is_not_retryable(status: int, concerns: str) -> None:
    fault = _of(status)
    assert isinstance(fault, RefusedError)
    assert (fault.status, fault.concerns) == (status, concerns)


def test_a_broken_connection_is_retryable_and_says_how_it_broke() -> None:
    fault = _of(0)
    assert isinstance(fault, RetryableError)
    assert (str(fault), fault.status, fault.retry_after) == ("reset", 0, None)


@pytest.mark.parametrize("status", [200, 201, 299])
def test_a_success_is_no_fault(status: int) -> None:
    assert _of(status) is None


def test_the_providers_word_makes_a_retryable_status_a_refusal() -> None:
    fault = faults.of_status(RawReply(429, b"", Bill()), "no money", NOW, concerns="run")
    assert isinstance(fault, RefusedError)


def test_a_long_page_is_quoted_in_part() -> None:
    assert len(str(_of(500, "x" * 10_000))) < 600


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (RetryableError("HTTP 500: why"), ModelError, "m could not be made to answer: HTTP 500: why"),
        (RefusedError("HTTP 400: why"), ModelError, "m refused this call: HTTP 400: why"),
        (RefusedError("HTTP 404: why", concerns="run"), InputError, "the provider refuses every call to m"),
        (
            RefusedError("HTTP 401: why", concerns="key"),
            CredentialError,
            "refuses the key in SOME_KEY: HTTP 401",
        ),
    ],
)
def test_the_end_of_an_attempt_is_the_end_of_an_episode_or_of_the_run(
    error: AttemptError, expected: type[Exception], words: str
) -> None:
    final = faults.final(error, model="m", key_variable="SOME_KEY")
    assert type(final) is expected
    assert words in str(final)


def test_a_provider_that_wants_a_key_and_got_none_says_what_to_set() -> None:
    error = RefusedError("HTTP 401: why", status=401, concerns="key")
    assert "without a key (set api_key_env)" in str(faults.final(error, model="m", key_variable=None))

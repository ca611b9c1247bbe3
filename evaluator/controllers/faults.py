"""What an HTTP status means for a call: try again, give up this call, or stop the run.

Providers share these rules; how a provider words its errors is its wire module's part.
"""

from datetime import datetime
from typing import Literal

from evaluator.controllers.line import RawReply
from evaluator.controllers.rate_headers import retry_after
from evaluator.core.errors import (
    AttemptError,
    CredentialError,
    InputError,
    ModelError,
    ReadGateError,
    RefusedError,
    RetryableError,
)

RETRYABLE_BELOW_500 = frozenset({408, 409, 429})
LONGEST_DETAIL = 500
"""Characters of a provider's own words that an error quotes."""


def of_status(
    raw: RawReply, said: str, now: datetime, *, concerns: Literal["call", "run", "key"] | None = None
) -> AttemptError | None:
    """The error that a response's status stands for, or None when it is 200 to 299.

    Args:
        raw: The response, or what became of the connection.
        said: The provider's own words.
        now: The instant by which a Retry-After date is read.
        concerns: What a refusal concerns when the provider's own code says more than the status.
    """
    if raw.status == 0:
        return RetryableError(raw.error)
    if 200 <= raw.status < 300:
        return None
    message = f"HTTP {raw.status}: {said[:LONGEST_DETAIL] or 'no reason given'}"
    retryable = raw.status >= 500 or raw.status in RETRYABLE_BELOW_500
    if retryable and concerns is None:
        return RetryableError(message, status=raw.status, retry_after=retry_after(raw.headers, now))
    return RefusedError(message, status=raw.status, concerns=concerns or _refused(raw.status))


def final(error: AttemptError, *, model: str, key_variable: str | None) -> ReadGateError:
    """What an attempt's error becomes when no attempt follows: the end of an episode, or of the run."""
    if not isinstance(error, RefusedError):
        return ModelError(f"{model} could not be made to answer: {error}")
    if error.concerns == "key":
        where = f"the key in {key_variable}" if key_variable else "a call without a key (set api_key_env)"
        return CredentialError(f"the provider of {model} refuses {where}: {error}")
    if error.concerns == "run":
        return InputError(f"the provider refuses every call to {model}: {error}")
    return ModelError(f"{model} refused this call: {error}")


def _refused(status: int) -> Literal["call", "run", "key"]:
    """What a refusal concerns by its status alone: a wrong key, a wrong address, or one odd call."""
    if status in {401, 403}:
        return "key"
    return "run" if status < 400 or status in {404, 405} else "call"

"""One error tree, as errors.py draws it."""

import re

import pytest

from evaluator.core import errors
from evaluator.core.errors import (
    CapReachedError,
    DeadlineError,
    DriftError,
    EpisodeError,
    InputError,
    ModelError,
    ReadGateError,
    RefusedError,
    RetrievalError,
    RetryableError,
)


def test_the_drawn_tree_is_the_real_one() -> None:
    drawn: dict[str, str] = {}
    ancestors: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ([│ ]*(?:[├└]── )?)(\w+Error)\b", line):
            depth = len(found[1]) // 4
            ancestors[depth:] = [found[2]]
            if depth:
                drawn[found[2]] = ancestors[depth - 1]
    real = {
        name: vars(errors)[name].__mro__[1].__name__ for name in errors.__all__ if name != "ReadGateError"
    }
    assert drawn == real


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_one_of_the_project(name: str) -> None:
    assert issubclass(vars(errors)[name], ReadGateError)


def test_an_episode_error_says_at_which_boundary_it_happened() -> None:
    boundaries = [error.boundary for error in (ModelError, DriftError, RetrievalError, DeadlineError)]
    assert boundaries == ["model", "drift", "retrieval", "deadline"]


def test_an_attempt_bears_its_status_and_what_the_server_asked() -> None:
    retryable = RetryableError("slow down", status=429, retry_after=2.5)
    assert (str(retryable), retryable.status, retryable.retry_after) == ("slow down", 429, 2.5)
    refused = RefusedError("who are you", status=401, concerns="key")
    assert (refused.status, refused.concerns) == (401, "key")
    assert (RetryableError("reset").status, RefusedError("no").concerns) == (0, "call")


def test_the_cap_is_neither_wrong_input_nor_a_failed_episode() -> None:
    assert not issubclass(CapReachedError, InputError | EpisodeError)

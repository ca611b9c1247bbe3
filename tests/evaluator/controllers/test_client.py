"""The model on top of a line: what it asks the line for, and what becomes of the line's errors."""

import asyncio
from typing import Literal

import orjson
import pytest

from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers import openai_chat_wire
from evaluator.controllers.client import Client
from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Bill, RawReply
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import (
    CapReachedError,
    CredentialError,
    DeadlineError,
    DriftError,
    InputError,
    ModelError,
    RefusedError,
    RetryableError,
)
from evaluator.core.messages import Usage
from evaluator.core.settings import ModelSettings
from evaluator.run.clocks import InstantClock
from tests.contract.whole_stack import REQUEST, tag

TREE = {"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}


def _raw(returned_model: str = "m") -> RawReply:
    return RawReply(200, b"", Bill(Usage(1, 0, 2, 0), 0.5, returned_model, "r"), tree=TREE)


def _model(line: FakeLine) -> Client:
    return Client(
        ModelSettings(provider="openai_chat", model="m", max_output_tokens=100),
        openai_chat_wire,
        line,
        facts=ModelFacts(),
        price=Price(input=1.0, cached_input=1.0, output=10.0),
        accepts=lambda returned: returned == "m",
        clock=InstantClock(),
        call_seconds=30,
        key_variable="SOME_KEY",
    )


def test_an_attempt_bears_what_the_layers_need() -> None:
    line = FakeLine([_raw()])
    reply = asyncio.run(_model(line).ask(REQUEST, tag(4)))
    (attempt,) = line.sent
    size = len(attempt.body)
    assert orjson.loads(attempt.body)["messages"][1]["content"] == "Where is the Louvre?"
    assert (attempt.tag, attempt.requested_model) == (tag(4), "m")
    assert attempt.worst_usd == (size * 1_000_000 + 100 * 10_000_000) / 10**12
    assert attempt.estimated_tokens == (size + 3) // 4
    assert (attempt.deadline.seconds, attempt.deadline.remaining()) == (30, 30)
    assert (reply.text, reply.cost_usd, reply.usage.output_tokens) == ("Paris", 0.5, 2)


def test_equal_requests_are_equal_bytes() -> None:
    line = FakeLine([_raw(), _raw()])
    model = _model(line)

    async def scenario() -> None:
        await model.ask(REQUEST, tag(1))
        await model.ask(REQUEST, tag(2))

    asyncio.run(scenario())
    assert line.sent[0].body == line.sent[1].body


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RetryableError("busy"), ModelError),
        (RefusedError("odd"), ModelError),
        (RefusedError("no such model", concerns="run"), InputError),
        (RefusedError("wrong key", concerns="key"), CredentialError),
        (DeadlineError("late"), DeadlineError),
        (CapReachedError("no money"), CapReachedError),
    ],
)
def test_errors_end_the_episode_or_the_run(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught:
        asyncio.run(_model(FakeLine([raised])).ask(REQUEST, tag()))
    assert type(caught.value) is expected


DRIFTED = "drift: m was asked and n answered"


def _tags(*cells: str, purpose: Literal["agent", "judge"] = "agent") -> list[CallTag]:
    return [CallTag(purpose, Cell("d", condition), "t", "", turn=1) for condition in cells]


def _outcomes(line: FakeLine, tags: list[CallTag]) -> list[str]:
    """The text of each reply, or the boundary at which its episode ends."""
    model = _model(line)

    async def scenario() -> list[str]:
        said = []
        for each in tags:
            try:
                said.append((await model.ask(REQUEST, each)).text)
            except DriftError as error:
                said.append(f"{error.boundary}: {str(error).partition(';')[0]}")
        return said

    return asyncio.run(scenario())


def test_another_model_stops_its_cell_without_further_calls_and_other_cells_go_on() -> None:
    line = FakeLine([_raw(), _raw("n"), _raw(), _raw()])
    outcomes = _outcomes(line, _tags("a", "a", "a", "b", "a", "b"))
    assert outcomes == ["Paris", DRIFTED, DRIFTED, "Paris", DRIFTED, "Paris"]
    assert len(line.sent) == 4


def test_a_judge_that_became_another_model_stops_in_every_cell() -> None:
    line = FakeLine([_raw("n"), _raw()])
    assert _outcomes(line, _tags("a", "b", purpose="judge")) == [DRIFTED, DRIFTED]
    assert len(line.sent) == 1


def test_a_reply_that_names_no_model_is_taken() -> None:
    assert _outcomes(FakeLine([_raw("")]), _tags("a")) == ["Paris"]

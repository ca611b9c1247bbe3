"""The model on top of a line: what it asks the line for, and what becomes of the line's errors."""

import asyncio

import orjson
import pytest

from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers.fakes import FakeLine
from evaluator.controllers.line import Bill, RawReply
from evaluator.controllers.openai_chat import OpenAIChat
from evaluator.core.errors import (
    CapReachedError,
    CredentialError,
    DeadlineError,
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


def _model(line: FakeLine) -> OpenAIChat:
    return OpenAIChat(
        ModelSettings(provider="openai_chat", model="m", max_output_tokens=100),
        line,
        facts=ModelFacts(),
        price=Price(input=1.0, cached_input=1.0, output=10.0),
        serves=lambda returned: returned == "m",
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


def test_another_model_stops_the_run_and_an_unnamed_one_does_not() -> None:
    with pytest.raises(InputError, match="m was asked and n answered"):
        asyncio.run(_model(FakeLine([_raw("n")])).ask(REQUEST, tag()))
    assert asyncio.run(_model(FakeLine([_raw("")])).ask(REQUEST, tag())).text == "Paris"

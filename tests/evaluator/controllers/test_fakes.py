"""The stand-ins: they answer as told, remember what they were asked, and say when they run out."""

import asyncio

import pytest

from evaluator.controllers.fakes import FakeLine, FakeModel
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.core.errors import ModelError
from evaluator.core.messages import ModelRequest, Reply, UserMessage
from evaluator.run.clocks import InstantClock
from tests.contract.whole_stack import REQUEST, tag

RAW = RawReply(200, b"", Bill())
ATTEMPT = Attempt(b"", tag(), "m", Deadline(InstantClock(), 1))


def test_a_list_is_answered_in_order_and_then_runs_out() -> None:
    model = FakeModel([Reply("a"), ModelError("b"), Reply("c")])

    async def scenario() -> None:
        assert (await model.ask(REQUEST, tag(1))).text == "a"
        with pytest.raises(ModelError, match="b"):
            await model.ask(REQUEST, tag(2))
        assert (await model.ask(REQUEST, tag(3))).text == "c"
        with pytest.raises(AssertionError, match="asked 4 times"):
            await model.ask(REQUEST, tag(4))

    asyncio.run(scenario())
    assert model.asked == [(REQUEST, tag(turn)) for turn in (1, 2, 3, 4)]


def test_a_function_answers_by_the_request() -> None:
    model = FakeModel(lambda request, given: Reply(f"{request.messages[0].text} {given.turn}"))
    request = ModelRequest((UserMessage("q"),))
    assert asyncio.run(model.ask(request, tag(7))).text == "q 7"


def test_a_line_gives_its_outcomes_in_order_and_then_runs_out() -> None:
    line = FakeLine([RAW, OSError("gone")])

    async def scenario() -> None:
        assert await line.send(ATTEMPT) is RAW
        with pytest.raises(OSError, match="gone"):
            await line.send(ATTEMPT)
        with pytest.raises(AssertionError, match="used 3 times"):
            await line.send(ATTEMPT)

    asyncio.run(scenario())
    assert line.sent == [ATTEMPT] * 3

"""What every model must do, whoever is behind it: each implementation of ``ports.Model`` passes this."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

import orjson
import pytest

from evaluator.controllers.fakes import FakeModel
from evaluator.core.errors import EpisodeError, ModelError
from evaluator.core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    Reply,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from evaluator.core.ports import Model
from tests.contract import dialects
from tests.contract import fault_server as server
from tests.contract.dialects import DIALECTS, Call, Dialect
from tests.contract.fault_server import Answer, FaultServer, Received
from tests.contract.whole_stack import REQUEST, stack_to, tag

Said: TypeAlias = Callable[[str], Reply | None]
"""What the provider says to the last message of a request; None is a refusal of that one call."""
Subject: TypeAlias = Callable[[Said], AbstractAsyncContextManager[Model]]


@asynccontextmanager
async def _fake(said: Said) -> AsyncIterator[Model]:
    def answer(request: ModelRequest, _: object) -> Reply | Exception:
        return said(_last_text(request)) or ModelError("refused")

    yield FakeModel(answer)


def _behind(dialect: Dialect) -> Subject:
    """The whole stack, before a server that speaks as the provider does."""

    @asynccontextmanager
    async def subject(said: Said) -> AsyncIterator[Model]:
        def behave(request: Received) -> Answer:
            reply = said(dialect.last_text(request.body))
            return server.error(422) if reply is None else server.response(200, dialect.body(_meant(reply)))

        settings = {"provider": dialect.provider}
        async with FaultServer(behave) as provider, stack_to(provider.url, settings=settings) as stack:
            yield stack.model

    return subject


@pytest.fixture(params=[_fake, *map(_behind, DIALECTS.values())], ids=["fake", *DIALECTS])
def subject(request: pytest.FixtureRequest) -> Subject:
    """Each implementation in turn."""
    chosen: Subject = request.param
    return chosen


def _last_text(request: ModelRequest) -> str:
    return request.messages[-1].text


def _meant(reply: Reply) -> dialects.Said:
    """The reply as its provider would have it from its model."""
    calls = tuple(
        Call(call.name, orjson.dumps(call.arguments).decode(), call.id) for call in reply.tool_calls
    )
    return dialects.Said(
        text=reply.text or None,
        calls=calls,
        ending="length" if reply.finish_reason == "length" else "done",
        usage=reply.usage,
        model=reply.returned_model,
    )


def _ask(subject: Subject, said: Said, *requests: ModelRequest) -> list[Reply]:
    async def scenario() -> list[Reply]:
        async with subject(said) as model:
            return await asyncio.gather(
                *(model.ask(each, tag(turn)) for turn, each in enumerate(requests, 1))
            )

    return asyncio.run(scenario())


FULL = Reply(
    text="I look it up.",
    tool_calls=(ToolCall("a", "search", {"query": "Louvre"}), ToolCall("b", "read", {"chunk_id": "c7"})),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=120, cached_tokens=100, output_tokens=30, reasoning_tokens=20),
    returned_model="gpt-4o-mini",
)


def test_a_reply_keeps_its_text_its_calls_in_order_and_its_usage(subject: Subject) -> None:
    (reply,) = _ask(subject, lambda _: FULL, REQUEST)
    assert (reply.text, reply.tool_calls, reply.usage) == (FULL.text, FULL.tool_calls, FULL.usage)
    assert reply.returned_model == "gpt-4o-mini"


def test_a_reply_without_calls_is_its_text(subject: Subject) -> None:
    (reply,) = _ask(subject, lambda _: replace(FULL, tool_calls=(), text="Paris"), REQUEST)
    assert (reply.text, reply.tool_calls) == ("Paris", ())


def test_an_empty_reply_is_a_reply(subject: Subject) -> None:
    (reply,) = _ask(subject, lambda _: replace(FULL, text="", tool_calls=(), finish_reason="length"), REQUEST)
    assert (reply.text, reply.tool_calls, reply.finish_reason) == ("", (), "length")


def test_calls_at_the_same_time_get_their_own_replies(subject: Subject) -> None:
    requests = [replace(REQUEST, messages=(UserMessage(f"question {number}"),)) for number in range(50)]
    replies = _ask(subject, lambda text: replace(FULL, text=f"to {text}"), *requests)
    assert [reply.text for reply in replies] == [f"to question {number}" for number in range(50)]


def test_a_conversation_with_every_kind_of_message_can_be_sent(subject: Subject) -> None:
    call = ToolCall("a", "search", {"query": "Louvre"})
    broken = ToolCall("b", "search", '{"query": "Lou')
    history = (
        *REQUEST.messages,
        AssistantMessage("", (call, broken)),
        ToolMessage("a", "search", "[]"),
        ToolMessage("b", "search", '{"error": "no JSON object"}'),
        AssistantMessage("It is in Paris."),
        UserMessage("Read first. \ud800 \x00 é"),
    )
    replies = _ask(
        subject,
        lambda text: replace(FULL, text=str(text.startswith("Read first."))),
        replace(REQUEST, messages=history),
        replace(REQUEST, messages=history, tool_choice="none"),
        ModelRequest(messages=history),
    )
    assert [reply.text for reply in replies] == ["True"] * 3


def test_a_call_that_cannot_be_answered_ends_its_episode_and_no_other(subject: Subject) -> None:
    async def scenario() -> list[Reply | BaseException]:
        async with subject(lambda text: None if text == "odd" else FULL) as model:
            odd = replace(REQUEST, messages=(UserMessage("odd"),))
            asked = (model.ask(request, tag(purpose="judge")) for request in (REQUEST, odd, REQUEST))
            return await asyncio.gather(*asked, return_exceptions=True)

    first, odd, last = asyncio.run(scenario())
    assert isinstance(odd, EpisodeError)
    assert isinstance(first, Reply)
    assert isinstance(last, Reply)


def test_it_answers_again_after_a_cancelled_call(subject: Subject) -> None:
    async def scenario() -> Reply:
        async with subject(lambda _: FULL) as model:
            abandoned = asyncio.create_task(model.ask(REQUEST, tag()))
            await asyncio.sleep(0)
            abandoned.cancel()
            await asyncio.gather(abandoned, return_exceptions=True)
            return await model.ask(REQUEST, tag(2))

    assert asyncio.run(scenario()).text == FULL.text


def test_a_reply_is_taken_back_in_the_next_request(subject: Subject) -> None:
    async def scenario() -> Reply:
        async with subject(lambda text: replace(FULL, text="Well.") if text == "once" else FULL) as model:
            first = await model.ask(replace(REQUEST, messages=(UserMessage("once"),)), tag())
            results = [ToolMessage(call.id, call.name, "[]") for call in first.tool_calls]
            replayed = AssistantMessage(first.text, first.tool_calls, first.verbatim)
            messages: tuple[Message, ...] = (UserMessage("once"), replayed, *results, UserMessage("again"))
            return await model.ask(replace(REQUEST, messages=messages), tag(2))

    assert asyncio.run(scenario()).text == FULL.text

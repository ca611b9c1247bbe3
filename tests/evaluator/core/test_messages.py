"""Messages, replies and the sum of usages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from evaluator.core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    Reply,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)

USAGES = st.builds(Usage, *[st.integers(0, 10**9)] * 4)


@given(USAGES, USAGES, USAGES)
def test_usages_add_field_by_field_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    total = a + b
    assert total.input_tokens == a.input_tokens + b.input_tokens
    assert total.cached_tokens == a.cached_tokens + b.cached_tokens
    assert total.output_tokens == a.output_tokens + b.output_tokens
    assert total.reasoning_tokens == a.reasoning_tokens + b.reasoning_tokens
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (SystemMessage("s"), "system"),
        (UserMessage("u"), "user"),
        (AssistantMessage("a"), "assistant"),
        (ToolMessage("id", "search", "[]"), "tool"),
    ],
)
def test_each_message_bears_its_kind(message: Message, kind: str) -> None:
    assert message.kind == kind


def test_a_reply_has_nothing_it_was_not_given() -> None:
    reply = Reply("hello")
    assert (reply.tool_calls, reply.usage, reply.cost_usd) == ((), Usage(), 0.0)


def test_a_request_of_a_judge_offers_no_tools() -> None:
    request = ModelRequest((UserMessage("judge this"),))
    assert (request.tools, request.tool_choice, request.seed) == ((), "auto", None)


@pytest.mark.parametrize("arguments", [{"query": "x", "n": [1, None]}, '{"query": "x', ""])
def test_arguments_stay_an_object_or_the_raw_string_through_json(arguments: dict[str, object] | str) -> None:
    reply = Reply("", (ToolCall("1", "search", arguments),))
    adapter = TypeAdapter(Reply)
    assert adapter.validate_json(adapter.dump_json(reply)) == reply

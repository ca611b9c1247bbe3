"""Messages of an episode and the estimate of the next prompt's size."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.agent.conversation import TOKENS_PER_FRAME, Conversation, replayable_name
from evaluator.agent.tools import TOOLS
from evaluator.core.messages import AssistantMessage, Reply, ToolCall, ToolMessage, Usage, UserMessage


def test_a_request_holds_the_messages_so_far_and_the_tools() -> None:
    conversation = Conversation()
    conversation.add(UserMessage("q"))
    request = conversation.request("required", 3, parallel=True)
    conversation.add(UserMessage("later"))
    assert request.messages == (UserMessage("q"),)
    assert (request.tools, request.tool_choice, request.seed) == (TOOLS, "required", 3)
    assert request.parallel_tool_calls is True


def test_a_message_is_estimated_at_two_bytes_a_token_and_its_frame() -> None:
    conversation = Conversation()
    before = conversation.size
    conversation.add(UserMessage("abc"))
    assert conversation.size - before == 2 + TOKENS_PER_FRAME  # 3 bytes, rounded up
    conversation.add(ToolMessage("id", "search", "éé"))
    assert conversation.size - before == 2 + 2 + 2 * TOKENS_PER_FRAME  # 4 bytes


def test_a_conversation_starts_at_the_size_of_its_tools() -> None:
    schemas = sum(len(json.dumps(dict(tool.parameters))) for tool in TOOLS)
    assert schemas / 2 < Conversation().size < schemas * 2


def test_the_provider_s_count_replaces_the_estimate_of_all_that_was_sent() -> None:
    conversation = Conversation()
    conversation.add(UserMessage("x" * 10_000))
    conversation.add_reply(Reply("ab", usage=Usage(input_tokens=2_000)), ())
    assert conversation.size == 2_000 + 1 + TOKENS_PER_FRAME


def test_without_a_count_the_estimate_goes_on() -> None:
    conversation = Conversation()
    before = conversation.size
    conversation.add_reply(Reply("ab"), ())
    assert conversation.size == before + 1 + TOKENS_PER_FRAME


def test_tool_calls_weigh_with_their_arguments() -> None:
    light, heavy = Conversation(), Conversation()
    light.add_reply(Reply(""), (ToolCall("1", "search", {"query": "x"}),))
    heavy.add_reply(Reply(""), (ToolCall("1", "search", {"query": "x" * 101}),))
    assert heavy.size - light.size == 50
    raw = Conversation()
    raw.add_reply(Reply(""), (ToolCall("1", "search", '{"query": "x"}'),))
    assert raw.size == light.size


def test_what_a_provider_wants_back_verbatim_goes_along_with_its_reasoning() -> None:
    conversation = Conversation()
    reply = Reply("ab", usage=Usage(100, 0, 60, reasoning_tokens=50), verbatim=[{"type": "reasoning"}])
    conversation.add_reply(reply, ())
    assert conversation.messages == [AssistantMessage("ab", (), [{"type": "reasoning"}])]
    assert conversation.size == 100 + 50 + 1 + TOKENS_PER_FRAME


def test_a_reply_without_content_is_left_out() -> None:
    conversation = Conversation()
    conversation.add_reply(Reply("", usage=Usage(input_tokens=900)), ())
    assert (conversation.messages, conversation.size) == ([], 900)


def test_calls_are_replayed_under_names_that_providers_take() -> None:
    conversation = Conversation()
    conversation.add_reply(Reply(""), (ToolCall("1", "web search", {}),))
    assert conversation.messages == [AssistantMessage("", (ToolCall("1", "web_search", {}),))]


@pytest.mark.parametrize(("name", "replayed"), [("search", "search"), ("", "unnamed"), ("a.b/é", "a_b__")])
def test_a_name_keeps_what_it_may(name: str, replayed: str) -> None:
    assert replayable_name(name) == replayed


@given(st.text(max_size=100))
def test_every_replayed_name_is_of_the_form_that_providers_demand(name: str) -> None:
    replayed = replayable_name(name)
    assert 1 <= len(replayed) <= 64
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in replayed)

"""Responses on the wire: nothing stored at the provider, items replayed as they came, replies read."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.budget.prices import ModelFacts, Price, PriceTable
from evaluator.controllers import openai_responses_wire as wire
from evaluator.controllers.lenient_json import dumps, loads
from evaluator.controllers.line import RawReply
from evaluator.core.errors import AttemptError, RefusedError, RetryableError
from evaluator.core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    Reply,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from evaluator.core.settings import ModelSettings

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PRICE = Price(input=1.0, cached_input=0.1, output=10.0)
TABLE = PriceTable.load({})
SEARCH = ToolSpec("search", "Search.", {"type": "object"})
REQUEST = ModelRequest((UserMessage("q"),), tools=(SEARCH,), seed=7)
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_a",
    "name": "search",
    "arguments": '{"query":"x"}',
    "status": "completed",
}


def _settings(model: str = "m", **given: object) -> ModelSettings:
    return ModelSettings.model_validate({"provider": "openai_responses", "model": model, **given})


def _said(*parts: object) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def _raw(tree: object, status: int = 200) -> RawReply:
    body = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    try:
        parsed = loads(body)
    except ValueError:
        parsed = None
    bill = wire.bill(status, parsed, lambda _model, _tier: PRICE)
    return RawReply(status=status, body=body, bill=bill, tree=parsed, latency_s=0.5)


def _reply(*output: object, **said: object) -> Reply:
    raw = _raw({"status": "completed", "output": list(output), **said})
    assert wire.fault(raw, NOW) is None
    return wire.read(raw)


def _input(*messages: Message) -> list[dict[str, object]]:
    built: Any = wire.build(ModelRequest(messages), _settings(), ModelFacts())
    return list(built["input"])


# What is asked


def test_nothing_is_stored_there_and_reasoning_comes_along_encrypted() -> None:
    built = wire.build(REQUEST, _settings(max_output_tokens=100), ModelFacts())
    assert built["store"] is False
    assert built["include"] == ["reasoning.encrypted_content"]
    assert (built["model"], built["max_output_tokens"], built["temperature"]) == ("m", 100, 0)
    assert "previous_response_id" not in built
    assert wire.url("http://h/v1", "m") == "http://h/v1/responses"
    assert wire.headers("k") == {"Authorization": "Bearer k"}


def test_tools_are_not_strict_as_in_chat_completions() -> None:
    built = wire.build(REQUEST, _settings(), ModelFacts())
    tool = {"type": "function", "name": "search", "description": "Search.", "parameters": {"type": "object"}}
    assert built["tools"] == [{**tool, "strict": False}]
    assert (built["tool_choice"], built["parallel_tool_calls"]) == ("auto", False)
    assert "tools" not in wire.build(ModelRequest(()), _settings(), ModelFacts())


def test_what_a_model_refuses_is_left_out_and_noted() -> None:
    settings = _settings("gpt-4o-mini", reasoning_effort="low", service_tier="flex", send_seed=True)
    built = wire.build(REQUEST, settings, TABLE.facts("gpt-4o-mini"))
    assert {"reasoning", "include", "service_tier", "seed"} & set(built) == set()
    assert wire.notes(settings, TABLE.facts("gpt-4o-mini")) == {
        "reasoning_effort": "not supported",
        "encrypted_reasoning": "not supported",
        "service_tier": "not supported",
        "seed": "not supported",
    }
    mini = _settings("gpt-5-mini", reasoning_effort="low", service_tier="flex")
    built = wire.build(REQUEST, mini, TABLE.facts("gpt-5-mini"))
    assert (built["reasoning"], built["service_tier"]) == ({"effort": "low"}, "flex")
    assert wire.notes(mini, TABLE.facts("gpt-5-mini")) == {"temperature": "not supported"}


def test_every_message_has_its_items() -> None:
    calls = (ToolCall("a", "search", {"query": "é"}), ToolCall("b", "read", "[1"))
    assert _input(
        SystemMessage("s"),
        UserMessage("u"),
        AssistantMessage("t", calls),
        ToolMessage("a", "search", "[]"),
        ToolMessage("b", "read", "{}"),
        AssistantMessage("", calls[:1]),
        AssistantMessage(""),
    ) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "t"},
        {"type": "function_call", "call_id": "a", "name": "search", "arguments": '{"query":"é"}'},
        {"type": "function_call", "call_id": "b", "name": "read", "arguments": '{"unparsed":"[1"}'},
        {"type": "function_call_output", "call_id": "a", "output": "[]"},
        {"type": "function_call_output", "call_id": "b", "output": "{}"},
        {"type": "function_call", "call_id": "a", "name": "search", "arguments": '{"query":"é"}'},
        {"role": "assistant", "content": ""},
    ]


def test_a_complete_reply_goes_back_verbatim_each_call_behind_its_reasoning() -> None:
    second = {**REASONING, "id": "rs_2"}
    output = [REASONING, CALL, second, {**CALL, "id": "fc_2", "call_id": "call_b"}]
    reply = _reply(*output)
    sent = _input(AssistantMessage(reply.text, reply.tool_calls, reply.verbatim))
    assert sent == output


def test_a_call_that_had_to_be_renamed_goes_back_under_the_name_its_result_has() -> None:
    reply = _reply(REASONING, {**CALL, "call_id": ""}, {**CALL, "name": "se arch"})
    calls = (replace(reply.tool_calls[0], id="ours"), replace(reply.tool_calls[1], name="se_arch"))
    sent = _input(AssistantMessage("", calls, reply.verbatim), ToolMessage("ours", "search", "[]"))
    assert [item.get("call_id") for item in sent] == [None, "ours", "call_a", "ours"]
    assert sent[2]["name"] == "se_arch"


def test_a_reply_that_was_cut_off_goes_back_without_its_reasoning() -> None:
    cut = _reply(REASONING, CALL, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert cut.verbatim is None
    assert _reply(REASONING, {"id": "an item of no type"}).verbatim is None


# What a reply says


def test_a_reply_is_its_visible_text_its_calls_and_its_bill() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 30},
    }
    texts = ({"type": "output_text", "text": "Pa"}, {"type": "output_text", "text": "ris"})
    reply = _reply(REASONING, _said(*texts), CALL, model="m-1", id="r", usage=usage)
    assert (reply.text, reply.finish_reason, reply.returned_model) == ("Paris", "completed", "m-1")
    assert reply.tool_calls == (ToolCall("call_a", "search", {"query": "x"}),)
    assert reply.usage == Usage(100, 40, 50, 30)
    assert reply.cost_usd == 0.000564  # (60 × 1.0 + 40 × 0.1 + 50 × 10.0) per million


@pytest.mark.parametrize(
    ("reason", "text", "finish_reason"),
    [
        ("max_output_tokens", "Par", "length"),
        ("content_filter", "", "content_filter"),
        (None, "Par", "incomplete"),
        (["odd"], "Par", "incomplete"),
    ],
)
def test_an_incomplete_reply_says_why_and_what_a_filter_cut_is_no_text(
    reason: object, text: str, finish_reason: str
) -> None:
    part = {"type": "output_text", "text": "Par"}
    reply = _reply(_said(part), status="incomplete", incomplete_details={"reason": reason})
    assert (reply.text, reply.finish_reason) == (text, finish_reason)


def test_a_refusal_is_the_text() -> None:
    assert _reply(_said({"type": "refusal", "refusal": "I cannot."})).text == "I cannot."


@pytest.mark.parametrize("usage", [None, [], {"input_tokens": 5}, {"input_tokens": -1, "output_tokens": 2}])
def test_without_usage_the_cost_is_unknown_not_zero(usage: object) -> None:
    reply = _reply(_said(), usage=usage)
    assert (reply.usage, reply.cost_usd) == (Usage(), None)


def test_the_bill_is_by_the_tier_that_is_returned() -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    for tier, cost in {"flex": 0.125, "default": 0.25, "priority": None}.items():
        tree = {"output": [], "model": "gpt-5-mini", "service_tier": tier, "usage": usage}
        assert wire.bill(200, tree, TABLE.price).cost_usd == cost


# What is wrong with it


@pytest.mark.parametrize(
    ("error", "expected", "concerns"),
    [
        ({"code": "server_error", "message": "sorry"}, RetryableError, ""),
        ({"code": "rate_limit_exceeded"}, RetryableError, ""),
        ({"code": "insufficient_quota"}, RefusedError, "run"),
        ({"code": "invalid_prompt", "message": "flagged"}, RefusedError, "call"),
        (None, RetryableError, ""),
    ],
)
def test_a_response_that_failed_is_a_fault(
    error: object, expected: type[AttemptError], concerns: str
) -> None:
    raw = _raw({"status": "failed", "output": [], "error": error})
    fault = wire.fault(raw, NOW)
    assert type(fault) is expected
    assert getattr(fault, "concerns", "") == concerns
    assert raw.bill.cost_usd == (None if error is None else 0.0)
    with pytest.raises(RetryableError):
        wire.read(raw)


@pytest.mark.parametrize("status", ["in_progress", "queued", "cancelled"])
def test_a_response_that_is_not_done_is_a_fault(status: str) -> None:
    assert isinstance(wire.fault(_raw({"status": status, "output": []}), NOW), RetryableError)


@pytest.mark.parametrize(
    ("status", "error", "concerns"),
    [
        (400, {"param": "reasoning.effort"}, "run"),
        (400, {"param": "include"}, "run"),
        (400, {"param": "input[3].output"}, "call"),
        (401, {}, "key"),
        (404, {"code": "model_not_found"}, "run"),
        (429, {"code": "insufficient_quota"}, "run"),
    ],
)
def test_a_refusal_concerns_the_call_the_key_or_every_call(
    status: int, error: dict[str, object], concerns: str
) -> None:
    fault = wire.fault(_raw({"error": error}, status), NOW)
    assert isinstance(fault, RefusedError)
    assert fault.concerns == concerns


@pytest.mark.parametrize("tree", [b"", b"<html>", b"null", b"[]", b'{"output": {}}', b'{"choices": []}'])
def test_a_success_without_output_is_a_fault_to_be_repeated(tree: bytes) -> None:
    assert isinstance(wire.fault(_raw(tree), NOW), RetryableError)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "call_id", "name", "arguments", "content", "text", "refusal"]), inner
        )
    ),
    max_leaves=12,
)


@given(_JSON, _JSON, st.integers(100, 599))
def test_no_response_breaks_the_reader_and_every_reply_can_go_back(
    output: object, status: object, code: int
) -> None:
    for tree in (output, {"output": output}, {"output": [output, CALL], "status": status}):
        raw = _raw(dumps(tree), code)
        if wire.fault(raw, NOW) is None:
            reply = wire.read(raw)
            message = AssistantMessage(reply.text, reply.tool_calls, reply.verbatim)
            assert orjson.loads(dumps(_input(message))) is not None

"""Chat Completions on the wire: what is asked of a model, and what its replies mean."""

import json
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.budget.prices import FREE, ModelFacts, Price, PriceTable
from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.lenient_json import loads
from evaluator.controllers.line import RawReply
from evaluator.core.errors import RefusedError, RetryableError
from evaluator.core.messages import (
    Arguments,
    AssistantMessage,
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
SEARCH = ToolSpec("search", "Search.", {"type": "object"})
REQUEST = ModelRequest((UserMessage("q"),), tools=(SEARCH,), seed=7)
TABLE = PriceTable.load({})


def _settings(model: str = "m", **given: object) -> ModelSettings:
    return ModelSettings.model_validate({"provider": "openai_chat", "model": model, **given})


def _raw(body: bytes, status: int = 200) -> RawReply:
    try:
        tree = loads(body)
    except ValueError:
        tree = None
    return RawReply(
        status=status,
        body=body,
        bill=wire.bill(status, tree, lambda _model, _tier: PRICE),
        tree=tree,
        latency_s=0.5,
    )


def _reply(message: object, **fields: object) -> Reply:
    tree = {"choices": [{"message": message, "finish_reason": "stop"}], **fields}
    raw = _raw(json.dumps(tree).encode())
    assert wire.fault(raw, NOW) is None
    return wire.read(raw)


# What is asked


def test_every_message_has_its_form() -> None:
    messages = (
        SystemMessage("s"),
        UserMessage("u"),
        AssistantMessage("t", (ToolCall("a", "search", {"query": "é"}),)),
        ToolMessage("a", "search", "[]"),
        AssistantMessage("", (ToolCall("b", "read", ""), ToolCall("c", "read", "[1"))),
        AssistantMessage(""),
    )
    built: Any = wire.build(ModelRequest(messages), _settings(), ModelFacts())
    assert built["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": "t",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query":"é"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "[]"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": '{"unparsed":""}'}},
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"unparsed":"[1"}'},
                },
            ],
        },
        {"role": "assistant", "content": ""},
    ]


def test_tools_come_with_their_choice_and_whether_calls_may_be_parallel() -> None:
    built = wire.build(REQUEST, _settings(), ModelFacts())
    function = {"name": "search", "description": "Search.", "parameters": {"type": "object"}}
    assert built["tools"] == [{"type": "function", "function": function}]
    assert (built["tool_choice"], built["parallel_tool_calls"]) == ("auto", False)


def test_without_tools_nothing_is_said_of_tools() -> None:
    built = wire.build(ModelRequest((UserMessage("q"),), tool_choice="required"), _settings(), ModelFacts())
    assert set(built) == {"model", "messages", "temperature", "max_completion_tokens"}


@pytest.mark.parametrize(
    ("model", "base_url", "field", "tokens"),
    [
        ("gpt-5-mini", None, "max_completion_tokens", 20_000),
        ("gpt-5-mini-2025-08-07", "http://proxy/v1", "max_completion_tokens", 20_000),
        ("gpt-4o-mini", None, "max_completion_tokens", 16_384),  # all that it can write
        ("qwen", "http://localhost:8000/v1", "max_tokens", 20_000),
        ("some-new-model", None, "max_completion_tokens", 20_000),
    ],
)
def test_the_room_for_a_reply_has_the_name_and_the_limit_of_the_model(
    model: str, base_url: str | None, field: str, tokens: int
) -> None:
    settings = _settings(model, base_url=base_url, max_output_tokens=20_000)
    built = wire.build(REQUEST, settings, TABLE.facts(model))
    assert {name: built[name] for name in built if name.startswith("max_")} == {field: tokens}


def test_what_a_model_refuses_is_left_out_and_noted() -> None:
    mini = _settings("gpt-5-mini", reasoning_effort="minimal")
    facts = TABLE.facts("gpt-5-mini")
    assert "temperature" not in wire.build(REQUEST, mini, facts)
    assert wire.build(REQUEST, mini, facts)["reasoning_effort"] == "minimal"
    assert wire.notes(mini, facts) == {"temperature": "not supported"}

    four = _settings("gpt-4o-mini", reasoning_effort="low", max_output_tokens=20_000)
    facts = TABLE.facts("gpt-4o-mini")
    assert wire.build(REQUEST, four, facts)["temperature"] == 0
    assert "reasoning_effort" not in wire.build(REQUEST, four, facts)
    assert wire.notes(four, facts) == {
        "reasoning_effort": "not supported",
        "max_output_tokens": "16384, the model's limit",
    }


def test_a_model_that_takes_everything_has_no_notes() -> None:
    assert wire.notes(_settings(), ModelFacts()) == {}


@pytest.mark.parametrize(
    ("settings", "sent"),
    [(_settings(provider="scripted"), True), (_settings(send_seed=True), True), (_settings(), False)],
    ids=["scripted", "asked for", "not asked for"],
)
def test_the_seed_is_sent_to_programs_and_where_asked_for(settings: ModelSettings, *, sent: bool) -> None:
    assert ("seed" in wire.build(REQUEST, settings, ModelFacts())) is sent
    assert "seed" not in wire.build(ModelRequest(()), settings, ModelFacts())


def test_the_flex_tier_is_asked_for_and_billed_as_what_is_returned() -> None:
    settings = _settings("gpt-5-mini", service_tier="flex")
    assert wire.build(REQUEST, settings, TABLE.facts("gpt-5-mini"))["service_tier"] == "flex"
    assert wire.notes(settings, TABLE.facts("gpt-4o-mini"))["service_tier"] == "not supported"
    for tier, cost in {"flex": 0.125, "default": 0.25, "auto": 0.25, None: 0.25, "priority": None}.items():
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
        tree = {"model": "gpt-5-mini", "service_tier": tier, "usage": usage}
        assert wire.bill(200, tree, TABLE.price).cost_usd == cost


# What a reply says


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Paris", "Paris"),
        (None, ""),
        ("", ""),
        (42, ""),
        ([{"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}], "Paris"),
        ([{"type": "refusal", "refusal": "I cannot."}], "I cannot."),
        ([], ""),
        (["Paris", None, {"text": 7}], ""),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("nul\x00", "nul\x00"),
    ],
)
def test_the_text_is_what_is_visible(content: object, text: str) -> None:
    assert _reply({"role": "assistant", "content": content}).text == text


def test_a_refusal_is_the_text_where_there_is_no_other() -> None:
    assert _reply({"content": None, "refusal": "I cannot."}).text == "I cannot."
    assert _reply({"content": "Paris", "refusal": None}).text == "Paris"


def test_call_ids_that_are_missing_empty_or_repeated_are_made_up() -> None:
    calls = [{"id": given, "function": {"name": "read"}} for given in ("x", "", None, "call_1", "x", 5)]
    reply = _reply({"tool_calls": [*calls, {"function": {"name": "read"}}]})
    ids = [call.id for call in reply.tool_calls]
    assert ids == ["x", "call_2", "call_3", "call_1", "call_4", "call_5", "call_6"]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (None, []),
        ([], []),
        ("search", []),
        ([None], [("", "")]),
        ([["search"]], [("", '["search"]')]),
        ([{"id": "a"}], [("", {"id": "a"})]),
        ([{"function": {"name": None, "arguments": "{}"}}], [("", {})]),
        ([{"function": {"name": "se\ud800", "arguments": "{}"}}], [("se\ufffd", {})]),
    ],
)
def test_a_call_without_a_function_has_no_name(calls: object, expected: list[tuple[str, Arguments]]) -> None:
    reply = _reply({"content": "t", "tool_calls": calls})
    assert [(call.name, call.arguments) for call in reply.tool_calls] == expected


@pytest.mark.parametrize("finish_reason", ["stop", "length", "tool_calls", None, 3])
def test_calls_are_calls_whatever_the_finish_reason(finish_reason: object) -> None:
    message = {"tool_calls": [{"id": "a", "function": {"name": "final", "arguments": "{}"}}]}
    tree = {"choices": [{"message": message, "finish_reason": finish_reason}]}
    reply = wire.read(_raw(orjson.dumps(tree)))
    assert len(reply.tool_calls) == 1
    assert reply.finish_reason == (finish_reason if isinstance(finish_reason, str) else "")


# What it costs

DETAILED: dict[str, object] = {
    "prompt_tokens": 100,
    "completion_tokens": 50,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 30},
}


def test_cached_and_reasoning_tokens_are_counted_once() -> None:
    reply = _reply({"content": "x"}, usage=DETAILED, model="m-1", id="r")
    assert reply.usage == Usage(100, 40, 50, 30)
    assert reply.cost_usd == 0.000564  # (60 × 1.0 + 40 × 0.1 + 50 × 10.0) per million
    assert (reply.returned_model, reply.latency_s) == ("m-1", 0.5)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        {"prompt_tokens": 5},
        {"prompt_tokens": -1, "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": 2},
        {"prompt_tokens": "5", "completion_tokens": 2},
    ],
)
def test_without_usage_the_cost_is_unknown_not_zero(usage: object) -> None:
    reply = _reply({"content": "x"}, usage=usage)
    assert (reply.usage, reply.cost_usd) == (Usage(), None)


@pytest.mark.parametrize("details", [None, 7, {}, {"cached_tokens": None}, {"cached_tokens": -3}])
def test_details_that_are_missing_count_as_none(details: object) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": details}
    assert _reply({"content": "x"}, usage=usage).usage == Usage(5, 0, 2, 0)


def test_details_never_exceed_their_total() -> None:
    usage = {**DETAILED, "prompt_tokens": 10, "completion_tokens": 10}
    assert _reply({"content": "x"}, usage=usage).usage == Usage(10, 10, 10, 10)


GOOD = {"choices": [{"message": {"content": "x"}}], "usage": DETAILED}


@pytest.mark.parametrize(
    ("status", "tree", "price", "cost"),
    [
        (200, GOOD, PRICE, 0.000564),
        (200, GOOD, None, None),
        (200, GOOD, FREE, 0.0),
        (200, {"choices": GOOD["choices"]}, PRICE, None),
        (200, {"usage": DETAILED}, PRICE, 0.000564),
        (200, {"error": {"message": "overloaded"}}, PRICE, 0.0),
        (200, None, PRICE, None),
        (0, None, PRICE, None),
        (0, None, FREE, 0.0),
        (307, None, PRICE, 0.0),
        (429, None, PRICE, 0.0),
        (500, {"error": {"message": "failed"}}, PRICE, 0.0),
        (500, [{"error": {"message": "failed"}}], PRICE, 0.0),
        (502, None, PRICE, None),
        (504, {}, PRICE, None),
    ],
)
def test_the_bill_is_known_only_where_someone_says_so(
    status: int, tree: object, price: Price | None, cost: float | None
) -> None:
    assert wire.bill(status, tree, lambda _model, _tier: price).cost_usd == cost


# What is wrong with it


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "too long"}}', "too long"),
        (b'{"error": "too long"}', "too long"),
        (b'{"detail": "too long"}', "too long"),
        (b'{"detail": [{"loc": ["body"]}]}', '[{"loc":["body"]}]'),
        (b'{"object": "error", "message": "too long"}', "too long"),
        (b'[{"error": {"message": "too long"}}]', "too long"),
        (b"too long", "too long"),
        (b"", "no reason given"),
        (b'{"error": {"code": 17}}', '{"error": {"code": 17}}'),
    ],
)
def test_the_providers_own_words_are_quoted(body: bytes, said: str) -> None:
    fault = wire.fault(_raw(body, 400), NOW)
    assert isinstance(fault, RefusedError)
    assert str(fault) == f"HTTP 400: {said}"


@pytest.mark.parametrize(
    ("status", "error", "concerns"),
    [
        (400, {"code": "context_length_exceeded", "param": "messages"}, "call"),
        (400, {"code": None, "param": "messages.[3].content"}, "call"),
        (400, {"param": "max_tokens"}, "call"),
        (400, {"code": "model_not_found"}, "run"),
        (400, {"code": "unsupported_parameter", "param": "max_tokens"}, "run"),
        (400, {"param": "tools[2].function"}, "run"),
        (422, {"param": "reasoning_effort"}, "run"),
        (400, {"param": ["model"], "code": ["model_not_found"]}, "call"),
        (401, {"param": "model"}, "key"),
        (403, {}, "key"),
        (404, {}, "run"),
        (429, {"code": "insufficient_quota"}, "run"),
    ],
)
def test_a_refusal_concerns_the_call_the_key_or_every_call(
    status: int, error: dict[str, object], concerns: str
) -> None:
    fault = wire.fault(_raw(orjson.dumps({"error": error}), status), NOW)
    assert isinstance(fault, RefusedError)
    assert (fault.status, fault.concerns) == (status, concerns)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"text": "x"}]}',
        b'{"error": {"code": 429, "message": "slow down"}}',
    ],
)
def test_a_success_without_a_message_is_a_fault_to_be_repeated(body: bytes) -> None:
    raw = _raw(body)
    assert isinstance(wire.fault(raw, NOW), RetryableError)
    with pytest.raises(RetryableError):
        wire.read(raw)


@given(st.binary(max_size=200), st.integers(100, 599))
def test_no_response_breaks_the_reader(body: bytes, status: int) -> None:
    raw = _raw(body, status)
    fault = wire.fault(raw, NOW)
    if fault is None:
        wire.read(raw)


def test_markup_that_a_server_left_in_the_text_is_a_call_where_there_is_none() -> None:
    markup = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
    reply = _reply({"content": f"So: {markup}"})
    assert (reply.text, [call.name for call in reply.tool_calls]) == ("So:", ["search"])
    assert _reply({"content": markup, "tool_calls": [{"function": {"name": "read"}}]}).text == markup


def test_what_a_filter_left_of_a_text_is_no_text() -> None:
    tree = {"choices": [{"message": {"content": "Par"}, "finish_reason": "content_filter"}]}
    reply = wire.read(_raw(orjson.dumps(tree)))
    assert (reply.text, reply.finish_reason) == ("", "content_filter")

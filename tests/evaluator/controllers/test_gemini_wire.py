"""Gemini on the wire: thoughts replayed with their signatures, results one to one, every end of a reply."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.budget.prices import ModelFacts, Price, PriceTable
from evaluator.controllers import gemini_wire as wire
from evaluator.controllers.lenient_json import dumps, loads
from evaluator.controllers.line import RawReply
from evaluator.core.errors import RefusedError, RetryableError
from evaluator.core.messages import (
    Arguments,
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
SCHEMA = {"type": "object", "additionalProperties": False}
REQUEST = ModelRequest((UserMessage("q"),), tools=(ToolSpec("search", "Search.", SCHEMA),), seed=7)


def _settings(model: str = "m", **given: object) -> ModelSettings:
    return ModelSettings.model_validate({"provider": "gemini", "model": model, **given})


def _call(name: str = "search", **given: object) -> dict[str, object]:
    return {"functionCall": {"name": name, "args": {"query": "x"}, **given}}


def _raw(tree: object, status: int = 200) -> RawReply:
    body = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    try:
        parsed = loads(body)
    except ValueError:
        parsed = None
    bill = wire.bill(status, parsed, lambda _model, _tier: PRICE)
    return RawReply(status=status, body=body, bill=bill, tree=parsed, latency_s=0.5)


def _reply(*parts: object, reason: object = "STOP", **said: object) -> Reply:
    content = {"role": "model", "parts": list(parts)}
    raw = _raw({"candidates": [{"content": content, "finishReason": reason}], **said})
    assert wire.fault(raw, NOW) is None
    return wire.read(raw)


def _contents(*messages: Message) -> list[dict[str, Any]]:
    built: Any = wire.build(ModelRequest(messages), _settings(), ModelFacts())
    return list(built["contents"])


# What is asked


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-2.5-flash", "models/gemini-2.5-flash"),
        ("models/gemini-2.5-flash", "models/gemini-2.5-flash"),
        ("tunedModels/mine", "tunedModels/mine"),
        ("a b?c", "models/a%20b%3Fc"),
    ],
)
def test_the_model_is_in_the_url_and_the_key_in_a_header(model: str, path: str) -> None:
    assert wire.url("http://h/v1beta", model) == f"http://h/v1beta/{path}:generateContent"
    assert wire.headers("secret") == {"x-goog-api-key": "secret"}


def test_system_text_stands_apart_and_tools_have_their_whole_schema() -> None:
    request = replace(REQUEST, messages=(SystemMessage("s"), UserMessage("u")), tool_choice="required")
    built = wire.build(request, _settings(max_output_tokens=100), ModelFacts())
    assert built["systemInstruction"] == {"parts": [{"text": "s"}]}
    assert built["contents"] == [{"role": "user", "parts": [{"text": "u"}]}]
    declared = {"name": "search", "description": "Search.", "parametersJsonSchema": SCHEMA}
    assert built["tools"] == [{"functionDeclarations": [declared]}]
    assert built["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert built["generationConfig"] == {"temperature": 0, "maxOutputTokens": 100}
    assert set(wire.build(ModelRequest(()), _settings(), ModelFacts())) == {"contents", "generationConfig"}


@pytest.mark.parametrize(
    ("given", "config"),
    [
        ({"thinking_budget": 0}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ({"thinking_budget": -1}, {"thinkingConfig": {"thinkingBudget": -1}}),
        ({"reasoning_effort": "low"}, {"thinkingConfig": {"thinkingLevel": "low"}}),
        ({"send_seed": True}, {"seed": 7}),
    ],
)
def test_what_settings_ask_for_stands_in_the_configuration(
    given: dict[str, object], config: dict[str, object]
) -> None:
    built: Any = wire.build(REQUEST, _settings("m", **given), ModelFacts())
    assert built["generationConfig"] == {"temperature": 0, "maxOutputTokens": 16_384, **config}


def test_what_a_model_refuses_is_left_out_and_noted() -> None:
    settings = _settings("gemini-2.5-flash", reasoning_effort="low", service_tier="flex")
    built: Any = wire.build(REQUEST, settings, TABLE.facts("gemini-2.5-flash"))
    assert "thinkingConfig" not in built["generationConfig"]
    assert built["serviceTier"] == "flex"
    noted = wire.notes(settings, TABLE.facts("gemini-2.5-flash"))
    assert noted == {"thinking_level": "not supported", "parallel_tool_calls": "not supported"}


def test_every_message_has_its_content_and_results_stand_together() -> None:
    calls = (ToolCall("a", "search", {"query": "é"}), ToolCall("b", "read", "[1"))
    results = [
        {"functionResponse": {"name": "search", "response": {"output": "[]"}}},
        {"functionResponse": {"name": "read", "response": {"output": "{}"}}},
    ]
    assert _contents(
        UserMessage("u"),
        AssistantMessage("t", calls),
        ToolMessage("a", "search", "[]"),
        ToolMessage("b", "read", "{}"),
        UserMessage("v"),
        AssistantMessage("", calls[:1]),
        ToolMessage("a", "search", "[]"),
        AssistantMessage(""),
    ) == [
        {"role": "user", "parts": [{"text": "u"}]},
        {
            "role": "model",
            "parts": [
                {"text": "t"},
                {"functionCall": {"name": "search", "args": {"query": "é"}}},
                {"functionCall": {"name": "read", "args": {"unparsed": "[1"}}},
            ],
        },
        {"role": "user", "parts": results},
        {"role": "user", "parts": [{"text": "v"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"query": "é"}}}]},
        {"role": "user", "parts": results[:1]},
        {"role": "model", "parts": [{"text": ""}]},
    ]


def test_a_reply_goes_back_as_it_came_and_results_bear_the_ids_that_calls_had() -> None:
    parts = [
        {"text": "Hm.", "thought": True},
        {**_call(id="x1"), "thoughtSignature": "c2ln"},
        {**_call("read"), "thoughtSignature": "bmF0"},
    ]
    reply = _reply(*parts)
    model, results = _contents(
        AssistantMessage(reply.text, reply.tool_calls, reply.verbatim),
        *(ToolMessage(call.id, call.name, "[]") for call in reply.tool_calls),
    )
    assert model == {"role": "model", "parts": parts}
    first, second = (part["functionResponse"] for part in results["parts"])
    assert (first["id"], first["name"]) == ("x1", "search")
    assert ("id" in second, second["name"]) == (False, "read")


def test_a_call_that_had_to_be_renamed_goes_back_as_its_result_calls_it() -> None:
    reply = _reply({**_call("se arch", id="x", args="odd"), "thoughtSignature": "c2ln"})
    call = replace(reply.tool_calls[0], id="ours", name="se_arch")
    model, results = _contents(
        AssistantMessage("", (call,), reply.verbatim), ToolMessage("ours", "se_arch", "{}")
    )
    (part,) = model["parts"]
    assert part["functionCall"] == {"name": "se_arch", "args": {"unparsed": "odd"}, "id": "ours"}
    assert part["thoughtSignature"] == "c2ln"
    assert results["parts"][0]["functionResponse"]["id"] == "ours"


# What a reply says


def test_thoughts_are_neither_text_nor_forgotten() -> None:
    reply = _reply({"text": "Hm.", "thought": True}, {"text": "Pa"}, {"text": "ris", "thoughtSignature": "s"})
    assert reply.text == "Paris"
    assert reply.verbatim == [
        {"text": "Hm.", "thought": True},
        {"text": "Pa"},
        {"text": "ris", "thoughtSignature": "s"},
    ]


@pytest.mark.parametrize(
    ("reason", "text", "finish_reason"),
    [
        ("STOP", "Par", "STOP"),
        (None, "Par", ""),
        ("FINISH_REASON_UNSPECIFIED", "Par", "FINISH_REASON_UNSPECIFIED"),
        ("MAX_TOKENS", "Par", "length"),
        *(
            (reason, "", reason)
            for reason in (
                "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
                "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "IMAGE_SAFETY",
                "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "A_REASON_OF_NEXT_YEAR",
            )
        ),
    ],
)  # fmt: skip
def test_text_stands_only_where_the_reply_was_finished_or_cut_for_its_length(
    reason: object, text: str, finish_reason: str
) -> None:
    reply = _reply({"text": "Par"}, reason=reason)
    assert (reply.text, reply.finish_reason) == (text, finish_reason)
    assert (reply.verbatim is None) == (text == "")


@pytest.mark.parametrize("content", [None, {}, {"role": "model"}, {"parts": None}, {"parts": [{}]}])
@pytest.mark.parametrize("reason", ["STOP", "SAFETY", "MALFORMED_FUNCTION_CALL", "MAX_TOKENS"])
def test_a_candidate_without_parts_is_an_empty_reply(content: object, reason: str) -> None:
    raw = _raw({"candidates": [{"content": content, "finishReason": reason}]})
    assert wire.fault(raw, NOW) is None
    reply = wire.read(raw)
    assert (reply.text, reply.tool_calls) == ("", ())


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"name": "search"}, ("search", {})),
        ({"name": "search", "args": None}, ("search", "")),
        ({"name": "search", "args": '{"query": "x"}'}, ("search", {"query": "x"})),
        ({"name": "search", "args": ["x"]}, ("search", '["x"]')),
        ({"args": {}}, ("", {})),
        (None, ("", {})),
    ],
)
def test_a_call_keeps_what_can_be_read_of_it(call: object, expected: tuple[str, Arguments]) -> None:
    (read,) = _reply({"functionCall": call}).tool_calls
    assert (read.name, read.arguments) == expected
    assert read.id


# What it costs


def test_thoughts_are_beside_the_candidates_and_cached_tokens_within_the_prompt() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 150,
    }
    reply = _reply({"text": "x"}, usageMetadata=usage, modelVersion="m-1", responseId="r")
    assert reply.usage == Usage(100, 40, 50, 30)
    assert reply.cost_usd == 0.000564  # (60 × 1.0 + 40 × 0.1 + 50 × 10.0) per million
    assert reply.returned_model == "m-1"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"promptTokenCount": 5}, Usage(5, 0, 0, 0)),  # nothing was written
        ({"promptTokenCount": 5, "thoughtsTokenCount": 7}, Usage(5, 0, 7, 7)),  # nothing but thoughts
        ({"promptTokenCount": 5, "toolUsePromptTokenCount": 2}, Usage(7, 0, 0, 0)),
        ({"promptTokenCount": 5, "cachedContentTokenCount": 9}, Usage(5, 5, 0, 0)),
    ],
)
def test_counts_that_are_left_out_are_none(usage: object, expected: Usage) -> None:
    assert _reply({"text": "x"}, usageMetadata=usage).usage == expected


@pytest.mark.parametrize("usage", [None, [], {}, {"candidatesTokenCount": 5}, {"promptTokenCount": "5"}])
def test_without_a_count_of_the_prompt_the_cost_is_unknown(usage: object) -> None:
    reply = _reply({"text": "x"}, usageMetadata=usage)
    assert (reply.usage, reply.cost_usd) == (Usage(), None)


@pytest.mark.parametrize(
    ("tier", "cost"), [("standard", 0.3), ("STANDARD", 0.3), (None, 0.3), ("flex", None), ("priority", None)]
)
def test_the_bill_is_by_the_tier_that_is_returned(tier: object, cost: float | None) -> None:
    usage = {"promptTokenCount": 1_000_000, "serviceTier": tier}
    tree = {"modelVersion": "gemini-2.5-flash", "usageMetadata": usage}
    assert wire.bill(200, tree, TABLE.price).cost_usd == cost


# What is wrong with it


def test_a_blocked_prompt_is_refused_once_and_billed_by_its_usage() -> None:
    tree = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 1_000_000}}
    raw = _raw(tree)
    fault = wire.fault(raw, NOW)
    assert isinstance(fault, RefusedError)
    assert (str(fault), fault.concerns) == ("the prompt was blocked: SAFETY", "call")
    assert raw.bill.cost_usd == 1.0


@pytest.mark.parametrize(
    "tree",
    [
        b"",
        b"<html>",
        b"null",
        b"{}",
        b'{"candidates": []}',
        b'{"candidates": [null]}',
        b'{"candidates": [{}]}',
    ],
)
def test_a_success_without_a_candidate_is_a_fault_to_be_repeated(tree: bytes) -> None:
    raw = _raw(tree)
    assert isinstance(wire.fault(raw, NOW), RetryableError)
    with pytest.raises(RetryableError):
        wire.read(raw)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "functionCall", "name", "args", "id", "thought"]), inner)
    ),
    max_leaves=12,
)


@given(_JSON, _JSON, st.integers(100, 599))
def test_no_response_breaks_the_reader_and_every_reply_can_go_back(
    given_parts: object, given_reason: object, code: int
) -> None:
    for content in (given_parts, {"parts": given_parts}, {"parts": [given_parts, _call(id="x")]}):
        tree = {"candidates": [{"content": content, "finishReason": given_reason}], "error": given_reason}
        raw = _raw(dumps(tree), code)
        if wire.fault(raw, NOW) is None:
            reply = wire.read(raw)
            message = AssistantMessage(reply.text, reply.tool_calls, reply.verbatim)
            assert orjson.loads(dumps(_contents(message))) is not None

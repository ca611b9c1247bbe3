"""OpenAI Responses as bytes, without state at the provider: all that was said goes along with every call.

Nothing is stored there (``store`` is false), so a reply's reasoning comes encrypted and goes back as it
came: the items of a complete reply are replayed verbatim, each call with the reasoning before it.
"""

from datetime import datetime
from typing import Any

from evaluator.budget.prices import ModelFacts
from evaluator.controllers import faults
from evaluator.controllers.json_values import count, fields, items, text, usage_within
from evaluator.controllers.line import Bill, RawReply
from evaluator.controllers.openai_errors import error_of, fault_of, tier_of
from evaluator.controllers.tool_calls import distinct_ids, read_arguments, sent_arguments
from evaluator.controllers.wire import PROBE, PriceOf, cost_usd, left_out, max_output
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
)
from evaluator.core.settings import ModelSettings

TAKEN = frozenset({"completed", "incomplete"})
"""Values of ``status`` that come with a reply."""

CALL_CODES = frozenset({"invalid_prompt", "content_policy_violation"})
"""Values of ``error.code`` of a failed response that another attempt would meet again."""

FINISH_REASONS = {"max_output_tokens": "length"}
"""Reasons of an incomplete reply that have another word here; the rest keep the provider's own."""


def url(base_url: str, model: str) -> str:
    """The endpoint below an address; the model stands in the request."""
    del model
    return f"{base_url}/responses"


def headers(key: str) -> dict[str, str]:
    """What carries the key."""
    return {"Authorization": f"Bearer {key}"}


def build(request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
    """The request as a JSON tree, without what the model refuses."""
    wanted = _wanted(request, model)
    taken = [field for name, field in wanted.items() if name not in facts.refuses and field]
    return {
        "model": model.model,
        "input": [item for message in request.messages for item in _items(message)],
        "store": False,
        "max_output_tokens": max_output(model, facts),
        **{name: value for field in taken for name, value in field.items()},
    }


def notes(model: ModelSettings, facts: ModelFacts) -> dict[str, str]:
    """What of the protocol the model does not take; this endpoint takes no seed."""
    wanted = _wanted(PROBE, model)
    noted = left_out(wanted, model, facts)
    return noted | {name: "not supported" for name, field in wanted.items() if not field}


def bill(status: int, tree: object, price_of: PriceOf) -> Bill:
    """What a whole response says about its cost."""
    said = fields(tree)
    usage, returned = _usage(fields(said.get("usage"))), text(said.get("model"))
    reported = bool(error_of(tree)) and not _holds_reply(tree)
    cost = cost_usd(status, usage, price_of(returned, tier_of(said)), reported=reported)
    return Bill(usage, cost, returned, text(said.get("id")))


def fault(raw: RawReply, now: datetime) -> AttemptError | None:
    """What is wrong with the outcome of an attempt, or None when it holds a reply."""
    code = text(error_of(raw.tree).get("code"))
    if 200 <= raw.status < 300 and code in CALL_CODES and not _holds_reply(raw.tree):
        said = text(error_of(raw.tree).get("message")) or code
        return RefusedError(said[: faults.LONGEST_DETAIL], status=raw.status)
    return fault_of(raw, now, holds_reply=_holds_reply(raw.tree))


def read(raw: RawReply) -> Reply:
    """The reply that a response without ``fault`` holds."""
    if not _holds_reply(raw.tree):
        raise RetryableError(f"HTTP {raw.status} without a reply", status=raw.status)
    said = fields(raw.tree)
    output = items(said.get("output"))
    why = text(fields(said.get("incomplete_details")).get("reason"))
    complete = said.get("status") != "incomplete" and all(text(fields(item).get("type")) for item in output)
    filtered = why == "content_filter"
    return Reply(
        text="" if filtered else "".join(_visible(fields(item)) for item in output),
        tool_calls=_tool_calls([item for item in map(fields, output) if item.get("type") == "function_call"]),
        finish_reason=FINISH_REASONS.get(why, why) or text(said.get("status")),
        usage=raw.bill.usage or Usage(),
        cost_usd=raw.bill.cost_usd,
        latency_s=raw.latency_s,
        returned_model=raw.bill.returned_model,
        verbatim=output if complete else None,
    )


def _wanted(request: ModelRequest, model: ModelSettings) -> dict[str, dict[str, object]]:
    """The fields that each parameter asks for, none where this endpoint has no such parameter."""
    wanted: dict[str, dict[str, object]] = {
        "temperature": {"temperature": 0},
        "encrypted_reasoning": {"include": ["reasoning.encrypted_content"]},
    }
    if model.reasoning_effort is not None:
        wanted["reasoning_effort"] = {"reasoning": {"effort": model.reasoning_effort}}
    if model.service_tier is not None:
        wanted["service_tier"] = {"service_tier": model.service_tier}
    if request.tools:
        wanted["tools"] = {"tools": [_tool(tool) for tool in request.tools]}
        wanted["tool_choice"] = {"tool_choice": request.tool_choice}
        wanted["parallel_tool_calls"] = {"parallel_tool_calls": request.parallel_tool_calls}
    if request.seed is not None and model.send_seed:
        wanted["seed"] = {}
    return wanted


def _tool(tool: ToolSpec) -> dict[str, object]:
    # Left out, strict is true here and false in Chat Completions.
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _items(message: Message) -> list[dict[str, object]]:
    """The items that a message becomes."""
    match message:
        case SystemMessage():
            return [{"role": "system", "content": message.text}]
        case ToolMessage():
            return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
        case AssistantMessage(verbatim=list() as output):
            return _verbatim(output, message.tool_calls)
        case AssistantMessage():
            said: list[dict[str, object]] = [{"role": "assistant", "content": message.text}]
            calls = [_call(call) for call in message.tool_calls]
            return said + calls if message.text or not calls else calls
        case _:
            return [{"role": "user", "content": message.text}]


def _call(call: ToolCall) -> dict[str, object]:
    arguments = sent_arguments(call.arguments)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _verbatim(output: list[Any], calls: tuple[ToolCall, ...]) -> list[dict[str, object]]:
    """The items as they came; a call whose id or name could not stay has the one it goes by here."""
    waiting = iter(calls)
    replayed = []
    for item in map(fields, output):
        call = next(waiting, None) if item.get("type") == "function_call" else None
        known = {} if call is None else {"call_id": call.id, "name": call.name}
        replayed.append({**item, **known})
    return replayed


def _holds_reply(tree: object) -> bool:
    """Whether a response is one: of a status that comes with a reply, its output a list."""
    said = fields(tree)
    return isinstance(said.get("output"), list) and (text(said.get("status")) or "completed") in TAKEN


def _visible(item: dict[str, Any]) -> str:
    """What a person would see of an item: the text of a message, or its refusal."""
    if item.get("type") != "message":
        return ""
    parts = [fields(part) for part in items(item.get("content"))]
    return "".join(text(part.get("text")) or text(part.get("refusal")) for part in parts)


def _tool_calls(calls: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    ids = distinct_ids([text(call.get("call_id")) for call in calls])
    return tuple(
        ToolCall(call_id, text(call.get("name")), read_arguments(call.get("arguments")))
        for call, call_id in zip(calls, ids, strict=True)
    )


def _usage(given: dict[str, Any]) -> Usage | None:
    """The usage, or None when the two totals are not there; details that are missing count as 0."""
    prompt, output = count(given.get("input_tokens")), count(given.get("output_tokens"))
    if prompt is None or output is None:
        return None
    cached = fields(given.get("input_tokens_details")).get("cached_tokens")
    reasoning = fields(given.get("output_tokens_details")).get("reasoning_tokens")
    return usage_within(prompt, cached, output, reasoning)

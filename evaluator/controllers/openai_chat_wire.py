"""OpenAI Chat Completions as bytes: requests built from records, replies read into records.

Servers that speak this format differ in what they leave out. Whether a reply calls tools is decided
by its tool calls, never by ``finish_reason``.
"""

from datetime import datetime
from typing import Any

from evaluator.budget.prices import ModelFacts
from evaluator.controllers.json_values import count, fields, items, text, usage_within
from evaluator.controllers.line import Bill, RawReply
from evaluator.controllers.openai_errors import error_of, fault_of, tier_of
from evaluator.controllers.tool_calls import distinct_ids, read_arguments, sent_arguments
from evaluator.controllers.tool_markup import recovered
from evaluator.controllers.wire import PROBE, PriceOf, cost_usd, left_out, max_output
from evaluator.core.errors import AttemptError, RetryableError
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

FILTERED = "content_filter"
"""The finish reason of a reply that a filter cut: what is left of its text is no answer."""


def url(base_url: str, model: str) -> str:
    """The endpoint below an address; the model stands in the request."""
    del model
    return f"{base_url}/chat/completions"


def headers(key: str) -> dict[str, str]:
    """What carries the key."""
    return {"Authorization": f"Bearer {key}"}


def build(request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
    """The request as a JSON tree, without what the model refuses."""
    wanted = _wanted(request, model, facts)
    return {
        "model": model.model,
        "messages": [_message(message) for message in request.messages],
        **{name: value for name, value in wanted.items() if name not in facts.refuses},
    }


def notes(model: ModelSettings, facts: ModelFacts) -> dict[str, str]:
    """What of the protocol the model does not take."""
    return left_out(_wanted(PROBE, model, facts), model, facts)


def bill(status: int, tree: object, price_of: PriceOf) -> Bill:
    """What a whole response says about its cost."""
    said = fields(tree)
    usage, returned = _usage(fields(said.get("usage"))), text(said.get("model"))
    reported = bool(error_of(tree)) and _choice(tree) is None
    cost = cost_usd(status, usage, price_of(returned, tier_of(said)), reported=reported)
    return Bill(usage, cost, returned, text(said.get("id")))


def fault(raw: RawReply, now: datetime) -> AttemptError | None:
    """What is wrong with the outcome of an attempt, or None when it holds a reply."""
    return fault_of(raw, now, holds_reply=_choice(raw.tree) is not None)


def read(raw: RawReply) -> Reply:
    """The reply that a response without ``fault`` holds."""
    choice = _choice(raw.tree)
    if choice is None:
        raise RetryableError(f"HTTP {raw.status} without a reply", status=raw.status)
    message, finish_reason = choice["message"], text(choice.get("finish_reason"))
    said = _content(message.get("content")) or text(message.get("refusal"))
    calls = _tool_calls(items(message.get("tool_calls")))
    markup = None if calls else recovered(said)
    if markup is not None:
        said, calls = markup.text, markup.tool_calls
    return Reply(
        text="" if finish_reason == FILTERED else said,
        tool_calls=calls,
        finish_reason=finish_reason,
        usage=raw.bill.usage or Usage(),
        cost_usd=raw.bill.cost_usd,
        latency_s=raw.latency_s,
        returned_model=raw.bill.returned_model,
    )


def _wanted(request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
    """Every field that the settings ask for, whether or not the model takes it."""
    usual = "max_completion_tokens" if model.base_url is None else "max_tokens"
    wanted: dict[str, object] = {
        "temperature": 0,
        facts.output_limit or usual: max_output(model, facts),
    }
    if model.reasoning_effort is not None:
        wanted["reasoning_effort"] = model.reasoning_effort
    if model.service_tier is not None:
        wanted["service_tier"] = model.service_tier
    if request.tools:
        wanted["tools"] = [_tool(tool) for tool in request.tools]
        wanted["tool_choice"] = request.tool_choice
        wanted["parallel_tool_calls"] = request.parallel_tool_calls
    if request.seed is not None and (model.send_seed or model.provider == "scripted"):
        wanted["seed"] = request.seed
    return wanted


def _tool(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _message(message: Message) -> dict[str, object]:
    match message:
        case SystemMessage():
            return {"role": "system", "content": message.text}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case AssistantMessage(tool_calls=calls) if calls:
            content = message.text or None
            return {"role": "assistant", "content": content, "tool_calls": [_call(call) for call in calls]}
        case AssistantMessage():
            return {"role": "assistant", "content": message.text}
        case _:
            return {"role": "user", "content": message.text}


def _call(call: ToolCall) -> dict[str, object]:
    function = {"name": call.name, "arguments": sent_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _choice(tree: object) -> dict[str, Any] | None:
    """The first choice, when it holds a message."""
    choices = items(fields(tree).get("choices"))
    choice = fields(choices[0]) if choices else {}
    return choice if isinstance(choice.get("message"), dict) else None


def _content(content: object) -> str:
    """The visible text: a string, or the texts of a list of parts."""
    if not isinstance(content, list):
        return text(content)
    parts = map(fields, content)
    return "".join(text(part.get("text")) or text(part.get("refusal")) for part in parts)


def _tool_calls(given: list[Any]) -> tuple[ToolCall, ...]:
    ids = distinct_ids([text(fields(call).get("id")) for call in given])
    return tuple(_tool_call(call, call_id) for call, call_id in zip(given, ids, strict=True))


def _tool_call(call: object, call_id: str) -> ToolCall:
    function = fields(call).get("function")
    if not isinstance(function, dict):
        return ToolCall(id=call_id, name="", arguments=read_arguments(call))
    return ToolCall(call_id, text(function.get("name")), read_arguments(function.get("arguments")))


def _usage(given: dict[str, Any]) -> Usage | None:
    """The usage, or None when the two totals are not there; details that are missing count as 0."""
    prompt, completion = count(given.get("prompt_tokens")), count(given.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    cached = fields(given.get("prompt_tokens_details")).get("cached_tokens")
    reasoning = fields(given.get("completion_tokens_details")).get("reasoning_tokens")
    return usage_within(prompt, cached, completion, reasoning)

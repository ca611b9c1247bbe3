"""OpenAI Chat Completions as bytes: requests built from records, replies read into records.

Servers that speak this format differ in what they leave out. Whether a reply calls tools is decided
by its tool calls, never by ``finish_reason``.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from evaluator.budget.prices import FREE, ModelFacts, Price
from evaluator.controllers import faults
from evaluator.controllers.lenient_json import clean, dumps
from evaluator.controllers.line import Bill, RawReply
from evaluator.controllers.tool_calls import distinct_ids, read_arguments, sent_arguments
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

RUN_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "account_deactivated",
        "model_not_found",
        "unsupported_parameter",
        "unsupported_value",
        "unknown_parameter",
    }
)
"""Values of ``error.code`` that every call of the run would meet."""

RUN_FIELDS = frozenset(
    {"model", "temperature", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "seed"}
)
"""Fields that are equal in all requests of a model: when ``error.param`` names one, all are refused."""


def build(request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
    """The request as a JSON tree, without what the model refuses."""
    wanted = _wanted(request, model, facts)
    return {
        "model": model.model,
        "messages": [_message(message) for message in request.messages],
        **{name: value for name, value in wanted.items() if name not in facts.refuses},
    }


def notes(model: ModelSettings, facts: ModelFacts) -> dict[str, str]:
    """What of the protocol the model does not take, for the manifest: setting to what became of it."""
    probe = ModelRequest(messages=(), tools=(ToolSpec("probe", "", {}),), seed=0)
    left_out = {name: "not supported" for name in _wanted(probe, model, facts) if name in facts.refuses}
    limit = max_output(model, facts)
    if limit < model.max_output_tokens:
        left_out["max_output_tokens"] = f"{limit}, the model's limit"
    return left_out


def max_output(model: ModelSettings, facts: ModelFacts) -> int:
    """The most tokens that a reply can have, by the settings and by the model."""
    return min(model.max_output_tokens, facts.max_output or model.max_output_tokens)


def bill(status: int, tree: object, price: Price | None) -> Bill:
    """What a whole response says about its cost.

    An error that the provider itself reports is not billed; a gateway's page with a status of 500 or
    more says nothing about what happened behind the gateway.
    """
    fields = tree if isinstance(tree, dict) else {}
    usage = _usage(fields.get("usage"))
    reported = bool(_error(tree)) and _choice(tree) is None
    if price == FREE:
        cost: float | None = 0.0
    elif usage is not None and 200 <= status < 300:
        cost = price.cost_usd(usage) if price else None
    else:
        cost = 0.0 if reported or 300 <= status < 500 else None
    return Bill(usage, cost, _text(fields.get("model")), _text(fields.get("id")))


def fault(raw: RawReply, now: datetime) -> AttemptError | None:
    """What is wrong with the outcome of an attempt, or None when it holds a reply."""
    error = _error(raw.tree)
    code = _text(error.get("code")) or _text(error.get("type"))
    said = _text(error.get("message")) or raw.body[: faults.LONGEST_DETAIL].decode("utf-8", "replace")
    by_status = faults.of_status(raw, said, now, concerns=_concerns(raw.status, code, error.get("param")))
    if by_status is not None or _choice(raw.tree) is not None:
        return by_status
    if code in RUN_CODES:
        return RefusedError(f"HTTP {raw.status} with an error: {said}", status=raw.status, concerns="run")
    return RetryableError(f"HTTP {raw.status} without a reply: {said[:120]}", status=raw.status)


def read(raw: RawReply) -> Reply:
    """The reply that a response without ``fault`` holds."""
    choice = _choice(raw.tree)
    if choice is None:
        raise RetryableError(f"HTTP {raw.status} without a reply", status=raw.status)
    message = choice["message"]
    return Reply(
        text=_content(message.get("content")) or _text(message.get("refusal")),
        tool_calls=_tool_calls(message.get("tool_calls")),
        finish_reason=_text(choice.get("finish_reason")),
        usage=raw.bill.usage or Usage(),
        cost_usd=raw.bill.cost_usd,
        latency_s=raw.latency_s,
        returned_model=raw.bill.returned_model,
    )


def _wanted(request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
    """Every field that the settings ask for, whether or not the model takes it."""
    usual = "max_completion_tokens" if model.base_url is None else "max_tokens"
    fields: dict[str, object] = {
        "temperature": 0,
        facts.output_limit or usual: max_output(model, facts),
    }
    if model.reasoning_effort is not None:
        fields["reasoning_effort"] = model.reasoning_effort
    if request.tools:
        fields["tools"] = [_tool(tool) for tool in request.tools]
        fields["tool_choice"] = request.tool_choice
        fields["parallel_tool_calls"] = request.parallel_tool_calls
    if request.seed is not None and (model.send_seed or model.provider == "scripted"):
        fields["seed"] = request.seed
    return fields


def _tool(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _message(message: Message) -> dict[str, object]:
    match message:
        case SystemMessage(text):
            return {"role": "system", "content": text}
        case ToolMessage(call_id, _, text):
            return {"role": "tool", "tool_call_id": call_id, "content": text}
        case AssistantMessage(text, calls) if calls:
            return {"role": "assistant", "content": text or None, "tool_calls": [_call(c) for c in calls]}
        case AssistantMessage(text):
            return {"role": "assistant", "content": text}
        case _:
            return {"role": "user", "content": message.text}


def _call(call: ToolCall) -> dict[str, object]:
    function = {"name": call.name, "arguments": sent_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _choice(tree: object) -> dict[str, Any] | None:
    """The first choice, when it holds a message."""
    choices = tree.get("choices") if isinstance(tree, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) and isinstance(choice.get("message"), dict) else None


def _content(content: object) -> str:
    """The visible text: a string, or the texts of a list of parts."""
    if not isinstance(content, list):
        return _text(content)
    parts = [part for part in content if isinstance(part, dict)]
    return "".join(_text(part.get("text")) or _text(part.get("refusal")) for part in parts)


def _tool_calls(given: object) -> tuple[ToolCall, ...]:
    calls = given if isinstance(given, list) else []
    ids = distinct_ids([_text(call.get("id")) if isinstance(call, dict) else "" for call in calls])
    return tuple(_tool_call(call, call_id) for call, call_id in zip(calls, ids, strict=True))


def _tool_call(call: object, call_id: str) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return ToolCall(id=call_id, name="", arguments=read_arguments(call))
    name = function.get("name")
    return ToolCall(
        id=call_id,
        name=name if isinstance(name, str) else "",
        arguments=read_arguments(function.get("arguments")),
    )


def _usage(given: object) -> Usage | None:
    """The usage, or None when the two totals are not there; details that are missing count as 0."""
    if not isinstance(given, dict):
        return None
    prompt, completion = _count(given.get("prompt_tokens")), _count(given.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    cached = _detail(given.get("prompt_tokens_details"), "cached_tokens")
    reasoning = _detail(given.get("completion_tokens_details"), "reasoning_tokens")
    return Usage(prompt, min(cached, prompt), completion, min(reasoning, completion))


def _error(tree: object) -> Mapping[str, object]:
    """The error object of a response, whichever of the known shapes it has; empty when there is none."""
    if isinstance(tree, list) and tree:
        return _error(tree[0])
    if not isinstance(tree, dict):
        return {}
    error = tree.get("error")
    if isinstance(error, dict):
        return error
    said = error or tree.get("detail") or (tree.get("object") == "error" and tree.get("message"))
    return {"message": said if isinstance(said, str) else dumps(said).decode()} if said else {}


def _concerns(status: int, code: str, field: object) -> Literal["call", "run", "key"] | None:
    if code in RUN_CODES:
        return "run"
    root = field.partition("[")[0].partition(".")[0] if isinstance(field, str) else ""
    return "run" if status in {400, 422} and root in RUN_FIELDS else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _detail(details: object, name: str) -> int:
    return (_count(details.get(name)) if isinstance(details, dict) else None) or 0


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""

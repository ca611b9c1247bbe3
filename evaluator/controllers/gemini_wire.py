"""Gemini's own ``generateContent`` as bytes: requests built from records, replies read into records.

A reply goes back as it came, with the signatures of its thoughts; each of its calls is answered by one
result of the same name. Faults are ``gemini_errors``' part.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from evaluator.budget.prices import ModelFacts
from evaluator.controllers.gemini_errors import blocked, fault_of, is_reported
from evaluator.controllers.json_values import count, fields, items, text, usage_within
from evaluator.controllers.line import Bill, RawReply
from evaluator.controllers.model_lists import GEMINI_PREFIX
from evaluator.controllers.tool_calls import distinct_ids, read_arguments
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

MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
"""How tool choices are called here."""

TRUNCATED = "MAX_TOKENS"
WHOLE = frozenset({"", "STOP", "FINISH_REASON_UNSPECIFIED", TRUNCATED})
"""Finish reasons whose text stands. Whatever else ended a reply (a filter, a broken call) left no answer."""

STANDARD_TIERS = frozenset({"", "standard", "unspecified", "service_tier_unspecified"})

Parameters = Mapping[str, dict[str, object]]
"""By parameter, the fields that ask for it; none where there is no such parameter here."""


def url(base_url: str, model: str) -> str:
    """The endpoint of a model below an address; the key is in a header, never here."""
    name = model if "/" in model else GEMINI_PREFIX + model
    return f"{base_url}/{quote(name)}:generateContent"


def headers(key: str) -> dict[str, str]:
    """What carries the key."""
    return {"x-goog-api-key": key}


def build(request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
    """The request as a JSON tree, without what the model refuses."""
    system = [{"text": each.text} for each in request.messages if isinstance(each, SystemMessage)]
    tree: dict[str, object] = {"contents": _contents(request.messages)}
    if system:
        tree["systemInstruction"] = {"parts": system}
    config: dict[str, object] = {"maxOutputTokens": max_output(model, facts)}
    for name, asked in _generation(request, model).items():
        config |= {} if name in facts.refuses else asked
    for name, asked in _asides(request, model).items():
        tree |= {} if name in facts.refuses else asked
    return tree | {"generationConfig": config}


def notes(model: ModelSettings, facts: ModelFacts) -> dict[str, str]:
    """What of the protocol the model does not take."""
    wanted = {**_generation(PROBE, model), **_asides(PROBE, model)}
    noted = {name: "not supported" for name, asked in wanted.items() if not asked}
    return left_out(wanted, model, facts) | noted


def bill(status: int, tree: object, price_of: PriceOf) -> Bill:
    """What a whole response says about its cost."""
    said = fields(tree)
    metadata = fields(said.get("usageMetadata"))
    usage, returned = _usage(metadata), text(said.get("modelVersion"))
    tier = text(metadata.get("serviceTier")).lower()
    price = price_of(returned, "standard" if tier in STANDARD_TIERS else tier)
    cost = cost_usd(status, usage, price, reported=is_reported(tree) and _candidate(tree) is None)
    return Bill(usage, cost, returned, text(said.get("responseId")))


def fault(raw: RawReply, now: datetime) -> AttemptError | None:
    """What is wrong with the outcome of an attempt, or None when it holds a reply."""
    wrong = fault_of(raw, now)
    if wrong is not None or _candidate(raw.tree) is not None:
        return wrong
    return blocked(raw) or RetryableError(f"HTTP {raw.status} without a reply", status=raw.status)


def read(raw: RawReply) -> Reply:
    """The reply that a response without ``fault`` holds."""
    candidate = _candidate(raw.tree)
    if candidate is None:
        raise RetryableError(f"HTTP {raw.status} without a reply", status=raw.status)
    reason = text(candidate.get("finishReason"))
    content = fields(candidate.get("content"))
    parts = [part for part in map(fields, items(content.get("parts"))) if part]
    calls = [fields(part["functionCall"]) for part in parts if "functionCall" in part]
    ids = distinct_ids([text(call.get("id")) for call in calls])
    return Reply(
        text="".join(map(_visible, parts)) if reason in WHOLE else "",
        tool_calls=tuple(map(_tool_call, calls, ids)),
        finish_reason="length" if reason == TRUNCATED else reason,
        usage=raw.bill.usage or Usage(),
        cost_usd=raw.bill.cost_usd,
        latency_s=raw.latency_s,
        returned_model=raw.bill.returned_model,
        verbatim=parts if reason in WHOLE else None,
    )


def _generation(request: ModelRequest, model: ModelSettings) -> Parameters:
    """What is asked for within ``generationConfig``."""
    wanted: dict[str, dict[str, object]] = {"temperature": {"temperature": 0}}
    if model.thinking_budget is not None:
        wanted["thinking_budget"] = {"thinkingConfig": {"thinkingBudget": model.thinking_budget}}
    if model.reasoning_effort is not None:
        wanted["thinking_level"] = {"thinkingConfig": {"thinkingLevel": model.reasoning_effort}}
    if request.seed is not None and model.send_seed:
        wanted["seed"] = {"seed": request.seed}
    return wanted


def _asides(request: ModelRequest, model: ModelSettings) -> Parameters:
    """What is asked for beside it."""
    wanted: dict[str, dict[str, object]] = {}
    if model.service_tier is not None:
        wanted["service_tier"] = {"serviceTier": model.service_tier}
    if request.tools:
        wanted["tools"] = {"tools": [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]}
        mode = {"mode": MODES[request.tool_choice]}
        wanted["tool_choice"] = {"toolConfig": {"functionCallingConfig": mode}}
        if not request.parallel_tool_calls:
            wanted["parallel_tool_calls"] = {}
    return wanted


def _tool(tool: ToolSpec) -> dict[str, object]:
    # ``parameters`` takes a dialect of its own, which refuses additionalProperties.
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.parameters,
    }


def _contents(messages: Sequence[Message]) -> list[dict[str, object]]:
    """The conversation; all results of one reply's calls stand in the one content behind it."""
    contents: list[dict[str, object]] = []
    results: list[dict[str, object]] = []
    theirs: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if not results:
                contents.append({"role": "user", "parts": results})
            results.append(_result(message, known=message.call_id in theirs))
            continue
        results = []
        if isinstance(message, AssistantMessage):
            parts = _model_parts(message)
            theirs |= {text(fields(part.get("functionCall")).get("id")) for part in parts}
            contents.append({"role": "model", "parts": parts})
        elif not isinstance(message, SystemMessage):
            contents.append({"role": "user", "parts": [{"text": message.text}]})
    return contents


def _result(message: ToolMessage, *, known: bool) -> dict[str, object]:
    """The answer to one call; it bears an id where the call came with one."""
    answer: dict[str, object] = {"name": message.name, "response": {"output": message.text}}
    return {"functionResponse": {"id": message.call_id, **answer} if known else answer}


def _model_parts(message: AssistantMessage) -> list[dict[str, Any]]:
    """The parts of a reply as they came, else its text and its calls; never none at all."""
    if isinstance(message.verbatim, list) and message.verbatim:
        return _verbatim(message.verbatim, message.tool_calls)
    calls = [{"functionCall": {"name": call.name, "args": _sent(call)}} for call in message.tool_calls]
    return [{"text": message.text}, *calls] if message.text or not calls else calls


def _verbatim(parts: list[Any], calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """The parts as they came; a call whose id or name could not stay has the one it goes by here."""
    waiting = iter(calls)
    replayed = []
    for part in map(fields, parts):
        call = next(waiting, None) if "functionCall" in part else None
        if call is None:
            replayed.append(part)
            continue
        theirs = fields(part["functionCall"])
        known = {"name": call.name, "id": call.id} if "id" in theirs else {"name": call.name}
        kept = theirs if isinstance(theirs.get("args", {}), dict) else {**theirs, "args": _sent(call)}
        replayed.append({**part, "functionCall": {**kept, **known}})
    return replayed


def _sent(call: ToolCall) -> Mapping[str, object]:
    """Arguments as an object, which is all that is taken here."""
    return call.arguments if isinstance(call.arguments, Mapping) else {"unparsed": call.arguments}


def _candidate(tree: object) -> dict[str, Any] | None:
    """The first candidate, when it holds a content or says why it holds none."""
    candidates = items(fields(tree).get("candidates"))
    candidate = fields(candidates[0]) if candidates else {}
    return candidate if fields(candidate.get("content")) or text(candidate.get("finishReason")) else None


def _visible(part: dict[str, Any]) -> str:
    """The text of a part that is no thought."""
    return "" if part.get("thought") else text(part.get("text"))


def _tool_call(call: dict[str, Any], call_id: str) -> ToolCall:
    # A call without arguments comes without args.
    return ToolCall(call_id, text(call.get("name")), read_arguments(call.get("args", {})))


def _usage(given: dict[str, Any]) -> Usage | None:
    """The usage, or None without a count of the prompt; thoughts are not among the candidates' tokens."""
    prompt = count(given.get("promptTokenCount"))
    if prompt is None:
        return None
    prompt += count(given.get("toolUsePromptTokenCount")) or 0
    thoughts = count(given.get("thoughtsTokenCount")) or 0
    output = (count(given.get("candidatesTokenCount")) or 0) + thoughts
    return usage_within(prompt, given.get("cachedContentTokenCount"), output, thoughts)

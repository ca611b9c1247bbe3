"""The bodies that each provider would send, written without its wire module: text, calls and how it ended.

What is said here is deliberately not checked: a text may be null, arguments may be broken, ids may be
missing. Each dialect puts it where its provider would.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from evaluator.controllers import gemini_wire, openai_chat_wire, openai_responses_wire
from evaluator.controllers.wire import Wire
from evaluator.core.messages import Usage

Ending = Literal["done", "length", "filter"]
USED = Usage(input_tokens=100, cached_tokens=40, output_tokens=50, reasoning_tokens=30)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ``arguments`` is its JSON text, broken or not."""

    name: object = "search"
    arguments: str = '{"query": "x"}'
    id: object = "a"


@dataclass(frozen=True, slots=True)
class Said:
    """One reply, as a model means it."""

    text: object = None
    calls: tuple[Call, ...] = ()
    ending: Ending = "done"
    usage: Usage = USED
    model: str = "gpt-4o-mini"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one provider would say it.

    Attributes:
        body: A whole response.
        blocked: The status and body by which a prompt is refused for what it says.
        last_text: The text of the last message of a request.
    """

    provider: str
    wire: Wire
    body: Callable[[Said], bytes]
    blocked: tuple[int, bytes]
    last_text: Callable[[bytes], str]


def _chat(said: Said) -> bytes:
    function = [{"name": call.name, "arguments": call.arguments} for call in said.calls]
    calls = [
        {"id": call.id, "type": "function", "function": called}
        for call, called in zip(said.calls, function, strict=True)
    ]
    message = {"role": "assistant", "content": said.text, **({"tool_calls": calls} if calls else {})}
    ending = {"done": "tool_calls" if calls else "stop", "length": "length", "filter": "content_filter"}
    usage = {
        "prompt_tokens": said.usage.input_tokens,
        "completion_tokens": said.usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": said.usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.usage.reasoning_tokens},
    }
    choice = {"index": 0, "message": message, "finish_reason": ending[said.ending]}
    return json.dumps({"id": "r", "model": said.model, "choices": [choice], "usage": usage}).encode()


def _responses(said: Said) -> bytes:
    reasoning = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAAA"}
    parts = [{"type": "output_text", "text": said.text}]
    message = {"type": "message", "id": "msg", "role": "assistant", "content": parts}
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for number, call in enumerate(said.calls)
    ]
    reason = {"done": None, "length": "max_output_tokens", "filter": "content_filter"}[said.ending]
    usage = {
        "input_tokens": said.usage.input_tokens,
        "input_tokens_details": {"cached_tokens": said.usage.cached_tokens},
        "output_tokens": said.usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": said.usage.reasoning_tokens},
    }
    tree = {
        "id": "r",
        "model": said.model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": [reasoning, *([] if said.text is None else [message]), *calls],
        "usage": usage,
    }
    return json.dumps(tree).encode()


def _gemini(said: Said) -> bytes:
    parts: list[dict[str, object]] = [] if said.text is None else [{"text": said.text}]
    for call in said.calls:
        called = {"name": call.name, "args": _args(call.arguments), "id": call.id}
        parts.append({"functionCall": called, "thoughtSignature": "c2ln"})
    ending = {"done": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}[said.ending]
    usage = {
        "promptTokenCount": said.usage.input_tokens,
        "cachedContentTokenCount": said.usage.cached_tokens,
        "candidatesTokenCount": said.usage.output_tokens - said.usage.reasoning_tokens,
        "thoughtsTokenCount": said.usage.reasoning_tokens,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": ending}
    tree = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": said.model, "responseId": "r"}
    return json.dumps(tree).encode()


def _args(arguments: str) -> object:
    """An object is an object here, not a text; what is broken can only be a text."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _last_input(body: bytes) -> str:
    said: str = orjson.loads(body)["input"][-1]["content"]
    return said


def _last_part(body: bytes) -> str:
    content: Any = orjson.loads(body)["contents"][-1]
    said: str = content["parts"][-1]["text"]
    return said


def _last_message(body: bytes) -> str:
    said: str = orjson.loads(body)["messages"][-1]["content"]
    return said


_FLAGGED = b'{"error": {"code": "content_policy_violation", "message": "flagged", "param": "messages"}}'
_FAILED = b'{"status": "failed", "output": [], "error": {"code": "invalid_prompt", "message": "flagged"}}'
_BLOCKED = b'{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}'

DIALECTS: Mapping[str, Dialect] = {
    "openai_chat": Dialect("openai_chat", openai_chat_wire, _chat, (400, _FLAGGED), _last_message),
    "openai_responses": Dialect(
        "openai_responses", openai_responses_wire, _responses, (200, _FAILED), _last_input
    ),
    "gemini": Dialect("gemini", gemini_wire, _gemini, (200, _BLOCKED), _last_part),
}

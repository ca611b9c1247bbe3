"""Turns the bytes of a chat-completions request into the bytes of a reply; equal bytes, equal bytes.

The ``model`` field names the program. Nothing is remembered from one request to the next.
"""

import hashlib
from collections.abc import Callable, Mapping

import orjson

from evaluator.controllers.scripted.conversation import Conversation, Move, read_conversation
from evaluator.controllers.scripted.judging import judge
from evaluator.controllers.scripted.policies import diligent, hasty, stubborn

PROGRAMS: Mapping[str, Callable[[Conversation], Move]] = {
    "hasty": hasty,
    "diligent": diligent,
    "stubborn": stubborn,
    "judge": judge,
}


def complete(body: bytes) -> tuple[int, bytes]:
    """The HTTP status and the body with which a request is answered."""
    try:
        request = orjson.loads(body)
        conversation = read_conversation(request)
        model = request["model"]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return 400, _error("the body is no chat-completions request", "invalid_request_error", None)
    if not isinstance(model, str) or model not in PROGRAMS:
        known = ", ".join(PROGRAMS)
        return 404, _error(f"there is no program {model!r}; known: {known}", "not_found", "model_not_found")
    move = PROGRAMS[model](conversation)
    return 200, orjson.dumps(_completion(model, move, body))


def model_list() -> bytes:
    """The body of ``GET /v1/models``."""
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "read-gate"} for name in PROGRAMS]
    return orjson.dumps({"object": "list", "data": models})


def bytes4(size: int) -> int:
    """Tokens by the project's rule of thumb: a quarter of the bytes, rounded up."""
    return -(-size // 4)


def _completion(model: str, move: Move, body: bytes) -> dict[str, object]:
    digest = hashlib.sha256(body).hexdigest()
    message: dict[str, object] = {"role": "assistant", "content": move.text, "refusal": None}
    written = move.text
    if move.tool:
        written = orjson.dumps({move.parameter: move.text}).decode()
        call = {"name": move.tool, "arguments": written}
        message["content"] = None
        message["tool_calls"] = [{"id": f"call_{digest[:24]}", "type": "function", "function": call}]
    prompt_tokens, completion_tokens = bytes4(len(body)), bytes4(len(move.tool) + len(written.encode()))
    return {
        "id": f"chatcmpl-{digest[:32]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if move.tool else "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _error(message: str, kind: str, code: str | None) -> bytes:
    return orjson.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})

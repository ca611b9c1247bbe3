"""The messages of one episode, and an upper estimate of the size of the next prompt.

The provider's count of the last prompt is exact and replaces every estimate up to it; what was added
since is estimated from above: two UTF-8 bytes a token (English has four and more), and some tokens a
message for its frame.
"""

import json
import re
from dataclasses import dataclass, field, replace

from evaluator.agent.tools import TOOLS
from evaluator.core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    Reply,
    ToolCall,
    ToolChoice,
    ToolSpec,
)

BYTES_PER_TOKEN = 2
TOKENS_PER_FRAME = 8
LONGEST_NAME = 64

_UNNAMEABLE = re.compile(r"[^a-zA-Z0-9_-]")


def replayable_name(name: str) -> str:
    """A tool name that providers take back: they refuse a conversation in which a model made up another."""
    return _UNNAMEABLE.sub("_", name)[:LONGEST_NAME] or "unnamed"


@dataclass(slots=True)
class Conversation:
    """Messages in the order in which the model is sent them.

    Attributes:
        messages: So far; every tool call that stands in them has its tool message before the next call.
        size: Upper estimate of the tokens of the next prompt, tools included.
    """

    messages: list[Message] = field(default_factory=list)
    size: int = field(default_factory=lambda: sum(_tool_size(tool) for tool in TOOLS))

    def add(self, message: Message) -> None:
        """Append one message."""
        self.messages.append(message)
        self.size += _size(message)

    def request(self, tool_choice: ToolChoice, seed: int | None, *, parallel: bool) -> ModelRequest:
        """The next model call; ``parallel`` lets one reply call several tools."""
        return ModelRequest(tuple(self.messages), TOOLS, tool_choice, parallel_tool_calls=parallel, seed=seed)

    def add_reply(self, reply: Reply, calls: tuple[ToolCall, ...]) -> None:
        """Append the model's reply, after taking over the provider's count of the prompt it answers.

        A reply of nothing is left out: providers refuse an assistant message without content. Reasoning
        that goes back with a reply is part of the next prompt.
        """
        if reply.usage.input_tokens > 0:
            self.size = reply.usage.input_tokens
        if reply.text or calls:
            replayed = tuple(replace(call, name=replayable_name(call.name)) for call in calls)
            self.add(AssistantMessage(reply.text, replayed, reply.verbatim))
            if reply.verbatim is not None:
                self.size += reply.usage.reasoning_tokens


def _size(message: Message) -> int:
    length = _utf8_length(message.text)
    if isinstance(message, AssistantMessage):
        length += sum(_call_length(call) for call in message.tool_calls)
    return TOKENS_PER_FRAME + -(-length // BYTES_PER_TOKEN)


def _call_length(call: ToolCall) -> int:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    return _utf8_length(f"{call.id}{call.name}{arguments}") + TOKENS_PER_FRAME * BYTES_PER_TOKEN


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _tool_size(tool: ToolSpec) -> int:
    text = f"{tool.name}{tool.description}{json.dumps(dict(tool.parameters))}"
    return TOKENS_PER_FRAME + -(-_utf8_length(text) // BYTES_PER_TOKEN)

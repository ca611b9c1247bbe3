"""What passes between the agent and a model: messages, tool calls, replies.

Provider formats are built from these and read into these in ``controllers/*_wire``; nothing else
in the project sees a provider's JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Arguments: TypeAlias = Mapping[str, object] | str
"""Arguments of a tool call: the parsed object, or the raw string when it does not parse to one."""

ToolChoice: TypeAlias = Literal["auto", "required", "none"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of a reply; ``id`` is never empty (the wire module makes one up)."""

    id: str
    name: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """The instructions an episode starts with."""

    text: str
    kind: Literal["system"] = "system"


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message in the user's role: the question, a correction, an injected passage."""

    text: str
    kind: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A reply of the model, replayed to it.

    Attributes:
        verbatim: As of the reply: what its provider is sent in place of text and calls.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    verbatim: object = None
    kind: Literal["assistant"] = "assistant"


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one tool call."""

    call_id: str
    name: str
    text: str
    kind: Literal["tool"] = "tool"


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool offered to the model; ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call, free of any provider's format.

    Attributes:
        messages: The conversation so far.
        tools: Tools offered; empty for judges.
        tool_choice: ``none`` forbids tool calls (the forced last answer).
        parallel_tool_calls: Whether one reply may call several tools.
        seed: Sent to providers that take one; equal for arms of one repeat.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: bool = False
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls; cached are part of input, reasoning part of output."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """One model reply.

    Attributes:
        text: The visible text, "" when there is none.
        tool_calls: In the order in which the model gave them.
        finish_reason: The provider's own word, for the record only; ``length`` marks a truncation.
        usage: As returned; zeros when the provider gave none.
        cost_usd: The billed cost of this attempt, or None when it cannot be known.
        latency_s: Seconds from dispatch to the last byte.
        returned_model: The model id that the provider says it used.
        verbatim: The provider's own form of the reply, where it wants that back (encrypted reasoning,
            thought signatures); it is in no trajectory.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    returned_model: str = ""
    verbatim: object = None

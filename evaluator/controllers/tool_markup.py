"""Tool calls that a server left in the text: the ``<tool_call>`` markup of Hermes and Qwen, read as meant.

vLLM's own parser gives up on small slips, and the raw markup arrives as content. What parses becomes
calls; all else stays text, which the agent takes for malformed and never for an answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluator.controllers.lenient_json import loads
from evaluator.controllers.tool_calls import read_arguments
from evaluator.core.messages import ToolCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
THOUGHT = "</think>"
"""Ends reasoning that a server left in the text; a call considered there is no call."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A text without its calls, and the calls."""

    text: str
    tool_calls: tuple[ToolCall, ...]


def recovered(text: str) -> Recovered | None:
    """The calls that a text holds as markup; None when it holds none, or one that does not parse."""
    thoughts, ended, said = text.rpartition(THOUGHT)
    before, *parts = said.split(OPEN)
    # The closing tag is missing where a model ended with its call.
    blocks = [part.partition(CLOSE) for part in parts]
    calls = [call for number, (block, _, _) in enumerate(blocks, 1) for call in _calls(block, number)]
    if not calls or len(calls) < len(blocks):
        return None
    left = "".join([thoughts, ended, before, *(after for _, _, after in blocks)])
    return Recovered(left.strip(), tuple(calls))


def _calls(block: str, number: int) -> Iterator[ToolCall]:
    """The one call of a block, none when it does not parse."""
    try:
        tree = loads(block)
    except ValueError:
        return
    if not isinstance(tree, dict):
        return
    name, arguments = tree.get("name"), read_arguments(tree.get("arguments"))
    if isinstance(name, str) and name and isinstance(arguments, Mapping):
        yield ToolCall(f"call_{number}", name, arguments)

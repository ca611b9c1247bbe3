"""Every sentence the environment says to a model, outside the gate's own.

A prompt that says "you must read" is itself an intervention, so ``default`` only names the tools;
``strict`` adds the demand. All of it is this project's wording (the paper's is unknown).
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from evaluator.agent.tools import ALREADY_READ, NO_SUCH_CHUNK, TOOLS
from evaluator.core.settings import PromptName
from evaluator.gates.spec import GATE_WORDING

Problem: TypeAlias = Literal[
    "empty",
    "truncated",
    "markup",
    "unknown_tool",
    "arguments",
    "query",
    "chunk_id",
    "answer",
    "second_final",
    "tool_calls",
]
"""What can be wrong with a reply or a call: the ``problem`` of a ``malformed`` step."""

_DEFAULT = """\
Answer the question with the help of a document collection.

search(query) lists the chunks that match best, each with a snippet. read(chunk_id) returns the full \
text of a chunk. final(answer) submits the answer and ends the task.

Give the answer itself, as short as possible: a name, a place, a date, a number, or yes or no. Do not \
explain it."""

_STRICT = f"""{_DEFAULT}

Before you call final you must read, with the read tool, every chunk that your answer rests on. Never \
answer from snippets alone."""

SYSTEM_PROMPTS: Mapping[PromptName, str] = MappingProxyType({"default": _DEFAULT, "strict": _STRICT})

FORCED = (
    "No more tool calls are possible. Give your answer to the question now, as plain text: only the "
    "answer itself."
)

MALFORMED: Mapping[Problem, str] = MappingProxyType(
    {
        "empty": "Your reply was empty. Call one of the tools search, read or final.",
        "truncated": "Your reply was cut off before it was complete. Call one of the tools search, read or "
        "final, without a long text.",
        "markup": "Your reply held a tool call written as text, which cannot be carried out. Call the tool "
        "itself.",
        "unknown_tool": "There is no tool of that name. The tools are search, read and final.",
        "arguments": "The arguments of the call are not a JSON object.",
        "query": 'search needs the argument "query", a text that is not empty.',
        "chunk_id": 'read needs the argument "chunk_id", a text.',
        "answer": 'final needs the argument "answer", a text that is not empty.',
        "second_final": "A reply can hold only one call of final; this one was not considered.",
        "tool_calls": "No more tool calls are possible.",
    }
)
"""What the model is told for each problem; ``tool_calls`` is of the forced reply, after which nothing is."""


def wording() -> Mapping[str, str]:
    """Every text the environment can send, by a stable name: the ingredients of the protocol hash."""
    tools = {
        f"tool.{tool.name}": json.dumps([tool.description, dict(tool.parameters)], sort_keys=True)
        for tool in TOOLS
    }
    return {
        **{f"prompt.{name}": text for name, text in SYSTEM_PROMPTS.items()},
        **tools,
        **{f"malformed.{problem}": text for problem, text in MALFORMED.items()},
        "read.already_read": ALREADY_READ,
        "read.no_such_chunk": NO_SUCH_CHUNK,
        "forced": FORCED,
        **GATE_WORDING,
    }

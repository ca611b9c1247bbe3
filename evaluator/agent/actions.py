"""What a reply asks for: calls of the three tools, an answer in plain text, or something malformed.

Pure reading of replies; carrying out is the loop's part. Numbers are taken as their text ("chunk_id":
12 is "12"), arguments that a tool does not know are ignored, true, false and null are no texts.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from evaluator.agent.prompts import Problem
from evaluator.agent.tools import ARGUMENT_OF
from evaluator.core.messages import Reply, ToolCall

TRUNCATED = "length"


@dataclass(frozen=True, slots=True)
class SearchCall:
    """A search that can be carried out."""

    call_id: str
    query: str


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A read that can be carried out, whether or not the chunk exists."""

    call_id: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class FinalCall:
    """A proposed answer; ``call_id`` is None when it came as plain text."""

    call_id: str | None
    answer: str


@dataclass(frozen=True, slots=True)
class BadCall:
    """A call, or a reply without calls (``call_id`` None), that cannot be carried out."""

    call_id: str | None
    name: str
    problem: Problem


Action: TypeAlias = SearchCall | ReadCall | FinalCall | BadCall

_MARKUP = re.compile(
    r"""
      </?(?:tool_calls?|tool_use|function_calls?|invoke|tools?)\b
    | <(?:function|tool|invoke)\s*=
    | <\|?(?:python_tag|tool_calls?|tool▁calls?|plugin|action_start)
    | <｜tool
    | \[/?TOOL_CALLS?\]
    | \bto=functions\.
    | ^\s*(?:functions?\.)?(?:search|read|final)\s*\(\s*(?:\w+\s*=|["'{]).*\)\s*$
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(
    r'"(?:name|tool|tool_name|function|action)"\s*:\s*(?:\{\s*"name"\s*:\s*)?"(?:functions\.)?(?:search|read|final)"'
)
_ARGUED = re.compile(r'"(?:arguments|parameters|args|input|action_input|tool_input)"\s*:')
_FENCE = re.compile(r"^```\w*\s*|\s*```$")


def is_markup(text: str) -> bool:
    """Whether a text holds a raw tool call, which a server's parser missed: never an answer.

    The forms of Hermes, Llama, Mistral, DeepSeek, Anthropic and gpt-oss, a JSON object with a tool's
    name and its arguments, and a whole text that is one call or one tool's bare arguments.
    """
    if _MARKUP.search(text) or (_NAMED.search(text) and _ARGUED.search(text)):
        return True
    body = _FENCE.sub("", text.strip())
    if not body.startswith("{"):
        return False
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and len(tree) == 1 and next(iter(tree)) in ARGUMENT_OF.values()


def read_text(reply: Reply) -> FinalCall | BadCall:
    """A reply without tool calls: an answer in plain text, unless it is empty, cut off or markup."""
    text = reply.text.strip()
    if reply.finish_reason == TRUNCATED:
        return BadCall(None, "", "truncated")
    if not text:
        return BadCall(None, "", "empty")
    return BadCall(None, "", "markup") if is_markup(text) else FinalCall(None, text)


def read_call(call: ToolCall) -> Action:
    """One tool call: what it asks for, or what is wrong with it."""
    name = call.name
    if name not in ARGUMENT_OF:
        return BadCall(call.id, name, "unknown_tool")
    if not isinstance(call.arguments, Mapping):
        return BadCall(call.id, name, "arguments")
    argument = ARGUMENT_OF[name]
    text = _text_of(call.arguments.get(argument))
    if text is None or (name != "read" and not text.strip()):
        return BadCall(call.id, name, argument)
    if name == "search":
        return SearchCall(call.id, text)
    return ReadCall(call.id, text) if name == "read" else FinalCall(call.id, text.strip())


def with_distinct_ids(calls: Iterable[ToolCall], taken: set[str], turn: int) -> tuple[ToolCall, ...]:
    """The calls under ids that are not empty and new to the episode; ``taken`` learns them.

    Some servers send no ids or count them from 0 in every reply; results are told apart by id, so
    these calls get ids of ours.
    """
    distinct = []
    for place, call in enumerate(calls, start=1):
        call_id = call.id if call.id and call.id not in taken else f"call_{turn}_{place}"
        while call_id in taken:
            call_id += "_"
        taken.add(call_id)
        distinct.append(replace(call, id=call_id))
    return tuple(distinct)


def forced_answer(reply: Reply) -> tuple[str, Problem | None]:
    """The answer of the forced last reply, and what is wrong with that reply, if anything.

    There is no further chance, so all that can be taken is taken: a well-formed ``final`` that a server
    let through although tools were disabled, else the text, cut off or not; "" for markup and nothing.
    """
    finals = [action for call in reply.tool_calls if isinstance(action := read_call(call), FinalCall)]
    text = reply.text.strip()
    answer = finals[0].answer if finals else "" if is_markup(text) else text
    if reply.tool_calls:
        return answer, "tool_calls"
    bad = read_text(reply)
    return answer, bad.problem if isinstance(bad, BadCall) else None


def _text_of(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)

"""What a scripted program sees: one request, taken apart into question, searches, reads and refusals.

It relies on the regular form in which ``agent.tools`` renders results (one line of JSON whose objects
bear ``snippet`` or ``text``) and on nothing else. Whatever other text follows the question is something
the program was told; a passage in it, in the form of a read, is kept as a source of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

import orjson

Tool: TypeAlias = Literal["search", "read", "final", ""]
PARAMETERS: Mapping[Tool, str] = {"search": "query", "read": "chunk_id", "final": "answer", "": ""}


@dataclass(frozen=True, slots=True)
class Move:
    """What a program does next: call ``tool`` with ``text`` as its argument, or just say ``text``."""

    tool: Tool
    text: str

    @property
    def parameter(self) -> str:
        """The name of the tool's one parameter."""
        return PARAMETERS[self.tool]


@dataclass(frozen=True, slots=True)
class Source:
    """A text the program was shown; ``chunk_id`` and ``title`` are "" where none came with it."""

    kind: Literal["snippet", "read", "told"]
    chunk_id: str
    title: str
    text: str


@dataclass(slots=True)
class Conversation:
    """One request, as a program sees it.

    Attributes:
        seed: The request's seed, 0 when it has none.
        question: The first user message.
        may_act: Whether tools are offered and may be called.
        results: What was searched for, in order, and the snippets it showed.
        asked_to_read: The chunk ids asked for, found or not, in order.
        sources: Every text shown since the question, in order.
        finals: The answers given so far; each was refused, or there would be no further request.
        refusals: For each of them, what it was told in return, passages apart.
    """

    seed: int
    question: str
    may_act: bool
    results: dict[str, tuple[Source, ...]] = field(default_factory=dict)
    asked_to_read: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    finals: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def read_conversation(request: Mapping[str, object]) -> Conversation:
    """Take the parsed body of a request apart.

    Raises:
        ValueError: When it has no user message, or not the shape of such a body.
    """
    messages = request.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ValueError("messages is no list of objects")
    start = next((at for at, message in enumerate(messages) if message.get("role") == "user"), None)
    if start is None:
        raise ValueError("there is no user message")
    seed = request.get("seed")
    conversation = Conversation(
        seed=seed if isinstance(seed, int) else 0,
        question=_content(messages[start]),
        may_act=bool(request.get("tools")) and request.get("tool_choice") != "none",
    )
    called: dict[object, tuple[str, str]] = {}
    for message in messages[start + 1 :]:
        if message.get("role") == "assistant":
            called.update(_take_reply(message, conversation))
        else:
            tool, argument = called.get(message.get("tool_call_id"), ("", ""))
            _take_told(_content(message), tool, argument, conversation)
    return conversation


def _take_reply(
    message: Mapping[str, object], conversation: Conversation
) -> Iterator[tuple[object, tuple[str, str]]]:
    """Note what an earlier reply did; yields the id of each call, with its tool and argument."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        name, argument = call["function"]["name"], _argument(call["function"]["arguments"])
        if name == "read":
            conversation.asked_to_read.append(argument)
        elif name == "final":
            conversation.finals.append(argument)
        yield call["id"], (name, argument)
    if not calls:
        conversation.finals.append(_content(message))
    conversation.refusals.extend([""] * (len(conversation.finals) - len(conversation.refusals)))


def _take_told(text: str, tool: str, argument: str, conversation: Conversation) -> None:
    """Note what was shown or said in return to a call, or to no call of ours."""
    if tool in {"search", "read"}:
        shown = _results(text)
        conversation.sources.extend(shown)
        if tool == "search":
            conversation.results.setdefault(argument, shown)
        return
    for line in text.split("\n"):
        passages = [Source("told", found.chunk_id, found.title, found.text) for found in _results(line)]
        conversation.sources.extend(passages or [Source("told", "", "", line)])
        if conversation.refusals and not passages:
            conversation.refusals[-1] += line + "\n"


def _content(message: Mapping[str, object]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _argument(arguments: str) -> str:
    """The value of a call's one parameter, as this program wrote it."""
    try:
        parsed = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return ""
    return next((str(value) for value in parsed.values()), "") if isinstance(parsed, dict) else ""


@lru_cache(maxsize=20_000)
def _results(text: str) -> tuple[Source, ...]:
    """The snippets or the read text in a tool's result; none when it only says something."""
    try:
        return tuple(_sources(orjson.loads(text)))
    except orjson.JSONDecodeError:
        return ()


def _sources(tree: object) -> Iterator[Source]:
    if isinstance(tree, list):
        for item in tree:
            yield from _sources(item)
    elif isinstance(tree, dict):
        chunk_id, title = str(tree.get("chunk_id", "")), str(tree.get("title") or "")
        if isinstance(tree.get("text"), str):
            yield Source("read", chunk_id, title, tree["text"])
        elif isinstance(tree.get("snippet"), str):
            yield Source("snippet", chunk_id, title, tree["snippet"])
        else:
            for item in tree.values():
                yield from _sources(item)

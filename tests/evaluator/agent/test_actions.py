"""Replies are read into actions; what cannot be carried out says what is wrong with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.agent.actions import (
    BadCall,
    FinalCall,
    ReadCall,
    SearchCall,
    forced_answer,
    is_markup,
    read_call,
    read_text,
    with_distinct_ids,
)
from evaluator.core.messages import Reply, ToolCall


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>',
        "I will look. <tool_call>",
        "</tool_call>",
        "<function=search>{}</function>",
        '<function_call name="search">',
        "<function_calls><invoke name='read'>",
        '<tool_use>{"name": "x"}</tool_use>',
        '[TOOL_CALLS][{"name": "search", "arguments": {}}]',
        '<|python_tag|>{"name": "search"}',
        "<|tool_call|>",
        "<｜tool▁calls▁begin｜>",
        '<|channel|>commentary to=functions.search <|message|>{"query": "x"}',
        '```json\n{"name": "search", "arguments": {"query": "x"}}\n```',
        'Let me see: {"arguments": {"chunk_id": "1"}, "name": "read"}',
        '{"type": "function", "function": {"name": "final", "parameters": {"answer": "x"}}}',
        '{"action": "search", "action_input": "x"}',
        'search(query="Hamlet (play)")',
        " functions.read('c1') ",
        'final("Lyon")',
        '{"query": "Hamlet"}',
        '```\n{"chunk_id": "c1"}\n```',
        '{"answer": "Lyon"}',
    ],
)
def test_raw_tool_call_markup_is_recognised(text: str) -> None:
    assert is_markup(text)
    assert read_text(Reply(text)) == BadCall(None, "", "markup")


@pytest.mark.parametrize(
    "text",
    [
        "Lyon",
        "Final (1983 film)",
        "Read (band)",
        "Search and Destroy",
        "search(Hamlet",
        "a < b and b > c",
        "<i>Hamlet</i>",
        "{curly}",
        "{",
        '{"a": 1}',
        '{"answer": "x", "why": "y"}',
        '["query"]',
        "[TOOL] band",
        '"name": "search" is a line of JSON',
        "{" * 5_000,
        '{"a":' * 5_000,
    ],
)
def test_other_text_is_an_answer(text: str) -> None:
    assert not is_markup(text)
    assert read_text(Reply(text)) == FinalCall(None, text)


@given(st.text())
def test_a_text_reply_is_an_answer_or_says_what_is_wrong(text: str) -> None:
    action = read_text(Reply(text))
    if isinstance(action, BadCall):
        assert action.problem == ("markup" if text.strip() else "empty")
    else:
        assert action == FinalCall(None, text.strip())
    assert read_text(Reply(text, finish_reason="length")) == BadCall(None, "", "truncated")


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("1", name, arguments)


@pytest.mark.parametrize(
    ("given_call", "action"),
    [
        (call("search", query=" Hamlet "), SearchCall("1", " Hamlet ")),
        (call("read", chunk_id="c1"), ReadCall("1", "c1")),
        (call("read", chunk_id=12), ReadCall("1", "12")),
        (call("read", chunk_id=""), ReadCall("1", "")),  # an id that does not exist, not a malformed call
        (call("final", answer=" Lyon\n"), FinalCall("1", "Lyon")),
        (call("final", answer=1969), FinalCall("1", "1969")),
        (call("final", answer=0), FinalCall("1", "0")),
        (call("final", answer=2.5), FinalCall("1", "2.5")),
        (call("search", query="x", k=3), SearchCall("1", "x")),
        (call("final", answer=False), BadCall("1", "final", "answer")),
        (call("final", answer={"text": "x"}), BadCall("1", "final", "answer")),
        (call("final"), BadCall("1", "final", "answer")),
        (call("search", query=None), BadCall("1", "search", "query")),
        (call("read", chunk_id=["c1"]), BadCall("1", "read", "chunk_id")),
        (call("Search", query="x"), BadCall("1", "Search", "unknown_tool")),
        (ToolCall("1", "search", ""), BadCall("1", "search", "arguments")),
        (ToolCall("1", "final", "{}{}"), BadCall("1", "final", "arguments")),
    ],
)
def test_a_call_is_read_into_what_it_asks_for(given_call: ToolCall, action: object) -> None:
    assert read_call(given_call) == action


@given(
    st.lists(
        st.lists(st.sampled_from(["", "a", "call_1_1", "call_2_1", "call_1_1_"]), max_size=4), max_size=3
    )
)
def test_ids_are_distinct_over_an_episode_and_good_ones_are_kept(turns: list[list[str]]) -> None:
    taken: set[str] = set()
    seen: list[str] = []
    for turn, ids in enumerate(turns, start=1):
        calls = with_distinct_ids([ToolCall(name, "search", {}) for name in ids], taken, turn)
        for wanted, got in zip(ids, calls, strict=True):
            assert got.id
            assert got.id == wanted or not wanted or wanted in seen
            seen.append(got.id)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply(" Lyon "), ("Lyon", None)),
        (Reply(""), ("", "empty")),
        (Reply("Ly", finish_reason="length"), ("Ly", "truncated")),
        (Reply("<tool_call>"), ("", "markup")),
        (Reply("<tool_call>", finish_reason="length"), ("", "truncated")),
        (Reply("", (call("final", answer="Lyon"),)), ("Lyon", "tool_calls")),
        (Reply("Lyon", (call("final"),)), ("Lyon", "tool_calls")),
        (Reply("", (call("search", query="x"),)), ("", "tool_calls")),
    ],
)
def test_a_forced_reply_gives_what_can_be_taken(reply: Reply, answer: tuple[str, str | None]) -> None:
    assert forced_answer(reply) == answer

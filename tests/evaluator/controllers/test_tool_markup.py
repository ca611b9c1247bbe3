"""Markup in a text: what parses becomes calls, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.agent.actions import is_markup
from evaluator.controllers.tool_markup import CLOSE, OPEN, THOUGHT, recovered

SEARCH = '{"name": "search", "arguments": {"query": "Louvre"}}'
READ = '{"name": "read", "arguments": {"chunk_id": "c7"}}'


@pytest.mark.parametrize(
    ("text", "left", "calls"),
    [
        (f"{OPEN}{SEARCH}{CLOSE}", "", [("search", {"query": "Louvre"})]),
        (f"{OPEN}\n{SEARCH}\n{CLOSE}\n", "", [("search", {"query": "Louvre"})]),
        (f"I look. {OPEN}{SEARCH}{CLOSE} Then:", "I look.  Then:", [("search", {"query": "Louvre"})]),
        (
            f"{OPEN}{SEARCH}{CLOSE}\n{OPEN}{READ}{CLOSE}",
            "",
            [("search", {"query": "Louvre"}), ("read", {"chunk_id": "c7"})],
        ),
        (f"{OPEN}\n{SEARCH}", "", [("search", {"query": "Louvre"})]),  # ended with its call
        (f"{OPEN}{SEARCH}{OPEN}{READ}", "", [("search", {"query": "Louvre"}), ("read", {"chunk_id": "c7"})]),
        (f'{OPEN}{{"name": "search", "arguments": "{{}}"}}{CLOSE}', "", [("search", {})]),
        (f'{OPEN}{{"name": "dig", "arguments": {{}}}}{CLOSE}', "", [("dig", {})]),  # the agent's to refuse
        (f"I could {OPEN}{READ}{CLOSE}.{THOUGHT}{OPEN}{SEARCH}", None, [("search", {"query": "Louvre"})]),
    ],
)
def test_markup_that_parses_becomes_calls_and_leaves_the_rest(
    text: str, left: str | None, calls: list[tuple[str, object]]
) -> None:
    found = recovered(text)
    assert found is not None
    assert [(call.name, call.arguments) for call in found.tool_calls] == calls
    assert len({call.id for call in found.tool_calls}) == len(calls)
    assert left is None or found.text == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Paris",
        f"{OPEN}{CLOSE}",
        f"{OPEN}{SEARCH[:-3]}{CLOSE}",
        f"{OPEN}{SEARCH}{CLOSE}{OPEN}{READ[:-9]}",  # one that parses does not save the other
        f"{OPEN}[{SEARCH}]{CLOSE}",
        f'{OPEN}{{"name": 7, "arguments": {{}}}}{CLOSE}',
        f'{OPEN}{{"name": "search", "arguments": ["x"]}}{CLOSE}',
        f'{OPEN}{{"name": "search"}}{CLOSE}',
        f"{OPEN}search(Louvre){CLOSE}",
        f"{OPEN}{'[' * 5000}{CLOSE}",
        f"I could {OPEN}{READ}{CLOSE}.{THOUGHT}Paris",
    ],
)
def test_all_else_stays_text(text: str) -> None:
    assert recovered(text) is None


def test_a_megabyte_of_it_is_read_at_once() -> None:
    assert recovered(OPEN * 50_000 + " " * 1_000_000) is None


@given(st.lists(st.sampled_from([OPEN, CLOSE, SEARCH, READ, THOUGHT, "{", "x", " "]), max_size=8))
def test_no_text_raises_and_a_call_is_never_left_to_be_an_answer(parts: list[str]) -> None:
    text = "".join(parts)
    found = recovered(text)
    if OPEN in text and found is None:
        assert is_markup(text)

"""Tests of the bytes: what a request is answered with, and with what usage."""

import orjson
import pytest

from evaluator.controllers.scripted.completions import bytes4, complete, model_list

TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {}}}]


def _body(**fields: object) -> bytes:
    messages = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "Who?"}]
    return orjson.dumps({"model": "hasty", "messages": messages, "tools": TOOLS, **fields})


def test_a_move_is_a_tool_call_with_usage_by_the_bytes() -> None:
    body = _body(seed=1)
    status, answered = complete(body)
    reply = orjson.loads(answered)
    call = reply["choices"][0]["message"]["tool_calls"][0]
    assert status == 200
    assert call["function"] == {"name": "search", "arguments": '{"query":"Who?"}'}
    assert reply["choices"][0]["finish_reason"] == "tool_calls"
    # "search" and {"query":"Who?"} are 6 + 16 = 22 bytes: 5.5 tokens, rounded up.
    assert reply["usage"]["completion_tokens"] == 6
    assert reply["usage"]["prompt_tokens"] == -(-len(body) // 4)
    assert reply["usage"]["total_tokens"] == 6 + -(-len(body) // 4)


def test_without_tools_it_answers_in_words() -> None:
    reply = orjson.loads(complete(_body(tool_choice="none"))[1])
    assert reply["choices"][0]["message"] == {"role": "assistant", "content": "unknown", "refusal": None}
    assert reply["choices"][0]["finish_reason"] == "stop"


def test_equal_bytes_get_equal_bytes_and_others_get_another_id() -> None:
    assert complete(_body(seed=1)) == complete(_body(seed=1))
    ids = {orjson.loads(complete(_body(seed=seed))[1])["id"] for seed in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"hasty"',
        orjson.dumps({"model": "hasty"}),
        orjson.dumps({"model": "hasty", "messages": "Who?"}),
        orjson.dumps({"messages": [{"role": "user", "content": "Who?"}]}),
        _body(messages=[{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [{}]}]),
        _body(messages=[{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [0]}]),
    ],
)
def test_a_body_that_is_no_request_is_refused_with_status_400(body: bytes) -> None:
    status, answered = complete(body)
    assert status == 400
    assert orjson.loads(answered)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("model", ["gpt-5-mini", "", None, ["hasty"]])
def test_a_model_that_is_no_program_is_refused_with_status_404(model: object) -> None:
    status, answered = complete(_body(model=model))
    assert status == 404
    assert orjson.loads(answered)["error"]["code"] == "model_not_found"


def test_the_programs_are_listed() -> None:
    listed = orjson.loads(model_list())
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == ["hasty", "diligent", "stubborn", "judge"]


def test_tokens_are_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [bytes4(size) for size in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]

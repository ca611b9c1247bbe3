"""Tests of how a scripted program reads one request."""

import orjson
import pytest

from evaluator.controllers.scripted.conversation import Move, Source, read_conversation

Message = dict[str, object]


def _call(call_id: str, name: str, **arguments: str) -> Message:
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def _result(call_id: str, tree: object) -> Message:
    text = tree if isinstance(tree, str) else orjson.dumps(tree).decode()
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _request(*later: Message, **fields: object) -> dict[str, object]:
    asked: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
    return {"model": "hasty", "messages": [*asked, *later], "tools": [{"type": "function"}], **fields}


HIT = {"chunk_id": "c1", "title": "Ada", "snippet": "Ada is a poet"}


def test_question_seed_and_permission_to_act_are_read_from_the_request() -> None:
    seen = read_conversation(_request(seed=7))
    assert (seen.seed, seen.question, seen.may_act) == (7, "Who?", True)
    assert read_conversation(_request(tool_choice="none")).may_act is False
    assert read_conversation(_request(tools=[])).may_act is False
    assert read_conversation(_request()).seed == 0


def test_searches_reads_and_what_they_showed_are_kept_in_order() -> None:
    seen = read_conversation(
        _request(
            _call("1", "search", query="ada"),
            _result("1", [HIT]),
            _call("2", "read", chunk_id="c1"),
            _result("2", {"chunk_id": "c1", "title": "Ada", "text": "Ada is a poet. She was born in Oxley."}),
        )
    )
    assert {query: [hit.chunk_id for hit in hits] for query, hits in seen.results.items()} == {"ada": ["c1"]}
    assert seen.asked_to_read == ["c1"]
    assert seen.sources == [
        Source("snippet", "c1", "Ada", "Ada is a poet"),
        Source("read", "c1", "Ada", "Ada is a poet. She was born in Oxley."),
    ]


def test_results_wrapped_in_an_object_are_found_too() -> None:
    seen = read_conversation(_request(_call("1", "search", query="ada"), _result("1", {"results": [HIT]})))
    assert [source.chunk_id for source in seen.sources] == ["c1"]


def test_a_result_that_only_says_something_shows_nothing() -> None:
    seen = read_conversation(
        _request(
            _call("1", "read", chunk_id="c1"),
            _result("1", "already read"),
            _call("2", "read", chunk_id="c2"),
            _result("2", {"error": "no such chunk", "count": 0}),
        )
    )
    assert seen.asked_to_read == ["c1", "c2"]
    assert seen.sources == []


def test_each_final_bears_all_it_was_told_in_return() -> None:
    seen = read_conversation(
        _request(
            _call("1", "final", answer="Ada"),
            _result("1", "Noted."),
            {"role": "user", "content": "Ada was born in Oxley."},
            {"role": "assistant", "content": "Bea"},
            {"role": "user", "content": "Read first."},
        )
    )
    assert seen.finals == ["Ada", "Bea"]
    assert seen.refusals == ["Noted.\nAda was born in Oxley.\n", "Read first.\n"]
    assert [source.text for source in seen.sources] == ["Noted.", "Ada was born in Oxley.", "Read first."]
    assert {source.kind for source in seen.sources} == {"told"}


def test_what_is_told_before_any_final_is_a_source_and_no_refusal() -> None:
    seen = read_conversation(_request({"role": "user", "content": "Ada was born in Oxley."}))
    assert seen.refusals == []
    assert [source.text for source in seen.sources] == ["Ada was born in Oxley."]


def test_unknown_tools_and_arguments_that_do_not_parse_do_no_harm() -> None:
    broken = {"id": "1", "function": {"name": "search", "arguments": "{"}}
    bare = {"id": "2", "function": {"name": "search", "arguments": "[]"}}
    other = {"id": "3", "function": {"name": "fly", "arguments": "{}"}}
    reply: Message = {"role": "assistant", "content": "", "tool_calls": [broken, bare, other]}
    results = [_result("1", [HIT]), _result("2", {"error": "no"}), _result("3", "no such tool")]
    seen = read_conversation(_request(reply, *results))
    assert list(seen.results) == [""]
    assert [source.kind for source in seen.sources] == ["snippet", "told"]


def test_a_passage_put_before_the_program_is_a_source_with_its_title_and_no_refusal() -> None:
    passage = {"chunk_id": "c1", "title": "Ada", "text": "Ada can read."}
    told = f"Not submitted yet.\nA chunk:\n{orjson.dumps(passage).decode()}"
    seen = read_conversation(_request(_call("1", "final", answer="Bea"), _result("1", told)))
    assert seen.refusals == ["Not submitted yet.\nA chunk:\n"]
    assert seen.sources[-1] == Source("told", "c1", "Ada", "Ada can read.")


@pytest.mark.parametrize("messages", [None, [], ["x"], [{"role": "system", "content": "Be brief."}]])
def test_a_body_without_a_question_is_refused(messages: object) -> None:
    with pytest.raises(ValueError, match=r"messages|user message"):
        read_conversation({"messages": messages})


def test_a_move_names_the_parameter_of_its_tool() -> None:
    assert [Move(tool, "x").parameter for tool in ("search", "read", "final", "")] == [
        "query",
        "chunk_id",
        "answer",
        "",
    ]

"""Tool calls as models write them: what counts as arguments, and which ids are made up."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.controllers.lenient_json import loads
from evaluator.controllers.tool_calls import distinct_ids, read_arguments, sent_arguments
from evaluator.core.messages import Arguments


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"query": "a"}', {"query": "a"}),
        ({"query": "a"}, {"query": "a"}),
        ("", ""),
        (None, ""),
        ("{}", {}),
        ("{}{}", "{}{}"),
        ('{"query": "a"}{"query": "b"}', '{"query": "a"}{"query": "b"}'),
        ('{"query": "a', '{"query": "a'),
        ("[1, 2]", "[1, 2]"),
        ([1, 2], "[1,2]"),
        (7, "7"),
        ('"{\\"query\\": \\"a\\"}"', {"query": "a"}),
        ('"just text"', '"just text"'),
        ('"\\"twice\\""', '"\\"twice\\""'),
        ("null", "null"),
        ("Paris", "Paris"),
        ('{"query": "\\ud800"}', {"query": "\ufffd"}),
        ('{"n": 123456789012345678901234567890}', {"n": 1.2345678901234568e29}),
        ('{"n": NaN, "m": -Infinity}', {"n": "NaN", "m": "-Infinity"}),
        ('{"a": ' * 5000 + "1" + "}" * 5000, '{"a": ' * 5000 + "1" + "}" * 5000),
        ('{"a":' * 150 + "1" + "}" * 150, '{"a":' * 150 + "1" + "}" * 150),
        ('{"n": ' + "9" * 5000 + "}", '{"n": ' + "9" * 5000 + "}"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_arguments_are_an_object_or_the_raw_string(given: object, arguments: Arguments) -> None:
    assert read_arguments(given) == arguments


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
    | st.text()
)
def test_whatever_the_arguments_are_they_can_be_kept_and_sent_again(given: object) -> None:
    text = json.dumps(given)
    for arguments in (read_arguments(loads(text)), read_arguments(text)):
        assert isinstance(arguments, str | dict)
        assert orjson.loads(orjson.dumps(arguments)) == arguments
        sent = orjson.loads(sent_arguments(arguments))
        assert sent == (arguments if isinstance(arguments, dict) else {"unparsed": arguments})


def test_what_is_sent_is_always_an_object() -> None:
    assert sent_arguments({"query": "é\ud800"}) == '{"query":"é\ufffd"}'
    assert sent_arguments('{"query": "Lou') == '{"unparsed":"{\\"query\\": \\"Lou"}'
    assert sent_arguments("") == '{"unparsed":""}'


def test_an_id_is_kept_unless_it_is_empty_or_stood_before() -> None:
    assert distinct_ids(["x", "", "y", "x", "call_1"]) == ["x", "call_2", "y", "call_3", "call_1"]


@given(st.lists(st.sampled_from(["", "a", "b", "call_1", "call_2", "call_9"]), max_size=12))
def test_ids_are_distinct_never_empty_and_kept_where_they_first_stand(ids: list[str]) -> None:
    made = distinct_ids(ids)
    assert len(set(made)) == len(made) == len(ids)
    assert "" not in made
    for place, call_id in enumerate(ids):
        if call_id and call_id not in ids[:place]:
            assert made[place] == call_id

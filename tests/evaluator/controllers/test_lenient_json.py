"""JSON as it comes: what is read, what is refused, and what can always be written."""

import json
import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.controllers.lenient_json import clean, dumps, loads, loads_strict, writable

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)


@given(ANYTHING)
def test_whatever_can_be_said_in_json_is_read_and_can_be_written(tree: object) -> None:
    read = loads(json.dumps(tree))
    assert orjson.loads(orjson.dumps(read)) == read


@given(ANYTHING)
def test_writing_never_fails_and_what_is_strict_json_comes_back_as_it_was(tree: object) -> None:
    written = dumps(tree)
    assert loads_strict(written) == orjson.loads(written)
    strict = json.loads(json.dumps(tree), parse_int=float, parse_constant=lambda _: None)
    assert json.loads(written, parse_int=float) == strict or written == orjson.dumps(writable(tree))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\\ud800"', "\ufffd"),
        (b'"a\\ud83d\\ude00"', "a\U0001f600"),
        (b'{"\\udfff": 1}', {"\ufffd": 1}),
        (b"[NaN, Infinity, 1e999]", ["NaN", "Infinity", "Infinity"]),
        (b'"\xff"', "\ufffd"),
        (b"18446744073709551615", 18446744073709551615),
        ('"é"', "é"),
    ],
)
def test_what_orjson_refuses_is_read_leniently(text: bytes | str, value: object) -> None:
    assert loads(text) == value


@pytest.mark.parametrize("text", [b"", b"{", b"{}{}", b"<html>", "Paris", b'{"a": 1,}', b"[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)


@pytest.mark.parametrize("depth", [102, 500, 3000])
def test_nesting_without_end_is_a_value_error(depth: int) -> None:
    with pytest.raises(ValueError, match=r"deep|recursion"):
        loads(b"[" * depth + b"]" * depth)


def test_many_brackets_are_no_nesting() -> None:
    tree = [[number, {"text": "[[[[{{{{" * 50}] for number in range(500)]
    assert loads(orjson.dumps(tree)) == tree
    assert loads(b"[" * 100 + b"]" * 100) is not None


def test_numbers_that_orjson_cannot_write_become_their_text() -> None:
    tree = {
        "big": 2**64,
        "small": -(2**63) - 1,
        "fits": 2**64 - 1,
        "nan": math.nan,
        "yes": True,
        5: ("a", None),
    }
    assert writable(tree) == {
        "big": "18446744073709551616",
        "small": "-9223372036854775809",
        "fits": 18446744073709551615,
        "nan": "NaN",
        "yes": True,
        "5": ["a", None],
    }
    assert dumps({"big": 2**64}) == b'{"big":"18446744073709551616"}'


def test_clean_replaces_lone_surrogates_only() -> None:
    assert clean("plain") == "plain"
    assert clean("é\ud800\U0001f600\udc00x") == "é\ufffd\U0001f600\ufffdx"

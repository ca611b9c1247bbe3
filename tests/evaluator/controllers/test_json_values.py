"""Values of another kind than expected are empty, and parts never exceed their total."""

import pytest

from evaluator.controllers.json_values import LARGEST_COUNT, count, fields, items, text, usage_within
from evaluator.core.messages import Usage

ODD: list[object] = [None, True, -1, 0.5, "7", [], {}, float("nan")]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_what_is_no_number_of_things_is_none(value: object) -> None:
    assert count(value) is None


def test_a_number_of_things_is_bounded_so_that_sums_can_be_written() -> None:
    assert (count(0), count(LARGEST_COUNT), count(LARGEST_COUNT + 1)) == (0, 2**53, None)


@pytest.mark.parametrize("value", [None, True, 7, [], {}], ids=repr)
def test_what_is_no_text_is_empty(value: object) -> None:
    assert text(value) == ""


def test_a_lone_surrogate_in_a_text_is_replaced() -> None:
    assert text("a\ud800") == "a\ufffd"


def test_what_is_no_object_or_list_is_an_empty_one() -> None:
    given: list[object] = [None, [1], "a", {"a": 1}]
    assert [fields(value) for value in given] == [{}, {}, {}, {"a": 1}]
    assert [items(value) for value in given] == [[], [1], [], []]


def test_parts_of_a_total_never_exceed_it() -> None:
    assert usage_within(10, 40, 5, 6) == Usage(10, 10, 5, 5)
    assert usage_within(10, None, 5, "x") == Usage(10, 0, 5, 0)

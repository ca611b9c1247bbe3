"""What OpenAI's list of models says, and that scripted programs are no one's servers."""

import pytest

from evaluator.controllers.openai_chat import OPENAI, SCRIPTED, listed


@pytest.mark.parametrize(
    ("shutdown", "day"),
    [
        (None, ""),
        ("2026-12-11", "2026-12-11"),
        ("2026-12-11T00:00:00Z", "2026-12-11"),
        (1_796_947_200, "2026-12-11"),  # seconds since 1970
        (2**53, ""),
        (-1, ""),
        ({}, ""),
    ],
)
def test_a_listed_model_has_its_shutdown_date_where_one_is_given(shutdown: object, day: str) -> None:
    assert listed({"data": [{"id": "gpt-5-mini", "shutdown_date": shutdown}]}) == {"gpt-5-mini": day}


@pytest.mark.parametrize("tree", [None, [], {}, {"data": None}, {"data": [None, 7, {}, {"id": ""}]}])
def test_a_list_of_another_shape_lists_nothing(tree: object) -> None:
    assert listed(tree) == {}


def test_programs_have_no_home_and_no_key() -> None:
    assert (SCRIPTED.home, SCRIPTED.key_variable) == (None, None)
    assert (OPENAI.home, OPENAI.key_variable) == ("https://api.openai.com/v1", "OPENAI_API_KEY")

"""What lists of models say, and that lists of other shapes say nothing."""

import pytest

from evaluator.controllers.model_lists import gemini_models, openai_models


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
    assert openai_models({"data": [{"id": "gpt-5-mini", "shutdown_date": shutdown}]}) == {"gpt-5-mini": day}


@pytest.mark.parametrize("tree", [None, [], {}, {"data": None}, {"data": [None, 7, {}, {"id": ""}]}])
def test_a_list_of_another_shape_lists_nothing(tree: object) -> None:
    assert openai_models(tree) == gemini_models(tree) == {}


def test_gemini_lists_names_below_models() -> None:
    listed = {"models": [{"name": "models/gemini-2.5-flash"}, {"name": "tunedModels/mine"}, {"name": None}]}
    assert gemini_models(listed) == {"gemini-2.5-flash": "", "tunedModels/mine": ""}

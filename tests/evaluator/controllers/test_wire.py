"""What is the same for every wire: room, notes, and what an attempt cost."""

import pytest

from evaluator.budget.prices import FREE, ModelFacts, Price
from evaluator.controllers.wire import cost_usd, left_out, max_output
from evaluator.core.messages import Usage
from evaluator.core.settings import ModelSettings

PRICE = Price(input=1.0, cached_input=0.1, output=10.0)
USED = Usage(1_000_000, 0, 0, 0)
SETTINGS = ModelSettings(provider="openai_chat", model="m", max_output_tokens=500)


@pytest.mark.parametrize(("limit", "room"), [(None, 500), (400, 400), (600, 500)])
def test_the_room_for_a_reply_is_the_smaller_of_setting_and_limit(limit: int | None, room: int) -> None:
    assert max_output(SETTINGS, ModelFacts(max_output=limit)) == room


def test_notes_tell_what_is_refused_and_how_much_room_is_left() -> None:
    facts = ModelFacts(max_output=400, refuses=("temperature", "seed"))
    noted = left_out({"temperature": 0, "tools": []}, SETTINGS, facts)
    assert noted == {"temperature": "not supported", "max_output_tokens": "400, the model's limit"}


@pytest.mark.parametrize(
    ("status", "usage", "price", "reported", "cost"),
    [
        (200, USED, PRICE, False, 1.0),
        (200, USED, PRICE, True, 1.0),  # an error after tokens were used
        (200, USED, None, False, None),
        (200, USED, FREE, False, 0.0),
        (200, None, PRICE, False, None),
        (200, None, PRICE, True, 0.0),
        (0, None, PRICE, False, None),
        (0, None, FREE, False, 0.0),
        (429, None, PRICE, False, 0.0),
        (500, None, PRICE, True, 0.0),
        (502, None, PRICE, False, None),
    ],
)
def test_the_cost_is_known_only_where_someone_says_so(
    status: int, usage: Usage | None, price: Price | None, *, reported: bool, cost: float | None
) -> None:
    assert cost_usd(status, usage, price, reported=reported) == cost

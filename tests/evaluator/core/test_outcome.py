"""The ways an episode can end, told apart by kind."""

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError

from evaluator.core.outcome import Abstained, Answered, Failed, Outcome

ADAPTER: TypeAdapter[Outcome] = TypeAdapter(Outcome)


@pytest.mark.parametrize(
    ("outcome", "tree"),
    [
        (Answered("Lyon"), {"kind": "answered", "answer": "Lyon", "forced": False}),
        (Answered("", forced=True), {"kind": "answered", "answer": "", "forced": True}),
        (Abstained("gate_exhausted"), {"kind": "abstained", "reason": "gate_exhausted"}),
        (Failed("model", "no reply"), {"kind": "failed", "boundary": "model", "detail": "no reply"}),
    ],
)
def test_an_outcome_stands_in_json_as_the_design_says(outcome: Outcome, tree: dict[str, object]) -> None:
    assert orjson.loads(orjson.dumps(outcome)) == tree
    assert ADAPTER.validate_python(tree) == outcome


@pytest.mark.parametrize(
    "tree", [{"kind": "lost"}, {"kind": "abstained", "reason": "tired"}, {"answer": "x"}]
)
def test_nothing_else_is_an_outcome(tree: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(tree)

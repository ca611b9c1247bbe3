"""A line of trajectories.jsonl comes back from JSON as it was written."""

import dataclasses

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from evaluator.core.cell import Cell
from evaluator.core.messages import ToolCall, Usage
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.trajectory import (
    Asked,
    Fired,
    Injected,
    Malformed,
    Ruled,
    Searched,
    Step,
    Trajectory,
    WasRead,
)
from index_builder.records import Hit

TRAJECTORY = TypeAdapter(Trajectory)
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
TURN = st.integers(1, 11)
FIRED = st.builds(
    Fired, read=st.booleans(), snippet=st.none() | st.booleans(), low_evidence=st.none() | st.booleans()
)
COST = st.none() | st.floats(0, 100)
ARGUMENTS = TEXT | st.dictionaries(TEXT, TEXT | st.integers(-5, 5) | st.none(), max_size=2)
USAGE = st.builds(Usage, *[st.integers(0, 10**6)] * 4)
CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, ARGUMENTS), max_size=2).map(tuple)
HITS = st.lists(
    st.builds(Hit, TEXT, st.integers(1, 5), st.floats(0, 1), TEXT, TEXT), max_size=2
).map(tuple)  # fmt: skip
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(Asked, TURN, TEXT, CALLS, TEXT, USAGE, COST, st.floats(0, 9), TEXT),
    st.builds(Searched, TURN, TEXT, TEXT, HITS),
    st.builds(WasRead, TURN, TEXT, TEXT, st.booleans(), st.booleans(), TEXT, TEXT, st.integers(0, 99)),
    st.builds(
        Ruled,
        TURN,
        TEXT,
        FIRED,
        st.sampled_from(["accepted", "rejected", "exhausted", "injected", "shadowed"]),
        st.booleans(),
        TEXT,
    ),
    st.builds(Injected, TURN, TEXT, st.sampled_from(["user", "tool"]), TEXT),
    st.builds(Malformed, TURN, TEXT, TEXT),
)
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Answered, TEXT, st.booleans()),
    st.builds(Abstained, st.sampled_from(["gate_exhausted", "clarify", "declined"])),
    st.builds(Failed, TEXT, TEXT),
)
TRAJECTORIES = st.builds(
    Trajectory,
    trajectory_id=TEXT,
    cell=st.builds(Cell, TEXT, TEXT),
    question_id=TEXT,
    question=TEXT,
    answers=st.lists(TEXT, min_size=1, max_size=2).map(tuple),
    gold_chunks=st.none() | st.lists(TEXT, max_size=2).map(tuple),
    steps=st.lists(STEPS, max_size=4).map(tuple),
    outcome=OUTCOMES,
    **dict.fromkeys(("search_count", "read_count", "turns", "corrections"), st.integers(0, 10)),
    retrieved_tokens=st.integers(0, 10**6),
    usage=USAGE,
    cost_usd=COST,
    started_at=st.just("2026-11-30T12:00:00Z"),
    seconds=st.floats(0, 900),
)


@given(TRAJECTORIES)
def test_a_trajectory_comes_back_equal_from_one_line_of_json(trajectory: Trajectory) -> None:
    line = orjson.dumps(trajectory)
    assert b"\n" not in line
    assert TRAJECTORY.validate_json(line) == trajectory


@given(TRAJECTORIES)
def test_the_field_names_of_the_file_are_those_of_the_records(trajectory: Trajectory) -> None:
    tree = orjson.loads(orjson.dumps(trajectory))
    assert list(tree) == [field.name for field in dataclasses.fields(Trajectory)]
    assert all(step["kind"] and step["turn"] >= 1 for step in tree["steps"])
    assert set(tree["cell"]) == {"dataset", "condition"}


def test_a_step_is_told_by_its_kind_and_an_unknown_kind_is_refused() -> None:
    adapter: TypeAdapter[Step] = TypeAdapter(Step)
    step = Malformed(1, "empty", "again")
    assert adapter.validate_json(orjson.dumps(step)) == step
    with pytest.raises(ValidationError, match="guessed"):
        adapter.validate_json(orjson.dumps({**dataclasses.asdict(step), "kind": "guessed"}))

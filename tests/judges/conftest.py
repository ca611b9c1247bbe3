"""A builder of trajectories: tests name what matters to them and leave the rest."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from evaluator.core.cell import Cell
from evaluator.core.messages import Usage
from evaluator.core.outcome import Answered, Outcome
from evaluator.core.trajectory import Searched, Step, Trajectory, WasRead

Build: TypeAlias = Callable[..., Trajectory]


def build(
    *steps: Step,
    name: str = "t1",
    condition: str = "minimal",
    question: str = "Where was Ada Lovelace born?",
    answers: tuple[str, ...] = ("London",),
    outcome: Outcome | None = None,
    gold: tuple[str, ...] | None = ("g1", "g2"),
) -> Trajectory:
    """A trajectory whose counts are those of all its steps."""
    reads = [step for step in steps if isinstance(step, WasRead) and step.new]
    return Trajectory(
        trajectory_id=name,
        cell=Cell("hotpotqa", condition),
        question_id="q1",
        question=question,
        answers=answers,
        gold_chunks=gold,
        steps=steps,
        outcome=outcome or Answered("Paris"),
        search_count=sum(isinstance(step, Searched) for step in steps),
        read_count=len(reads),
        turns=max((step.turn for step in steps), default=1),
        corrections=0,
        retrieved_tokens=0,
        usage=Usage(),
        cost_usd=0.0,
        started_at="2026-01-01T00:00:00Z",
        seconds=1.0,
    )


@pytest.fixture
def trajectory() -> Build:
    """The builder."""
    return build

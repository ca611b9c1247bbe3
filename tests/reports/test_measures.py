"""One trajectory as a row of numbers: what decides its state and its flags."""

import pytest

from evaluator.core.journal import Verdict
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.settings import experiment_of
from evaluator.core.trajectory import Injected, Step, Trajectory
from evaluator.evidence.entities.by_rule import entities
from reports.answer_places import AnswerFinder
from reports.current_verdicts import current_verdicts
from reports.measures import ABSTAINED, CLASSES, CORRECT, Row, State, measure
from tests.reports.tiny_runs import (
    ruled,
    searched,
    settings_of,
    trajectory_of,
    verdict_of,
    was_read,
)

EXPERIMENT = experiment_of(settings_of({"none": "off"}), "test")


def _row(trajectory: Trajectory, *verdicts: Verdict) -> Row:
    return measure(trajectory, current_verdicts(verdicts, EXPERIMENT), AnswerFinder(), entities)


def _judged(*steps: Step, outcome: Outcome | None = None) -> Row:
    trajectory = trajectory_of("none", "q", steps=steps, outcome=outcome)
    return _row(trajectory, verdict_of(trajectory, "correct"))


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Answered("Vellmar"), State.UNJUDGED),
        (Answered("Vellmar", forced=True), State.UNJUDGED),
        (Failed("model", "x"), State.FAILED),
        (Abstained("clarify"), State.SCORED),
    ],
)
def test_without_a_verdict_only_an_abstention_is_scored(outcome: Outcome, state: State) -> None:
    assert _row(trajectory_of("none", "q", outcome=outcome)).state == state


def test_a_failed_or_unjudged_row_contributes_nothing_else() -> None:
    assert _row(trajectory_of("none", "q", outcome=Failed("model", "x"), reads=3)) == Row(State.FAILED)
    trajectory = trajectory_of("none", "q", reads=3)
    assert _row(trajectory, verdict_of(trajectory, "unjudged")) == Row(State.UNJUDGED)


def test_a_verdict_on_an_earlier_answer_leaves_the_row_unjudged() -> None:
    before = verdict_of(trajectory_of("none", "q", outcome=Answered("Brost")), "correct")
    assert _row(trajectory_of("none", "q"), before).state == State.UNJUDGED


def test_correct_and_abstained_have_their_kinds() -> None:
    assert _judged(ruled(2)).kind == CORRECT
    assert _judged(outcome=Abstained("declined")).kind == ABSTAINED
    assert _judged(outcome=Abstained("declined")).declined


def test_discipline_goes_by_its_subtype() -> None:
    trajectory = trajectory_of("none", "q", steps=[searched(1, ("g", "x")), ruled(2)])
    assert CLASSES[_row(trajectory, verdict_of(trajectory, "incorrect")).kind] == "no_read"


@pytest.mark.parametrize(
    ("steps", "outcome", "exhausted"),
    [
        ((ruled(2, decision="exhausted", fired=True),), Answered("Vellmar"), True),
        ((ruled(2, decision="exhausted", fired=True),), Abstained("gate_exhausted"), True),
        (
            (ruled(2, decision="exhausted", fired=True),),
            Abstained("declined"),
            True,
        ),  # let pass, then no answer
        ((ruled(2),), Abstained("declined"), False),
        ((ruled(2, decision="rejected", fired=True),), Answered("Vellmar", forced=True), False),
        ((ruled(2, fired=True),), Answered("Vellmar"), False),
        ((), Answered("Vellmar"), False),
        ((), Abstained("clarify"), False),
    ],
)
def test_exhausted_is_what_a_gate_had_to_let_be(
    steps: tuple[Step, ...], outcome: Outcome, *, exhausted: bool
) -> None:
    assert _judged(*steps, outcome=outcome).exhausted is exhausted


def test_after_an_injection_an_unread_answer_is_one_the_gate_had_to_let_be() -> None:
    given = ruled(2, decision="injected", fired=True), Injected(2, "g", "user", "text")
    assert _judged(*given, ruled(3, decision="exhausted", fired=True)).exhausted
    assert not _judged(*given, was_read(3, "g"), ruled(4)).exhausted


def test_the_read_rule_counts_as_fired_at_any_final_in_any_mode() -> None:
    assert _judged(ruled(2, decision="shadowed", fired=True), ruled(3)).read_fired
    assert not _judged(ruled(2)).read_fired


def test_a_shadowed_final_was_not_turned_away() -> None:
    assert not _judged(ruled(2, decision="shadowed", fired=True)).turned_away
    assert _judged(ruled(2, decision="rejected", fired=True), ruled(3)).turned_away

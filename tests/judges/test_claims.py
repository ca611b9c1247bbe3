"""What is judged, what counts as judged, and what is the same."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from evaluator.core.cell import Cell
from evaluator.core.journal import AnswerRole, JudgeIdentity, Verdict, VerdictWord
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.trajectory import Decision, Fired, Ruled, Trajectory
from judges.claims import Claim, claims_of, owed_verdicts

Build = Callable[..., Trajectory]

PRIMARY = JudgeIdentity("primary", "model", "prompt")
SECOND = JudgeIdentity("second", "model", "prompt")


def ruled(turn: int, answer: str, decision: Decision) -> Ruled:
    fired = Fired(read=True, snippet=None, low_evidence=None)
    return Ruled(turn, answer, fired, decision, blind=False, observation="")


def claim(name: str, answer: str, role: AnswerRole = "final", question: str = "Q") -> Claim:
    return Claim(name, Cell("d", "c"), question, ("gold",), answer, role)


def line(of: Claim, verdict: VerdictWord = "correct", judge: JudgeIdentity = PRIMARY) -> Verdict:
    return Verdict(
        trajectory_id=of.trajectory_id,
        answer=of.answer,
        judge=judge,
        verdict=verdict,
        contain_substring=False,
        contain_token=False,
        raw="raw",
        cost_usd=0.5,
        role=of.role,
    )


def test_an_answer_is_a_claim_and_a_failure_is_none(trajectory: Build) -> None:
    (found,) = claims_of(trajectory(outcome=Answered("Rome", forced=True), answers=("London", "UK")))
    assert (found.answer, found.answers, found.role) == ("Rome", ("London", "UK"), "final")
    failed = trajectory(ruled(1, "Rome", "rejected"), outcome=Failed("model", "gone"))
    assert list(claims_of(failed)) == []


@pytest.mark.parametrize("decision", ["rejected", "injected"])
def test_the_first_answer_that_a_gate_turned_away_is_a_claim_too(
    trajectory: Build, decision: Decision
) -> None:
    steps = (ruled(2, "first", decision), ruled(3, "second", "rejected"), ruled(5, "last", "accepted"))
    found = [(each.role, each.answer) for each in claims_of(trajectory(*steps, outcome=Answered("last")))]
    assert found == [("final", "last"), ("rejected", "first")]


@pytest.mark.parametrize("decision", ["accepted", "shadowed", "exhausted"])
def test_an_answer_that_was_let_through_is_no_rejected_one(trajectory: Build, decision: Decision) -> None:
    found = claims_of(trajectory(ruled(2, "Rome", decision), outcome=Answered("Rome")))
    assert [each.role for each in found] == ["final"]


def test_an_abstention_has_no_final_claim_but_its_rejected_one(trajectory: Build) -> None:
    row = trajectory(ruled(2, "Rome", "rejected"), outcome=Abstained("gate_exhausted"))
    assert [(each.role, each.answer) for each in claims_of(row)] == [("rejected", "Rome")]
    assert list(claims_of(trajectory(outcome=Abstained("declined")))) == []


def test_claims_of_one_question_gold_and_normalised_answer_are_one_group() -> None:
    same = [claim("t1", "The Paris!"), claim("t2", "paris"), claim("t3", "PARIS", "rejected")]
    other = [claim("t4", "Rome"), claim("t5", "paris", question="another Q")]
    other.append(replace(claim("t6", "paris"), answers=("another gold",)))
    owed = owed_verdicts([*same, *other], [], [PRIMARY])
    assert [{each.trajectory_id for each in group.claims} for group in owed] == [
        {"t1", "t2", "t3"}, {"t4"}, {"t5"}, {"t6"},
    ]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [("a", "the"), ("?", "!"), ("", "a"), ("", "?")])
def test_answers_that_normalise_to_nothing_are_not_all_the_same(one: str, other: str) -> None:
    assert len(owed_verdicts([claim("t1", one), claim("t2", other)], [], [PRIMARY])) == 2


def test_the_claim_to_be_judged_does_not_depend_on_the_order_of_the_file() -> None:
    claims = [claim("t1", "the Paris"), claim("t3", "Paris"), claim("t2", "Paris")]
    for order in (claims, claims[::-1]):
        (group,) = owed_verdicts(order, [], [PRIMARY])
        assert [each.trajectory_id for each in group.claims] == ["t2", "t3", "t1"]


def test_a_judged_claim_is_not_owed_and_lends_its_verdict_to_its_equals() -> None:
    judged, equal, other = claim("t1", "Paris"), claim("t2", "paris"), claim("t3", "Rome")
    owed = owed_verdicts([judged, equal, other], [line(judged)], [PRIMARY])
    assert [(group.claims, group.known) for group in owed] == [((equal,), line(judged)), ((other,), None)]


def test_an_unjudged_line_is_owed_again_and_lends_nothing() -> None:
    tried = claim("t1", "Paris")
    (group,) = owed_verdicts([tried], [line(tried, "unjudged")], [PRIMARY])
    assert (group.claims, group.known) == ((tried,), None)
    assert owed_verdicts([tried], [line(tried, "unjudged"), line(tried)], [PRIMARY]) == []
    assert owed_verdicts([tried], [line(tried), line(tried, "unjudged")], [PRIMARY]) == []


def test_a_verdict_belongs_to_judge_trajectory_role_and_answer() -> None:
    now = claim("t1", "Paris")
    stale = [
        line(now, judge=SECOND),
        line(now, judge=replace(PRIMARY, prompt_sha256="older")),
        line(now, judge=replace(PRIMARY, model="older")),
        line(replace(now, answer="Rome")),
        line(replace(now, trajectory_id="t9")),
        line(replace(now, role="rejected")),
    ]
    (group,) = owed_verdicts([now], stale, [PRIMARY])
    assert (group.claims, group.known) == ((now,), None)


def test_every_judge_owes_its_own_verdict_the_first_named_first() -> None:
    one, two = claim("t1", "Paris"), claim("t2", "Rome")
    owed = owed_verdicts([one, two], [line(one, judge=SECOND)], [PRIMARY, SECOND])
    assert [(group.judge.name, group.claims) for group in owed] == [
        ("primary", (one,)),
        ("primary", (two,)),
        ("second", (two,)),
    ]


def test_how_often_a_judge_left_an_answer_unjudged_is_counted_for_all_that_say_the_same() -> None:
    first, second = claim("1", "Rome"), claim("2", "rome.")
    unclear = [line(second, "unjudged"), line(first, "unjudged"), line(second, "unjudged")]
    (owed,) = owed_verdicts([first, second], unclear, [PRIMARY])
    assert (owed.known, owed.passes) == (None, 2)
    (fresh,) = owed_verdicts([first, second], unclear, [SECOND])
    assert fresh.passes == 0

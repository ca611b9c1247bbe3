"""The lines of calls.jsonl and verdicts.jsonl come back from JSON as they were written."""

import dataclasses

import orjson
import pytest
from pydantic import ValidationError

from evaluator.core.cell import Cell
from evaluator.core.journal import (
    CALL_LINES,
    TRAJECTORY_LINES,
    VERDICT_LINES,
    JudgeIdentity,
    Returned,
    Sent,
    Verdict,
)
from evaluator.core.messages import Usage
from evaluator.core.outcome import Answered
from evaluator.core.trajectory import Trajectory

SENT = Sent(
    attempt_id="a1",
    purpose="agent",
    cell=Cell("hotpotqa", "minimal"),
    trajectory_id="t1",
    judge="",
    turn=2,
    request_sha256="00ff",
    requested_model="gpt-5-mini",
    reserved_usd=0.02,
)
RETURNED = Returned(
    attempt_id="a1",
    purpose="agent",
    cell=Cell("hotpotqa", "minimal"),
    trajectory_id="t1",
    judge="",
    turn=2,
    request_sha256="00ff",
    requested_model="gpt-5-mini",
    status=200,
    returned_model="gpt-5-mini-2025-08-07",
    response_id="r1",
    usage=Usage(10, 2, 3, 1),
    cost_usd=0.001,
    latency_s=0.5,
    response={"choices": [{"message": {"content": "Lyon"}}]},
    error=None,
)
VERDICT = Verdict(
    trajectory_id="t1",
    answer="Lyon",
    judge=JudgeIdentity("primary", "gpt-5-mini", "ab"),
    verdict="correct",
    contain_substring=True,
    contain_token=True,
    raw="correct",
    cost_usd=None,
)


@pytest.mark.parametrize(
    "line",
    [
        SENT,
        RETURNED,
        dataclasses.replace(RETURNED, usage=None, cost_usd=None, response="<html>", error="not JSON"),
        dataclasses.replace(RETURNED, status=0, response=None, error="connection reset"),
    ],
)
def test_a_call_line_comes_back_equal(line: Sent | Returned) -> None:
    assert CALL_LINES.validate_json(orjson.dumps(line)) == line


def test_both_lines_of_an_attempt_bear_what_the_design_names() -> None:
    shared = {
        "attempt_id", "purpose", "cell", "trajectory_id", "judge", "turn", "request_sha256",
        "requested_model", "kind",
    }  # fmt: skip
    assert set(orjson.loads(orjson.dumps(SENT))) == shared | {
        "reserved_usd",
        "request_parts",
        "replayed",
    }
    assert set(orjson.loads(orjson.dumps(RETURNED))) == shared | {
        "status", "returned_model", "response_id", "usage", "cost_usd", "latency_s", "response", "error",
        "replayed",
    }  # fmt: skip


def test_a_call_line_of_another_kind_is_refused() -> None:
    with pytest.raises(ValidationError, match="lost"):
        CALL_LINES.validate_python({**dataclasses.asdict(SENT), "kind": "lost"})


@pytest.mark.parametrize("verdict", ["correct", "incorrect", "unjudged"])
def test_a_verdict_line_comes_back_equal(verdict: str) -> None:
    tree = {**dataclasses.asdict(VERDICT), "verdict": verdict, "role": "rejected"}
    line = VERDICT_LINES.validate_python(tree)
    assert (line.verdict, line.role) == (verdict, "rejected")
    assert VERDICT_LINES.validate_json(orjson.dumps(line)) == line


def test_a_verdict_is_one_of_three_words_and_of_the_final_unless_told_otherwise() -> None:
    assert VERDICT.role == "final"
    with pytest.raises(ValidationError):
        VERDICT_LINES.validate_python({**dataclasses.asdict(VERDICT), "verdict": "maybe"})


def test_a_trajectory_line_is_read_by_its_adapter() -> None:
    trajectory = Trajectory(
        trajectory_id="t1",
        cell=Cell("hotpotqa", "minimal"),
        question_id="q1",
        question="Where?",
        answers=("Lyon",),
        gold_chunks=None,
        steps=(),
        outcome=Answered("Lyon"),
        search_count=0,
        read_count=0,
        turns=1,
        corrections=0,
        retrieved_tokens=0,
        usage=Usage(),
        cost_usd=None,
        started_at="2026-11-30T12:00:00Z",
        seconds=1.0,
    )
    assert TRAJECTORY_LINES.validate_json(orjson.dumps(trajectory)) == trajectory

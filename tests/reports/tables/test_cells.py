"""The cells table on hand-built cells, with its sums and its splits."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.core.cell import Cell
from evaluator.core.journal import Purpose, Returned, Sent, Verdict, VerdictWord
from evaluator.core.messages import Usage
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.trajectory import Asked, Injected, Searched, Step, Trajectory, WasRead
from evaluator.evidence.entities.by_rule import entities
from evaluator.store.run_folder import RunFolder
from reports.frame import read_frame
from reports.tables.cells import CellRow, cell_rows
from tests.reports.tiny_runs import (
    ruled,
    searched,
    settings_of,
    trajectory_of,
    verdict_of,
    was_read,
    write_run,
)

FORCED = Answered("Vellmar", forced=True)
Judged = tuple[Trajectory, VerdictWord | None]


def _cell(folder: Path, rows: Sequence[Judged], *, gate: str = "off", expected: int | None = None) -> CellRow:
    verdicts: list[Verdict] = [verdict_of(row, word) for row, word in rows if word is not None]
    run = write_run(
        folder,
        settings_of({"none": gate}),
        expected=len(rows) if expected is None else expected,
        trajectories=[row for row, _ in rows],
        verdicts=verdicts,
    )
    return cell_rows(read_frame(RunFolder.open(run), entities))[0]


def test_every_expected_trajectory_is_accounted_for(tmp_path: Path) -> None:
    rows: list[Judged] = [
        (trajectory_of("none", "q0"), "correct"),
        (trajectory_of("none", "q1"), "incorrect"),
        (trajectory_of("none", "q2", outcome=Abstained("clarify")), None),
        (trajectory_of("none", "q3"), "unjudged"),
        (trajectory_of("none", "q4"), None),
        (trajectory_of("none", "q5", outcome=Failed("model", "broke")), None),
    ]
    cell = _cell(tmp_path / "run", rows, expected=10)
    counts = cell.n_expected, cell.n_scored, cell.n_unjudged, cell.n_failed, cell.n_missing
    assert counts == (10, 3, 2, 1, 4)
    # Of three scored rows one is correct and one abstained.
    assert (cell.llm_acc, cell.abstain_rate) == (1 / 3, 1 / 3)


def test_each_label_has_its_rate(tmp_path: Path) -> None:
    shown, gold, other = searched(1, ("g", "x")), was_read(2, "g"), was_read(2, "y")
    rows: list[Judged] = [
        (trajectory_of("none", "q0", steps=[shown, ruled(2)]), "incorrect"),  # no read
        (trajectory_of("none", "q1", steps=[shown, gold, ruled(3)], reads=1), "incorrect"),  # post
        (trajectory_of("none", "q2", steps=[shown, other, ruled(3)], reads=1), "incorrect"),  # ambiguous
        (trajectory_of("none", "q3", steps=[other, ruled(3)], reads=1), "incorrect"),  # retrieval
        (trajectory_of("none", "q4", steps=[other, ruled(3)], reads=1, gold=None), "incorrect"),  # unknown
        (trajectory_of("none", "q5", steps=[gold, ruled(3)], reads=1), "correct"),
        (trajectory_of("none", "q6", outcome=Abstained("declined")), None),
        (trajectory_of("none", "q7", outcome=Answered("I cannot answer")), "incorrect"),  # no read
    ]
    cell = _cell(tmp_path / "run", rows)
    assert (cell.p_disc, cell.p_no_read, cell.p_snippet_only, cell.p_low_evidence) == (2 / 8, 2 / 8, 0, 0)
    assert (cell.p_post, cell.p_amb, cell.p_retr, cell.p_unknown) == (1 / 8, 1 / 8, 1 / 8, 1 / 8)
    assert (cell.n_known_gold, cell.p_post_known, cell.p_amb_known) == (7, 1 / 7, 1 / 7)
    assert (cell.ind_disc, cell.ind_post, cell.ind_post_all, cell.ind_post_partial) == (
        2 / 8,
        1 / 8,
        1 / 8,
        0,
    )
    # q7 showed nothing: it is retrieval by indicator, discipline by label.
    assert (cell.ind_retr, cell.p_retr_known) == (2 / 8, 1 / 7)
    assert (cell.declined_rate, cell.abstain_rate) == (2 / 8, 1 / 8)
    assert (cell.gold_shown_any, cell.gold_read_any) == (3 / 7, 2 / 7)
    # The question names no entity, so that low evidence never has anything to judge by.
    assert cell.null_low_evidence == 1.0


def test_zero_reads_are_split_by_the_first_reason_that_fits(tmp_path: Path) -> None:
    given = Injected(2, "g", "user", "text")
    rows: list[Judged] = [
        (trajectory_of("none", "q0", outcome=FORCED, searches=0), "incorrect"),
        (trajectory_of("none", "q1", steps=[ruled(2, decision="exhausted", fired=True)]), "incorrect"),
        (trajectory_of("none", "q2", outcome=Abstained("gate_exhausted")), None),
        (
            trajectory_of(
                "none",
                "q3",
                steps=[
                    ruled(2, decision="injected", fired=True),
                    given,
                    ruled(3, decision="exhausted", fired=True),
                ],
            ),
            "correct",
        ),
        (trajectory_of("none", "q4", steps=[ruled(2)], searches=0), "incorrect"),
        (trajectory_of("none", "q5", steps=[ruled(2, fired=True)]), "incorrect"),
        (trajectory_of("none", "q6", steps=[was_read(1, "g"), ruled(2)], reads=1), "correct"),
        (
            trajectory_of("none", "q7", outcome=FORCED, steps=[ruled(2, decision="rejected", fired=True)]),
            "correct",
        ),
    ]
    cell = _cell(tmp_path / "run", rows, gate="gate")
    assert cell.zero_read_rate == 7 / 8
    assert (cell.zero_read_forced, cell.zero_read_exhausted) == (2 / 8, 3 / 8)
    assert (cell.zero_read_no_search, cell.zero_read_voluntary) == (1 / 8, 1 / 8)
    assert cell.no_search_rate == 2 / 8
    assert (cell.forced_rate, cell.fired_rate) == (2 / 8, 4 / 8)


def test_means_are_over_scored_rows_and_undefined_ones_are_none(tmp_path: Path) -> None:
    rows: list[Judged] = [
        (trajectory_of("none", "q0", reads=2, turns=4, corrections=1), "correct"),
        (trajectory_of("none", "q1", reads=1, turns=3), "correct"),
        (trajectory_of("none", "q2", reads=9, turns=9), "unjudged"),
    ]
    cell = _cell(tmp_path / "scored", rows)
    assert (cell.mean_reads, cell.mean_turns, cell.mean_corrections) == (1.5, 3.5, 0.5)
    assert (cell.mean_retrieved_tokens, cell.mean_seconds) == (100, 2.0)
    empty = _cell(tmp_path / "empty", [], expected=3)
    assert (empty.llm_acc, empty.mean_reads, empty.zero_read_rate, empty.p_post_known) == (None,) * 4


def test_containment_comes_from_the_verdict_lines(tmp_path: Path) -> None:
    rows = [trajectory_of("none", f"q{i}", answers=("no",) if i == 3 else ("Vellmar",)) for i in range(4)]
    inside = [replace(verdict_of(row, "correct"), contain_token=i == 0) for i, row in enumerate(rows)]
    inside[1] = replace(inside[1], contain_substring=False)
    run = write_run(
        tmp_path / "run",
        settings_of({"none": "off"}),
        expected=4,
        trajectories=rows,
        verdicts=inside,
    )
    cell = cell_rows(read_frame(RunFolder.open(run), entities))[0]
    # All four are correct; all but q1 hold their gold answer, q0 alone as a whole word; q3 asks for a no.
    assert (cell.llm_acc, cell.contain_acc, cell.contain_token) == (1, 3 / 4, 1 / 4)
    assert (cell.contain_acc_without_yes_no, cell.contain_token_without_yes_no) == (2 / 3, 1 / 3)


def test_containment_is_also_given_without_yes_and_no(tmp_path: Path) -> None:
    rows: list[Judged] = [
        (trajectory_of("none", "q0", answers=("Vellmar", "yes")), "correct"),  # an alias decides nothing
        (trajectory_of("none", "q1"), "incorrect"),
        (trajectory_of("none", "q2", answers=("Yes.",)), "correct"),
        (trajectory_of("none", "q3", answers=("no",)), "correct"),
        (trajectory_of("none", "q4", answers=("no",)), "unjudged"),
    ]
    cell = _cell(tmp_path / "run", rows)
    assert (cell.n_scored, cell.n_without_yes_no) == (4, 2)
    assert (cell.contain_acc, cell.contain_token) == (3 / 4, 3 / 4)
    assert (cell.contain_acc_without_yes_no, cell.contain_token_without_yes_no) == (1 / 2, 1 / 2)
    only = _cell(tmp_path / "only", rows[2:4])
    assert (only.contain_acc, only.contain_acc_without_yes_no) == (1.0, None)


def test_an_answer_forced_by_the_gate_is_a_forced_one_that_followed_a_rejection(tmp_path: Path) -> None:
    asked, last = (Asked(turn, "", (), "stop", Usage(), 0.0, 0.1, "m") for turn in (2, 3))
    away = ruled(2, decision="rejected", fired=True)
    rows: list[Judged] = [
        (trajectory_of("none", "q0", steps=[asked, away, last], outcome=FORCED), "correct"),
        (trajectory_of("none", "q1", steps=[asked, last], outcome=FORCED), "correct"),
        (trajectory_of("none", "q2", steps=[asked, away, last, ruled(3)]), "correct"),
        (trajectory_of("none", "q3", outcome=FORCED), "correct"),
    ]
    cell = _cell(tmp_path / "run", rows, gate="gate")
    assert (cell.forced_rate, cell.forced_by_gate_rate) == (3 / 4, 1 / 4)


def _attempt(number: str, purpose: Purpose, cost: float | None) -> list[Sent | Returned]:
    """Both lines of an attempt that reserved a dollar; an unknown cost is that of a broken connection."""
    sent = Sent(
        attempt_id=number,
        purpose=purpose,
        cell=Cell("alpha", "none"),
        trajectory_id="t",
        judge="primary" if purpose == "judge" else "",
        turn=1,
        request_sha256="h",
        requested_model="m",
        reserved_usd=1.0,
    )
    same = {field.name: getattr(sent, field.name) for field in fields(sent)} | {"kind": "returned"}
    del same["reserved_usd"], same["request_parts"]
    returned = Returned(
        **same,
        status=200 if cost is not None else 0,
        returned_model="m",
        response_id="r",
        usage=None,
        cost_usd=cost,
        latency_s=0.1,
        response=None,
        error=None,
    )
    return [sent, returned]


def test_costs_come_from_the_journal(tmp_path: Path) -> None:
    calls = [
        *_attempt("a", "agent", 0.25),
        *_attempt("b", "agent", 0.5),
        *_attempt("c", "judge", 0.125),
        *_attempt("d", "agent", None),
        _attempt("e", "judge", 0.0)[0],  # sent, and nothing came back
    ]
    run = write_run(tmp_path / "run", settings_of({"none": "off"}), expected=1, calls=calls)
    row = cell_rows(read_frame(RunFolder.open(run), entities))[0]
    assert (row.cost_usd, row.judge_cost_usd, row.cost_reserved_usd) == (0.75, 0.125, 2.0)


OUTCOMES = st.sampled_from(
    [Answered("Vellmar"), Answered("Brost"), FORCED, Abstained("declined"), Failed("model", "x")]
)
STEPS = st.lists(
    st.sampled_from(
        [
            searched(1, ("g", "Vellmar")),
            searched(1, ("y", "z")),
            was_read(2, "g", "in Vellmar"),
            was_read(2, "y"),
            ruled(3),
            ruled(3, decision="exhausted", fired=True),
        ]
    ),
    max_size=4,
    unique_by=id,
)
ROWS = st.lists(
    st.tuples(OUTCOMES, STEPS, st.booleans(), st.sampled_from(["correct", "incorrect", "unjudged", None])),
    max_size=12,
)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_rates_partition_the_scored_rows(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[Outcome, list[Step], bool, VerdictWord | None]],
) -> None:
    rows: list[Judged] = []
    for number, (outcome, steps, known, word) in enumerate(drawn):
        row = trajectory_of(
            "none",
            f"q{number}",
            outcome=outcome,
            steps=sorted(steps, key=lambda step: step.turn),
            gold=("g",) if known else None,
            reads=sum(isinstance(step, WasRead) for step in steps),
            searches=sum(isinstance(step, Searched) for step in steps),
        )
        rows.append((row, word if isinstance(outcome, Answered) else None))
    cell = _cell(tmp_path_factory.mktemp("cells") / "run", rows, expected=len(rows) + 1)
    assert cell.n_expected == cell.n_scored + cell.n_unjudged + cell.n_failed + cell.n_missing
    if cell.n_scored:
        labels = (cell.p_disc, cell.p_post, cell.p_retr, cell.p_amb, cell.p_unknown)
        shares = [cell.llm_acc, cell.abstain_rate, *labels]
        assert sum(share for share in shares if share is not None) == pytest.approx(1)
        parts = (cell.zero_read_forced, cell.zero_read_exhausted, cell.zero_read_no_search)
        zero = [*parts, cell.zero_read_voluntary]
        assert sum(share for share in zero if share is not None) == pytest.approx(cell.zero_read_rate)

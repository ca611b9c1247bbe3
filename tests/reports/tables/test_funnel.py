"""The funnel table on hand-built gated trajectories."""

from collections.abc import Sequence
from pathlib import Path

from evaluator.core.journal import VerdictWord
from evaluator.core.outcome import Abstained, Answered, Outcome
from evaluator.core.trajectory import Step, Trajectory
from evaluator.evidence.entities.by_rule import entities
from evaluator.store.run_folder import RunFolder
from reports.frame import read_frame
from reports.tables.funnel import FunnelRow, funnel_rows
from tests.reports.tiny_runs import (
    ruled,
    settings_of,
    trajectory_of,
    verdict_of,
    was_read,
    write_run,
)

Gated = tuple[Trajectory, VerdictWord | None, VerdictWord | None]
"""A trajectory, the verdict on its answer, and that on the first answer the gate turned away."""

AWAY = ruled(2, "Brost", "rejected", fired=True)


def _gated(
    number: int,
    final: VerdictWord | None,
    rejected: VerdictWord | None,
    *steps: Step,
    outcome: Outcome | None = None,
    gold: tuple[str, ...] | None = ("g",),
) -> Gated:
    return trajectory_of("gate", f"q{number}", steps=steps, outcome=outcome, gold=gold), final, rejected


def _funnel(folder: Path, rows: Sequence[Gated], *, gate: str = "gate") -> tuple[FunnelRow, ...]:
    verdicts = [verdict_of(row, final) for row, final, _ in rows if final]
    verdicts += [verdict_of(row, word, answer="Brost") for row, _, word in rows if word]
    run = write_run(
        folder,
        settings_of({"gate": gate}),
        expected=len(rows) + 1,
        trajectories=[row for row, *_ in rows],
        verdicts=verdicts,
    )
    return funnel_rows(read_frame(RunFolder.open(run), entities))


def test_each_stage_counts_the_fired_rows_that_meet_it(tmp_path: Path) -> None:
    rows = [
        _gated(0, "correct", "incorrect", AWAY, was_read(3, "g"), ruled(4)),
        _gated(1, "incorrect", "correct", AWAY, was_read(3, "y"), ruled(4)),
        _gated(2, "incorrect", "incorrect", AWAY, ruled(3, "Brost"), outcome=Answered("the brost")),
        _gated(3, "correct", None, AWAY, ruled(3)),
        _gated(4, "correct", None, was_read(1, "g"), ruled(2)),
        _gated(5, None, None, AWAY, ruled(3)),
        _gated(6, "incorrect", None, AWAY, ruled(3)),
    ]
    (row,) = _funnel(tmp_path / "run", rows)
    assert (row.n_expected, row.n_scored, row.n_unjudged, row.n_missing) == (8, 6, 1, 1)
    assert (row.fired, row.complied, row.read_gold) == (5, 2, 1)
    # The third kept its answer: "the brost" is "Brost".
    assert row.changed == 4
    assert (row.gained, row.lost, row.n_rejected_unjudged) == (1, 1, 2)


def test_a_read_that_the_last_answer_was_written_without_is_no_compliance(tmp_path: Path) -> None:
    rows = [_gated(0, "correct", "incorrect", AWAY, was_read(3, "g"), ruled(3))]
    assert _funnel(tmp_path / "run", rows)[0].complied == 0


def test_a_read_of_the_rejected_reply_counts_once_its_result_was_seen(tmp_path: Path) -> None:
    rows = [_gated(0, "correct", "incorrect", was_read(2, "g"), AWAY, ruled(3))]
    assert _funnel(tmp_path / "run", rows)[0].complied == 1


def test_an_abstention_withdraws_the_answer_and_loses_a_correct_one(tmp_path: Path) -> None:
    last = ruled(3, "Brost", "exhausted", fired=True)
    rows = [_gated(0, None, "correct", AWAY, last, outcome=Abstained("gate_exhausted"))]
    (row,) = _funnel(tmp_path / "run", rows)
    assert (row.fired, row.changed, row.lost) == (1, 1, 1)


def test_a_gate_without_corrections_fires_and_changes_nothing(tmp_path: Path) -> None:
    only = ruled(2, "Brost", "exhausted", fired=True)
    rows = [_gated(0, "correct", None, only, outcome=Answered("Brost"))]
    (row,) = _funnel(tmp_path / "run", rows)
    assert (row.fired, row.changed, row.gained, row.lost, row.n_rejected_unjudged) == (1, 0, 0, 0, 0)


def test_where_no_gold_is_known_reading_gold_is_undefined(tmp_path: Path) -> None:
    rows = [_gated(0, "correct", "incorrect", AWAY, was_read(3, "g"), ruled(4), gold=None)]
    assert _funnel(tmp_path / "run", rows)[0].read_gold is None


def test_only_enforced_gates_have_a_funnel(tmp_path: Path) -> None:
    assert _funnel(tmp_path / "run", [], gate="off") == ()

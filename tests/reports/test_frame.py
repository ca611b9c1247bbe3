"""A run folder as columns: their order, and what the manifest has no place for."""

from pathlib import Path

import pytest

from evaluator.core.cell import Cell
from evaluator.core.errors import RunFolderError
from evaluator.core.outcome import Failed
from evaluator.evidence.entities.by_rule import entities
from evaluator.store.run_folder import RunFolder
from reports.frame import Frame, read_frame
from reports.measures import State
from tests.reports.tiny_runs import settings_of, trajectory_of, verdict_of, write_run


def _frame(folder: Path) -> Frame:
    return read_frame(RunFolder.open(folder), entities)


def test_rows_stand_by_dataset_condition_and_question_whatever_the_order_of_lines(tmp_path: Path) -> None:
    settings = settings_of({"none": "off", "gate": "gate"}, datasets=("beta", "alpha"))
    rows = [
        trajectory_of("gate", "q2", dataset="alpha"),
        trajectory_of("none", "q9", dataset="beta"),
        trajectory_of("none", "q1", dataset="beta"),
    ]
    frame = _frame(write_run(tmp_path / "run", settings, expected=2, trajectories=rows))
    assert frame.datasets == ("beta", "alpha")
    assert frame.conditions == ("none", "gate")
    assert frame.rows["dataset"].tolist() == [0, 0, 1]
    assert frame.rows["condition"].tolist() == [0, 0, 1]
    assert len(frame.of(Cell("beta", "none"))) == 2
    assert len(frame.of(Cell("beta", "gate"))) == 0


def test_a_question_has_one_number_in_all_arms_of_its_dataset(tmp_path: Path) -> None:
    rows = [
        trajectory_of(condition, question)
        for condition, question in (("none", "q1"), ("none", "q2"), ("gate", "q2"), ("gate", "q1"))
    ]
    folder = write_run(
        tmp_path / "run", settings_of({"none": "off", "gate": "gate"}), expected=2, trajectories=rows
    )
    frame = _frame(folder)
    none, gate = (frame.of(Cell("alpha", name))["question"].tolist() for name in ("none", "gate"))
    assert none == gate


def test_a_later_line_that_did_not_fail_takes_the_place_of_one_that_did(tmp_path: Path) -> None:
    failed = trajectory_of("none", "q", outcome=Failed("model", "x"), started_at="2026-01-02T00:00:00Z")
    good = trajectory_of("none", "q", started_at="2026-01-01T00:00:00Z")
    folder = write_run(
        tmp_path / "run",
        settings_of({"none": "off"}),
        expected=1,
        trajectories=[good, failed],
        verdicts=[verdict_of(good, "correct")],
    )
    assert _frame(folder).rows["state"].tolist() == [State.SCORED]


def test_a_cell_that_the_manifest_does_not_name_is_refused(tmp_path: Path) -> None:
    rows = [trajectory_of("other", "q")]
    folder = write_run(tmp_path / "run", settings_of({"none": "off"}), expected=1, trajectories=rows)
    with pytest.raises(RunFolderError, match="alpha under other, which its manifest does not name"):
        _frame(folder)


def test_more_trajectories_than_expected_are_refused(tmp_path: Path) -> None:
    rows = [trajectory_of("none", "q1"), trajectory_of("none", "q2")]
    folder = write_run(tmp_path / "run", settings_of({"none": "off"}), expected=1, trajectories=rows)
    with pytest.raises(RunFolderError, match="more trajectories of alpha under none than the 1"):
        _frame(folder)

"""One small run with a bit of everything, for the tests of documents, formats and pictures."""

from pathlib import Path

from evaluator.core.journal import Verdict
from evaluator.core.outcome import Abstained, Failed, Outcome
from evaluator.core.trajectory import Step, Trajectory
from reports.report import Report, build_report
from tests.reports.tiny_runs import (
    ruled,
    searched,
    settings_of,
    trajectory_of,
    verdict_of,
    was_read,
    write_run,
)

HOSTILE = "<b>&|*gate*_$x$"
"""A condition's name that every format must show as it is."""

CONDITIONS = {"none": "off", "gate": "gate", HOSTILE: "inject"}
PAIRS = (
    {"baseline": "none", "treatment": "gate", "family": "primary"},
    {"baseline": "none", "treatment": HOSTILE, "family": "exploratory"},
    {"baseline": "none", "treatment": "gate", "family": "exploratory", "select_on": "none"},
)
QUESTIONS = 12


def sample_run(folder: Path, *, provider: str = "scripted", judged: bool = True) -> Path:
    """Write it: alpha with known gold, beta without."""
    trajectories: list[Trajectory] = []
    verdicts: list[Verdict] = []
    for dataset in ("alpha", "beta"):
        for condition in CONDITIONS:
            for number in range(QUESTIONS - 1):
                row, word = _row(dataset, condition, number)
                trajectories.append(row)
                if judged and word:
                    verdicts.append(verdict_of(row, "correct" if word == "1" else "incorrect"))
                    verdicts.append(verdict_of(row, "incorrect", answer="Brost"))
    return write_run(
        folder,
        settings_of(CONDITIONS, PAIRS, datasets=("alpha", "beta"), provider=provider),
        expected=QUESTIONS,
        trajectories=trajectories,
        verdicts=verdicts,
    )


def sample_report(folder: Path, *, provider: str = "scripted", judged: bool = True) -> Report:
    """Its report."""
    return build_report(sample_run(folder / "run", provider=provider, judged=judged))


def _row(dataset: str, condition: str, number: int) -> tuple[Trajectory, str]:
    gold = ("g",) if dataset == "alpha" else None
    shown = searched(1, ("g" if number % 4 else "x", "in Vellmar" if number % 3 else "born"))
    steps: list[Step] = [shown]
    reads = 0
    if condition == "gate":
        steps += [ruled(2, "Brost", "rejected", fired=True), was_read(3, "g", "in Vellmar"), ruled(4)]
        reads = 1
    elif number % 5 == 0:
        steps += [was_read(2, "g" if number else "y", "in Vellmar"), ruled(3)]
        reads = 1
    else:
        steps.append(ruled(2, fired=True))
    endings: dict[int, Outcome] = {1: Failed("model", "x"), 2: Abstained("declined")}
    outcome = endings.get(number) if condition == "none" else None
    row = trajectory_of(
        condition, f"q{number}", dataset=dataset, steps=steps, reads=reads, gold=gold, outcome=outcome
    )
    correct = number % (4 if condition == "gate" else 2) != 0
    return row, "" if outcome else "1" if correct else "0"

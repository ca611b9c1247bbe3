"""Whole reports of tiny run folders: what kind of evidence, what is left to do, what filters show."""

from pathlib import Path

import pytest

from evaluator.core.errors import InputError, RunFolderError
from evaluator.core.journal import Verdict
from evaluator.core.outcome import Failed
from evaluator.core.trajectory import Trajectory
from reports.report import build_report
from tests.reports.tiny_runs import (
    searched,
    settings_of,
    trajectory_of,
    verdict_of,
    was_read,
    write_run,
)

PAIR = {"baseline": "none", "treatment": "gate", "family": "primary"}
CONDITIONS = {"none": "off", "gate": "gate"}


def _judged(condition: str, correct: str, dataset: str = "alpha") -> tuple[list[Trajectory], list[Verdict]]:
    """Question i is correct where the i-th character is 1."""
    rows = [trajectory_of(condition, f"q{i}", dataset=dataset) for i in range(len(correct))]
    words = ["correct" if flag == "1" else "incorrect" for flag in correct]
    return rows, [
        verdict_of(row, "correct" if word == "correct" else "incorrect")
        for row, word in zip(rows, words, strict=True)
    ]


def _two_arms(folder: Path, *, provider: str = "scripted") -> Path:
    base, base_verdicts = _judged("none", "1100")
    gate, gate_verdicts = _judged("gate", "1011")
    return write_run(
        folder,
        settings_of(CONDITIONS, [PAIR], provider=provider),
        expected=4,
        trajectories=[*base, *gate],
        verdicts=[*base_verdicts, *gate_verdicts],
    )


def test_a_pair_is_compared_question_by_question(tmp_path: Path) -> None:
    row = build_report(_two_arms(tmp_path / "run")).pairs[0]
    # none 1100, gate 1011: q2 and q3 gained, q1 lost, of 4.
    assert (row.n, row.gained, row.lost) == (4, 2, 1)
    assert (row.acc_baseline, row.acc_treatment, row.delta) == (0.5, 0.75, 0.25)


def test_one_scripted_controller_puts_the_banner_on_the_report(tmp_path: Path) -> None:
    report = build_report(_two_arms(tmp_path / "run"))
    assert report.evidence == "scripted"
    assert report.banner is not None
    assert report.banner.startswith("SCRIPTED PROGRAMS, NOT LANGUAGE MODELS, IN AN INVENTED WORLD. ")
    assert report.banner.endswith("This shows that the instrument works, not that Read-Gate does.")


@pytest.mark.parametrize(("real", "invented"), [(("alpha", "beta"), False), (("alpha",), True)])
def test_programs_on_real_sets_alone_are_not_said_to_live_in_an_invented_world(
    tmp_path: Path, real: tuple[str, ...], *, invented: bool
) -> None:
    settings = settings_of({"none": "off"}, datasets=("alpha", "beta"), real=real)
    folder = write_run(tmp_path / "run", settings, expected=1, trajectories=[])
    banner = build_report(folder).banner or ""
    assert banner.startswith("SCRIPTED PROGRAMS, NOT LANGUAGE MODELS")
    assert ("IN AN INVENTED WORLD" in banner) == invented
    assert banner.endswith("This shows that the instrument works, not that Read-Gate does.")


def test_a_run_of_models_bears_no_banner(tmp_path: Path) -> None:
    report = build_report(_two_arms(tmp_path / "run", provider="openai_chat"))
    assert (report.evidence, report.banner) == ("replication", None)


def test_the_banner_says_how_often_the_decisive_fact_lay_beyond_the_snippet(tmp_path: Path) -> None:
    # Of two gold chunks that were shown and read, one shows the answer in its snippet.
    rows = [
        trajectory_of(
            "none", "q0", steps=[searched(1, ("g", "born in Vellmar")), was_read(2, "g", "in Vellmar")]
        ),
        trajectory_of("none", "q1", steps=[searched(1, ("g", "born in")), was_read(2, "g", "in Vellmar")]),
    ]
    folder = write_run(tmp_path / "run", settings_of({"none": "off"}), expected=2, trajectories=rows)
    report = build_report(folder)
    assert (report.decisive_fact.n, report.decisive_fact.beyond_snippet) == (2, 0.5)
    assert report.banner is not None
    assert "decisive fact beyond the snippet in 50 %" in report.banner


def test_an_unjudged_run_reports_and_says_how_to_judge_it(tmp_path: Path) -> None:
    rows = [trajectory_of("none", "q0")]
    folder = write_run(tmp_path / "run", settings_of({"none": "off"}), expected=1, trajectories=rows)
    report = build_report(folder)
    assert (report.cells[0].n_unjudged, report.cells[0].llm_acc) == (1, None)
    assert report.to_do == (f"1 answers have no verdict; `readgate judge {folder}` judges them.",)


def test_missing_and_failed_trajectories_come_with_the_command_that_resumes(tmp_path: Path) -> None:
    rows = [trajectory_of("none", "q0", outcome=Failed("model", "broke"))]
    folder = write_run(tmp_path / "run", settings_of({"none": "off"}), expected=3, trajectories=rows)
    resume = f"`readgate run {folder / 'experiment.toml'} --out {folder}` resumes the run."
    assert build_report(folder).to_do == (f"2 trajectories are missing and 1 failed; {resume}",)


def test_an_experiment_without_a_judge_says_so(tmp_path: Path) -> None:
    settings = {**settings_of({"none": "off"}), "judge": {}}
    folder = write_run(tmp_path / "run", settings, expected=1, trajectories=[trajectory_of("none", "q0")])
    assert build_report(folder).to_do == ("1 answers have no verdict, and the experiment names no judge.",)


def test_a_folder_in_which_nothing_has_happened_still_reports(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", settings_of(CONDITIONS, [PAIR]), expected=5)
    report = build_report(folder)
    assert [row.n_missing for row in report.cells] == [5, 5]
    assert [(row.n, row.n_missing, row.delta) for row in report.pairs] == [(0, 5, None), (0, 5, None)]
    assert report.funnel[0].fired == 0


def test_filters_choose_rows_and_change_no_figure(tmp_path: Path) -> None:
    rows: list[Trajectory] = []
    verdicts: list[Verdict] = []
    for dataset in ("alpha", "beta"):
        for condition, correct in (("none", "1000000"), ("gate", "0111111")):
            more, their = _judged(condition, correct, dataset)
            rows += more
            verdicts += their
    settings = settings_of(CONDITIONS, [PAIR], datasets=("alpha", "beta"))
    folder = write_run(tmp_path / "run", settings, expected=7, trajectories=rows, verdicts=verdicts)
    everything = build_report(folder)
    beta = build_report(folder, datasets=["beta"])
    assert [row.dataset for row in everything.pairs] == ["alpha", "beta", "pooled"]
    assert beta.pairs == tuple(row for row in everything.pairs if row.dataset == "beta")
    assert beta.pairs[0].family_size == 2
    assert {row.dataset for row in beta.cells} == {row.dataset for row in beta.funnel} == {"beta"}
    gate = build_report(folder, conditions=["gate"])
    assert {row.condition for row in gate.cells} == {"gate"}
    assert gate.pairs == ()


def test_a_filter_that_names_nothing_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no condition 'gatte'; did you mean 'gate'"):
        build_report(_two_arms(tmp_path / "run"), conditions=["gatte"])


def test_what_is_no_run_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="not a run folder"):
        build_report(tmp_path)

"""Which verdict counts: the primary judge's, on this very answer."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluator.core.journal import JudgeIdentity, Verdict
from evaluator.core.settings import Experiment, experiment_of
from evaluator.store.run_folder import RunFolder
from reports.current_verdicts import CurrentVerdicts, current_verdicts
from tests.reports.tiny_runs import JUDGE, settings_of, trajectory_of, verdict_of, write_run

ROW = trajectory_of("none", "q0")
CORRECT = verdict_of(ROW, "correct")
EXPERIMENT: Experiment = experiment_of(settings_of({"none": "off"}), "test")


def _current(lines: Sequence[Verdict]) -> CurrentVerdicts:
    return current_verdicts(lines, EXPERIMENT)


def _word(lines: Sequence[Verdict], answer: str = "Vellmar") -> str | None:
    verdict = _current(lines).on(ROW.trajectory_id, answer)
    return verdict.verdict if verdict else None


def test_a_verdict_on_another_answer_is_stale() -> None:
    assert _word([CORRECT], answer="Brost") is None


def test_a_verdict_of_another_judge_or_model_does_not_count() -> None:
    others = [replace(JUDGE, name="second"), replace(JUDGE, model="other")]
    assert _word([verdict_of(ROW, "correct", judge=judge) for judge in others]) is None


def test_the_primary_judge_is_the_one_named_first_whatever_its_name(tmp_path: Path) -> None:
    model = {"provider": "scripted", "model": "judge"}
    settings = {**settings_of({"none": "off"}), "judge": {"second": model, "first": model}}
    harsh = verdict_of(ROW, "incorrect", judge=replace(JUDGE, name="second"))
    kind = verdict_of(ROW, "correct", judge=replace(JUDGE, name="first"))
    run = write_run(tmp_path / "run", settings, expected=1, trajectories=[ROW], verdicts=[harsh, kind])
    # The order holds through the manifest as well.
    opened = RunFolder.open(run)
    current = current_verdicts(opened.verdicts(), opened.experiment)
    assert current.judge == replace(JUDGE, name="second")
    verdict = current.on(ROW.trajectory_id, "Vellmar")
    assert verdict is not None
    assert verdict.verdict == "incorrect"


def test_a_verdict_under_this_versions_prompt_beats_one_under_another() -> None:
    older = replace(JUDGE, prompt_sha256="older")
    lines = [CORRECT, verdict_of(ROW, "incorrect", judge=older), verdict_of(ROW, "incorrect", judge=older)]
    assert _word(lines) == "correct"


def test_a_folder_judged_by_an_older_version_keeps_its_verdicts() -> None:
    older, oldest = (replace(JUDGE, prompt_sha256=prompt) for prompt in ("older", "oldest"))
    second = trajectory_of("none", "q1")
    lines = [
        verdict_of(ROW, "incorrect", judge=oldest),
        verdict_of(ROW, "correct", judge=older),
        verdict_of(second, "correct", judge=older),
    ]
    assert _word(lines) == "correct"
    assert _current(lines).judge == JudgeIdentity("primary", "judge", "older")


def test_a_verdict_beats_unjudged_whichever_came_first() -> None:
    unjudged = verdict_of(ROW, "unjudged")
    assert _word([unjudged, CORRECT]) == _word([CORRECT, unjudged]) == "correct"
    assert _word([unjudged]) == "unjudged"


def test_of_two_verdicts_the_later_counts() -> None:
    assert _word([CORRECT, verdict_of(ROW, "incorrect")]) == "incorrect"


def test_an_answer_that_was_rejected_and_came_back_may_use_either_line() -> None:
    rejected = verdict_of(ROW, "correct", answer="Vellmar")
    assert _word([rejected]) == "correct"


def test_without_a_judge_there_are_no_verdicts() -> None:
    experiment = experiment_of({**settings_of({"none": "off"}), "judge": {}}, "test")
    verdicts = current_verdicts([CORRECT], experiment)
    assert verdicts.judge is None
    assert verdicts.on(ROW.trajectory_id, "Vellmar") is None

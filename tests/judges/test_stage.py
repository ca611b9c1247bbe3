"""Judging a run folder: every answer once per judge, equals together, resumable."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest

from evaluator.core.cell import CallTag
from evaluator.core.errors import CapReachedError, ModelError, RunFolderError
from evaluator.core.journal import JudgeIdentity, Verdict
from evaluator.core.messages import ModelRequest, Reply, UserMessage
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.settings import parse_experiment
from evaluator.core.trajectory import Fired, Ruled, Trajectory
from evaluator.store.append_log import AppendLog
from evaluator.store.manifest import Manifest, write_manifest
from evaluator.store.run_folder import RunFolder
from judges.prompts import prompt_sha256
from judges.stage import JudgingSummary, judge_run, judges_of

Build = Callable[..., Trajectory]

TOML = """
name = "t"
[[dataset]]
name = "hotpotqa"
bundle = "b"
[[condition]]
name = "minimal"
controller = "m"
[controller.m]
provider = "scripted"
model = "hasty"
[judge.primary]
provider = "scripted"
model = "judge"
[judge.second]
provider = "scripted"
model = "other-judge"
"""


@dataclass
class Containing:
    """A judge that calls correct what equals a gold answer, case aside, and counts its calls."""

    refuses: Exception | None = None
    unclear: frozenset[str] = frozenset()
    asked: list[tuple[str, CallTag]] = field(default_factory=list)

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        message = request.messages[1]
        assert isinstance(message, UserMessage)
        form = orjson.loads(message.text)
        self.asked.append((form["prediction"], tag))
        if self.refuses is not None:
            raise self.refuses
        await asyncio.sleep(0)
        if form["prediction"] in self.unclear:
            return Reply("Hm.", cost_usd=1.0)
        is_gold = form["prediction"].lower() in {gold.lower() for gold in form["gold_answers"]}
        return Reply("Correct." if is_gold else "Incorrect.", cost_usd=1.0)


@dataclass
class Told:
    """Remembers every group it is told of."""

    groups: list[tuple[Verdict, ...]] = field(default_factory=list)
    stop_after: tuple[int, asyncio.Event] | None = None

    def advance(self, result: tuple[Verdict, ...]) -> None:
        self.groups.append(result)
        if self.stop_after is not None and len(self.groups) == self.stop_after[0]:
            self.stop_after[1].set()


def folder_of(path: Path, *trajectories: Trajectory) -> RunFolder:
    settings = parse_experiment(TOML, "t.toml").model_dump(mode="json")
    write_manifest(path, Manifest(
        code_version="1", expected=(), settings=settings, bundle_hashes={}, wording_sha256="w", prices={},
        models={}, deviations={}, started_at="2026-01-01T00:00:00Z", ended_at=None,
    ))  # fmt: skip
    with AppendLog(path / "trajectories.jsonl") as log:
        for trajectory in trajectories:
            asyncio.run(log.append(trajectory))
    return RunFolder.open(path)


def judge_all(run: RunFolder, first: Containing, second: Containing | None = None) -> JudgingSummary:
    async def judged() -> JudgingSummary:
        models = {"primary": first, "second": second or Containing()}
        return await judge_run(run, models, in_flight=2, progress=Told(), stop=asyncio.Event())

    return asyncio.run(judged())


def test_the_judges_are_those_of_the_experiment_the_primary_first(tmp_path: Path) -> None:
    assert judges_of(folder_of(tmp_path)) == (
        JudgeIdentity("primary", "judge", prompt_sha256()),
        JudgeIdentity("second", "other-judge", prompt_sha256()),
    )


def test_every_answer_gets_a_line_of_every_judge(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(
        tmp_path,
        trajectory(name="t1", outcome=Answered("London")),
        trajectory(name="t2", outcome=Answered("Londonderry")),
    )
    summary = judge_all(run, Containing())
    assert summary == JudgingSummary(owed=4, judged=4, unjudged=0, interrupted=False)
    found = {(line.judge.name, line.trajectory_id): line for line in run.verdicts()}
    assert {key: line.verdict for key, line in found.items()} == {
        ("primary", "t1"): "correct",
        ("primary", "t2"): "incorrect",
        ("second", "t1"): "correct",
        ("second", "t2"): "incorrect",
    }
    partly = found["primary", "t2"]
    assert (partly.contain_substring, partly.contain_token) == (True, False)
    assert (partly.raw, partly.cost_usd, partly.role) == ("Incorrect.", 1.0, "final")


def test_equal_answers_of_all_arms_are_one_call_with_one_verdict(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(
        tmp_path,
        trajectory(name="t1", condition="minimal", outcome=Answered("The London.")),
        trajectory(name="t2", condition="gate", outcome=Answered("London")),
        trajectory(name="t3", condition="strict", outcome=Answered("LONDON")),
    )
    model = Containing()
    judge_all(run, model)
    ((prediction, tag),) = model.asked
    assert (prediction, tag.trajectory_id, tag.judge, tag.purpose) == ("LONDON", "t3", "primary", "judge")
    lines = [line for line in run.verdicts() if line.judge.name == "primary"]
    assert [(line.trajectory_id, line.verdict, line.raw, line.cost_usd) for line in lines] == [
        ("t3", "correct", "Correct.", 1.0),
        ("t2", "correct", "Correct.", 0.0),
        ("t1", "correct", "Correct.", 0.0),
    ]


def test_judging_again_asks_nothing_and_writes_nothing(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(tmp_path, trajectory(name="t1"), trajectory(name="t2", outcome=Answered("London")))
    judge_all(run, Containing())
    before = (tmp_path / "verdicts.jsonl").read_bytes()
    again = Containing()
    assert judge_all(run, again, again) == JudgingSummary(owed=0, judged=0, unjudged=0, interrupted=False)
    assert again.asked == []
    assert (tmp_path / "verdicts.jsonl").read_bytes() == before


def test_a_new_trajectory_with_a_judged_answer_takes_its_verdict(tmp_path: Path, trajectory: Build) -> None:
    judge_all(folder_of(tmp_path, trajectory(name="t1", outcome=Answered("London"))), Containing())
    run = folder_of(tmp_path, trajectory(name="t2", outcome=Answered("london")))
    contrary = Containing(refuses=ModelError("must not be asked"))
    assert judge_all(run, contrary, contrary).judged == 2
    assert {line.trajectory_id: line.verdict for line in run.verdicts()} == {"t1": "correct", "t2": "correct"}


def test_an_answer_that_changed_is_judged_again(tmp_path: Path, trajectory: Build) -> None:
    judge_all(folder_of(tmp_path, trajectory(name="t1", outcome=Answered("Paris"))), Containing())
    (tmp_path / "trajectories.jsonl").unlink()
    run = folder_of(tmp_path, trajectory(name="t1", outcome=Answered("London")))
    model = Containing()
    judge_all(run, model)
    assert [prediction for prediction, _ in model.asked] == ["London"]


def test_an_unclear_judge_leaves_unjudged_lines_that_are_owed_again(
    tmp_path: Path, trajectory: Build
) -> None:
    run = folder_of(
        tmp_path,
        trajectory(name="t1", outcome=Answered("Paris")),
        trajectory(name="t2", outcome=Answered("paris")),
        trajectory(name="t3", outcome=Answered("London")),
    )
    model = Containing(unclear=frozenset({"Paris"}))
    summary = judge_all(run, model)
    assert (summary.owed, summary.judged, summary.unjudged) == (6, 4, 2)
    tries = [tag.turn for prediction, tag in model.asked if prediction == "Paris"]
    assert tries == [1, 2, 3]
    unjudged = [line for line in run.verdicts() if line.verdict == "unjudged"]
    assert [(line.trajectory_id, line.raw, line.cost_usd) for line in unjudged] == [
        ("t1", "Hm.", 3.0),  # three tries of 1.0
        ("t2", "Hm.", 0.0),
    ]
    assert judge_all(run, Containing()) == JudgingSummary(owed=2, judged=2, unjudged=0, interrupted=False)


def test_a_judge_that_cannot_be_reached_leaves_answers_unjudged(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(tmp_path, trajectory(name="t1"))
    assert judge_all(run, Containing(refuses=ModelError("gone"))).unjudged == 1


def test_failures_and_abstentions_get_no_line(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(
        tmp_path,
        trajectory(name="t1", outcome=Failed("model", "gone")),
        trajectory(name="t2", outcome=Abstained("declined")),
    )
    assert judge_all(run, Containing()).owed == 0
    assert list(run.verdicts()) == []


def test_the_first_rejected_answer_is_judged_in_its_own_role(tmp_path: Path, trajectory: Build) -> None:
    fired = Fired(read=True, snippet=None, low_evidence=None)
    rejected = Ruled(2, "Paris", fired, "rejected", blind=False, observation="read first")
    accepted = Ruled(4, "London", fired, "accepted", blind=False, observation="")
    run = folder_of(tmp_path, trajectory(rejected, accepted, name="t1", outcome=Answered("London")))
    judge_all(run, Containing())
    primary = [line for line in run.verdicts() if line.judge.name == "primary"]
    assert {(line.role, line.answer): line.verdict for line in primary} == {
        ("final", "London"): "correct",
        ("rejected", "Paris"): "incorrect",
    }


def test_the_cap_stops_judging_and_what_was_judged_stays(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(tmp_path, trajectory(name="t1"), trajectory(name="t2", outcome=Answered("London")))
    with pytest.raises(CapReachedError):
        judge_all(run, Containing(), Containing(refuses=CapReachedError("spent")))
    assert {line.judge.name for line in run.verdicts()} == {"primary"}
    assert judge_all(run, Containing()) == JudgingSummary(owed=2, judged=2, unjudged=0, interrupted=False)


def test_a_request_to_stop_ends_between_answers_and_is_told(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(
        tmp_path, *(trajectory(name=f"t{number}", outcome=Answered(f"Town {number}")) for number in range(9))
    )

    async def stopped() -> tuple[JudgingSummary, Told]:
        stop = asyncio.Event()
        told = Told(stop_after=(3, stop))
        models = {"primary": Containing(), "second": Containing()}
        return await judge_run(run, models, in_flight=1, progress=told, stop=stop), told

    summary, told = asyncio.run(stopped())
    assert summary == JudgingSummary(owed=18, judged=3, unjudged=0, interrupted=True)
    assert [line for group in told.groups for line in group] == list(run.verdicts())
    assert judge_all(run, Containing()).judged == 15


def test_a_folder_that_is_being_judged_is_refused(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(tmp_path, trajectory())
    with AppendLog(tmp_path / "verdicts.jsonl"), pytest.raises(RunFolderError, match="another process"):
        judge_all(run, Containing())


def test_a_torn_verdict_is_owed_again(tmp_path: Path, trajectory: Build) -> None:
    run = folder_of(tmp_path, trajectory())
    judge_all(run, Containing())
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert judge_all(run, Containing()).judged == 1
    assert len(list(run.verdicts())) == 2

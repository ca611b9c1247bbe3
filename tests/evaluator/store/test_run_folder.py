"""Run folders: begun, resumed, refused, read."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.core.cell import Cell
from evaluator.core.errors import RunFolderError
from evaluator.core.journal import JudgeIdentity, Returned, Sent, Verdict
from evaluator.core.messages import ToolCall, Usage
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.settings import parse_experiment
from evaluator.core.trajectory import (
    Asked,
    Fired,
    Injected,
    Malformed,
    Ruled,
    Searched,
    Step,
    Trajectory,
    WasRead,
)
from evaluator.store.append_log import AppendLog, encode
from evaluator.store.manifest import ExpectedCell, Manifest, ModelsSeen, read_manifest, write_manifest
from evaluator.store.owed import Finished
from evaluator.store.run_folder import RunFolder, open_for_run
from index_builder.records import Hit

TOML = """
name = "t"
[[dataset]]
name = "d"
bundle = "b"
[[condition]]
name = "c"
controller = "m"
[controller.m]
provider = "scripted"
model = "hasty"
"""

FIRED = Fired(read=False, snippet=None, low_evidence=True)
STEPS: tuple[Step, ...] = (
    Asked(1, "", (ToolCall("1", "search", {"query": "q"}),), "tool_calls", Usage(1, 0, 2, 0), 0.1, 0.2, "m"),
    Searched(1, "1", "q", (Hit("c1", 1, 0.5, "T", "snip"),)),
    Asked(2, "", (ToolCall("2", "read", "{broken"),), "stop", Usage(), None, 0.2, "m"),
    Malformed(2, "arguments", "try again"),
    WasRead(3, "3", "c1", found=True, new=True, title="T", text="text", tokens=1),
    Ruled(4, "a", FIRED, "accepted", blind=False, observation=""),
    Injected(4, "c1", "user", "text"),
)


def trajectory(name: str, outcome: Outcome, started_at: str = "2026-01-01T00:00:00Z") -> Trajectory:
    return Trajectory(
        trajectory_id=name,
        cell=Cell("d", "c"),
        question_id="q" + name,
        question="Who?",
        answers=("gold", "alias"),
        gold_chunks=None,
        steps=STEPS,
        outcome=outcome,
        search_count=1,
        read_count=1,
        turns=4,
        corrections=0,
        retrieved_tokens=3,
        usage=Usage(1, 0, 2, 0),
        cost_usd=None,
        started_at=started_at,
        seconds=1.5,
    )


def manifest(seed: int = 0) -> Manifest:
    return Manifest(
        code_version="1",
        expected=(ExpectedCell("d", "c", 3),),
        settings=parse_experiment(f"seed = {seed}\n{TOML}", "t.toml").model_dump(mode="json"),
        bundle_hashes={"d": "abc"},
        wording_sha256="w",
        prices={},
        models={"m": ModelsSeen("hasty", ())},
        deviations={},
        started_at="2026-01-01T00:00:00Z",
        ended_at=None,
    )


def folder(path: Path, *lines: Trajectory) -> RunFolder:
    async def go(log: AppendLog) -> None:
        for line in lines:
            await log.append(line)

    with open_for_run(path, manifest()) as (run, _, trajectories):
        asyncio.run(go(trajectories))
        return run


def test_a_new_run_folder_holds_the_experiment_the_manifest_and_two_empty_logs(tmp_path: Path) -> None:
    run = folder(tmp_path / "deep" / "run")
    assert sorted(path.name for path in run.path.iterdir()) == [
        "calls.jsonl",
        "experiment.toml",
        "manifest.json",
        "trajectories.jsonl",
    ]
    experiment = parse_experiment(TOML, "t.toml")
    assert parse_experiment((run.path / "experiment.toml").read_text(), "copy") == experiment
    assert RunFolder.open(run.path).experiment == experiment


def test_every_kind_of_step_and_outcome_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    lines = (
        trajectory("1", Answered("a", forced=True)),
        trajectory("2", Abstained("gate_exhausted")),
        trajectory("3", Failed("model", "HTTP 500")),
    )
    run = folder(tmp_path / "run", *lines)
    assert tuple(run.trajectories()) == lines


def test_of_several_lines_of_one_id_only_the_one_that_counts_is_given(tmp_path: Path) -> None:
    good = trajectory("1", Answered("a"), "2026-01-01T00:00:02Z")
    run = folder(
        tmp_path / "run",
        trajectory("1", Failed("model", "first")),
        trajectory("2", Failed("model", "old"), "2026-01-01T00:00:01Z"),
        good,
        trajectory("2", Failed("model", "new"), "2026-01-01T00:00:02Z"),
    )
    assert list(run.trajectories()) == [
        good,
        trajectory("2", Failed("model", "new"), "2026-01-01T00:00:02Z"),
    ]
    assert [line.kind for line in run.finished()] == ["failed", "failed", "answered", "failed"]


def test_readers_take_all_shards_in_their_order_and_no_other_file(tmp_path: Path) -> None:
    run = folder(tmp_path / "run", trajectory("0", Answered("a")))
    for name in ("trajectories.10.jsonl", "trajectories.2.jsonl"):
        (run.path / name).write_bytes(encode(trajectory(name, Answered("a"))))
    for name in ("trajectories.old.jsonl", "trajectories_copy.jsonl", "trajectories.jsonl.bak"):
        (run.path / name).write_bytes(b"not a line of this run\n")
    assert [line.trajectory_id for line in run.trajectories()] == [
        "0",
        "trajectories.2.jsonl",
        "trajectories.10.jsonl",
    ]


def test_a_line_that_wins_from_another_shard_is_given_once(tmp_path: Path) -> None:
    run = folder(tmp_path / "run", trajectory("1", Failed("model", "x")))
    (run.path / "trajectories.1.jsonl").write_bytes(encode(trajectory("1", Answered("a"))))
    assert [line.outcome for line in run.trajectories()] == [Answered("a")]


def test_calls_and_verdicts_are_read_back_typed(tmp_path: Path) -> None:
    run = folder(tmp_path / "run")
    tag = {
        "attempt_id": "a1",
        "purpose": "agent",
        "cell": {"dataset": "d", "condition": "c"},
        "trajectory_id": "1",
        "judge": "",
        "turn": 1,
        "request_sha256": "x",
        "requested_model": "m",
    }
    returned = {
        "kind": "returned",
        "status": 0,
        "returned_model": "",
        "response_id": "",
        "usage": None,
        "cost_usd": None,
        "latency_s": 0.1,
        "response": None,
        "error": "reset",
    }
    (run.path / "calls.jsonl").write_bytes(
        encode({**tag, "kind": "sent", "reserved_usd": 0.5}) + encode({**tag, **returned})
    )
    sent, back = run.calls()
    assert isinstance(sent, Sent)
    assert sent.reserved_usd == 0.5
    assert isinstance(back, Returned)
    assert (back.error, back.cell) == ("reset", Cell("d", "c"))

    verdict = Verdict(
        trajectory_id="1",
        answer="a",
        judge=JudgeIdentity("primary", "m", "hash"),
        verdict="unjudged",
        contain_substring=True,
        contain_token=False,
        raw="hm",
        cost_usd=None,
    )
    with run.log("verdicts") as log:
        asyncio.run(log.append(verdict))
    assert list(run.verdicts()) == [verdict]


def test_resuming_keeps_the_first_start_and_the_models_that_answered(tmp_path: Path) -> None:
    path = tmp_path / "run"
    folder(path)
    write_manifest(path, replace(manifest(), models={"m": ModelsSeen("hasty", ("v1", "v2"))}))
    later = replace(
        manifest(), started_at="2027-01-01T00:00:00Z", models={"m": ModelsSeen("hasty", ("v2", "v3"))}
    )
    with open_for_run(path, later) as (run, _, _):
        assert run.manifest.started_at == "2026-01-01T00:00:00Z"
        assert run.manifest.models == {"m": ModelsSeen("hasty", ("v1", "v2", "v3"))}


def everything(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


def test_a_folder_of_another_experiment_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run"
    folder(path, trajectory("1", Answered("a")))
    with (path / "trajectories.jsonl").open("ab") as file:
        file.write(b'{"torn')
    before = everything(path)
    with (
        pytest.raises(RunFolderError, match="seed is 0 there and 5 here"),
        open_for_run(path, manifest(seed=5)),
    ):
        pass
    assert everything(path) == before


def test_a_second_writer_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with open_for_run(path, manifest()):
        before = everything(path)
        with (
            pytest.raises(RunFolderError, match="being written by another process"),
            open_for_run(path, manifest()),
        ):
            pass
        assert everything(path) == before


def test_a_folder_with_other_files_is_no_place_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with (
        pytest.raises(RunFolderError, match=r"is not a run folder: it holds 'thesis\.tex'"),
        open_for_run(tmp_path, manifest()),
    ):
        pass
    assert everything(tmp_path) == {"thesis.tex": b"years of work"}


def test_a_file_is_no_place_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunFolderError, match="is a file"), open_for_run(tmp_path / "run", manifest()):
        pass


def test_a_place_that_cannot_be_created_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RunFolderError, match="cannot create"),
        open_for_run(tmp_path / "file" / "run", manifest()),
    ):
        pass


def test_a_kill_between_the_first_files_leaves_a_folder_that_can_be_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "calls.jsonl").touch()
    (path / "manifest.json.new").write_text("{")
    folder(path)
    assert read_manifest(path).settings["name"] == "t"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"nonsense\n", "line 2: expected a trajectory"),
        (b'{"trajectory_id": "x"}\n', "line 2: expected a trajectory"),
        (b"[]\n", "line 2: expected a trajectory"),
        (
            b'{"trajectory_id":"x","outcome":{"kind":"answered"},"started_at":"s"}\n',
            "line 2: cell: Field required",
        ),
    ],
)
def test_a_broken_line_that_is_not_the_last_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    run = folder(tmp_path / "run", trajectory("1", Answered("a")))
    path = run.path / "trajectories.jsonl"
    path.write_bytes(path.read_bytes() + line + encode(trajectory("2", Answered("a"))))
    with pytest.raises(RunFolderError, match=problem):
        list(run.trajectories())


def test_reading_changes_nothing_even_at_a_torn_tail(tmp_path: Path) -> None:
    run = folder(tmp_path / "run", trajectory("1", Answered("a")))
    with (run.path / "trajectories.jsonl").open("ab") as file:
        file.write(b'{"torn')
    before = everything(run.path)
    assert [line.trajectory_id for line in run.trajectories()] == ["1"]
    assert list(run.finished()) == [Finished("1", "answered", "2026-01-01T00:00:00Z")]
    assert everything(run.path) == before


def test_what_is_changed_in_the_experiment_of_a_folder_counts_when_it_may_change(tmp_path: Path) -> None:
    run = folder(tmp_path / "run")
    path = run.path / "experiment.toml"
    text = path.read_text()
    assert RunFolder.open_edited(run.path) == RunFolder.open(run.path)
    path.write_text(text + '\n[judge.late]\nprovider = "scripted"\nmodel = "judge"\n')
    edited = RunFolder.open_edited(run.path)
    assert list(edited.experiment.judge) == ["late"]
    edited.note_stop("2026-01-02T00:00:00Z", {})
    assert RunFolder.open(run.path).experiment == edited.experiment
    path.write_text(text.replace("hasty", "diligent"))
    with pytest.raises(RunFolderError, match=r"controller\.m\.model is"):
        RunFolder.open_edited(run.path)
    path.write_bytes(b"\xff")
    with pytest.raises(RunFolderError, match="cannot read"):
        RunFolder.open_edited(run.path)
    path.unlink()
    assert RunFolder.open_edited(run.path) == RunFolder.open(run.path)

"""A run as the source of a replay: the line that counts for each question of each cell."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from evaluator.core.cell import Cell
from evaluator.core.errors import RunFolderError
from evaluator.core.messages import Usage
from evaluator.core.outcome import Answered, Failed, Outcome
from evaluator.core.settings import parse_experiment
from evaluator.core.trajectory import Trajectory
from evaluator.store.append_log import encode
from evaluator.store.manifest import Manifest
from evaluator.store.replay_source import recorded_trajectories
from evaluator.store.run_folder import RunFolder

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
CELL = Cell("d", "c")


def trajectory(name: str, question_id: str, outcome: Outcome, started_at: str = "1") -> Trajectory:
    return Trajectory(
        trajectory_id=name,
        cell=CELL,
        question_id=question_id,
        question="Who?",
        answers=("a",),
        gold_chunks=None,
        steps=(),
        outcome=outcome,
        search_count=0,
        read_count=0,
        turns=1,
        corrections=0,
        retrieved_tokens=0,
        usage=Usage(),
        cost_usd=0.0,
        started_at=started_at,
        seconds=1.0,
    )


def folder(path: Path, lines: Iterable[Trajectory], shard: str = "") -> RunFolder:
    experiment = parse_experiment(TOML, "t.toml")
    manifest = Manifest(
        code_version="1",
        expected=(),
        settings=experiment.model_dump(mode="json"),
        bundle_hashes={},
        wording_sha256="w",
        prices={},
        models={},
        deviations={},
        started_at="s",
        ended_at=None,
    )
    (path / f"trajectories{shard}.jsonl").write_bytes(b"".join(map(encode, lines)))
    return RunFolder(path, manifest, experiment)


def test_each_question_has_the_line_that_counts_and_whether_it_failed(tmp_path: Path) -> None:
    failed = trajectory("1", "q1", Failed("model", "x"), "3")
    mended = trajectory("2", "q2", Answered("a"), "1")
    folder(tmp_path, [trajectory("1", "q1", Failed("model", "older"), "2"), failed])
    run = folder(tmp_path, [trajectory("2", "q2", Failed("model", "y"), "2"), mended], shard=".1")
    recorded = recorded_trajectories(run)
    assert {key: (each.trajectory_id, each.failed) for key, each in recorded.items()} == {
        (CELL, "q1"): ("1", True),
        (CELL, "q2"): ("2", False),
    }
    assert [each.trajectory() for each in recorded.values()] == [failed, mended]


@pytest.mark.parametrize("line", [b"[]\n", b"nonsense\n", b'{"trajectory_id":"1"}\n'])
def test_a_line_that_is_no_trajectory_is_named(tmp_path: Path, line: bytes) -> None:
    run = folder(tmp_path, [])
    (tmp_path / "trajectories.jsonl").write_bytes(line)
    with pytest.raises(RunFolderError, match=r"trajectories\.jsonl, at byte 0: expected a trajectory"):
        recorded_trajectories(run)


def test_a_line_that_lacks_fields_or_is_gone_is_told_when_it_is_asked_for(tmp_path: Path) -> None:
    run = folder(tmp_path, [])
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(
        b'{"trajectory_id":"1","cell":{"dataset":"d","condition":"c"},"question_id":"q",'
        b'"outcome":{"kind":"failed"},"started_at":"1"}\n'
    )
    (recorded,) = recorded_trajectories(run).values()
    with pytest.raises(RunFolderError, match="at byte 0: expected a trajectory"):
        recorded.trajectory()
    path.unlink()
    with pytest.raises(RunFolderError, match="cannot read"):
        recorded.trajectory()

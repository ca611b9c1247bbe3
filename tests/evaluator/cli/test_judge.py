"""``readgate judge``: verdicts over real HTTP, resumed, refused, left unjudged."""

import asyncio
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from evaluator.store.run_folder import RunFolder
from index_builder.manifest import AGAIN
from judges.stage import JudgingSummary, judge_run

Said = tuple[int, str, str]
Command = Callable[..., Said]
Snapshot = Callable[[], dict[str, bytes]]

JUDGE = '[judge.primary]\nprovider = "scripted"\nmodel = "judge"'


@pytest.fixture
def run(here: Path, readgate: Command) -> Path:
    """A finished run of 16 trajectories."""
    assert readgate("run", "small.toml", "--limit", 4)[0] == 0
    return here / "runs" / "small"


def rejudged(here: Path, readgate: Command, new: str, out: str = "other") -> Path:
    """A finished run whose experiment has another judge."""
    text = (here / "small.toml").read_text()
    assert JUDGE in text
    (here / "other.toml").write_text(text.replace(JUDGE, new))
    assert readgate("run", "other.toml", "--limit", 1, "--out", out)[0] == 0
    return here / out


def test_every_answer_gets_a_verdict_and_the_figures_are_next(run: Path, readgate: Command) -> None:
    code, out, err = readgate("judge", run)
    assert code == 0
    assert re.fullmatch(
        rf"(\d+) verdicts given, 0 unjudged, \$0.0000 spent; next: readgate report {run}\n", out
    )
    assert re.search(r"verdicts: \d+ · [\d.]+/s · \$0.0000\n$", err)
    folder = RunFolder.open(run)
    verdicts = list(folder.verdicts())
    answered = {each.trajectory_id for each in folder.trajectories()}
    assert {verdict.trajectory_id for verdict in verdicts if verdict.role == "final"} == answered
    assert folder.manifest.models["judge.primary"].returned == ("judge",)
    assert folder.manifest.models["hasty"].returned == ("hasty",)


def test_judging_again_asks_nothing(run: Path, readgate: Command) -> None:
    assert readgate("judge", run)[0] == 0
    before = {name: (run / name).read_bytes() for name in ("calls.jsonl", "verdicts.jsonl")}
    code, out, _ = readgate("judge", run)
    assert (code, out.split(",")[0]) == (0, "0 verdicts given")
    assert {name: (run / name).read_bytes() for name in before} == before


def test_a_judge_added_to_a_finished_run_judges_beside_the_first_and_changes_none_of_its_lines(
    here: Path, run: Path, readgate: Command
) -> None:
    assert readgate("judge", run)[0] == 0
    before = {name: (run / name).read_bytes() for name in ("verdicts.jsonl", "calls.jsonl")}
    figures = readgate("report", run, "--json")[1]
    text = (here / "small.toml").read_text()
    second = JUDGE.replace("primary", "second") + "\nmax_output_tokens = 99"
    (here / "small.toml").write_text(text.replace(JUDGE, f"{JUDGE}\n{second}"))
    assert readgate("run", "small.toml", "--limit", 4)[0] == 0
    code, out, _ = readgate("judge", run)
    given = len(before["verdicts.jsonl"].splitlines())
    assert (code, out.split(",")[0]) == (0, f"{given} verdicts given")
    verdicts = [line.judge.name for line in RunFolder.open(run).verdicts()]
    assert verdicts == ["primary"] * given + ["second"] * given
    for name, content in before.items():
        assert (run / name).read_bytes().startswith(content)
    after = orjson.loads(readgate("report", run, "--json")[1])
    assert after["pairs"] == orjson.loads(figures)["pairs"]
    assert list(RunFolder.open(run).experiment.judge) == ["primary", "second"]

    for changed in (text, text.replace(JUDGE, f"{second}\n{JUDGE}"), text.replace(JUDGE, second)):
        (here / "small.toml").write_text(changed)
        code, _, err = readgate("run", "small.toml", "--limit", 4)
        assert (code, "belongs to another experiment" in err) == (2, True)


def test_a_judge_written_into_the_experiment_of_the_folder_judges_with_the_next_command(
    run: Path, readgate: Command
) -> None:
    assert readgate("judge", run)[0] == 0
    before = (run / "verdicts.jsonl").read_bytes()
    path = run / "experiment.toml"
    path.write_text(path.read_text() + '\n[judge.second]\nprovider = "scripted"\nmodel = "judge"\n')
    assert readgate("judge", run)[0] == 0
    after = (run / "verdicts.jsonl").read_bytes()
    assert after.startswith(before)
    assert len(after.splitlines()) == 2 * len(before.splitlines())
    assert list(RunFolder.open(run).manifest.models) == ["hasty", "judge.primary", "judge.second"]


def test_verdicts_that_were_answered_and_not_written_are_not_paid_for_again(
    run: Path, readgate: Command
) -> None:
    assert readgate("judge", run)[0] == 0
    whole, calls = (run / "verdicts.jsonl").read_bytes(), (run / "calls.jsonl").read_bytes()
    (run / "verdicts.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    assert readgate("judge", run)[0] == 0
    assert sorted((run / "verdicts.jsonl").read_bytes().splitlines()) == sorted(whole.splitlines())
    assert (run / "calls.jsonl").read_bytes() == calls


def test_an_altered_bundle_is_refused_before_any_answer_is_judged(
    here: Path, world: Path, run: Path, readgate: Command, snapshot: Snapshot
) -> None:
    (here / "bundles").unlink()
    shutil.copytree(world / "bundles", here / "bundles")
    path = here / "bundles" / "musique" / "chunks.jsonl"
    path.write_bytes(path.read_bytes().replace(b"e", b"i", 1))
    before = snapshot()
    code, _, err = readgate("judge", run)
    assert (code, err) == (
        2,
        f"readgate: bundles/musique/chunks.jsonl was altered since the bundle was built; {AGAIN}\n",
    )
    assert snapshot() == before


def test_judging_needs_no_bundle_but_says_which_could_not_be_checked(
    here: Path, world: Path, run: Path, readgate: Command
) -> None:
    (here / "bundles").unlink()
    (here / "bundles").mkdir()
    (here / "bundles" / "musique").symlink_to(world / "bundles" / "hotpotqa")
    code, _, err = readgate("judge", run)
    assert code == 0
    assert err.splitlines()[:2] == [
        "note: bundles/hotpotqa is not here and was not checked",
        "note: bundles/musique is sound, but no longer the bundle of the run",
    ]


def test_interrupted_judging_says_how_to_go_on(
    run: Path, readgate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(*arguments: object, stop: asyncio.Event, **named: object) -> JudgingSummary:
        stop.set()
        return await judge_run(*arguments, stop=stop, **named)  # type: ignore[arg-type] # passed on

    monkeypatch.setattr("evaluator.cli.judge.judge_run", interrupted)
    code, out, err = readgate("judge", run)
    assert (code, out) == (130, "0 verdicts given, 0 unjudged, $0.0000 spent\n")
    assert err == f"interrupted; to go on: readgate judge {run}\n"


def test_a_torn_verdict_is_cut_and_owed_again(run: Path, readgate: Command) -> None:
    assert readgate("judge", run)[0] == 0
    path = run / "verdicts.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    code, out, _ = readgate("judge", run)
    assert (code, out.split(",")[0]) == (0, "1 verdicts given")
    assert len(path.read_bytes().splitlines()) == len(whole.splitlines())


def test_a_judge_that_cannot_be_reached_leaves_answers_unjudged(here: Path, readgate: Command) -> None:
    nobody = '[judge.primary]\nprovider = "openai_chat"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"'
    folder = rejudged(here, readgate, nobody)
    impatient = (here / "other.toml").read_text() + "[limits]\ncall_seconds = 0.2\n"
    (here / "other.toml").write_text(impatient)
    assert readgate("run", "other.toml", "--limit", 1, "--out", "other")[0] == 0
    code, out, _ = readgate("judge", folder)
    assert code == 4
    assert out.startswith("0 verdicts given, ")
    assert {verdict.verdict for verdict in RunFolder.open(folder).verdicts()} == {"unjudged"}


def test_a_run_without_judge_or_key_and_a_folder_that_is_none_are_refused(
    here: Path, readgate: Command, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RG_KEY", raising=False)
    keyed = '[judge.primary]\nprovider = "openai_chat"\nmodel = "gpt-5-mini"\napi_key_env = "RG_KEY"'
    none = rejudged(here, readgate, "")
    before = snapshot()
    assert readgate("judge", none) == (
        2,
        "",
        f"readgate: the experiment of {none} names no judge: it has no [judge.*] table\n",
    )
    assert readgate("judge", "bundles")[2] == (
        "readgate: bundles is not a run folder: it has no manifest.json\n"
    )
    assert readgate("judge", "nowhere")[2] == "readgate: nowhere does not exist\n"
    assert snapshot() == before
    needs_key = rejudged(here, readgate, keyed, out="keyed")
    before = snapshot()
    code, _, err = readgate("judge", needs_key)
    assert (code, "set the variable RG_KEY" in err) == (2, True)
    assert snapshot() == before

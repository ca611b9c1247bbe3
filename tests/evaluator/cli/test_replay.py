"""``readgate run --replay``: a run executed again offline, and what stops it."""

import re
import signal
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from evaluator.budget.ledger import Ledger
from evaluator.core.cell import Cell
from evaluator.core.outcome import Failed
from evaluator.core.trajectory import Ruled, Trajectory
from evaluator.run.episode import run_episode
from evaluator.store.run_folder import RunFolder
from tests.contract import fault_server as server
from tests.contract.fault_server import Answer, Received
from tests.contract.in_thread import programs, serving, undisturbed

Said = tuple[int, str, str]
Command = Callable[..., Said]

FAULTS = (server.error(429), server.response(500, server.HTML, name="500"), server.GARBAGE, server.RESET)
KEY = "REPLAY_KEY"
PRICED = "[prices.hasty]\ninput = 10\noutput = 10\n[prices.judge]\ninput = 10\noutput = 10\n[rate]"
SHADOW = 'name = "shadow"\ncontroller = "hasty"\ngate = { mode = "shadow", rules = ["read"] }'


@pytest.fixture
def experiment(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Paid models behind a key, their address to be filled in, and a gate that only looks on."""
    monkeypatch.setenv(KEY, "sk-canary-0123456789")
    text = (here / "small.toml").read_text().replace("[rate]", PRICED)
    text = text.replace('name = "hasty"\ncontroller = "hasty"', SHADOW).replace(
        '"hasty"\ntreat', '"shadow"\ntreat'
    )
    address = f'provider = "openai_chat"\nsend_seed = true\nbase_url = "ADDRESS"\napi_key_env = "{KEY}"'
    path = here / "paid.toml"
    path.write_text(text.replace('provider = "scripted"', address))
    return path


def rewritten(path: Path, *changes: tuple[str, str]) -> Path:
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


def record(experiment: Path, readgate: Command, behave: server.Behaviour = programs, code: int = 0) -> None:
    """A run and its verdicts from a server that is gone afterwards, and the key with it."""
    with serving(behave) as faulty:
        rewritten(experiment, ("ADDRESS", faulty.url))
        assert readgate("run", experiment, "--limit", 6, "--out", "source")[0] == code
        assert readgate("judge", "source")[0] == 0


def ends(path: Path) -> dict[str, Trajectory]:
    return {each.trajectory_id: undisturbed(each) for each in RunFolder.open(path).trajectories()}


def by_question(path: Path) -> dict[tuple[Cell, str], Trajectory]:
    return {(each.cell, each.question_id): each for each in ends(path).values()}


def figures(readgate: Command, path: Path) -> object:
    report = orjson.loads(readgate("report", path, "--json")[1])
    for cell in report["cells"]:
        del cell["mean_seconds"]
    return report["cells"], report["pairs"], report["funnel"]


def verdicts(path: Path) -> list[tuple[str, ...]]:
    lines = RunFolder.open(path).verdicts()
    return sorted((line.trajectory_id, line.answer, line.role, line.verdict, line.raw) for line in lines)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def test_a_replay_is_the_run_again_without_server_key_or_cost(
    here: Path, experiment: Path, readgate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(experiment, readgate, server.one_in_five(programs, FAULTS, seed=4))
    monkeypatch.delenv(KEY)
    before = {path.name: path.read_bytes() for path in (here / "source").iterdir()}
    code, out, err = readgate("run", experiment, "--replay", "source", "--out", "again")
    assert (code, out) == (
        0,
        "24 of 80 trajectories replayed, 0 failed, $0.0000 spent; next: readgate judge again\n",
    )
    assert "note: 56 of 80 are not in source\n" in err
    assert ends(here / "again") == ends(here / "source")
    code, out, _ = readgate("judge", "again")
    assert (code, out.split(",")[-1]) == (0, " $0.0000 spent; next: readgate report again\n")
    assert verdicts(here / "again") == verdicts(here / "source")
    assert figures(readgate, here / "again") == figures(readgate, here / "source")
    again, source = RunFolder.open(here / "again"), RunFolder.open(here / "source")
    assert again.manifest.replay_of is not None
    assert again.manifest.replay_of.path == "source"
    assert again.manifest.replay_of.started_at == source.manifest.started_at
    assert source.manifest.replay_of is None
    assert again.manifest.models == source.manifest.models
    assert all(call.replayed for call in again.calls())
    assert {call.attempt_id for call in again.calls()} == {call.attempt_id for call in source.calls()}
    assert {path.name: path.read_bytes() for path in (here / "source").iterdir()} == before
    ledger = Ledger(1.0)
    ledger.replay(again.calls())
    assert (ledger.committed, ledger.reserved) == (0.0, 0.0)


def test_a_replay_goes_on_where_it_stopped_and_takes_no_line_over_twice(
    here: Path, experiment: Path, readgate: Command
) -> None:
    record(experiment, readgate)
    again = here / "runs" / "small-replay"
    assert readgate("run", experiment, "--replay", "source")[0] == 0
    whole = ends(again)
    done, calls = lines_of(again / "trajectories.jsonl"), lines_of(again / "calls.jsonl")
    (again / "trajectories.jsonl").write_bytes(b"\n".join(done[:10]) + b"\n")
    (again / "calls.jsonl").write_bytes(b"\n".join(calls[:-5]) + b"\n" + calls[-5][:30])
    assert readgate("run", experiment, "--replay", "source")[0] == 0
    assert ends(again) == whole
    attempts = [
        (line["attempt_id"], line["kind"]) for line in map(orjson.loads, lines_of(again / "calls.jsonl"))
    ]
    assert len(attempts) == len(set(attempts)) == len(calls)


def test_a_replay_of_a_replay_is_the_run_too(here: Path, experiment: Path, readgate: Command) -> None:
    record(experiment, readgate)
    assert readgate("run", experiment, "--replay", "source", "--out", "again")[0] == 0
    assert readgate("run", experiment, "--replay", "again", "--out", "third")[0] == 0
    assert ends(here / "third") == ends(here / "source")


def test_what_stayed_failed_stands_again_with_what_it_cost(
    here: Path, experiment: Path, readgate: Command
) -> None:
    def moody(request: Received) -> Answer:
        # The sixth part of all conversations is refused once it has seen a search.
        seen = b'"role":"tool"' in request.body
        return server.error(422) if seen and request.body.count(b"e") % 6 == 0 else programs(request)

    record(experiment, readgate, moody, code=4)
    failed = {name for name, each in ends(here / "source").items() if isinstance(each.outcome, Failed)}
    assert 0 < len(failed) < 24
    for _ in range(2):
        code, out, _ = readgate("run", experiment, "--replay", "source", "--out", "again")
        told = f"{24 - len(failed)} of 80 trajectories replayed, {len(failed)} failed, $0.0000 spent"
        assert (code, out.split(";")[0]) == (4, told)
        assert len(lines_of(here / "again" / "trajectories.jsonl")) == 24
    assert ends(here / "again") == ends(here / "source")
    assert readgate("judge", "again")[0] == 0
    assert figures(readgate, here / "again") == figures(readgate, here / "source")


def test_a_failure_that_was_mended_in_the_source_is_mended_by_the_next_replay(
    here: Path, readgate: Command
) -> None:
    rewritten(here / "small.toml", ("[rate]", "[limits]\ntrajectory_seconds = 0.000001\n[rate]"))
    assert readgate("run", "small.toml", "--limit", 1, "--out", "source")[0] == 4
    assert readgate("run", "small.toml", "--replay", "source", "--out", "again")[0] == 4
    rewritten(here / "small.toml", ("0.000001", "900"))
    assert readgate("run", "small.toml", "--limit", 1, "--out", "source")[0] == 0
    code, out, _ = readgate("run", "small.toml", "--replay", "source", "--out", "again")
    assert (code, out.split(",")[0]) == (0, "4 of 80 trajectories replayed")
    assert ends(here / "again") == ends(here / "source")


def test_a_gate_that_only_looks_on_may_have_other_rules(
    here: Path, experiment: Path, readgate: Command
) -> None:
    record(experiment, readgate)
    rewritten(experiment, ('rules = ["read"]', 'rules = ["snippet", "low_evidence"]'))
    assert readgate("run", experiment, "--replay", "source", "--out", "again")[0] == 0
    source, again = by_question(here / "source"), by_question(here / "again")
    assert source.keys() == again.keys()

    def decisions(trajectory: Trajectory) -> list[object]:
        return [(step.fired, step.decision) for step in trajectory.steps if isinstance(step, Ruled)]

    changed = [key for key in source if decisions(source[key]) != decisions(again[key])]
    assert changed
    for key, ours in again.items():
        theirs = source[key]
        assert (ours.outcome, ours.usage, ours.cost_usd) == (theirs.outcome, theirs.usage, theirs.cost_usd)
        assert (ours.trajectory_id == theirs.trajectory_id) == (key[0].condition == "hasty+gate")
    assert readgate("judge", "again")[0] == 0
    given = [sorted(line[1:] for line in verdicts(here / name)) for name in ("source", "again")]
    assert given[0] == given[1]


DIFFERENT = {
    "prompt": (
        '"hasty+gate"\n',
        '"hasty+gate"\nprompt = "strict"\n',
        r"turn 1 of .*hasty\+gate\), in message 1, ",
    ),
    "results": (
        "[rate]",
        "[protocol]\nk = 4\n[rate]",
        r"turn 2 of .*, in message 4, within \d+ bytes from byte",
    ),
    "model": ('model = "hasty"', 'model = "hasty"\nreasoning_effort = "low"', r"turn 1 of .*, in message \d"),
}


@pytest.mark.parametrize(("old", "new", "where"), DIFFERENT.values(), ids=DIFFERENT)
def test_the_first_request_that_differs_is_named_and_the_replay_ends(
    here: Path, readgate: Command, old: str, new: str, where: str
) -> None:
    assert readgate("run", "small.toml", "--limit", 2, "--out", "source")[0] == 0
    text = (here / "small.toml").read_text()
    assert old in text
    (here / "small.toml").write_text(text.replace(old, new, 1))
    code, out, err = readgate("run", "small.toml", "--replay", "source", "--out", "again")
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    assert re.search(rf"^readgate: the request differs from that of the replayed run: {where}", last)
    assert sum(line.startswith("readgate: ") for line in err.splitlines()) == 1
    (named,) = re.findall(r"trajectory ([0-9a-f]{32}) ", last)
    assert named in ends(here / "source")


def test_a_run_that_went_further_than_its_source_names_the_call_it_lacks(
    here: Path, readgate: Command
) -> None:
    assert readgate("run", "small.toml", "--limit", 1, "--out", "source")[0] == 0
    calls = here / "source" / "calls.jsonl"
    kept = [line for line in lines_of(calls) if orjson.loads(line)["turn"] < 3]
    calls.write_bytes(b"\n".join(kept) + b"\n")
    code, _, err = readgate("run", "small.toml", "--replay", "source", "--out", "again")
    assert (code, "the replayed run made no such call: turn 3 of trajectory" in err) == (2, True)
    unanswered = [line for line in kept if orjson.loads(line)["kind"] == "sent"]
    calls.write_bytes(b"\n".join(unanswered) + b"\n")
    code, _, err = readgate("run", "small.toml", "--replay", "source", "--out", "third")
    assert (code, "the replayed run got no usable reply: turn " in err) == (2, True)


def test_what_cannot_be_replayed_is_one_sentence_and_nothing_is_written(
    here: Path, readgate: Command
) -> None:
    assert readgate("run", "small.toml", "--limit", 1, "--out", "source")[0] == 0
    before = sorted(here.iterdir())
    refusals = {
        ("--out", "source"): "source is the run that is replayed; give another --out",
        ("--replay", "nowhere"): "nowhere does not exist",
        ("--replay", "bundles"): "bundles is not a run folder",
    }
    for words, sentence in refusals.items():
        code, out, err = readgate("run", "small.toml", "--replay", "source", *words)
        assert (code, out) == (2, "")
        assert sentence in err
    rewritten(here / "small.toml", ('"hasty+gate"', '"hasty+gates"'))
    code, _, err = readgate("run", "small.toml", "--replay", "source")
    assert (code, "source has no condition 'hasty+gates'; did you mean 'hasty+gate'?" in err) == (2, True)
    assert sorted(here.iterdir()) == before


def test_a_replayed_run_is_never_gone_on_with_for_money_nor_from_another_run(
    here: Path, readgate: Command
) -> None:
    for name in ("source", "other"):
        assert readgate("run", "small.toml", "--limit", 1, "--out", name)[0] == 0
    assert readgate("run", "small.toml", "--replay", "source", "--out", "again")[0] == 0
    for words in ((), ("--replay", "other")):
        code, _, err = readgate("run", "small.toml", "--out", "again", *words)
        assert (code, "again belongs to another experiment: the start of the run it replays is" in err) == (
            2,
            True,
        )
    (here / "source").rename(here / "gone")
    (here / "other").rename(here / "source")
    assert "replays another run than the one that is at source now" in readgate("judge", "again")[2]
    (here / "source").rename(here / "other")
    assert readgate("judge", "again")[:2] == (2, "")


def test_a_judge_that_the_source_has_not_is_asked(here: Path, readgate: Command) -> None:
    assert readgate("run", "small.toml", "--limit", 2, "--out", "source")[0] == 0
    assert readgate("judge", "source")[0] == 0
    assert readgate("run", "small.toml", "--replay", "source", "--out", "again")[0] == 0
    second = '[judge.second]\nprovider = "scripted"\nmodel = "judge"\nmax_output_tokens = 99\n[rate]'
    rewritten(here / "small.toml", ("[rate]", second))
    assert readgate("run", "small.toml", "--replay", "source", "--out", "again")[0] == 0
    assert readgate("judge", "again")[0] == 0
    again = RunFolder.open(here / "again")
    by = {call.judge: call.replayed for call in again.calls() if call.purpose == "judge"}
    assert by == {"primary": True, "second": False}


def test_of_several_that_differ_the_first_in_the_order_of_the_grid_is_named(
    here: Path, readgate: Command
) -> None:
    assert readgate("run", "small.toml", "--limit", 2, "--out", "source", "--concurrency", 1)[0] == 0
    rewritten(here / "small.toml", ("[rate]", "[protocol]\nk = 4\n[rate]"))
    first = orjson.loads(lines_of(here / "source" / "trajectories.jsonl")[0])["trajectory_id"]
    for concurrency in (1, 8):
        out = f"again{concurrency}"
        words = ("--replay", "source", "--out", out, "--concurrency", concurrency)
        assert f"turn 2 of trajectory {first} " in readgate("run", "small.toml", *words)[2]


def test_an_interrupted_replay_says_the_command_that_goes_on(
    here: Path, readgate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(*arguments: object) -> Trajectory:
        signal.raise_signal(signal.SIGINT)
        return await run_episode(*arguments)  # type: ignore[arg-type] # passed on as they came

    assert readgate("run", "small.toml", "--limit", 3, "--out", "source")[0] == 0
    monkeypatch.setattr("evaluator.cli.replay.run_episode", interrupted)
    code, out, err = readgate("run", "small.toml", "--replay", "source", "--concurrency", 1)
    assert (code, out) == (130, "1 of 80 trajectories replayed, 0 failed, $0.0000 spent\n")
    command = "readgate run small.toml --out runs/small-replay --concurrency 1 --replay source"
    assert err.endswith(f"interrupted; to go on: {command}\n")
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert readgate(*command.split()[1:])[0] == 0
    assert ends(here / "runs" / "small-replay") == ends(here / "source")


def test_without_an_experiment_the_one_of_the_source_is_replayed(here: Path, readgate: Command) -> None:
    assert readgate("run", "small.toml", "--limit", 2, "--out", "source")[0] == 0
    (here / "small.toml").unlink()
    code, out, _ = readgate("run", "--replay", "source")
    assert (code, out.split(",")[0]) == (0, "8 of 80 trajectories replayed")
    assert ends(here / "runs" / "small-replay") == ends(here / "source")
    code, out, err = readgate("run")
    assert (code, out, err) == (2, "", "readgate: Missing argument 'EXPERIMENT'.\n")
    assert readgate("run", "--replay", "nowhere")[2] == "readgate: nowhere does not exist\n"

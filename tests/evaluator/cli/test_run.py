"""``readgate run``: whole runs over real HTTP, and everything that must stop one before it begins."""

import itertools
import re
import shlex
import shutil
import signal
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from evaluator.budget.ledger import Ledger
from evaluator.cli.run import with_overrides
from evaluator.controllers.scripted.server import ScriptedServer
from evaluator.core.errors import SettingsError
from evaluator.core.outcome import Failed
from evaluator.core.settings import parse_experiment
from evaluator.core.trajectory import Asked, Trajectory
from evaluator.run.episode import run_episode
from evaluator.store.run_folder import RunFolder
from index_builder.manifest import AGAIN
from tests.contract.fault_server import Answer, Behaviour, Received
from tests.contract.in_thread import programs, serving

Said = tuple[int, str, str]
Command = Callable[..., Said]
Snapshot = Callable[[], dict[str, bytes]]

OPENAI = 'provider = "openai_chat"\nmodel = "gpt-4o-mini"'
SCRIPTED = 'provider = "scripted"\nmodel = "hasty"'


def changed(here: Path, old: str, new: str) -> None:
    text = (here / "small.toml").read_text()
    assert old in text
    (here / "small.toml").write_text(text.replace(old, new, 1))


def test_a_run_fills_its_folder_and_says_what_is_next(here: Path, readgate: Command) -> None:
    code, out, err = readgate("run", "small.toml")
    assert (code, out) == (
        0,
        "80 of 80 trajectories done, 0 failed, $0.0000 spent; next: readgate judge runs/small\n",
    )
    assert re.search(r"trajectories: 80/80 · [\d.]+/s · \$0.0000 · 0 s left\n$", err)
    run = RunFolder.open(here / "runs" / "small")
    done = list(run.trajectories())
    assert len({trajectory.trajectory_id for trajectory in done}) == len(done) == 2 * 2 * 20
    assert {trajectory.outcome.kind for trajectory in done} == {"answered"}
    assert [(row.dataset, row.condition, row.n) for row in run.manifest.expected] == [
        ("hotpotqa", "hasty", 20),
        ("hotpotqa", "hasty+gate", 20),
        ("musique", "hasty", 20),
        ("musique", "hasty+gate", 20),
    ]
    assert run.manifest.models["hasty"].returned == ("hasty",)
    assert run.manifest.prices["hasty"] == {"input": 0.0, "cached_input": 0.0, "output": 0.0}
    assert run.manifest.ended_at is not None
    assert run.manifest.ended_at > run.manifest.started_at


def test_the_same_command_goes_on_and_does_nothing_twice(
    here: Path, readgate: Command, snapshot: Snapshot
) -> None:
    code, out, _ = readgate("run", "small.toml", "--limit", 3)
    assert (code, out.split(" trajectories")[0]) == (0, "12 of 12")
    first = (here / "runs/small/trajectories.jsonl").read_bytes()
    code, out, _ = readgate("run", "small.toml", "--concurrency", 3)
    assert (code, out.split(" trajectories")[0]) == (0, "80 of 80")
    assert (here / "runs/small/trajectories.jsonl").read_bytes().startswith(first)
    before = snapshot()
    assert readgate("run", "small.toml")[0] == 0
    after = snapshot()
    for name in ("trajectories.jsonl", "calls.jsonl"):
        assert after[f"runs/small/{name}"] == before[f"runs/small/{name}"]
    assert len({line.trajectory_id for line in RunFolder.open(here / "runs/small").finished()}) == 80


def test_the_experiment_kept_in_the_folder_resumes_it(here: Path, readgate: Command) -> None:
    assert readgate("run", "small.toml", "--limit", 1, "--out", "r", "--budget-usd", 5)[0] == 0
    (here / "small.toml").unlink()
    code, out, _ = readgate("run", "r/experiment.toml", "--out", "r", "--limit", 2)
    assert (code, out.split(" trajectories")[0]) == (0, "8 of 8")
    assert RunFolder.open(here / "r").experiment.budget.usd == 5


def test_a_failed_episode_is_owed_again_and_the_exit_code_says_so(here: Path, readgate: Command) -> None:
    changed(here, "[rate]", "[limits]\ntrajectory_seconds = 0.000001\n[rate]")
    code, out, err = readgate("run", "small.toml", "--limit", 1, "--out", "r")
    assert (code, out.split(",")[1]) == (4, " 4 failed")
    assert re.search(r"^4 failed at the \w+: .+; the same command tries them again$", err, re.MULTILINE)
    changed(here, "0.000001", "900")
    code, out, _ = readgate("run", "small.toml", "--limit", 1, "--out", "r")
    assert (code, out.split(",")[0]) == (0, "4 of 4 trajectories done")
    run = RunFolder.open(here / "r")
    assert [line.kind for line in run.finished()] == ["failed"] * 4 + ["answered"] * 4
    assert len(list(run.trajectories())) == 4


def test_more_than_there_is_uses_all_of_it_and_says_so(here: Path, readgate: Command) -> None:
    changed(here, "seed = 7", "seed = 7\nquestions = 21")
    code, out, err = readgate("run", "small.toml", "--limit", 22)
    assert (code, out.split(" trajectories")[0]) == (0, "80 of 80")
    assert "note: hotpotqa has 20 questions, fewer than the 21 asked for: all are used\n" in err
    assert "note: musique has 20 questions a cell, fewer than the limit 22: all are used\n" in err


def test_a_given_address_is_the_port_the_scripted_server_is_put_on(here: Path, readgate: Command) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    changed(here, SCRIPTED, f'{SCRIPTED}\nbase_url = "http://127.0.0.1:{port}/v1"')
    assert readgate("run", "small.toml", "--limit", 1)[0] == 0


def test_a_cap_stops_the_run_before_it_is_passed_and_a_higher_one_goes_on(
    here: Path, readgate: Command
) -> None:
    with ScriptedServer() as server:
        priced = (
            f'provider = "openai_chat"\nmodel = "hasty"\nbase_url = "{server.base_url}"\nsend_seed = true'
        )
        changed(here, SCRIPTED, priced)
        changed(here, "[rate]", "[prices.hasty]\ninput = 1000\noutput = 10\n[rate]")
        # A call of some 600 tokens costs about 0.6 USD and reserves less than 5.
        code, _, err = readgate("run", "small.toml", "--budget-usd", 12)
        assert (code, "the budget of 12 USD cannot hold the next call" in err) == (3, True)
        run = RunFolder.open(here / "runs/small")
        ledger = Ledger(None)
        ledger.replay(run.calls())
        assert 0 < ledger.committed <= 12
        assert ledger.reserved == 0
        assert len(list(run.trajectories())) < 80
        code, out, _ = readgate("run", "small.toml", "--budget-usd", 10_000)
        assert (code, out.split(",")[0]) == (0, "80 of 80 trajectories done")


def test_an_interrupted_run_says_the_command_that_goes_on(
    here: Path, readgate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = itertools.count(1)

    async def interrupted_at_the_third(*arguments: object) -> Trajectory:
        if next(begun) == 3:
            signal.raise_signal(signal.SIGINT)
        return await run_episode(*arguments)  # type: ignore[arg-type] # passed on as they came

    monkeypatch.setattr("evaluator.cli.run.run_episode", interrupted_at_the_third)
    code, out, err = readgate("run", "small.toml", "--concurrency", 2, "--limit", 9, "--out", "my run")
    assert code == 130
    assert "of 36 trajectories done" in out
    assert "next:" not in out
    command = "readgate run small.toml --out 'my run' --limit 9 --concurrency 2"
    assert err.endswith(f"interrupted; to go on: {command}\n")
    monkeypatch.undo()
    monkeypatch.chdir(here)
    code, out, _ = readgate(*shlex.split(command)[1:])
    assert (code, out.split(",")[0]) == (0, "36 of 36 trajectories done")


BAD_EXPERIMENTS = {
    "unknown setting": ("seed = 7", "sede = 7", "unknown setting 'sede'; did you mean 'seed'?"),
    "unknown nested setting": ("[rate]", "[rate]\ntrajectory = 3", "did you mean 'trajectories'?"),
    "not TOML": ("seed = 7", "seed = = 7", "is not valid TOML"),
    "a cap of 0": ("[rate]", "[budget]\nusd = 0\n[rate]", "budget.usd: Input should be greater than 0"),
    "a cap that is no number": ("[rate]", "[budget]\nusd = nan\n[rate]", "budget.usd"),
    "missing bundle": ("bundles/hotpotqa", "bundles/nowhere", "bundles/nowhere does not exist"),
    "bundle without manifest": ("bundles/hotpotqa", "bundles", "bundles is no finished bundle"),
    "no key": (SCRIPTED, f'{OPENAI}\napi_key_env = "RG_KEY"', "set the variable RG_KEY"),
    "no key named": (SCRIPTED, OPENAI, "set the variable OPENAI_API_KEY"),
    "no price": (
        SCRIPTED,
        'provider = "openai_chat"\nmodel = "mystery"\nbase_url = "http://127.0.0.1:1/v1"\n[budget]\nusd = 1',
        'mystery has no price, and a capped run needs one: add [prices."mystery"]',
    ),
    "k above depth": ("[rate]", "[protocol]\nk = 9\ndepth = 5\n[rate]", "k is 9 and depth is 5"),
    "address elsewhere": (
        SCRIPTED,
        f'{SCRIPTED}\nbase_url = "http://example.com/v1"',
        "must be http://127.0.0.1:PORT/v1",
    ),
    "unknown program": (SCRIPTED, SCRIPTED.replace("hasty", "hastyy"), "did you mean 'hasty'?"),
    "address of no kind": (SCRIPTED, f'{OPENAI}\nbase_url = "ftp://host/v1"', "is no http or https address"),
    "a key of no kind": (SCRIPTED, f'{OPENAI}\napi_key_env = "BAD_KEY"', "the key in BAD_KEY holds"),
    "path for a name": ('name = "small"', 'name = "../small"', "cannot be the name of a folder"),
    "address with a bad port": (SCRIPTED, f'{SCRIPTED}\nbase_url = "http://127.0.0.1:x/v1"', "base_url"),
}


@pytest.mark.parametrize(("old", "new", "sentence"), BAD_EXPERIMENTS.values(), ids=BAD_EXPERIMENTS)
def test_a_bad_experiment_is_one_sentence_and_nothing_is_written(
    here: Path,
    readgate: Command,
    snapshot: Snapshot,
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    sentence: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("BAD_KEY", "sk-with\nnewline")
    changed(here, old, new)
    before = snapshot()
    code, out, err = readgate("run", "small.toml")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"readgate: [^\n]+\n", err)
    assert sentence in err
    assert snapshot() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere.toml",), "there is no experiment file 'nowhere.toml' and none shipped"),
        (("quickstrat",), "did you mean 'quickstart'?"),
        (("small.toml", "--budget-usd", "0"), "budget.usd: Input should be greater than 0"),
        (("small.toml", "--budget-usd", "nan"), "budget.usd"),
        (("small.toml", "--concurrency", "0"), "rate.trajectories"),
        (("small.toml", "--limit", "0"), "Invalid value for '--limit'"),
        (("small.toml", "--out", "small.toml"), "is a file; a run needs a folder"),
        (("small.toml", "--out", "."), "is not a run folder: it holds"),
    ],
)
def test_wrong_use_is_one_sentence_and_nothing_is_written(
    here: Path, readgate: Command, snapshot: Snapshot, words: tuple[str, ...], sentence: str
) -> None:
    del here
    before = snapshot()
    code, out, err = readgate("run", *words)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"readgate: [^\n]+\n", err)
    assert sentence in err
    assert snapshot() == before


def test_a_bundle_whose_hash_fails_is_refused(here: Path, readgate: Command, snapshot: Snapshot) -> None:
    shutil.copytree(here / "bundles" / "hotpotqa", here / "altered")
    chunks = here / "altered" / "chunks.jsonl"
    chunks.write_bytes(chunks.read_bytes().replace(b"a", b"b", 1))
    changed(here, "bundles/hotpotqa", "altered")
    before = snapshot()
    code, _, err = readgate("run", "small.toml")
    assert (code, err) == (
        2,
        f"readgate: altered/chunks.jsonl was altered since the bundle was built; {AGAIN}\n",
    )
    assert snapshot() == before


def test_a_run_folder_of_another_experiment_is_refused_naming_the_key(
    here: Path, readgate: Command, snapshot: Snapshot
) -> None:
    assert readgate("run", "small.toml", "--limit", 1)[0] == 0
    changed(here, "seed = 7", "seed = 8")
    before = snapshot()
    code, _, err = readgate("run", "small.toml")
    assert code == 2
    assert "runs/small belongs to another experiment: seed is 7 there and 8 here; give another --out" in err
    assert snapshot() == before


def test_a_port_in_use_is_refused(here: Path, readgate: Command, snapshot: Snapshot) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        changed(here, SCRIPTED, f'{SCRIPTED}\nbase_url = "http://127.0.0.1:{port}/v1"')
        before = snapshot()
        code, _, err = readgate("run", "small.toml")
    assert code == 2
    assert f"port {port}" in err
    assert snapshot() == before


def test_a_key_is_used_and_written_nowhere(
    here: Path, readgate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-5f1e7c0ffee-not-a-real-key"
    monkeypatch.setenv("RG_KEY", canary)
    unused = (
        'provider = "openai_chat"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "RG_KEY"'
    )
    changed(here, SCRIPTED, f"{unused}\n[limits]\ncall_seconds = 0.2\ntrajectory_seconds = 1")
    code, out, err = readgate("run", "small.toml", "--limit", 1)
    assert code == 4, err
    written = b"".join(path.read_bytes() for path in (here / "runs").rglob("*") if path.is_file())
    assert b"RG_KEY" in written
    assert canary.encode() not in written
    assert canary not in out + err


def test_overrides_replace_the_experiment_s_own_and_are_checked(here: Path) -> None:
    base = parse_experiment((here / "small.toml").read_text(), "small")
    changed_ = with_overrides(base, "small", budget_usd=2.5, concurrency=3)
    assert (changed_.budget.usd, changed_.rate.trajectories) == (2.5, 3)
    assert with_overrides(base, "small", budget_usd=None, concurrency=None) == base
    with pytest.raises(SettingsError, match=r"budget\.usd"):
        with_overrides(base, "small", budget_usd=float("inf"), concurrency=None)


def test_every_line_of_the_journal_is_a_pair_of_sent_and_returned(here: Path, readgate: Command) -> None:
    assert readgate("run", "small.toml", "--limit", 2)[0] == 0
    lines = [orjson.loads(line) for line in (here / "runs/small/calls.jsonl").read_bytes().splitlines()]
    sent = [line["attempt_id"] for line in lines if line["kind"] == "sent"]
    returned = [line["attempt_id"] for line in lines if line["kind"] == "returned"]
    assert len(sent) == len(set(sent))
    assert sorted(sent) == sorted(returned)
    asked = sum(trajectory.turns for trajectory in RunFolder.open(here / "runs/small").trajectories())
    assert len(sent) >= asked


def test_a_cell_whose_model_is_replaced_stops_alone_and_goes_on_with_the_model(
    here: Path, readgate: Command
) -> None:
    def replaced_once(request: Received) -> Answer:
        answer = programs(request)
        if request.number != 30:
            return answer
        return replace(answer, payload=answer.payload.replace(b'"hasty"', b'"haste"'))

    def run(behave: Behaviour, extra: str = "") -> tuple[int, str, RunFolder]:
        with serving(behave) as provider:
            address = f'provider = "openai_chat"\nsend_seed = true\nbase_url = "{provider.url}"{extra}'
            text = (here / "small.toml").read_text().replace('provider = "scripted"', address, 1)
            (here / "mine.toml").write_text(text)
            code, _, err = readgate("run", "mine.toml", "--out", f"out{len(extra)}")
        return code, err, RunFolder.open(here / f"out{len(extra)}")

    code, err, folder = run(replaced_once)
    assert (code, "hasty was asked and haste answered" in err) == (4, True)
    ends = Counter((line.cell, isinstance(line.outcome, Failed)) for line in folder.trajectories())
    (stopped,) = {cell for cell, failed in ends if failed}
    assert sum(n for (cell, failed), n in ends.items() if cell != stopped and not failed) == 60
    asked = [step for line in folder.trajectories() for step in line.steps if isinstance(step, Asked)]
    assert {step.returned_model for step in asked} == {"hasty"}
    assert run(programs)[0] == 0
    assert run(replaced_once, "\nallow_other_models = true")[0] == 0

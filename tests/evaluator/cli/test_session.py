"""Runs that are killed, interrupted or badly served lose nothing, repeat nothing, and end as others do."""

import asyncio
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random

import click
import orjson
import pytest

from evaluator.budget.ledger import Ledger
from evaluator.cli.main import main
from evaluator.cli.session import session, stop_on_signals
from evaluator.controllers.fakes import FakeCalls
from evaluator.core.errors import CapReachedError
from evaluator.core.journal import Returned, Sent
from evaluator.store.run_folder import RunFolder
from tests.contract import fault_server as server
from tests.contract.fault_server import Answer, Received
from tests.contract.in_thread import programs, serving, undisturbed

Said = tuple[int, str, str]
Command = Callable[..., Said]

KILLS = 30
REPEATS = 6
FAULTS = (server.error(429), server.response(500, server.HTML, name="500"), server.GARBAGE, server.RESET)
IN_FLIGHT = 32
TRAJECTORIES = 2 * 20 * 2 * REPEATS
POLL_SECONDS = 0.001
ARM = """
[[condition]]
name = "{name} {repeat}"
controller = "hasty"
repeat = {repeat}
gate = {{ mode = "{mode}" }}
"""


def many_arms(here: Path, repeats: int = REPEATS) -> Path:
    """An experiment of 80 trajectories a repeat, 32 in flight."""
    head, rest = (here / "small.toml").read_text().split("[[condition]]", 1)
    tail = rest[rest.index("[controller.hasty]") :].replace("trajectories = 8", f"trajectories = {IN_FLIGHT}")
    arms = [
        ARM.format(name=mode, repeat=repeat, mode=mode)
        for repeat in range(1, repeats + 1)
        for mode in ("off", "enforce")
    ]
    path = here / "many.toml"
    path.write_text(head + "".join(arms) + tail)
    return path


def begin(experiment: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evaluator", "run", str(experiment), "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def wait_for_growth(process: subprocess.Popen[bytes], path: Path, by: int) -> None:
    """Return as soon as the file has grown by so many bytes, while the process is still at it."""
    wanted = size(path) + by
    while size(path) < wanted:
        try:
            code = process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the run ended with {code} before it was killed: {process.stderr}")


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_faults_on_one_request_in_five_change_no_outcome_and_no_verdict(
    here: Path, readgate: Command
) -> None:
    experiment = many_arms(here, repeats=14)
    behaviours = {"clean": programs, "faulty": server.one_in_five(programs, FAULTS, seed=3)}
    ends, logs = {}, {}
    for name, behave in behaviours.items():
        with serving(behave) as faulty:
            address = f'provider = "openai_chat"\nsend_seed = true\nbase_url = "{faulty.url}"'
            (here / f"{name}.toml").write_text(
                experiment.read_text().replace('provider = "scripted"', address)
            )
            assert readgate("run", f"{name}.toml", "--out", name)[0] == 0
            assert readgate("judge", name)[0] == 0
        folder = RunFolder.open(here / name)
        verdicts = {(line.trajectory_id, line.answer): line.verdict for line in folder.verdicts()}
        ends[name] = {each.trajectory_id: undisturbed(each) for each in folder.trajectories()}, verdicts
        logs[name] = faulty.log
    assert ends["faulty"] == ends["clean"]
    assert len(ends["clean"][0]) == 14 * 80
    assert logs["faulty"]["served"] == logs["clean"]["served"]
    assert all(logs["faulty"][fault.name] >= 200 for fault in FAULTS)


def paid(experiment: Path, url: str) -> Path:
    """The experiment with paid models at an address, 8 trajectories in flight."""
    address = f'provider = "openai_chat"\nsend_seed = true\nbase_url = "{url}"'
    text = experiment.read_text().replace('provider = "scripted"', address).replace("= 32", "= 8")
    experiment.write_text(text + "\n[prices.hasty]\ninput = 10\noutput = 10\n")
    return experiment


def run_in_a_fork(experiment: Path, out: Path) -> None:
    """The whole command in a process of its own, forked from one that has imported it already."""
    sys.exit(main(["run", str(experiment), "--out", str(out)]))


@dataclass
class Reaper:
    """A server of the scripted programs that kills its client at a request, before or after answering.

    Attributes:
        victim: The process to kill at the ``due``-th request from now.
        before: Whether the request dies unanswered.
        answered: The bodies of all requests answered so far: the server's own bill.
    """

    victim: BaseProcess | None = None
    due: int = 0
    before: bool = False
    answered: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, request: Received) -> Answer:
        self.due -= 1
        victim = self.victim if self.due == 0 else None
        if victim is not None and self.before:
            victim.kill()
            return server.CLOSED
        answer = programs(request)
        self.answered[request.body] += 1
        if victim is not None:
            # It may yet read the answer that is written now, and then dies a little later.
            asyncio.get_running_loop().call_soon(victim.kill)
        return answer


def test_thirty_kills_lose_nothing_repeat_nothing_and_pay_twice_only_for_calls_in_flight(
    here: Path, readgate: Command
) -> None:
    killed, luck, reaper = here / "killed", Random(5), Reaper()
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["evaluator.cli.run", __name__])
    with serving(reaper) as faulty:
        experiment = paid(many_arms(here, repeats=2), faulty.url)
        assert readgate("run", experiment, "--out", "whole")[0] == 0
        needed = reaper.answered.copy()
        reaper.answered.clear()
        for number in range(KILLS):
            process = forks.Process(target=run_in_a_fork, args=(experiment, killed))
            reaper.victim, reaper.due, reaper.before = process, luck.randint(1, 30), number % 2 == 0
            process.start()
            process.join()
            assert process.exitcode == -signal.SIGKILL
        code, out, _ = readgate("run", experiment, "--out", "killed")
    assert (code, out.split(",")[0]) == (0, "160 of 160 trajectories done")
    lines = (killed / "trajectories.jsonl").read_bytes().splitlines()
    assert len({orjson.loads(line)["trajectory_id"] for line in lines}) == len(lines) == 160
    ends = [
        {each.trajectory_id: undisturbed(each) for each in RunFolder.open(folder).trajectories()}
        for folder in (here / "whole", killed)
    ]
    assert ends[0] == ends[1]

    ledger, calls = Ledger(None), list(RunFolder.open(killed).calls())
    ledger.replay(calls)
    assert ledger.committed == pytest.approx(sum(end.cost_usd or 0.0 for end in ends[0].values()), abs=1e-12)
    in_flight = sum(isinstance(call, Sent) for call in calls) - sum(
        isinstance(call, Returned) for call in calls
    )
    twice = reaper.answered - needed
    assert needed <= reaper.answered
    assert twice.total() <= in_flight <= KILLS * 8
    assert in_flight >= KILLS // 2  # every kill before an answer leaves its own call in flight


def test_a_journal_cut_anywhere_loses_no_more_than_what_was_cut(here: Path, readgate: Command) -> None:
    luck, reaper = Random(6), Reaper()
    with serving(reaper) as faulty:
        experiment = paid(many_arms(here, repeats=1), faulty.url)
        words = ("run", experiment, "--limit", 3, "--out")
        assert readgate(*words, "whole")[0] == 0
        whole = {
            each.trajectory_id: undisturbed(each) for each in RunFolder.open(here / "whole").trajectories()
        }
        lines = (here / "whole" / "calls.jsonl").read_bytes().splitlines(keepends=True)
        size_of_all, needed = sum(map(len, lines)), reaper.answered.total()
        for number in range(8):
            cut = shutil.copytree(here / "whole", here / f"cut {number}")
            (cut / "trajectories.jsonl").write_bytes(b"")
            os.truncate(cut / "calls.jsonl", luck.randrange(size_of_all))
            kept = (cut / "calls.jsonl").read_bytes().count(b'"kind":"returned"}')
            reaper.answered.clear()
            assert readgate(*words, cut)[0] == 0
            assert reaper.answered.total() == needed - kept
            ends = {each.trajectory_id: undisturbed(each) for each in RunFolder.open(cut).trajectories()}
            assert ends == whole


def test_ctrl_c_finishes_what_is_in_flight_and_says_how_to_resume(here: Path, readgate: Command) -> None:
    experiment, out = many_arms(here), here / "stopped"
    process = begin(experiment, out)
    wait_for_growth(process, out / "trajectories.jsonl", 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert b"stopping: what is in flight has 10 s to finish" in err
    assert f"interrupted; to go on: readgate run {experiment} --out {out}\n".encode() in err
    run = RunFolder.open(out)
    done = [line.kind for line in run.finished()]
    assert 0 < len(done) < TRAJECTORIES
    assert set(done) == {"answered"}
    assert run.manifest.ended_at is not None
    assert run.manifest.models["hasty"].returned == ("hasty",)
    lines = [orjson.loads(line) for line in (out / "calls.jsonl").read_bytes().splitlines()]
    assert sum(line["kind"] == "sent" for line in lines) == sum(line["kind"] == "returned" for line in lines)
    code, said, _ = readgate("run", experiment, "--out", out)
    assert (code, said.split(",")[0]) == (0, f"{TRAJECTORIES} of {TRAJECTORIES} trajectories done")


def test_two_runs_cannot_write_one_folder(here: Path, readgate: Command) -> None:
    experiment, out = many_arms(here), here / "shared"
    process = begin(experiment, out)
    wait_for_growth(process, out / "trajectories.jsonl", 1)
    code, _, err = readgate("run", experiment, "--out", out)
    assert (code, "is being written by another process" in err) == (2, True)
    assert readgate("judge", out)[0] == 2
    kill(process)


def test_a_cap_reached_while_stopping_is_an_interruption(here: Path, readgate: Command) -> None:
    assert readgate("run", "small.toml", "--limit", 1)[0] == 0
    folder = RunFolder.open(here / "runs" / "small")

    async def go(*, stopping: bool) -> None:
        with folder.log("calls") as calls:
            async with session(
                folder, {}, calls, finished=FakeCalls(), label="x", total=1, trouble="y"
            ) as opened:
                if stopping:
                    opened.stop.set()
                raise CapReachedError("the cap")

    with pytest.raises(click.Abort):
        asyncio.run(go(stopping=True))
    with pytest.raises(CapReachedError):
        asyncio.run(go(stopping=False))


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_to_stop_and_the_second_cancels(asked: signal.Signals) -> None:
    async def go() -> None:
        with stop_on_signals() as stop:
            os.kill(os.getpid(), asked)
            await stop.wait()
            os.kill(os.getpid(), asked)
            await asyncio.Event().wait()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(go())


def test_afterwards_signals_mean_what_they_meant_before() -> None:
    async def go() -> None:
        before = signal.getsignal(signal.SIGTERM)
        with stop_on_signals():
            assert signal.getsignal(signal.SIGTERM) != before
        assert signal.getsignal(signal.SIGTERM) == before

    asyncio.run(go())

"""Progress: figures that are right, lines that are few, bars on a terminal."""

import io
import sys
from collections.abc import Callable

import pytest

from evaluator.cli.progress import PlainLines, Tally, stages, tally
from evaluator.core.cell import Cell
from evaluator.core.journal import JudgeIdentity, Verdict, VerdictWord
from evaluator.core.messages import Usage
from evaluator.core.outcome import Answered, Failed, Outcome
from evaluator.core.trajectory import Trajectory
from evaluator.run.clocks import InstantClock


class Hand(InstantClock):
    """A clock moved by hand."""

    def move(self, seconds: float) -> None:
        self._elapsed += seconds


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def trajectory(outcome: Outcome) -> Trajectory:
    return Trajectory(
        trajectory_id="t",
        cell=Cell("d", "c"),
        question_id="q",
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
        started_at="",
        seconds=1.0,
    )


def verdict(word: VerdictWord) -> Verdict:
    return Verdict(
        trajectory_id="t",
        answer="a",
        judge=JudgeIdentity("j", "m", "h"),
        verdict=word,
        contain_substring=False,
        contain_token=False,
        raw="",
        cost_usd=0.0,
    )


GOOD, BAD = trajectory(Answered("a")), trajectory(Failed("model", "x"))


def counting(clock: Hand, total: int | None, show: Callable[[Tally], None] = lambda _: None) -> Tally:
    return Tally(total, "failed", lambda: 1.5, clock, show)


def test_done_trouble_rate_cost_and_time_left_are_told() -> None:
    clock = Hand()
    counted = counting(clock, 10)
    assert counted.line() == "0/10 · 0.0/s · $1.5000 · time left unknown"
    clock.move(2)
    for each in (GOOD, GOOD, BAD, GOOD):
        counted.advance(each)
    # 4 done in 2 s = 2 a second; 6 left = 3 s.
    assert counted.line() == "4/10 · 1 failed · 2.0/s · $1.5000 · 3 s left"


def test_the_verdicts_of_one_group_count_each() -> None:
    clock = Hand()
    counted = Tally(None, "unjudged", lambda: 0.0, clock, lambda _: None)
    clock.move(1)
    counted.advance((verdict("correct"), verdict("unjudged"), verdict("incorrect")))
    assert counted.line() == "3 · 1 unjudged · 3.0/s · $0.0000"


def test_plain_lines_come_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Hand()
    counted = counting(clock, 30, PlainLines("trajectories", clock).show)
    for _ in range(30):
        clock.move(1)
        counted.advance(GOOD)
    lines = capsys.readouterr().err.splitlines()
    # 30 s, one line every 5 s
    assert [line.split(" · ")[0] for line in lines] == [
        f"trajectories: {done}/30" for done in (5, 10, 15, 20, 25, 30)
    ]


def test_a_pipe_gets_a_last_line_and_nothing_when_nothing_was_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Hand()
    with tally("trajectories", 2, "failed", lambda: 0.0, clock) as counted:
        clock.move(1)
        counted.advance(GOOD)
    assert capsys.readouterr().err == "trajectories: 1/2 · 1.0/s · $0.0000 · 1 s left\n"
    with tally("trajectories", 0, "failed", lambda: 0.0, clock):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_with_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), Hand()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    with tally("trajectories", 2, "failed", lambda: 0.25, clock) as counted:
        clock.move(1)
        counted.advance(BAD)
    shown = terminal.getvalue()
    assert "trajectories" in shown
    assert "1/2" in shown
    assert "1 failed · 1.0/s · $0.2500" in shown


def test_stages_are_lines_in_a_pipe_and_each_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with stages("b") as show:
        for done in range(4):
            show("vectors", done, 3, f"{done} tokens/s")
        show("BM25", 3, 3, "")
    assert capsys.readouterr().err == (
        "b: vectors 0/3 · 0 tokens/s\nb: vectors 3/3 · 3 tokens/s\nb: BM25 3/3\n"
    )


def test_stages_are_bars_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with stages("b") as show:
        show("vectors", 0, 3, "")
        show("vectors", 3, 3, "7 tokens/s")
    assert "b: vectors" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()
    assert "7 tokens/s" in terminal.getvalue()

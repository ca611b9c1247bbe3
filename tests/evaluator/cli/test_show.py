"""``readgate show``: one trajectory, found by the start of its id, told so that a person can follow."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from evaluator.cli.show import lines_of
from evaluator.core.cell import Cell
from evaluator.core.journal import JudgeIdentity, Verdict
from evaluator.core.messages import ToolCall, Usage
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.trajectory import (
    Asked,
    Fired,
    Injected,
    Malformed,
    Ruled,
    Searched,
    Trajectory,
    WasRead,
)
from evaluator.store.run_folder import RunFolder
from index_builder.records import Hit

Said = tuple[int, str, str]
Command = Callable[..., Said]

STORY = Trajectory(
    trajectory_id="abc",
    cell=Cell("hotpotqa", "hasty+gate"),
    question_id="q7",
    question="Where was Ada born?",
    answers=("Oslo", "Kristiania"),
    gold_chunks=("c1",),
    steps=(
        Asked(
            1,
            "I will look.",
            (ToolCall("1", "search", {"query": "Ada"}), ToolCall("2", "final", "{broken")),
            "tool_calls",
            Usage(10, 0, 5, 0),
            0.5,
            0.25,
            "model-1",
        ),
        Searched(1, "1", "Ada", (Hit("c1", 1, 0.5, "Ada", "Ada was"), Hit("c2", 2, 0.4, "", "Bo was"))),
        Malformed(1, "arguments", "not a JSON object"),
        Asked(2, "", (), "stop", Usage(), None, 0.25, "model-1"),
        Ruled(
            2,
            "Bergen",
            Fired(read=True, snippet=None, low_evidence=False),
            "rejected",
            blind=True,
            observation="Read first.",
        ),
        Injected(2, "c1", "user", "Ada was born in Oslo."),
        WasRead(3, "3", "c1", found=True, new=True, title="Ada", text="Ada was born in Oslo.", tokens=6),
        WasRead(3, "4", "c1", found=True, new=False, title="", text="", tokens=0),
        WasRead(3, "5", "c9", found=False, new=False, title="", text="", tokens=0),
    ),
    outcome=Answered("Oslo", forced=True),
    search_count=1,
    read_count=1,
    turns=3,
    corrections=1,
    retrieved_tokens=20,
    usage=Usage(10, 0, 5, 0),
    cost_usd=None,
    started_at="2026-01-01T00:00:00Z",
    seconds=2.0,
)

VERDICT = Verdict(
    trajectory_id="abc",
    answer="Bergen",
    judge=JudgeIdentity("primary", "judge", "h"),
    verdict="incorrect",
    contain_substring=False,
    contain_token=False,
    raw="",
    cost_usd=0.0,
    role="rejected",
)


def told(trajectory: Trajectory, *verdicts: Verdict) -> str:
    return "\n".join(line.text for line in lines_of(trajectory, verdicts))


def test_the_whole_story_is_told_in_order() -> None:
    final = replace(VERDICT, answer="Oslo", verdict="correct", role="final")
    assert told(STORY, VERDICT, final) == (
        "hotpotqa · hasty+gate · abc\n"
        "question  Where was Ada born?  (q7)\n"
        "gold      Oslo | Kristiania\n"
        "in        c1\n"
        "outcome   answered 'Oslo', forced by a limit\n"
        "verdict   the first rejected answer 'Bergen' is incorrect, says primary (judge)\n"
        "verdict   the answer 'Oslo' is correct, says primary (judge)\n"
        "counts    3 turns; before the answer 1 searches, 1 reads; 1 corrections, 20 retrieved tokens, "
        "unknown cost, 2.00 s\n"
        "\n"
        "turn 1\n"
        "model    model-1 (10 tokens in, 5 out, $0.500000, 0.25 s)\n"
        "I will look.\n"
        'calls search {"query":"Ada"}\n'
        "calls final {broken\n"
        "search   'Ada': 2 results\n"
        "1. Ada [c1] (gold)\n"
        "Ada was\n"
        "2. [c2]\n"
        "Bo was\n"
        "unusable arguments\n"
        "the model is told: not a JSON object\n"
        "\n"
        "turn 2\n"
        "model    model-1 (0 tokens in, 0 out, cost unknown, 0.25 s)\n"
        "final    'Bergen' is rejected\n"
        "rules: read fires, snippet cannot tell, low_evidence no; the same reply searched or read, "
        "which was no evidence for it\n"
        "the model is told: Read first.\n"
        "injected c1 in the user role\n"
        "Ada was born in Oslo.\n"
        "\n"
        "turn 3\n"
        "read     Ada [c1] (gold): 6 tokens\n"
        "Ada was born in Oslo.\n"
        "read     [c1] (gold): already read\n"
        "read     [c9]: there is no such chunk"
    )


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (Answered("x"), "answered 'x'"),
        (Abstained("gate_exhausted"), "abstained: gate_exhausted"),
        (Failed("model", "HTTP 500"), "failed at the model: HTTP 500"),
    ],
)
def test_every_outcome_is_told(outcome: Outcome, ending: str) -> None:
    assert f"outcome   {ending}\n" in told(replace(STORY, outcome=outcome))


def test_unknown_and_empty_gold_are_told_apart() -> None:
    assert "\nin " not in told(replace(STORY, gold_chunks=None))
    assert "\nin        no chunk\n" in told(replace(STORY, gold_chunks=()))


def test_a_trajectory_is_found_by_the_start_of_its_id(here: Path, readgate: Command) -> None:
    assert readgate("run", "small.toml", "--limit", 5)[0] == 0
    ids = [each.trajectory_id for each in RunFolder.open(here / "runs/small").trajectories()]
    code, out, err = readgate("show", "runs/small", ids[3][:12])
    assert (code, err) == (0, "")
    assert ids[3] in out.splitlines()[0]
    assert all(line == line.rstrip() for line in out.splitlines())
    code, out, _ = readgate("show", "runs/small", ids[3], "--json")
    assert (code, orjson.loads(out)["trajectory_id"]) == (0, ids[3])
    code, out, err = readgate("show", "runs/small", "")
    assert (code, out) == (2, "")
    assert "20 trajectories of runs/small begin with ''" in err
    assert readgate("show", "runs/small", "xyz") == (
        2,
        "",
        "readgate: no trajectory of runs/small has an id that begins with 'xyz'\n",
    )


@pytest.mark.parametrize("columns", ["0", "1", "40"])
def test_a_terminal_of_any_width_is_written_to(
    here: Path, readgate: Command, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    assert readgate("run", "small.toml", "--limit", 1)[0] == 0
    one = next(RunFolder.open(here / "runs/small").trajectories())
    monkeypatch.setenv("COLUMNS", columns)
    code, out, err = readgate("show", "runs/small", one.trajectory_id)
    assert (code, err, bool(out)) == (0, "", True)

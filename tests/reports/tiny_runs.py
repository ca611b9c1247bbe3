"""Builders of tiny run folders for the tests of reports, written as the store writes them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from evaluator.core.cell import Cell
from evaluator.core.journal import JudgeIdentity, Verdict, VerdictWord
from evaluator.core.messages import Usage
from evaluator.core.outcome import Answered, Outcome
from evaluator.core.settings import experiment_of
from evaluator.core.trajectory import Decision, Fired, Ruled, Searched, Step, Trajectory, WasRead
from evaluator.store.manifest import ExpectedCell, Manifest, write_manifest
from index_builder.records import Hit
from judges.prompts import prompt_sha256

JUDGE = JudgeIdentity("primary", "judge", prompt_sha256())
GATES: Mapping[str, Mapping[str, object]] = {
    "off": {},
    "gate": {"mode": "enforce"},
    "inject": {"mode": "enforce", "inject": "user"},
}


def settings_of(
    conditions: Mapping[str, str],
    pairs: Sequence[Mapping[str, str]] = (),
    *,
    datasets: Sequence[str] = ("alpha",),
    real: Sequence[str] = (),
    repeats: Mapping[str, int] | None = None,
    provider: str = "scripted",
) -> dict[str, object]:
    """The resolved settings of an experiment: conditions by name with the name of their gate."""
    model = {"provider": provider, "model": "hasty"}
    tree = {
        "name": "tiny",
        "seed": 7,
        "dataset": [{"name": name, "bundle": f"bundles/{name}", "real": name in real} for name in datasets],
        "condition": [
            {"name": name, "controller": "c", "gate": GATES[gate], "repeat": (repeats or {}).get(name, 1)}
            for name, gate in conditions.items()
        ],
        "pair": list(pairs),
        "controller": {"c": model},
        "judge": {"primary": {"provider": provider, "model": "judge"}},
    }
    return experiment_of(tree, "test").model_dump(mode="json")


def manifest_of(settings: Mapping[str, object], expected: int | Mapping[Cell, int]) -> Manifest:
    """A manifest that expects so many trajectories of each cell."""
    experiment = experiment_of(settings, "test")
    cells = [Cell(d.name, c.name) for d in experiment.dataset for c in experiment.condition]
    counts = {cell: expected if isinstance(expected, int) else expected[cell] for cell in cells}
    return Manifest(
        code_version="0",
        expected=tuple(ExpectedCell(cell.dataset, cell.condition, n) for cell, n in counts.items()),
        settings=settings,
        bundle_hashes={},
        wording_sha256="w",
        prices={},
        models={},
        deviations={},
        started_at="2026-01-01T00:00:00Z",
        ended_at=None,
    )


def trajectory_of(
    condition: str,
    question: str,
    *,
    steps: Sequence[Step] = (),
    outcome: Outcome | None = None,
    dataset: str = "alpha",
    gold: tuple[str, ...] | None = ("g",),
    searches: int = 1,
    reads: int = 0,
    answers: tuple[str, ...] = ("Vellmar",),
    turns: int = 3,
    corrections: int = 0,
    started_at: str = "2026-01-01T00:00:00Z",
) -> Trajectory:
    """A trajectory; by default it searched once, read nothing and answered "Vellmar"."""
    return Trajectory(
        trajectory_id=f"{dataset}/{condition}/{question}",
        cell=Cell(dataset, condition),
        question_id=question,
        question="Where was she born?",
        answers=answers,
        gold_chunks=gold,
        steps=tuple(steps),
        outcome=outcome or Answered("Vellmar"),
        search_count=searches,
        read_count=reads,
        turns=turns,
        corrections=corrections,
        retrieved_tokens=100,
        usage=Usage(),
        cost_usd=0.0,
        started_at=started_at,
        seconds=2.0,
    )


def verdict_of(
    trajectory: Trajectory, word: VerdictWord, *, answer: str | None = None, judge: JudgeIdentity = JUDGE
) -> Verdict:
    """A verdict on the trajectory's answer, or on one of its rejected answers."""
    final = trajectory.outcome.answer if isinstance(trajectory.outcome, Answered) else ""
    return Verdict(
        trajectory_id=trajectory.trajectory_id,
        answer=final if answer is None else answer,
        judge=judge,
        verdict=word,
        contain_substring=word == "correct",
        contain_token=word == "correct",
        raw=word,
        cost_usd=0.0,
        role="final" if answer is None else "rejected",
    )


def searched(turn: int, *hits: tuple[str, str]) -> Searched:
    """A search that showed chunks, each with its snippet."""
    shown = tuple(Hit(chunk, rank, 0.5, "Title", text) for rank, (chunk, text) in enumerate(hits, start=1))
    return Searched(turn, f"s{turn}", "query", shown)


def was_read(turn: int, chunk: str, text: str = "Nothing of note.") -> WasRead:
    """A first read of a chunk."""
    return WasRead(turn, f"r{turn}", chunk, found=True, new=True, title="Title", text=text, tokens=4)


def ruled(
    turn: int, answer: str = "Vellmar", decision: Decision = "accepted", *, fired: bool = False
) -> Ruled:
    """A ruling on a final."""
    return Ruled(turn, answer, Fired(fired, None, None), decision, blind=False, observation="")


def write_lines(path: Path, records: Iterable[object]) -> None:
    """A file of JSON lines."""
    path.write_bytes(b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records))


def write_run(
    folder: Path,
    settings: Mapping[str, object],
    *,
    expected: int | Mapping[Cell, int],
    trajectories: Iterable[Trajectory] = (),
    verdicts: Iterable[Verdict] = (),
    calls: Iterable[object] = (),
) -> Path:
    """Write a run folder and return it."""
    folder.mkdir(parents=True)
    write_manifest(folder, manifest_of(settings, expected))
    write_lines(folder / "trajectories.jsonl", trajectories)
    write_lines(folder / "verdicts.jsonl", verdicts)
    write_lines(folder / "calls.jsonl", calls)
    return folder

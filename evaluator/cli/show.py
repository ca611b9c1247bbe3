"""``readgate show``: prints one trajectory so that a person can read what happened, turn by turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.text import Text

from evaluator.cli.main import printable
from evaluator.core.errors import InputError
from evaluator.core.journal import Verdict
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
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
from evaluator.store.run_folder import RunFolder

LISTED = 5
NARROWEST = 20
WORDS = {True: "fires", False: "no", None: "cannot tell"}


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph of what is printed."""

    text: str
    indent: int = 0
    style: str = ""


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("trajectory_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def command(run: Path, trajectory_id: str, *, as_json: bool) -> None:
    """Print the trajectory ID of the run folder RUN; the first characters of its id are enough."""
    folder = RunFolder.open(run)
    trajectory = find(folder, trajectory_id)
    if as_json:
        click.echo(orjson.dumps(trajectory, option=orjson.OPT_INDENT_2).decode())
        return
    verdicts = [verdict for verdict in folder.verdicts() if verdict.trajectory_id == trajectory.trajectory_id]
    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, NARROWEST)
    for line in lines_of(trajectory, verdicts):
        for part in Text(printable(line.text), style=line.style).wrap(console, console.width - line.indent):
            part.rstrip()
            console.print(Text(" " * line.indent).append_text(part) if part else "")


def find(folder: RunFolder, start_of_id: str) -> Trajectory:
    """The one trajectory whose id begins so; InputError when there is none or more than one."""
    found = [each for each in folder.trajectories() if each.trajectory_id.startswith(start_of_id)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"no trajectory of {folder.path} has an id that begins with {start_of_id!r}")
    some = ", ".join(each.trajectory_id for each in found[:LISTED])
    raise InputError(f"{len(found)} trajectories of {folder.path} begin with {start_of_id!r}, such as {some}")


def lines_of(trajectory: Trajectory, verdicts: Sequence[Verdict]) -> Iterator[Line]:
    """The whole story: what was asked, how it ended, and every step in between."""
    cell = trajectory.cell
    yield Line(f"{cell.dataset} · {cell.condition} · {trajectory.trajectory_id}", style="bold")
    yield Line(f"question  {trajectory.question}  ({trajectory.question_id})")
    yield Line(f"gold      {' | '.join(trajectory.answers)}")
    if trajectory.gold_chunks is not None:
        yield Line(f"in        {', '.join(trajectory.gold_chunks) or 'no chunk'}")
    yield Line(f"outcome   {_ending(trajectory.outcome)}", style="bold")
    for verdict in verdicts:
        of = "the first rejected answer" if verdict.role == "rejected" else "the answer"
        judge = f"{verdict.judge.name} ({verdict.judge.model})"
        yield Line(f"verdict   {of} {verdict.answer!r} is {verdict.verdict}, says {judge}")
    yield Line(f"counts    {_counts(trajectory)}")
    gold = frozenset(trajectory.gold_chunks or ())
    turn = 0
    for step in trajectory.steps:
        if step.turn != turn:
            turn = step.turn
            yield Line("")
            yield Line(f"turn {turn}", style="bold underline")
        yield from _step(step, gold)


def _step(step: Step, gold: frozenset[str]) -> Iterator[Line]:
    match step:
        case Asked():
            yield from _asked(step)
        case Searched(query=query, hits=hits):
            yield Line(f"search   {query!r}: {len(hits)} results", 2, "cyan")
            for hit in hits:
                yield Line(f"{hit.rank}. {_named(hit.chunk_id, hit.title, gold)}", 11)
                yield Line(hit.snippet, 14, "dim")
        case WasRead():
            yield from _was_read(step, gold)
        case Ruled():
            yield Line(f"final    {step.answer!r} is {step.decision}", 2, "magenta")
            blind = "; the same reply searched or read, which was no evidence for it" if step.blind else ""
            yield Line(f"rules: {_rules(step.fired)}{blind}", 11)
            yield from _told(step.observation)
        case Injected(chunk_id=chunk_id, role=role, text=text):
            yield Line(f"injected {chunk_id} in the {role} role", 2, "magenta")
            yield Line(text, 11, "dim")
        case Malformed(problem=problem, observation=observation):
            yield Line(f"unusable {problem}", 2, "red")
            yield from _told(observation)


def _asked(step: Asked) -> Iterator[Line]:
    usage = step.usage
    cost = "cost unknown" if step.cost_usd is None else f"${step.cost_usd:.6f}"
    figures = f"{usage.input_tokens} tokens in, {usage.output_tokens} out, {cost}, {step.latency_s:.2f} s"
    yield Line(f"model    {step.returned_model} ({figures})", 2, "green")
    if step.text:
        yield Line(step.text, 11)
    for call in step.tool_calls:
        arguments = (
            call.arguments if isinstance(call.arguments, str) else orjson.dumps(call.arguments).decode()
        )
        yield Line(f"calls {call.name} {arguments}", 11)


def _was_read(step: WasRead, gold: frozenset[str]) -> Iterator[Line]:
    what = f"{step.tokens} tokens" if step.new else "already read" if step.found else "there is no such chunk"
    yield Line(f"read     {_named(step.chunk_id, step.title, gold)}: {what}", 2, "cyan")
    if step.new:
        yield Line(step.text, 11, "dim")


def _told(observation: str) -> Iterator[Line]:
    if observation:
        yield Line(f"the model is told: {observation}", 11)


def _named(chunk_id: str, title: str, gold: frozenset[str]) -> str:
    return f"{title + ' ' if title else ''}[{chunk_id}]{' (gold)' if chunk_id in gold else ''}"


def _rules(fired: Fired) -> str:
    return (
        f"read {WORDS[fired.read]}, snippet {WORDS[fired.snippet]}, low_evidence {WORDS[fired.low_evidence]}"
    )


def _ending(outcome: Outcome) -> str:
    match outcome:
        case Answered(answer=answer, forced=forced):
            return f"answered {answer!r}{', forced by a limit' if forced else ''}"
        case Abstained(reason=reason):
            return f"abstained: {reason}"
        case Failed(boundary=boundary, detail=detail):
            return f"failed at the {boundary}: {detail}"


def _counts(trajectory: Trajectory) -> str:
    cost = "unknown cost" if trajectory.cost_usd is None else f"${trajectory.cost_usd:.6f}"
    return (
        f"{trajectory.turns} turns; before the answer {trajectory.search_count} searches, "
        f"{trajectory.read_count} reads; {trajectory.corrections} corrections, "
        f"{trajectory.retrieved_tokens} retrieved tokens, {cost}, {trajectory.seconds:.2f} s"
    )

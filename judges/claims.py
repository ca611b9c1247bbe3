"""What is to be judged, and what still is: the claims of trajectories, grouped by what is the same.

Within a run, claims of one question, one gold and one normalised answer get one verdict in all arms,
so that a judge's noise cannot look like a difference between them.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from evaluator.core.cell import Cell
from evaluator.core.journal import AnswerRole, JudgeIdentity, Verdict
from evaluator.core.outcome import Answered, Failed
from evaluator.core.trajectory import Ruled, Trajectory
from evaluator.evidence.normalise import normalise_answer


@dataclass(frozen=True, slots=True)
class Claim:
    """One answer of one trajectory: its final one, or the first that a gate rejected."""

    trajectory_id: str
    cell: Cell
    question: str
    answers: tuple[str, ...]
    answer: str
    role: AnswerRole

    @property
    def sameness(self) -> Hashable:
        """Equal for claims that get one verdict."""
        normalised = normalise_answer(self.answer) or normalise_answer(self.answer, drop_articles=False)
        return self.question, self.answers, normalised or self.answer.strip()


@dataclass(frozen=True, slots=True)
class Owed:
    """Claims that are the same and lack a verdict of one judge.

    Attributes:
        claims: The first is the one to be judged; its verdict goes to all.
        known: The verdict that a claim of the same kind has already; then nobody is asked.
        passes: How often the judge was asked and no clear verdict came.
    """

    judge: JudgeIdentity
    claims: tuple[Claim, ...]
    known: Verdict | None
    passes: int = 0


def claims_of(trajectory: Trajectory) -> Iterator[Claim]:
    """The answers of a trajectory that want a verdict; an abstention wants none for its end."""

    def claim(answer: str, role: AnswerRole) -> Claim:
        return Claim(
            trajectory.trajectory_id, trajectory.cell, trajectory.question, trajectory.answers, answer, role
        )

    if isinstance(trajectory.outcome, Failed):
        return
    if isinstance(trajectory.outcome, Answered):
        yield claim(trajectory.outcome.answer, "final")
    rejected = (
        step.answer
        for step in trajectory.steps
        if isinstance(step, Ruled) and step.decision in {"rejected", "injected"}
    )
    for answer in rejected:
        yield claim(answer, "rejected")
        return


def owed_verdicts(
    claims: Iterable[Claim], verdicts: Iterable[Verdict], judges: Iterable[JudgeIdentity]
) -> list[Owed]:
    """The groups of claims that lack a verdict, judge by judge, in the order of their first claims.

    A claim has one when the same judge has called the same answer of the same trajectory correct or
    incorrect; a line that says ``unjudged``, or is of an answer since replaced, is none.

    Args:
        claims: Of all trajectories.
        verdicts: All lines so far; of several, the later counts.
        judges: Whose verdicts are wanted.
    """
    given: dict[Hashable, Verdict] = {}
    passes = Counter[Hashable]()
    for line in verdicts:
        key = line.judge, line.trajectory_id, line.role, line.answer
        if line.verdict == "unjudged":
            passes[key] += 1
        else:
            given[key] = line
    groups: dict[Hashable, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.sameness, []).append(claim)
    owed: list[Owed] = []
    for judge in judges:
        for group in groups.values():
            keys = [(judge, claim.trajectory_id, claim.role, claim.answer) for claim in group]
            lines = [given.get(key) for key in keys]
            missing = [claim for claim, line in zip(group, lines, strict=True) if line is None]
            if missing:
                # The order of a file is luck: the shortest wording is the one judged, whoever came first.
                missing.sort(key=lambda claim: (len(claim.answer), claim.answer, claim.trajectory_id))
                known = next((line for line in lines if line is not None), None)
                owed.append(Owed(judge, tuple(missing), known, max(passes[key] for key in keys)))
    return owed

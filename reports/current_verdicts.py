"""Which verdict counts for an answer: the primary judge's, on exactly that answer.

Verdicts of other judges, of another model or prompt under the same name, and on answers that a
trajectory no longer has, are left aside without a word: they are history, not errors.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evaluator.core.journal import AnswerRole, JudgeIdentity, Verdict
from evaluator.core.settings import Experiment
from judges.prompts import prompt_sha256


@dataclass(frozen=True, slots=True)
class CurrentVerdicts:
    """The verdicts of the primary judge, by trajectory and role."""

    judge: JudgeIdentity | None
    lines: dict[tuple[str, AnswerRole, str], Verdict]

    def on(self, trajectory_id: str, answer: str, role: AnswerRole = "final") -> Verdict | None:
        """The verdict on this very answer; a final and a rejected answer that are equal share theirs."""
        other: AnswerRole = "rejected" if role == "final" else "final"
        return self.lines.get((trajectory_id, role, answer)) or self.lines.get((trajectory_id, other, answer))


def current_verdicts(lines: Iterable[Verdict], experiment: Experiment) -> CurrentVerdicts:
    """Choose the lines that count.

    Of several lines on one answer a verdict beats ``unjudged``, then the later line counts. Of several
    prompts of the primary judge this version's counts, or, in a folder that an older version judged,
    the one with the most lines.
    """
    name = next(iter(experiment.judge), None)
    if name is None:
        return CurrentVerdicts(None, {})
    model = experiment.judge[name].model
    ours = [replace(line, raw="") for line in lines if (line.judge.name, line.judge.model) == (name, model)]
    judge = JudgeIdentity(name, model, _prompt(Counter(line.judge.prompt_sha256 for line in ours)))
    chosen: dict[tuple[str, AnswerRole, str], Verdict] = {}
    for line in ours:
        key = line.trajectory_id, line.role, line.answer
        held = chosen.get(key)
        settles = held is None or held.verdict == "unjudged" or line.verdict != "unjudged"
        if line.judge == judge and settles:
            chosen[key] = line
    return CurrentVerdicts(judge, chosen)


def _prompt(lines: Counter[str]) -> str:
    ours = prompt_sha256()
    if ours in lines or not lines:
        return ours
    return max(sorted(lines), key=lines.__getitem__)

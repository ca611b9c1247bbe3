"""Judging a run folder: every answer by every judge of the experiment, resumable at any moment.

Reads the trajectories, asks the judges for what is owed, and appends to ``verdicts.jsonl``. What an
earlier pass left ``unjudged`` is owed again.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluator.core.cell import CallTag
from evaluator.core.journal import JudgeIdentity, Verdict
from evaluator.core.ports import Model, Sink
from evaluator.run.batch import Progress, run_batch
from evaluator.store.run_folder import RunFolder
from judges.claims import Claim, Owed, claims_of, owed_verdicts
from judges.contain import contain
from judges.llm_judge import Judged, judge
from judges.prompts import prompt_sha256


@dataclass(frozen=True, slots=True)
class JudgingSummary:
    """What a pass over a run folder did.

    Attributes:
        owed: Verdicts that were missing when it began.
        judged: Those it wrote as correct or incorrect.
        unjudged: Those it wrote as unjudged; the next pass asks again.
        interrupted: Whether someone asked it to stop before the end.
    """

    owed: int
    judged: int
    unjudged: int
    interrupted: bool


class _Lines:
    """A sink for the verdicts of one group; counts what it has written."""

    def __init__(self, log: Sink) -> None:
        self._log = log
        self.judged = 0
        self.unjudged = 0

    async def append(self, record: object) -> None:
        for verdict in record if isinstance(record, tuple) else ():
            await self._log.append(verdict)
            self.unjudged += verdict.verdict == "unjudged"
            self.judged += verdict.verdict != "unjudged"


async def judge_run(
    run: RunFolder,
    models: Mapping[str, Model],
    *,
    in_flight: int,
    progress: Progress[tuple[Verdict, ...]],
    stop: asyncio.Event,
) -> JudgingSummary:
    """Give every answer of a run that lacks one a verdict of each judge of its experiment.

    Args:
        run: The folder; this process becomes the one writer of its verdicts.
        models: The experiment's judges, built, by name.
        in_flight: Answers judged at a time.
        progress: Told of the verdicts of each group once they are written.
        stop: When set, no further answer is begun.

    Raises:
        RunFolderError: The folder is being judged by another process, or cannot be read or written.
        CapReachedError: The budget cannot hold the next call; what was judged is written.
    """
    with run.log("verdicts") as log:
        claims = (claim for trajectory in run.trajectories() for claim in claims_of(trajectory))
        owed = owed_verdicts(claims, run.verdicts(), judges_of(run))
        lines = _Lines(log)
        result = await run_batch(
            owed,
            lambda group: _judge_group(group, models[group.judge.name]),
            lines,
            in_flight=in_flight,
            progress=progress,
            stop=stop,
        )
    return JudgingSummary(
        owed=sum(len(group.claims) for group in owed),
        judged=lines.judged,
        unjudged=lines.unjudged,
        interrupted=result.interrupted,
    )


def judges_of(run: RunFolder) -> tuple[JudgeIdentity, ...]:
    """The judges of a run's experiment, the primary one first."""
    prompt = prompt_sha256()
    return tuple(
        JudgeIdentity(name, settings.model, prompt) for name, settings in run.experiment.judge.items()
    )


async def _judge_group(group: Owed, model: Model) -> tuple[Verdict, ...]:
    first = group.claims[0]
    if group.known is not None:
        judged = Judged(group.known.verdict, group.known.raw, 0.0)
    else:
        tag = CallTag("judge", first.cell, first.trajectory_id, group.judge.name, turn=1)
        judged = await judge(model, tag, first.question, first.answers, first.answer, passes=group.passes)
    return tuple(
        _verdict(claim, group.judge, judged if claim is first else replace(judged, cost_usd=0.0))
        for claim in group.claims
    )


def _verdict(claim: Claim, by: JudgeIdentity, judged: Judged) -> Verdict:
    return Verdict(
        trajectory_id=claim.trajectory_id,
        answer=claim.answer,
        judge=by,
        verdict=judged.verdict,
        contain_substring=contain(claim.answer, claim.answers) is True,
        contain_token=contain(claim.answer, claim.answers, boundary="token") is True,
        raw=judged.raw,
        cost_usd=judged.cost_usd,
        role=claim.role,
    )

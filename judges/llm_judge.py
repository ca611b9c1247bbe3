"""A judge that is a model: asked through the same port as an agent, and never guessed at.

A reply without a clear verdict is asked for again with a reminder, a few times; then the answer is
``unjudged``, which is neither right nor wrong and is owed again on the next run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluator.core.cell import CallTag
from evaluator.core.errors import EpisodeError, UnclearVerdictError
from evaluator.core.journal import VerdictWord
from evaluator.core.messages import ModelRequest
from evaluator.core.ports import Model
from judges.prompts import judge_messages
from judges.read_verdict import read_verdict

TRIES = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of judging one answer.

    Attributes:
        raw: The last reply as it came, "" when none did.
        cost_usd: Billed for all tries; None when that of any is unknown.
    """

    verdict: VerdictWord
    raw: str
    cost_usd: float | None


async def judge(
    model: Model,
    tag: CallTag,
    question: str,
    answers: Sequence[str],
    prediction: str,
    *,
    passes: int = 0,
    tries: int = TRIES,
) -> Judged:
    """Ask for the verdict on one answer.

    Args:
        model: The judge.
        tag: Whom its calls are for; ``turn`` becomes the number of the try.
        question: The question's text.
        answers: The gold answer first, then its aliases.
        prediction: The answer to grade.
        passes: How often all tries have left this answer unjudged before; their numbers are taken.
        tries: Replies that may be unclear before the answer is unjudged.

    Raises:
        CredentialError: And other errors that stop a whole run, CapReachedError among them.
    """
    raw = ""
    cost: float | None = 0.0
    for number in range(1, tries + 1):
        request = ModelRequest(judge_messages(question, answers, prediction, reminded=number > 1))
        try:
            reply = await model.ask(request, replace(tag, turn=passes * tries + number))
        except EpisodeError:
            # The layers below have retried already; what the attempts cost stands in the call journal.
            return Judged("unjudged", raw, None)
        raw = reply.text
        cost = None if cost is None or reply.cost_usd is None else cost + reply.cost_usd
        try:
            return Judged(read_verdict(raw), raw, cost)
        except UnclearVerdictError:
            continue
    return Judged("unjudged", raw, cost)

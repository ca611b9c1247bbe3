"""The model judge: retries on unclear replies, then gives up without a guess."""

import asyncio
from dataclasses import dataclass, field

import pytest

from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import CapReachedError, CredentialError, DeadlineError, ModelError
from evaluator.core.messages import ModelRequest, Reply
from judges.llm_judge import TRIES, Judged, judge
from judges.prompts import judge_messages

TAG = CallTag("judge", Cell("hotpotqa", "minimal"), "t1", "primary", turn=1)


@dataclass
class ScriptedModel:
    """Gives its replies, or raises its errors, one after the other."""

    replies: list[Reply | Exception]
    calls: list[tuple[ModelRequest, CallTag]] = field(default_factory=list)

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        self.calls.append((request, tag))
        reply = self.replies[len(self.calls) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply


def judged(*replies: Reply | Exception) -> tuple[Judged, ScriptedModel]:
    model = ScriptedModel(list(replies))
    return asyncio.run(judge(model, TAG, "Capital of France?", ("Paris", "Paname"), "Paris.")), model


def test_a_clear_reply_is_the_verdict_and_costs_one_call() -> None:
    result, model = judged(Reply("Correct.", cost_usd=0.25))
    assert result == Judged("correct", "Correct.", 0.25)
    ((request, tag),) = model.calls
    assert request.messages == judge_messages("Capital of France?", ("Paris", "Paname"), "Paris.")
    assert request.tools == ()
    assert tag == TAG


def test_an_unclear_reply_is_asked_again_with_a_reminder_and_all_tries_are_paid() -> None:
    result, model = judged(Reply("Hm.", cost_usd=0.25), Reply("incorrect", cost_usd=0.5))
    assert result == Judged("incorrect", "incorrect", 0.75)  # 0.25 + 0.5
    request, tag = model.calls[1]
    assert request.messages == judge_messages(
        "Capital of France?", ("Paris", "Paname"), "Paris.", reminded=True
    )
    assert tag.turn == 2


def test_after_the_last_unclear_reply_the_answer_is_unjudged() -> None:
    result, model = judged(*[Reply(f"Hm {number}.", cost_usd=0.5) for number in range(TRIES)])
    assert result == Judged("unjudged", f"Hm {TRIES - 1}.", 0.5 * TRIES)
    assert [tag.turn for _, tag in model.calls] == list(range(1, TRIES + 1))


def test_the_tries_of_a_later_pass_go_on_counting_and_begin_without_a_reminder() -> None:
    model = ScriptedModel([Reply("Hm."), Reply("correct")])
    asked = judge(model, TAG, "Capital of France?", ("Paris",), "Paris.", passes=2)
    assert asyncio.run(asked).verdict == "correct"
    assert [tag.turn for _, tag in model.calls] == [2 * TRIES + 1, 2 * TRIES + 2]
    assert model.calls[0][0].messages == judge_messages("Capital of France?", ("Paris",), "Paris.")


def test_an_empty_reply_is_unclear() -> None:
    result, _ = judged(Reply("", finish_reason="length"), Reply("correct"))
    assert result.verdict == "correct"


def test_one_try_of_unknown_cost_makes_the_whole_unknown() -> None:
    result, _ = judged(Reply("Hm.", cost_usd=None), Reply("correct", cost_usd=0.5))
    assert result == Judged("correct", "correct", None)


@pytest.mark.parametrize("error", [ModelError("no luck"), DeadlineError("too slow")])
def test_a_model_that_cannot_be_made_to_answer_leaves_the_answer_unjudged(error: Exception) -> None:
    assert judged(error)[0] == Judged("unjudged", "", None)
    assert judged(Reply("Hm."), error)[0] == Judged("unjudged", "Hm.", None)


@pytest.mark.parametrize("error", [CapReachedError("spent"), CredentialError("no key")])
def test_what_stops_a_run_passes(error: Exception) -> None:
    with pytest.raises(type(error)):
        judged(error)

"""Tests of the programs without HTTP."""

import asyncio

import pytest

from evaluator.agent.tools import TOOLS
from evaluator.controllers.scripted.in_process import InProcessModel
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import ModelError
from evaluator.core.messages import ModelRequest, UserMessage
from judges.prompts import judge_messages
from judges.read_verdict import read_verdict

TAG = CallTag(purpose="agent", cell=Cell("d", "c"), trajectory_id="t", judge="", turn=1)
ASKED = ModelRequest((UserMessage("Who directed the film Vell?"),), TOOLS, seed=1)


def test_a_program_answers_as_a_model_does_at_no_cost() -> None:
    reply = asyncio.run(InProcessModel("diligent").ask(ASKED, TAG))
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("search", {"query": "Who directed the film Vell?"})
    ]
    assert reply.cost_usd == 0.0
    assert reply.usage.input_tokens > 0
    assert reply.returned_model == "diligent"


def test_the_judge_is_a_program_like_the_others() -> None:
    request = ModelRequest(judge_messages("Who?", ["Ada Orr"], "It was Ada Orr."))
    assert read_verdict(InProcessModel("judge").reply(request).text) == "correct"


def test_a_program_that_does_not_exist_is_an_error_that_names_those_that_do() -> None:
    with pytest.raises(ModelError, match="no program 'lazy'; known: hasty, diligent, stubborn, judge"):
        InProcessModel("lazy").reply(ASKED)


def test_a_request_without_a_question_is_an_error() -> None:
    with pytest.raises(ModelError, match="no chat-completions request"):
        InProcessModel("hasty").reply(ModelRequest(()))

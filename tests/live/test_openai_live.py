"""One real call to OpenAI, where a key is set: the answer, its bill, and no key in the journal."""

import asyncio
import os
from dataclasses import replace
from random import Random

import pytest

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import PriceTable
from evaluator.controllers.fakes import FakeCalls
from evaluator.controllers.http_line import open_session
from evaluator.controllers.pressure import Pressures
from evaluator.controllers.providers import OPENAI_KEY
from evaluator.controllers.stack import build_model
from evaluator.core.messages import Reply, UserMessage
from evaluator.core.settings import ModelSettings, RateSettings
from evaluator.run.clocks import SystemClock
from tests.contract.whole_stack import REQUEST, MemoryJournal, tag

KEY = os.environ.get(OPENAI_KEY)


@pytest.mark.skipif(not KEY, reason=f"{OPENAI_KEY} is not set: no provider to talk to")
@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-5-mini"])
def test_a_real_model_calls_a_tool_and_bills_it(model: str) -> None:
    journal, ledger = MemoryJournal(), Ledger(0.05)

    async def scenario() -> Reply:
        clock = SystemClock()
        async with open_session(1) as session:
            built = build_model(
                ModelSettings(provider="openai_chat", model=model, max_output_tokens=2_000),
                pressures=Pressures(RateSettings(), clock),
                ledger=ledger,
                prices=PriceTable.load({}),
                journal=journal,
                finished=FakeCalls(),
                clock=clock,
                luck=Random(0),
                session=session,
                api_key=KEY,
                call_seconds=60,
            )
            question = (UserMessage("Call search with the query Louvre."),)
            return await built.ask(replace(REQUEST, messages=question, tool_choice="required"), tag())

    reply = asyncio.run(scenario())
    assert [call.name for call in reply.tool_calls] == ["search"]
    assert reply.cost_usd == ledger.committed > 0
    assert KEY is not None
    assert all(KEY.encode() not in line for line in journal.lines)

"""Two real turns with each provider whose key is set: the call, what goes back, its bill, no key kept."""

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
from evaluator.controllers.providers import key_variable
from evaluator.controllers.stack import build_model
from evaluator.core.messages import AssistantMessage, Reply, ToolMessage, UserMessage
from evaluator.core.settings import ModelSettings, RateSettings
from evaluator.run.clocks import SystemClock
from tests.contract.whole_stack import REQUEST, MemoryJournal, tag

MODELS = [
    ModelSettings.model_validate({"provider": provider, "model": model, "max_output_tokens": 2_000})
    for provider, model in (
        ("openai_chat", "gpt-4o-mini"),
        ("openai_chat", "gpt-5-mini"),
        ("openai_responses", "gpt-4o-mini"),
        ("openai_responses", "gpt-5-mini"),
        ("gemini", "gemini-2.5-flash"),
    )
]


@pytest.mark.parametrize("settings", MODELS, ids=lambda settings: f"{settings.provider} {settings.model}")
def test_a_real_model_calls_a_tool_takes_its_result_and_bills_both(settings: ModelSettings) -> None:
    variable = key_variable(settings) or ""
    key = os.environ.get(variable)
    if not key:
        pytest.skip(f"{variable} is not set: no provider to talk to")
    journal, ledger = MemoryJournal(), Ledger(0.05)

    async def scenario() -> tuple[Reply, Reply]:
        clock = SystemClock()
        async with open_session(1) as session:
            built = build_model(
                settings,
                pressures=Pressures(RateSettings(), clock),
                ledger=ledger,
                prices=PriceTable.load({}),
                journal=journal,
                finished=FakeCalls(),
                clock=clock,
                luck=Random(0),
                session=session,
                api_key=key,
                call_seconds=60,
            )
            question = UserMessage("Call search with the query Louvre, then say done.")
            asked = replace(REQUEST, messages=(question,), tool_choice="required")
            first = await built.ask(asked, tag(1))
            replayed = AssistantMessage(first.text, first.tool_calls, first.verbatim)
            results = [ToolMessage(call.id, call.name, "[]") for call in first.tool_calls]
            later = replace(REQUEST, messages=(question, replayed, *results), tool_choice="none")
            return first, await built.ask(later, tag(2))

    first, second = asyncio.run(scenario())
    assert {call.name for call in first.tool_calls} == {"search"}
    assert second.text
    assert first.cost_usd is not None
    assert second.cost_usd is not None
    assert ledger.committed == pytest.approx(first.cost_usd + second.cost_usd)
    assert ledger.committed > 0
    assert all(key.encode() not in line for line in journal.lines)

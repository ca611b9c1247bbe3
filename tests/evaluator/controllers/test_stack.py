"""The stack: what it is built from, in which order, and what it refuses before the first call."""

import asyncio
from random import Random

import pytest

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import FREE, PriceTable
from evaluator.controllers import stack
from evaluator.controllers.client import Client
from evaluator.controllers.fakes import FakeCalls
from evaluator.controllers.http_line import open_session
from evaluator.controllers.pressure import Pressures
from evaluator.core.errors import InputError
from evaluator.core.settings import ModelSettings, PriceSettings, RateSettings
from evaluator.run.clocks import InstantClock
from tests.contract import fault_server as server
from tests.contract.fault_server import FaultServer
from tests.contract.whole_stack import REQUEST, MemoryJournal, stack_to, tag

LOCAL = "http://127.0.0.1:8000/v1"


def _settings(**given: object) -> ModelSettings:
    return ModelSettings.model_validate({"provider": "openai_chat", "model": "gpt-4o-mini", **given})


def _build(
    settings: ModelSettings,
    *,
    api_key: str | None = None,
    cap_usd: float | None = None,
    prices: PriceTable | None = None,
) -> Client:
    async def scenario() -> Client:
        clock = InstantClock()
        async with open_session(1) as session:
            return stack.build_model(
                settings,
                pressures=Pressures(RateSettings(), clock),
                ledger=Ledger(cap_usd),
                prices=prices or PriceTable.load({}),
                journal=MemoryJournal(),
                finished=FakeCalls(),
                clock=clock,
                luck=Random(0),
                session=session,
                api_key=api_key,
                call_seconds=1,
            )

    return asyncio.run(scenario())


def test_a_model_without_a_price_cannot_run_under_a_cap() -> None:
    unknown = _settings(model="mystery", base_url=LOCAL)
    with pytest.raises(InputError, match=r'\[prices\."mystery"\]'):
        _build(unknown, cap_usd=1.0)
    _build(unknown)
    _build(unknown, cap_usd=1.0, prices=PriceTable.load({"mystery": PriceSettings(input=1, output=1)}))
    _build(_settings(provider="scripted", model="hasty", base_url=LOCAL), cap_usd=1.0)


def test_scripted_models_cost_nothing_whatever_they_are_called() -> None:
    table = PriceTable.load({})
    assert stack.price_of(_settings(provider="scripted"), table) == FREE
    assert stack.price_of(_settings(), table) == table.price("gpt-4o-mini")
    assert stack.price_of(_settings(model="mystery"), table) is None


def test_the_call_goes_to_the_chat_endpoint_below_the_address_with_the_key_or_without() -> None:
    async def scenario() -> list[tuple[str, str]]:
        seen: list[tuple[str, str]] = []
        async with FaultServer(server.in_turn(server.response(200, server.completion()))) as provider:
            for url, given in (
                (provider.url, {}),
                (f"{provider.url}/", {}),
                (provider.url, {"api_key_env": None}),
            ):
                async with stack_to(url, settings=given) as built:
                    await built.model.ask(REQUEST, tag())
                last = provider.received[-1]
                seen.append((last.path, last.headers.get("authorization", "").partition(" ")[0]))
        return seen

    path = "/v1/chat/completions"
    assert asyncio.run(scenario()) == [(path, "Bearer"), (path, "Bearer"), (path, "")]


def test_a_scripted_model_may_answer_under_any_name_at_no_cost() -> None:
    async def scenario() -> float | None:
        answer = server.response(200, server.completion(model="a-program"))
        settings = {"provider": "scripted", "model": "hasty", "api_key_env": None}
        async with (
            FaultServer(server.in_turn(answer)) as provider,
            stack_to(provider.url, settings=settings, cap_usd=0.01) as built,
        ):
            reply = await built.model.ask(REQUEST, tag())
            assert b'"seed":7' in provider.received[0].body
            return reply.cost_usd

    assert asyncio.run(scenario()) == 0.0


def test_one_pace_holds_for_all_models_of_a_run() -> None:
    async def scenario() -> float:
        clock = InstantClock()
        answer = server.response(200, server.completion())
        rate = RateSettings(tokens_per_minute=600)
        async with FaultServer(server.in_turn(answer)) as provider, open_session(2) as session:
            pressures = Pressures(rate, clock)
            models = [
                stack.build_model(
                    _settings(base_url=provider.url),
                    pressures=pressures,
                    ledger=Ledger(None),
                    prices=PriceTable.load({}),
                    journal=MemoryJournal(),
                    finished=FakeCalls(),
                    clock=clock,
                    luck=Random(0),
                    session=session,
                    api_key=None,
                    call_seconds=10,
                )
                for _ in range(2)
            ]
            for model in models:
                await model.ask(REQUEST, tag())
        return clock.monotonic()

    # The first call used 110 of 600 tokens a minute, ten times what the bucket holds: the second waits.
    assert asyncio.run(scenario()) > 5

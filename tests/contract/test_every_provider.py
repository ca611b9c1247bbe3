"""What holds for every provider before a real server: where the key goes, what is billed, what resumes."""

import asyncio
from dataclasses import replace

import orjson
import pytest

from evaluator.controllers.fakes import FakeCalls
from evaluator.core.errors import DriftError, InputError, ModelError
from evaluator.core.messages import AssistantMessage, Message, Reply, ToolMessage, UserMessage
from tests.contract import fault_server as server
from tests.contract.dialects import DIALECTS, Call, Dialect, Said
from tests.contract.fault_server import Answer, FaultServer
from tests.contract.whole_stack import CANARY, REQUEST, MemoryJournal, Stack, stack_to, tag

# 60 fresh tokens × 0.15/M + 40 cached × 0.075/M + 50 of output, 30 of them thoughts, × 0.60/M
COST = 0.000042
SAID = Said("I look.", (Call("search", '{"query": "x"}', "a"), Call("read", '{"chunk_id": "c"}', None)))


@pytest.fixture(params=list(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Each provider in turn."""
    return DIALECTS[request.param]


def _ask(
    dialect: Dialect, journal: MemoryJournal, *answers: Answer
) -> tuple[list[Reply], Stack, FaultServer]:
    """Two turns: what was said to the first goes back with the second."""

    async def scenario() -> tuple[list[Reply], Stack, FaultServer]:
        settings = {"provider": dialect.provider}
        finished = FakeCalls(journal.calls)
        async with (
            FaultServer(server.in_turn(*answers)) as provider,
            stack_to(provider.url, settings=settings, finished=finished, cap_usd=1.0) as stack,
        ):
            first = await stack.model.ask(REQUEST, tag(1))
            results = (ToolMessage(call.id, call.name, "[]") for call in first.tool_calls)
            replayed = AssistantMessage(first.text, first.tool_calls, first.verbatim)
            messages: tuple[Message, ...] = (UserMessage("q"), replayed, *results)
            second = await stack.model.ask(replace(REQUEST, messages=messages), tag(2))
            return [first, second], stack, provider

    return asyncio.run(scenario())


def _good(dialect: Dialect, said: Said = SAID) -> Answer:
    return server.response(200, dialect.body(said))


def test_the_key_is_in_one_header_and_in_nothing_that_is_kept(dialect: Dialect) -> None:
    said = replace(SAID, text=f"your key is {CANARY}")
    replies, stack, provider = _ask(dialect, MemoryJournal(), _good(dialect, said))
    for request in provider.received:
        assert [name for name, value in request.headers.items() if CANARY in value] == [
            "x-goog-api-key" if dialect.provider == "gemini" else "authorization"
        ]
        assert CANARY not in request.path + request.body.decode()
    assert CANARY not in repr(replies)
    assert all(CANARY.encode() not in line for line in stack.journal.lines)


def test_cached_reasoning_and_thought_tokens_are_billed_once(dialect: Dialect) -> None:
    replies, stack, _ = _ask(dialect, MemoryJournal(), _good(dialect))
    assert [reply.cost_usd for reply in replies] == [COST, COST]
    assert stack.ledger.committed == 2 * COST
    assert stack.ledger.reserved == 0.0


def test_finished_calls_are_given_again_to_the_byte_also_what_only_the_provider_reads(
    dialect: Dialect,
) -> None:
    replies, stack, _ = _ask(dialect, MemoryJournal(), _good(dialect))
    again, resumed, provider = _ask(dialect, stack.journal, server.error(500))
    assert again == replies
    assert (provider.received, resumed.journal.lines) == ([], [])
    if dialect.provider != "openai_chat":
        assert again[0].verbatim is not None


def test_what_passes_is_made_again(dialect: Dialect) -> None:
    faults = (server.error(429), server.error(503), server.GARBAGE, server.RESET)
    replies, stack, provider = _ask(dialect, MemoryJournal(), *faults, _good(dialect))
    assert [reply.text for reply in replies] == ["I look.", "I look."]
    assert len(provider.received) == len(stack.journal.returned) == 6


def test_a_blocked_prompt_fails_its_episode_after_one_attempt(dialect: Dialect) -> None:
    status, body = dialect.blocked
    with pytest.raises(ModelError, match="refused this call"):
        _ask(dialect, MemoryJournal(), server.response(status, body), _good(dialect))


def test_another_model_stops_the_cell(dialect: Dialect) -> None:
    with pytest.raises(DriftError, match="gpt-4o-mini was asked and gpt-5-nano answered"):
        _ask(dialect, MemoryJournal(), _good(dialect, replace(SAID, model="gpt-5-nano")))


def test_an_unknown_model_stops_the_run(dialect: Dialect) -> None:
    with pytest.raises(InputError, match="refuses every call"):
        _ask(dialect, MemoryJournal(), server.error(404))


@pytest.mark.parametrize("status", [429, 503])
def test_gemini_waits_as_long_as_its_error_says(status: int) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "40s"}]
    error = {"status": "RESOURCE_EXHAUSTED", "details": details}
    busy = server.response(status, orjson.dumps({"error": error}))
    dialect = DIALECTS["gemini"]
    _, stack, provider = _ask(dialect, MemoryJournal(), busy, _good(dialect))
    assert 40 <= stack.clock.monotonic() <= 41
    assert len(provider.received) == 3

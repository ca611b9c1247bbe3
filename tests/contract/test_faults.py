"""The whole stack against a server that misbehaves: what is repeated, what is refused, what it costs."""

import asyncio
import traceback
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime

import orjson
import pytest

from evaluator.core.errors import (
    CapReachedError,
    CredentialError,
    DeadlineError,
    DriftError,
    InputError,
    ModelError,
    ReadGateError,
)
from evaluator.core.messages import Reply, UserMessage
from evaluator.core.ports import Clock
from evaluator.core.settings import RateSettings
from evaluator.run.clocks import START, SystemClock
from tests.contract import fault_server as server
from tests.contract.fault_server import Answer, Behaviour, FaultServer, Received
from tests.contract.whole_stack import CANARY, KEY_VARIABLE, REQUEST, Stack, stack_to, tag

GOOD = server.response(200, server.completion("Paris"))
# 100 prompt tokens × 0.15/M + 10 completion tokens × 0.60/M
GOOD_COST = 0.000021

RETRYABLE = [
    server.error(408),
    server.error(409),
    server.error(429),
    server.error(429, {"Retry-After": "1"}),
    server.error(500),
    server.error(503),
    server.error(529),
    server.response(500, server.HTML, {"Content-Type": "text/html"}, name="500 html"),
    server.response(502, server.HTML, {"Content-Type": "text/html"}, name="502 html"),
    server.response(200, server.HTML, {"Content-Type": "text/html"}, name="200 html"),
    server.response(200, b"", name="200 empty"),
    server.response(200, b"null", name="200 null"),
    server.response(200, b'{"choices": []}', name="200 without choices"),
    server.response(200, b'{"error": {"message": "overloaded", "code": 502}}', name="200 with an error"),
    server.response(200, server.completion()[:-9], name="200 with half a JSON"),
    server.GARBAGE,
    server.TRUNCATED,
    server.RESET,
    server.CLOSED,
    server.NO_HTTP,
]


def _ask(
    behaviour: Behaviour,
    *,
    cap_usd: float | None = None,
    call_seconds: float = 120.0,
    clock: Clock | None = None,
) -> tuple[Reply | ReadGateError, Stack, FaultServer]:
    """One call: its reply or its error, and what was recorded."""

    async def scenario() -> tuple[Reply | ReadGateError, Stack, FaultServer]:
        async with (
            FaultServer(behaviour) as faulty,
            stack_to(faulty.url, cap_usd=cap_usd, call_seconds=call_seconds, clock=clock) as stack,
        ):
            try:
                return await stack.model.ask(REQUEST, tag()), stack, faulty
            except ReadGateError as error:
                return error, stack, faulty

    return asyncio.run(scenario())


@pytest.mark.parametrize("fault", RETRYABLE, ids=lambda fault: fault.name)
def test_a_passing_fault_changes_no_reply(fault: Answer) -> None:
    reply, stack, faulty = _ask(server.in_turn(fault, fault, GOOD))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.cost_usd) == ("Paris", GOOD_COST)
    assert len(faulty.received) == 3
    assert {request.body for request in faulty.received} == {faulty.received[0].body}
    assert [call.kind for call in stack.journal.calls] == ["sent", "returned"] * 3


@pytest.mark.parametrize("fault", RETRYABLE, ids=lambda fault: fault.name)
def test_a_lasting_fault_fails_the_episode_and_is_told_in_one_sentence(fault: Answer) -> None:
    error, stack, _ = _ask(server.in_turn(fault), call_seconds=1e6)
    assert isinstance(error, ModelError)
    assert str(error).startswith("gpt-4o-mini could not be made to answer: ")
    assert len(stack.journal.returned) == 12


@pytest.mark.parametrize(
    ("refusal", "expected", "words"),
    [
        (server.error(400), ModelError, "refused this call: HTTP 400"),
        (server.error(400, code="context_length_exceeded", param="messages"), ModelError, "HTTP 400"),
        (server.error(413), ModelError, "HTTP 413"),
        (server.error(422), ModelError, "HTTP 422"),
        (server.error(400, code="unsupported_value", param="temperature"), InputError, "every call"),
        (server.error(400, code="unknown_parameter", param="seeds"), InputError, "every call"),
        (server.error(400, param="tools[0].function.parameters"), InputError, "every call"),
        (server.error(401, code="invalid_api_key"), CredentialError, KEY_VARIABLE),
        (server.error(403), CredentialError, KEY_VARIABLE),
        (server.error(404, code="model_not_found"), InputError, "every call"),
        (server.error(404), InputError, "every call"),
        (server.error(429, code="insufficient_quota"), InputError, "made-up error 429"),
        (server.error(429, type="insufficient_quota"), InputError, "made-up error 429"),
        (server.response(200, b'{"error": {"code": "insufficient_quota"}}'), InputError, "HTTP 200"),
        (server.response(307, b"", {"Location": "http://127.0.0.1:9/"}), InputError, "HTTP 307"),
    ],
    ids=lambda value: value.name if isinstance(value, Answer) else "",
)
def test_a_refusal_is_never_repeated(refusal: Answer, expected: type[Exception], words: str) -> None:
    error, stack, faulty = _ask(server.in_turn(refusal, GOOD))
    assert type(error) is expected
    assert words in str(error)
    assert len(faulty.received) == 1
    assert stack.ledger.reserved == 0.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "30"}, 30.0),
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "Retry-After": "60"}, 1.5),
        ({"Retry-After": format_datetime(START + timedelta(seconds=45), usegmt=True)}, 45.0),
        ({"Retry-After": "soon"}, 0.0),
        ({}, 0.0),
    ],
    ids=str,
)
def test_the_wait_is_what_the_server_asks_for_and_a_little_luck(
    headers: dict[str, str], seconds: float
) -> None:
    _, stack, _ = _ask(server.in_turn(server.error(429, headers), GOOD))
    assert seconds <= stack.clock.monotonic() <= seconds + 0.25


def test_a_wait_beyond_the_deadline_ends_the_call_at_once() -> None:
    error, stack, faulty = _ask(server.in_turn(server.error(429, {"Retry-After": "121"}), GOOD))
    assert isinstance(error, DeadlineError)
    assert "no reply within 120 s (1 attempts); the last: HTTP 429" in str(error)
    assert (len(faulty.received), stack.clock.monotonic()) == (1, 0.0)


def test_the_deadline_includes_the_retries() -> None:
    slow = server.error(503, {"Retry-After": "50"})
    error, _, faulty = _ask(server.in_turn(slow))
    assert isinstance(error, DeadlineError)
    assert len(faulty.received) == 3  # at 0, 50 and 100 s; a fourth would be at 150 s


def test_a_server_that_hangs_ends_the_call_at_its_deadline() -> None:
    error, stack, _ = _ask(server.in_turn(server.HANG), clock=SystemClock(), call_seconds=0.05, cap_usd=1.0)
    assert isinstance(error, DeadlineError)
    (returned,) = stack.journal.returned
    assert (returned.status, returned.cost_usd, returned.error) == (
        0,
        None,
        "TimeoutError: no whole answer in time",
    )
    assert stack.ledger.reserved > 0  # it may have been billed


def test_an_unreachable_server_costs_nothing() -> None:
    async def scenario() -> Stack:
        async with FaultServer(server.in_turn(GOOD)) as gone:
            url = gone.url
        async with stack_to(url, cap_usd=1.0, call_seconds=1e9) as stack:
            with pytest.raises(ModelError, match="Cannot connect"):
                await stack.model.ask(REQUEST, tag())
            return stack

    stack = asyncio.run(scenario())
    assert (stack.ledger.committed, stack.ledger.reserved) == (0.0, 0.0)
    assert {call.cost_usd for call in stack.journal.returned} == {0.0}


@pytest.mark.parametrize(
    ("fault", "known"),
    [
        (server.error(429), True),
        (server.error(500), True),  # the provider itself says that it failed
        (server.response(502, server.HTML), False),
        (server.GARBAGE, False),
        (server.TRUNCATED, False),
        (server.RESET, False),
        (server.response(200, b'{"usage": {"prompt_tokens": 100, "completion_tokens": 10}}'), True),
    ],
    ids=lambda value: value.name if isinstance(value, Answer) else "",
)
def test_a_fault_whose_bill_is_unknown_keeps_its_reserve(fault: Answer, *, known: bool) -> None:
    _, stack, faulty = _ask(server.in_turn(fault, GOOD), cap_usd=1.0)
    # 16,384 tokens of reply at 0.60/M, and no prompt has more tokens than its body has bytes, at 0.15/M.
    worst = (16_384 * 600_000 + len(faulty.received[0].body) * 150_000) / 10**12
    assert stack.ledger.reserved == (0.0 if known else worst)
    costs = [call.cost_usd for call in stack.journal.returned]
    assert costs[1] == GOOD_COST
    assert (costs[0] is not None) is known
    assert stack.ledger.committed == sum(cost for cost in costs if cost is not None)


def test_the_cap_stops_before_the_call_that_it_cannot_hold() -> None:
    error, stack, faulty = _ask(server.in_turn(GOOD), cap_usd=0.009)  # a reply alone may cost 0.00983
    assert isinstance(error, CapReachedError)
    assert (faulty.received, stack.journal.lines) == ([], [])


def test_faults_on_one_request_in_five_change_no_reply() -> None:
    """3,600 calls at once through real sockets; every fault at least 200 times by the server's log."""
    faults = (server.error(429), server.response(500, server.HTML, name="500"), server.GARBAGE, server.RESET)

    def echo(request: Received) -> Answer:
        asked = orjson.loads(request.body)["messages"][-1]["content"]
        return server.response(200, server.completion(f"the answer to {asked}"), name="good")

    async def scenario() -> tuple[list[str], FaultServer, Stack]:
        behaviour = server.one_in_five(echo, faults, seed=11)
        async with (
            FaultServer(behaviour) as faulty,
            stack_to(faulty.url, call_seconds=1e9, cap_usd=1000.0, rate=RateSettings()) as stack,
        ):

            async def call(number: int) -> str:
                request = replace(REQUEST, messages=(UserMessage(f"question {number}"),))
                return (await stack.model.ask(request, tag(number))).text

            answers: list[str] = []
            for first in range(0, 3600, 90):
                answers += await asyncio.gather(*(call(number) for number in range(first, first + 90)))
            return answers, faulty, stack

    answers, faulty, stack = asyncio.run(scenario())
    assert answers == [f"the answer to question {number}" for number in range(3600)]
    assert all(faulty.log[fault.name] >= 200 for fault in faults)
    assert faulty.log["good"] == 3600
    # Every attempt the server saw is in the journal, and the ledger agrees with both.
    returned = stack.journal.returned
    assert sum(call.status == 200 and call.error is None for call in returned) == 3600
    assert len(returned) == len(faulty.received)
    assert stack.ledger.committed == round(3600 * GOOD_COST, 12)


def _echoes(key: str) -> list[Answer]:
    quoted = key.replace("/", r"\/")
    echo = {"X-Echo": f"Bearer {key}", "Retry-After": key, "x-ratelimit-reset-tokens": key}
    return [
        server.error(401, echo, code=key, type=key),
        server.response(401, f'{{"error": "Incorrect key {quoted}"}}'.encode()),
        server.response(400, f"Authorization: Bearer {key}".encode(), echo),
        server.response(404, orjson.dumps({"detail": {"headers": [key]}})),
        server.response(500, f"<html>{key}</html>".encode(), echo),
        server.response(200, f"\xff {key}".encode("latin-1"), echo),
        server.response(200, server.completion(key, model=key), echo),
        server.response(200, b"x", {"Content-Encoding": "gzip", **echo}),
        server.response(200, f"{key}".encode(), echo, missing=100),
        Answer("an echo as the status line", f"{key} {key} {key}\r\n{key}\r\n\r\n".encode(), "close"),
        Answer("an echo as a broken header", f"HTTP/1.1 200 OK\r\n{key}\r\n\r\n".encode(), "close"),
    ]


@pytest.mark.parametrize("echo", _echoes(CANARY), ids=range(11))
def test_a_key_that_the_server_echoes_stands_nowhere(
    echo: Answer, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    outcome, stack, faulty = _ask(server.in_turn(echo))
    assert faulty.received[0].headers["authorization"] == f"Bearer {CANARY}"
    told = [repr(outcome), *(line.decode() for line in stack.journal.lines), caplog.text, *capfd.readouterr()]
    if isinstance(outcome, Exception):
        told += traceback.format_exception(outcome)
        told += _chain(outcome)
    for spelling in (CANARY, CANARY.replace("/", r"\/")):
        assert all(spelling not in text for text in told)
    assert stack.journal.returned


def _chain(error: BaseException | None) -> list[str]:
    """The texts of an error and of everything it came from, shown in a traceback or not."""
    if error is None:
        return []
    return [repr(error), *_chain(error.__cause__), *_chain(error.__context__)]


def test_another_model_than_the_requested_one_stops_its_cell_and_is_billed_by_its_own_price() -> None:
    other = server.response(200, server.completion(model="gpt-5-mini"))
    error, stack, _ = _ask(server.in_turn(other), cap_usd=1.0)
    assert type(error) is DriftError
    assert "gpt-4o-mini was asked and gpt-5-mini answered" in str(error)
    # 100 × 0.25/M + 10 × 2.00/M
    assert stack.ledger.committed == 0.000045


def test_requests_a_minute_hold_for_retries_too() -> None:
    async def scenario() -> int:
        first = asyncio.Event()

        def failing(_: Received) -> Answer:
            first.set()
            return server.error(500)

        rate = RateSettings(requests_per_minute=1)
        async with FaultServer(failing) as faulty, stack_to(faulty.url, rate=rate) as stack:
            call = asyncio.create_task(stack.model.ask(REQUEST, tag()))
            await first.wait()
            for _ in range(200):
                await asyncio.sleep(0)
            assert stack.journal.returned
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            return len(faulty.received)

    assert asyncio.run(scenario()) == 1  # the retry waits for its minute

"""The HTTP client: what it sends, and that whatever happens is a raw reply without the key."""

import asyncio

import aiohttp
import pytest

from evaluator.controllers.http_line import HttpLine, open_session
from evaluator.controllers.line import Attempt, Bill, Deadline, RawReply
from evaluator.run.clocks import SystemClock
from tests.contract import fault_server as server
from tests.contract.fault_server import Answer, FaultServer, Received
from tests.contract.whole_stack import tag

KEY = "sk-canary/123456"
BODY = '{"q": "é"}'.encode()


def _bill(status: int, tree: object) -> Bill:
    return Bill(response_id=f"{status} {type(tree).__name__}")


def _line(session: aiohttp.ClientSession, url: str, clock: SystemClock, key: str | None = KEY) -> HttpLine:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return HttpLine(session, url, key=key, headers=headers, bill_of=_bill, clock=clock)


def _send(answer: Answer, *, key: str | None = KEY, seconds: float = 30.0) -> tuple[RawReply, Received]:
    async def scenario() -> tuple[RawReply, Received]:
        clock = SystemClock()
        async with FaultServer(server.in_turn(answer)) as provider, open_session(1) as session:
            line = _line(session, f"{provider.url}/x", clock, key)
            raw = await line.send(Attempt(BODY, tag(), "m", Deadline(clock, seconds)))
            return raw, provider.received[0]

    return asyncio.run(scenario())


def test_the_body_goes_out_as_it_is_with_the_key_in_one_header() -> None:
    _, received = _send(server.response(200, b"{}"))
    assert (received.path, received.body) == ("/v1/x", BODY)
    assert received.headers["content-type"] == "application/json"
    assert [name for name, value in received.headers.items() if KEY in value] == ["authorization"]


def test_without_a_key_there_is_no_authorization() -> None:
    assert "authorization" not in _send(server.response(200, b"{}"), key=None)[1].headers


@pytest.mark.parametrize(
    ("body", "tree", "is_json"),
    [
        (b'{"a": 1}', {"a": 1}, True),
        (b"null", None, True),
        (b'{"a": NaN}', {"a": "NaN"}, False),
        (b"<html>", None, False),
        (b"", None, False),
        (b"[" * 150 + b"]" * 150, None, False),
    ],
)
def test_a_response_is_its_bytes_its_tree_and_its_bill(body: bytes, tree: object, *, is_json: bool) -> None:
    raw, _ = _send(server.response(418, body))
    assert (raw.status, raw.body, raw.tree, raw.is_json) == (418, body, tree, is_json)
    assert raw.bill.response_id == f"418 {type(tree).__name__}"
    assert (raw.error, raw.latency_s > 0) == ("", True)


def test_only_headers_that_tell_time_are_kept() -> None:
    headers = {
        "Retry-After": "3",
        "retry-after-ms": "3000",
        "X-RateLimit-Reset-Tokens": "6m0s",
        "Set-Cookie": "a=b",
    }
    raw, _ = _send(server.response(429, b"", headers))
    assert raw.headers == {"retry-after": "3", "retry-after-ms": "3000", "x-ratelimit-reset-tokens": "6m0s"}


@pytest.mark.parametrize("answer", [server.RESET, server.CLOSED, server.TRUNCATED, server.NO_HTTP], ids=str)
def test_a_broken_connection_is_a_raw_reply_of_unknown_bill(answer: Answer) -> None:
    raw, _ = _send(answer)
    assert (raw.status, raw.body, raw.bill.response_id) == (0, b"", "0 NoneType")
    assert raw.error.partition(":")[0].endswith("Error")


def test_no_answer_in_time_is_a_raw_reply() -> None:
    raw, _ = _send(server.HANG, seconds=0.05)
    assert (raw.status, raw.error) == (0, "TimeoutError: no whole answer in time")


def test_a_deadline_that_has_passed_still_ends_the_attempt() -> None:
    assert _send_late().status == 0


def _send_late() -> RawReply:
    async def scenario() -> RawReply:
        clock = SystemClock()
        async with FaultServer(server.in_turn(server.HANG)) as provider, open_session(1) as session:
            line = _line(session, provider.url, clock, None)
            return await line.send(Attempt(BODY, tag(), "m", Deadline(clock, -5)))

    return asyncio.run(scenario())


def test_no_connection_is_a_raw_reply_that_cost_nothing() -> None:
    async def scenario() -> RawReply:
        clock = SystemClock()
        async with FaultServer(server.in_turn(server.HANG)) as gone:
            url = gone.url
        async with open_session(1) as session:
            line = _line(session, url, clock)
            return await line.send(Attempt(BODY, tag(), "m", Deadline(clock, 30)))

    raw = asyncio.run(scenario())
    assert (raw.status, raw.bill) == (0, Bill(cost_usd=0.0))
    assert "Cannot connect to host" in raw.error


POINTS = "".join(f"\\u{ord(each):04X}" for each in KEY)


@pytest.mark.parametrize(
    "spelling",
    [
        KEY,
        KEY.replace("/", r"\/"),
        POINTS,
        POINTS.lower(),
        POINTS.replace("\\", "\\\\"),
        KEY[:5] + POINTS[30:],
    ],
)
def test_an_echoed_key_is_masked_before_anyone_sees_it(spelling: str) -> None:
    raw, _ = _send(server.response(200, f'{{"a": "{spelling}"}}'.encode(), {"Retry-After": KEY}))
    assert (raw.body, raw.tree, raw.headers) == (b'{"a": "***"}', {"a": "***"}, {"retry-after": "***"})


def test_a_placeholder_for_a_key_is_not_masked() -> None:
    raw, received = _send(server.response(200, b'"The glass is EMPTY."'), key="EMPTY")
    assert raw.tree == "The glass is EMPTY."
    assert received.headers["authorization"] == "Bearer EMPTY"


def test_a_redirect_is_not_followed() -> None:
    raw, _ = _send(server.response(307, b"", {"Location": "http://127.0.0.1:9/elsewhere"}))
    assert raw.status == 307


def test_the_session_holds_as_many_connections_as_calls_in_flight() -> None:
    async def scenario() -> tuple[int, float | None]:
        async with open_session(7) as session:
            connector = session.connector
            assert isinstance(connector, aiohttp.TCPConnector)
            return connector.limit, session.timeout.sock_connect

    assert asyncio.run(scenario()) == (7, 15.0)

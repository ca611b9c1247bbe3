"""Every malformed reply has one outcome, whichever wire it comes over: a table of bytes and outcomes."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.agent.actions import (
    Action,
    BadCall,
    FinalCall,
    ReadCall,
    SearchCall,
    read_call,
    read_text,
    with_distinct_ids,
)
from evaluator.agent.conversation import replayable_name
from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers.http_line import parsed
from evaluator.controllers.lenient_json import dumps
from evaluator.controllers.line import RawReply
from evaluator.core.errors import AttemptError, RefusedError, RetryableError
from evaluator.core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    Reply,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from evaluator.core.settings import ModelSettings
from tests.contract import fault_server as server
from tests.contract.dialects import DIALECTS, USED, Call, Dialect, Said

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PRICE = Price(input=1.0, cached_input=0.1, output=10.0)
MARKUP = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
MEGABYTE = "x" * 1_000_000


@dataclass(frozen=True)
class Kind:
    """What is said, and what becomes of it; ``but`` tells where a wire knows better."""

    said: Said
    outcome: list[str]
    but: dict[str, list[str]] = field(default_factory=dict)


def _called(arguments: str, name: object = "search") -> Said:
    return Said(calls=(Call(name, arguments),))


def _ids(*ids: object) -> Said:
    return Said(calls=tuple(Call(id=each) for each in ids))


KINDS: dict[str, Kind] = {
    "well-formed": Kind(_called('{"query": "x"}'), ["search: x"]),
    "empty arguments": Kind(_called(""), ["bad arguments"]),
    "truncated arguments": Kind(_called('{"query": "Lou'), ["bad arguments"]),
    "doubled arguments": Kind(_called('{"query": "x"}{"query": "x"}'), ["bad arguments"]),
    "doubled empty arguments": Kind(_called("{}{}"), ["bad arguments"]),
    "JSON in a string": Kind(_called('"{\\"query\\": \\"x\\"}"'), ["search: x"]),
    "arguments that are a list": Kind(_called('["x"]'), ["bad arguments"]),
    "arguments that are null": Kind(_called("null"), ["bad arguments"]),
    "arguments nested without end": Kind(_called('{"query":' * 50_000), ["bad arguments"]),
    "no query": Kind(_called("{}"), ["bad query"]),
    "a query that is null": Kind(_called('{"query": null}'), ["bad query"]),
    "an unknown tool": Kind(_called("{}", "dig"), ["bad unknown_tool"]),
    "a tool without a name": Kind(_called("{}", None), ["bad unknown_tool"]),
    "a hallucinated chunk id": Kind(_called('{"chunk_id": "nope"}', "read"), ["read: nope"]),
    "a numeric chunk id": Kind(_called('{"chunk_id": 12}', "read"), ["read: 12"]),
    "a chunk id that is true": Kind(_called('{"chunk_id": true}', "read"), ["bad chunk_id"]),
    "missing call ids": Kind(_ids(None, None), ["search: x", "search: x"]),
    "empty call ids": Kind(_ids("", "", "b"), ["search: x", "search: x", "search: x"]),
    "repeated call ids": Kind(_ids("b", "b"), ["search: x", "search: x"]),
    "call ids that are numbers": Kind(_ids(0, 1), ["search: x", "search: x"]),
    "several finals": Kind(
        Said(calls=(Call("final", '{"answer": "A"}'), Call("final", '{"answer": "B"}', "b"))),
        ["final: A", "final: B"],
    ),
    "markup as text": Kind(Said(MARKUP), ["bad markup"], {"openai_chat": ["search: x"]}),
    "broken markup as text": Kind(Said(MARKUP[:-15]), ["bad markup"]),
    "null content": Kind(Said(None), ["bad empty"]),
    "empty content": Kind(Said(""), ["bad empty"]),
    "content of blanks": Kind(Said(" \n"), ["bad empty"]),
    "content of another kind": Kind(Said({"odd": 1}), ["bad empty"]),
    "a length stop": Kind(Said("Par", ending="length"), ["bad truncated"]),
    "a length stop before any text": Kind(Said(None, ending="length"), ["bad truncated"]),
    "a length stop within a call": Kind(
        Said(calls=(Call(arguments='{"query": "L'),), ending="length"), ["bad arguments"]
    ),
    "a length stop behind a call": Kind(Said("I", (Call(),), "length"), ["search: x"]),
    "a safety block": Kind(Said("Par", ending="filter"), ["bad empty"]),
    "a safety block before any text": Kind(Said(None, ending="filter"), ["bad empty"]),
    "a refusal": Kind(Said("I cannot."), ["answer: I cannot."]),
    "lone surrogates": Kind(Said("a\ud800b\udfff"), ["answer: a\ufffdb\ufffd"]),
    "lone surrogates in a query": Kind(_called('{"query": "a\\ud800"}'), ["search: a\ufffd"]),
    "NUL": Kind(Said("a\x00b"), ["answer: a\x00b"]),
    "NUL in a query": Kind(_called('{"query": "a\\u0000"}'), ["search: a\x00"]),
    "NaN": Kind(_called('{"chunk_id": NaN}', "read"), ["read: NaN"]),
    "infinity": Kind(_called('{"chunk_id": 1e999}', "read"), ["read: Infinity"]),
    "a huge integer": Kind(_called(f'{{"chunk_id": {10**30}}}', "read"), ["read: 1e+30"]),
    "an integer of 5,000 digits": Kind(_called(f'{{"chunk_id": {"9" * 5000}}}', "read"), ["bad arguments"]),
    "an answer of 1 MB": Kind(Said(MEGABYTE), [f"answer: {MEGABYTE}"]),
}


@pytest.fixture(params=list(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Each wire in turn."""
    return DIALECTS[request.param]


def _raw(dialect: Dialect, body: bytes, status: int = 200) -> RawReply:
    """What the HTTP line makes of a response."""
    tree, is_json = parsed(body)
    bill = dialect.wire.bill(status, tree, lambda _model, _tier: PRICE)
    return RawReply(status, body, bill, tree=tree, is_json=is_json)


def _outcome(dialect: Dialect, body: bytes, status: int = 200) -> list[str]:
    """What a response comes to: the actions the agent takes, or whether the call is made again."""
    raw = _raw(dialect, body, status)
    wrong = dialect.wire.fault(raw, NOW)
    if wrong is not None:
        return ["made again" if isinstance(wrong, RetryableError) else "refused"]
    reply = dialect.wire.read(raw)
    if not reply.tool_calls:
        return [_told(read_text(reply))]
    return [_told(read_call(call)) for call in reply.tool_calls]


def _told(action: Action) -> str:
    match action:
        case SearchCall():
            return f"search: {action.query}"
        case ReadCall():
            return f"read: {action.chunk_id}"
        case FinalCall():
            return f"answer: {action.answer}" if action.call_id is None else f"final: {action.answer}"
        case BadCall():
            return f"bad {action.problem}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_malformed_reply_has_its_outcome(dialect: Dialect, kind: str) -> None:
    case = KINDS[kind]
    expected = case.but.get(dialect.provider, case.outcome)
    assert _outcome(dialect, dialect.body(case.said)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_billed_by_its_usage_like_any_other(dialect: Dialect, kind: str) -> None:
    raw = _raw(dialect, dialect.body(KINDS[kind].said))
    assert raw.bill.usage == USED
    assert raw.bill.cost_usd == 0.000564  # (60 × 1.0 + 40 × 0.1 + 50 × 10.0) per million


@pytest.mark.parametrize("kind", KINDS)
def test_it_can_be_sent_back_with_one_result_for_each_call(dialect: Dialect, kind: str) -> None:
    raw = _raw(dialect, dialect.body(KINDS[kind].said))
    if dialect.wire.fault(raw, NOW) is None:
        assert _sent_back(dialect, dialect.wire.read(raw))


BODIES: dict[str, tuple[int, bytes, str]] = {
    "HTML with status 200": (200, server.HTML, "made again"),
    "HTML with status 502": (502, server.HTML, "made again"),
    "nothing": (200, b"", "made again"),
    "null": (200, b"null", "made again"),
    "a list": (200, b"[]", "made again"),
    "no fields": (200, b"{}", "made again"),
    "bytes": (200, b"\x00\xff{]", "made again"),
    "nesting without end": (200, b"[" * 100_000, "made again"),
    "an error with status 200": (200, b'{"error": {"message": "overloaded"}}', "made again"),
    "an error in a list": (500, b'[{"error": {"message": "sorry"}}]', "made again"),
    "a bad request": (400, b'{"error": {"message": "no"}}', "refused"),
    "an error that is a text": (400, b'{"error": "no"}', "refused"),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_response_without_a_reply_has_its_outcome(dialect: Dialect, kind: str) -> None:
    status, body, expected = BODIES[kind]
    assert _outcome(dialect, body, status) == [expected]


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_half_a_body_and_two_bodies_are_no_reply(dialect: Dialect, cut: int) -> None:
    body = dialect.body(Said("Paris"))
    assert _outcome(dialect, body[:-cut]) == ["made again"]
    assert _outcome(dialect, body + body) == ["made again"]


def test_a_prompt_that_is_blocked_is_refused_once(dialect: Dialect) -> None:
    status, body = dialect.blocked
    raw = _raw(dialect, body, status)
    wrong = dialect.wire.fault(raw, NOW)
    assert isinstance(wrong, RefusedError)
    assert wrong.concerns == "call"


@pytest.mark.parametrize("tokens", ["-1", "1.5", "null", '"9"', str(10**30), "NaN", "true"])
def test_a_count_of_tokens_that_is_none_leaves_the_bill_unknown(dialect: Dialect, tokens: str) -> None:
    body = dialect.body(Said("Paris")).replace(b": 100,", f": {tokens},".encode())
    assert _outcome(dialect, body) == ["answer: Paris"]
    assert _raw(dialect, body).bill.cost_usd is None


@given(
    name=st.sampled_from(sorted(DIALECTS)),
    kind=st.sampled_from(sorted(set(KINDS) - {"an answer of 1 MB", "arguments nested without end"})),
    status=st.sampled_from([200, 200, 200, 201, 400, 429, 500]),
    edits=st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=3), st.integers(0, 30)), max_size=4),
)
def test_no_bytes_make_a_wire_raise_anything_but_an_attempts_error(
    name: str, kind: str, status: int, edits: list[tuple[int, bytes, int]]
) -> None:
    dialect = DIALECTS[name]
    body = dialect.body(KINDS[kind].said)
    for place, inserted, removed in edits:
        at = place % (len(body) + 1)
        body = body[:at] + inserted + body[at + removed :]
    raw = _raw(dialect, body, status)
    try:
        wrong = dialect.wire.fault(raw, NOW)
        reply = dialect.wire.read(raw) if wrong is None else None
    except AttemptError:
        reply = None
    if reply is not None:
        assert _sent_back(dialect, reply)


def _sent_back(dialect: Dialect, reply: Reply) -> bytes:
    """The next request, in which the reply is answered as the agent does it."""
    calls = tuple(
        ToolCall(call.id, replayable_name(call.name), call.arguments)
        for call in with_distinct_ids(reply.tool_calls, set(), turn=1)
    )
    assert len({call.id for call in calls} - {""}) == len(calls)
    results = [ToolMessage(call.id, call.name, "{}") for call in calls]
    history: tuple[Message, ...] = (
        UserMessage("q"),
        AssistantMessage(reply.text, calls, reply.verbatim),
        *results,
    )
    settings = ModelSettings.model_validate({"provider": dialect.provider, "model": "m"})
    return dumps(dialect.wire.build(ModelRequest(history), settings, ModelFacts()))

"""The outermost layer: calls made before are given again, all others are made."""

import asyncio
import hashlib
from dataclasses import replace

import orjson
import pytest

from evaluator.controllers.fakes import FakeCalls
from evaluator.controllers.line import Bill
from evaluator.controllers.replayed import raw_reply
from evaluator.core.errors import DriftError
from evaluator.core.journal import Returned
from evaluator.core.messages import Reply, Usage, UserMessage
from tests.contract import fault_server as server
from tests.contract.fault_server import Answer, FaultServer
from tests.contract.whole_stack import REQUEST, MemoryJournal, Stack, stack_to, tag

PARIS = server.response(200, server.completion("Paris"))
LYON = server.response(200, server.completion("Lyon"))
ODD = server.response(
    200, b'{"choices":[{"message":{"content":"\\ud800 \\u0000 NaN","tool_calls":[{}]}}],"a":NaN}'
)


def ask(
    behaviour: server.Behaviour, journal: MemoryJournal, turn: int = 1, changed: str = ""
) -> tuple[Reply, Stack, FaultServer]:
    async def scenario() -> tuple[Reply, Stack, FaultServer]:
        finished = FakeCalls(journal.calls)
        async with FaultServer(behaviour) as faulty, stack_to(faulty.url, finished=finished) as stack:
            request = replace(REQUEST, messages=(UserMessage(changed),)) if changed else REQUEST
            return await stack.model.ask(request, tag(turn)), stack, faulty

    return asyncio.run(scenario())


def recorded(*answers: Answer) -> tuple[Reply, MemoryJournal]:
    reply, stack, _ = ask(server.in_turn(*answers), MemoryJournal())
    return reply, stack.journal


@pytest.mark.parametrize("answer", [PARIS, ODD], ids=["plain", "odd"])
def test_a_finished_call_is_given_again_as_it_was_and_costs_nothing(answer: Answer) -> None:
    reply, journal = recorded(answer)
    again, stack, faulty = ask(server.in_turn(LYON), journal)
    assert again == reply
    assert (faulty.received, stack.journal.lines) == ([], [])
    assert (stack.ledger.committed, stack.ledger.reserved) == (0.0, 0.0)


def test_attempts_that_hold_no_reply_are_passed_over(  # the fourth is the reply that was used
) -> None:
    reply, journal = recorded(server.error(429), server.GARBAGE, server.RESET, PARIS)
    assert len(journal.returned) == 4
    assert ask(server.in_turn(LYON), journal)[0] == reply


@pytest.mark.parametrize(("turn", "changed"), [(2, ""), (1, "Another question?")])
def test_another_turn_or_another_request_is_another_call(turn: int, changed: str) -> None:
    _, journal = recorded(PARIS)
    reply, stack, faulty = ask(server.in_turn(LYON), journal, turn, changed)
    assert (reply.text, len(faulty.received)) == ("Lyon", 1)
    assert [line.kind for line in stack.journal.calls] == ["sent", "returned"]


def test_a_call_that_only_failed_is_made_again() -> None:
    _, journal = recorded(server.error(500), PARIS)
    failed = MemoryJournal(journal.lines[:2])
    assert ask(server.in_turn(LYON), failed)[0].text == "Lyon"


def test_a_call_that_was_sent_and_never_came_back_is_made_again() -> None:
    _, journal = recorded(PARIS)
    assert ask(server.in_turn(LYON), MemoryJournal(journal.lines[:1]))[0].text == "Lyon"


def test_of_two_replies_to_one_call_the_later_is_given() -> None:
    _, first = recorded(PARIS)
    _, second = recorded(LYON)
    both = MemoryJournal(first.lines + second.lines)
    assert ask(server.in_turn(server.HANG), both)[0].text == "Lyon"


def test_a_reply_by_another_model_is_not_given_again() -> None:
    drifted = server.response(200, server.completion("Nice", model="gpt-5-mini"))
    journal = MemoryJournal()

    async def scenario() -> None:
        async with FaultServer(server.in_turn(drifted)) as faulty, stack_to(faulty.url) as stack:
            journal.lines = stack.journal.lines
            with pytest.raises(DriftError, match="gpt-5-mini answered"):
                await stack.model.ask(REQUEST, tag())

    asyncio.run(scenario())
    assert journal.returned[0].status == 200
    assert ask(server.in_turn(PARIS), journal)[0].text == "Paris"


def test_a_line_stands_for_its_outcome_with_the_bill_of_its_time() -> None:
    line = Returned(
        attempt_id="a",
        purpose="agent",
        cell=tag().cell,
        trajectory_id="t",
        judge="",
        turn=1,
        request_sha256=hashlib.sha256(b"").hexdigest(),
        requested_model="m",
        status=200,
        returned_model="m-1",
        response_id="r",
        usage=Usage(1, 2, 3, 4),
        cost_usd=0.125,
        latency_s=2.5,
        response={"a": [1]},
        error=None,
    )
    raw = raw_reply(line)
    assert (raw.status, raw.tree, raw.latency_s, raw.error) == (200, {"a": [1]}, 2.5, "")
    assert orjson.loads(raw.body) == {"a": [1]}
    assert raw.bill == Bill(Usage(1, 2, 3, 4), 0.125, "m-1", "r")
    text = raw_reply(replace(line, response="<html>", error="HTTP 502", status=502))
    assert (text.body, text.tree, text.error) == (b"<html>", None, "HTTP 502")

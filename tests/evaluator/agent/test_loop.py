"""The protocol of the loop, sentence by sentence; its gate stands in tests/contract."""

import json
import math
from dataclasses import replace

import pytest

from evaluator.agent.effects import AskModel, Effect, Read, Search
from evaluator.agent.loop import run_agent
from evaluator.agent.prompts import FORCED, MALFORMED, SYSTEM_PROMPTS
from evaluator.agent.rehearsal import Rehearsal, Shelf, calls, rehearse
from evaluator.agent.tools import TOOLS
from evaluator.core.errors import CapReachedError, DeadlineError, EpisodeError, ModelError, RetrievalError
from evaluator.core.messages import Reply, ToolCall, ToolMessage, Usage
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Asked, Malformed, Ruled, Searched, Step, WasRead
from evaluator.evidence.entities.by_rule import entities
from index_builder.records import Chunk, IndexedQuestion

HAMLET = Chunk("c1", "Hamlet", "Hamlet is a tragedy written by William Shakespeare around 1600.")
LYON = Chunk("c2", "Lyon", "Lyon is a city in France, on the rivers Rhône and Saône.")
SHELF = Shelf((HAMLET, LYON))
QUESTION = IndexedQuestion("q1", "Who wrote Hamlet?", ("William Shakespeare",), "bridge", 1, ("c1",))

SEARCH = ("search", {"query": "Hamlet"})
READ = ("read", {"chunk_id": "c1"})
FINAL = ("final", {"answer": "William Shakespeare"})


def play(
    *replies: Reply | EpisodeError,
    turns: int = 10,
    tokens: int = 128_000,
    protocol: ProtocolSettings | None = None,
    gate: GateSettings | None = None,
    reply_tokens: int = 16_384,
) -> Rehearsal:
    loop = run_agent(
        QUESTION,
        protocol=protocol or ProtocolSettings(),
        limits=LimitSettings(turns=turns, tokens=tokens),
        gate=gate or GateSettings(),
        seed=7,
        extract=entities,
        reply_tokens=reply_tokens,
    )
    return rehearse(loop, replies, SHELF)


def kinds(steps: tuple[Step, ...]) -> list[tuple[str, int]]:
    return [(step.kind, step.turn) for step in steps]


def only(rehearsal: Rehearsal, kind: type[Step]) -> list[Step]:
    return [step for step in rehearsal.episode.steps if isinstance(step, kind)]


def told(rehearsal: Rehearsal, request: int = -1) -> str:
    """The last message of a request."""
    return rehearsal.requests[request].messages[-1].text


def test_messages_start_as_the_system_prompt_and_the_question() -> None:
    (request,) = play(calls(FINAL)).requests
    assert [(m.kind, m.text) for m in request.messages] == [
        ("system", SYSTEM_PROMPTS["default"]),
        ("user", "Who wrote Hamlet?"),
    ]
    assert (request.tools, request.tool_choice, request.seed) == (TOOLS, "auto", 7)
    assert request.parallel_tool_calls is False


def test_the_protocol_chooses_prompt_tool_choice_and_parallel_calls() -> None:
    protocol = ProtocolSettings(prompt="strict", tool_choice="required", parallel_tool_calls=True)
    (request,) = play(calls(FINAL), protocol=protocol).requests
    assert request.messages[0].text == SYSTEM_PROMPTS["strict"]
    assert (request.tool_choice, request.parallel_tool_calls) == ("required", True)


def test_one_turn_is_one_model_call() -> None:
    run = play(calls(SEARCH), calls(READ), calls(FINAL))
    assert kinds(run.episode.steps) == [
        ("asked", 1), ("searched", 1), ("asked", 2), ("was_read", 2), ("asked", 3), ("ruled", 3),
    ]  # fmt: skip
    assert (run.episode.turns, len(run.requests)) == (3, 3)
    assert run.episode.outcome == Answered("William Shakespeare")


def test_a_search_shows_id_title_and_snippet_of_each_hit() -> None:
    run = play(calls(SEARCH), calls(FINAL))
    assert json.loads(told(run)) == [
        {"chunk_id": "c1", "title": "Hamlet", "snippet": HAMLET.text[:40]},
    ]
    (step,) = only(run, Searched)
    assert isinstance(step, Searched)
    assert (step.query, step.hits) == ("Hamlet", SHELF.search("Hamlet"))


def test_a_read_gives_title_and_full_text() -> None:
    run = play(calls(READ), calls(FINAL))
    assert json.loads(told(run)) == {"chunk_id": "c1", "title": "Hamlet", "text": HAMLET.text}
    (step,) = only(run, WasRead)
    assert step == WasRead(
        1, "call_1_1", "c1", found=True, new=True, title="Hamlet", text=HAMLET.text, tokens=16
    )
    assert math.ceil(len(HAMLET.text) / 4) == 16


def test_a_chunk_read_before_answers_already_read_with_no_text() -> None:
    run = play(calls(READ), calls(READ), calls(FINAL))
    assert json.loads(told(run)) == {"chunk_id": "c1", "note": "already read"}
    again = only(run, WasRead)[1]
    assert again == WasRead(2, "call_2_1", "c1", found=True, new=False, title="", text="", tokens=0)
    assert run.episode.read_count == 1


def test_an_unknown_id_answers_with_an_error_and_is_no_read() -> None:
    run = play(calls(("read", {"chunk_id": "c9"})), calls(FINAL))
    assert json.loads(told(run)) == {"chunk_id": "c9", "error": "no such chunk"}
    (step,) = only(run, WasRead)
    assert step == WasRead(1, "call_1_1", "c9", found=False, new=False, title="", text="", tokens=0)
    assert run.episode.read_count == 0


def test_an_id_that_was_unknown_is_looked_up_again() -> None:
    run = play(calls(("read", {"chunk_id": "c9"})), calls(("read", {"chunk_id": "c9"})), calls(FINAL))
    assert "no such chunk" in told(run)


def test_counts_are_of_searches_executed_and_distinct_existing_chunks_read() -> None:
    run = play(
        calls(SEARCH, SEARCH, ("search", {"query": "nothing matches"})),
        calls(READ, READ, ("read", {"chunk_id": "c9"}), ("read", {"chunk_id": "c2"})),
        calls(FINAL),
    )
    assert (run.episode.search_count, run.episode.read_count) == (3, 2)


def test_retrieved_tokens_count_each_chunk_once_for_its_snippet_and_once_for_its_text() -> None:
    run = play(calls(SEARCH), calls(SEARCH, READ), calls(READ), calls(FINAL))
    assert run.episode.retrieved_tokens == math.ceil(40 / 4) + math.ceil(63 / 4)


def test_retrieved_tokens_count_bytes_not_characters() -> None:
    run = play(calls(("read", {"chunk_id": "c2"})), calls(FINAL))
    assert len(LYON.text) == 56
    assert run.episode.retrieved_tokens == math.ceil(58 / 4) > math.ceil(56 / 4)  # ô is two bytes


def test_calls_of_one_reply_run_in_order_and_each_is_answered() -> None:
    run = play(calls(READ, SEARCH, ("fly", {})), calls(FINAL))
    messages = [m for m in run.requests[-1].messages if isinstance(m, ToolMessage)]
    assert [(m.call_id, m.name) for m in messages] == [
        ("call_1_1", "read"), ("call_1_2", "search"), ("call_1_3", "fly"),
    ]  # fmt: skip


def test_what_follows_an_accepted_final_is_recorded_and_not_run() -> None:
    run = play(calls(SEARCH, FINAL, READ, ("final", {"answer": "other"})))
    assert kinds(run.episode.steps) == [("asked", 1), ("searched", 1), ("ruled", 1)]
    asked = run.episode.steps[0]
    assert isinstance(asked, Asked)
    assert [call.name for call in asked.tool_calls] == ["search", "final", "read", "final"]
    assert run.episode.outcome == Answered("William Shakespeare")


def test_search_read_and_final_in_one_reply_leave_the_final_without_evidence() -> None:
    run = play(calls(SEARCH, READ, FINAL))
    (ruled,) = only(run, Ruled)
    assert isinstance(ruled, Ruled)
    assert ruled.blind is True
    assert (ruled.fired.read, ruled.fired.low_evidence) == (False, True)
    assert (run.episode.search_count, run.episode.read_count) == (0, 0)
    assert run.episode.retrieved_tokens == 10 + 16  # what was retrieved was retrieved


def test_a_final_alone_is_not_blind() -> None:
    (ruled,) = only(play(calls(SEARCH), calls(("fly", {}), FINAL)), Ruled)
    assert isinstance(ruled, Ruled)
    assert ruled.blind is False


def test_a_reply_without_calls_is_a_final_with_its_text() -> None:
    run = play(Reply("  William Shakespeare \n"))
    (ruled,) = only(run, Ruled)
    assert isinstance(ruled, Ruled)
    assert ruled.answer == "William Shakespeare"
    assert run.episode.outcome == Answered("William Shakespeare")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(""), "empty"),
        (Reply(" \n"), "empty"),
        (Reply("<tool_call>\n{}"), "markup"),
        (Reply("William Sha", finish_reason="length"), "truncated"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_a_malformed_text_gets_a_corrective_message_and_costs_a_turn(reply: Reply, problem: str) -> None:
    run = play(reply, calls(FINAL))
    (step,) = only(run, Malformed)
    assert isinstance(step, Malformed)
    assert (step.turn, step.problem, step.observation) == (1, problem, told(run))
    assert run.requests[-1].messages[-1].kind == "user"
    assert run.episode.turns == 2


def test_a_reply_of_nothing_is_not_replayed_since_providers_refuse_it() -> None:
    run = play(Reply(""), calls(FINAL))
    assert [m.kind for m in run.requests[-1].messages] == ["system", "user", "user"]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (("fly", {"query": "x"}), "unknown_tool"),
        (("", {}), "unknown_tool"),
        (("search", '{"query": "Ham'), "arguments"),
        (("search", {}), "query"),
        (("search", {"query": "  "}), "query"),
        (("search", {"query": ["x"]}), "query"),
        (("read", {"id": "c1"}), "chunk_id"),
        (("read", {"chunk_id": None}), "chunk_id"),
        (("final", {"answer": True}), "answer"),
        (("final", {"answer": ""}), "answer"),
    ],
)
def test_a_malformed_call_is_answered_with_an_error(
    call: tuple[str, dict[str, object] | str], problem: str
) -> None:
    run = play(calls(call), calls(FINAL))
    (step,) = only(run, Malformed)
    assert isinstance(step, Malformed)
    assert (step.problem, step.observation) == (problem, told(run))
    assert problem in MALFORMED
    assert list(json.loads(told(run))) == ["error"]
    assert run.requests[-1].messages[-1].kind == "tool"
    assert run.episode.turns == 2


def test_a_made_up_tool_name_is_replayed_in_a_form_that_providers_take() -> None:
    run = play(calls(("web search!", {})), calls(FINAL))
    *_, assistant, tool = run.requests[-1].messages
    assert assistant.kind == "assistant"
    assert assistant.tool_calls[0].name == "web_search_"
    assert isinstance(tool, ToolMessage)
    assert tool.name == "web_search_"


def test_call_ids_that_repeat_or_are_missing_are_replaced_throughout_an_episode() -> None:
    same = ToolCall("0", "search", {"query": "Hamlet"})
    run = play(Reply("", (same, same)), Reply("", (same, replace(same, id=""))), calls(FINAL))
    ids = [call.id for step in only(run, Asked) if isinstance(step, Asked) for call in step.tool_calls]
    assert ids == ["0", "call_1_2", "call_2_1", "call_2_2", "call_3_1"]
    assert [s.call_id for s in only(run, Searched) if isinstance(s, Searched)] == ids[:4]


def test_at_the_turn_limit_one_call_without_tools_asks_for_an_answer() -> None:
    run = play(calls(SEARCH), calls(READ), Reply(" Shakespeare "), turns=2)
    assert told(run) == FORCED
    assert run.requests[-1].tool_choice == "none"
    assert run.episode.outcome == Answered("Shakespeare", forced=True)
    assert run.episode.turns == 2
    assert kinds(run.episode.steps)[-1] == ("asked", 3)
    assert only(run, Ruled) == []
    assert (run.episode.search_count, run.episode.read_count) == (1, 1)


@pytest.mark.parametrize(
    ("reply", "answer", "problem"),
    [
        (Reply(""), "", "empty"),
        (Reply("<tool_call>{}</tool_call>"), "", "markup"),
        (Reply("Shakes", finish_reason="length"), "Shakes", "truncated"),
        (calls(SEARCH, text="Shakespeare"), "Shakespeare", "tool_calls"),
        (calls(SEARCH, FINAL, text="I think so"), "William Shakespeare", "tool_calls"),
    ],
)
def test_a_forced_reply_is_taken_for_what_can_be_taken(reply: Reply, answer: str, problem: str) -> None:
    run = play(calls(SEARCH), reply, turns=1)
    assert run.episode.outcome == Answered(answer, forced=True)
    assert run.episode.steps[-1] == Malformed(2, problem, observation="")
    assert len(only(run, Searched)) == 1


def test_the_token_limit_uses_the_provider_s_count_of_the_last_prompt() -> None:
    big = replace(calls(SEARCH), usage=Usage(input_tokens=9_950))
    run = play(big, Reply("Shakespeare"), tokens=20_000, reply_tokens=10_000)
    assert run.episode.outcome == Answered("Shakespeare", forced=True)  # 9,950 + what was added > 10,000
    assert (run.episode.turns, run.episode.steps[-1].turn) == (1, 2)
    small = replace(big, usage=Usage(input_tokens=9_000))
    assert play(small, calls(FINAL), tokens=20_000, reply_tokens=10_000).episode.turns == 2


def test_without_a_count_the_prompt_is_estimated_from_above() -> None:
    text = Reply("x" * 4_000 + "<tool_call>")  # 4,011 bytes: at most 2,006 tokens and its frame
    assert play(text, Reply("a"), tokens=4_500, reply_tokens=2_000).episode.turns == 1
    assert play(text, calls(FINAL), tokens=6_000, reply_tokens=2_000).episode.turns == 2


def test_room_for_a_reply_is_at_most_half_of_the_limit() -> None:
    run = play(calls(SEARCH), calls(FINAL), tokens=4_000, reply_tokens=1_000_000)
    assert run.episode.outcome == Answered("William Shakespeare")


def test_a_question_beyond_the_limit_is_forced_at_once() -> None:
    run = play(Reply("Shakespeare"), tokens=1_000, reply_tokens=1_000_000)
    assert (run.episode.turns, run.episode.outcome) == (0, Answered("Shakespeare", forced=True))


def test_a_final_that_declines_is_an_answer_unless_the_protocol_says_otherwise() -> None:
    declining = calls(("final", {"answer": "I cannot answer the question."}))
    assert play(declining).episode.outcome == Answered("I cannot answer the question.")
    protocol = ProtocolSettings(decline="abstained")
    assert play(declining, protocol=protocol).episode.outcome == Abstained("declined")
    assert play(calls(FINAL), protocol=protocol).episode.outcome == Answered("William Shakespeare")
    forced = play(calls(SEARCH), Reply("I cannot answer."), turns=1, protocol=protocol)
    assert forced.episode.outcome == Answered("I cannot answer.", forced=True)


@pytest.mark.parametrize(
    ("error", "boundary"),
    [(ModelError("m"), "model"), (DeadlineError("d"), "deadline"), (RetrievalError("r"), "retrieval")],
)
def test_an_episode_error_ends_it_as_failed_with_the_steps_so_far(error: EpisodeError, boundary: str) -> None:
    run = play(calls(SEARCH), calls(READ), error)
    assert run.episode.outcome == Failed(boundary, str(error))
    assert kinds(run.episode.steps)[-1] == ("was_read", 2)
    assert (run.episode.search_count, run.episode.read_count, run.episode.turns) == (1, 1, 2)


def test_an_error_during_a_search_keeps_the_reply_that_asked_for_it() -> None:
    loop = run_agent(
        QUESTION, protocol=ProtocolSettings(), limits=LimitSettings(), gate=GateSettings(), seed=None,
        extract=entities,
    )  # fmt: skip
    assert isinstance(next(loop), AskModel)
    assert loop.send(calls(SEARCH)) == Search("Hamlet")
    with pytest.raises(StopIteration) as end:
        loop.throw(RetrievalError("the index is gone"))
    assert kinds(end.value.value.steps) == [("asked", 1)]
    assert end.value.value.outcome == Failed("retrieval", "the index is gone")


def test_any_other_exception_passes_through() -> None:
    loop = run_agent(
        QUESTION, protocol=ProtocolSettings(), limits=LimitSettings(), gate=GateSettings(), seed=None,
        extract=entities,
    )  # fmt: skip
    next(loop)
    with pytest.raises(CapReachedError):
        loop.throw(CapReachedError("cap"))


@pytest.mark.parametrize(
    ("reply", "effect", "wrong"),
    [(None, AskModel, ()), (calls(SEARCH), Search, None), (calls(READ), Read, ())],
)
def test_a_result_of_a_wrong_kind_is_a_mistake_of_the_driver(
    reply: Reply | None, effect: type[Effect], wrong: tuple[()] | None
) -> None:
    loop = run_agent(
        QUESTION, protocol=ProtocolSettings(), limits=LimitSettings(), gate=GateSettings(), seed=None,
        extract=entities,
    )  # fmt: skip
    asked = next(loop)
    assert isinstance(asked if reply is None else loop.send(reply), effect)
    with pytest.raises(TypeError, match=f"{effect.__name__} is answered with"):
        loop.send(wrong)


def test_usage_and_cost_add_up_and_one_unknown_cost_makes_the_sum_unknown() -> None:
    first = replace(calls(SEARCH), usage=Usage(100, 40, 10, 5), cost_usd=0.1)
    last = replace(calls(FINAL), usage=Usage(200, 80, 20, 0), cost_usd=0.2)
    run = play(first, last)
    assert run.episode.usage == Usage(300, 120, 30, 5)
    assert run.episode.cost_usd == pytest.approx(0.3)
    assert play(replace(first, cost_usd=None), last).episode.cost_usd is None

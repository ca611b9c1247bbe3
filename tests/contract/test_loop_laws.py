"""What holds of the loop whatever a model replies: laws over random episodes."""

from collections.abc import Iterator
from dataclasses import replace

import orjson
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from evaluator.agent.loop import run_agent
from evaluator.agent.rehearsal import Rehearsal, Shelf, rehearse
from evaluator.core.errors import EpisodeError, ModelError
from evaluator.core.messages import AssistantMessage, Message, Reply, ToolCall, ToolMessage, Usage
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Asked, Episode, Injected, Ruled, Searched, WasRead
from evaluator.evidence.entities.by_rule import entities
from evaluator.gates.evidence import evidence_before, forced_by_gate
from index_builder.records import Chunk, IndexedQuestion

SHELF = Shelf(
    (
        Chunk("c1", "Hamlet", "Hamlet is a tragedy written by William Shakespeare around 1600."),
        Chunk("c2", "", "Lyon is a city in France, on the rivers Rhône and Saône; Shakespeare never saw it."),
    )
)
QUESTION = IndexedQuestion("q1", "Who wrote Hamlet?", ("William Shakespeare",), "bridge", 1, None)

ARGUMENTS: st.SearchStrategy[dict[str, object] | str] = st.one_of(
    st.fixed_dictionaries({"query": st.sampled_from(["Hamlet", "Lyon Shakespeare", "zzz", "", " "])}),
    st.fixed_dictionaries({"chunk_id": st.sampled_from(["c1", "c2", "c9", 1, None])}),
    st.fixed_dictionaries({"answer": st.sampled_from(["Shakespeare", "yes", "I cannot answer.", "", 1600])}),
    st.just({}),
    st.text(max_size=5),
)
CALLS = st.builds(
    ToolCall,
    st.sampled_from(["", "0", "1", "call_1_1"]),
    st.sampled_from(["search", "read", "final", "final", "fly away", ""]),
    ARGUMENTS,
)
GOOD_CALLS = st.sampled_from(
    [
        ToolCall("", "search", {"query": "Hamlet"}),
        ToolCall("", "read", {"chunk_id": "c1"}),
        ToolCall("", "read", {"chunk_id": "c2"}),
        ToolCall("", "final", {"answer": "William Shakespeare"}),
    ]
)
REPLIES = st.builds(
    Reply,
    text=st.sampled_from(["", "Shakespeare", "<tool_call>", "I don't know"]),
    tool_calls=st.lists(CALLS | GOOD_CALLS, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["stop", "tool_calls", "length"]),
    usage=st.builds(Usage, st.sampled_from([0, 300, 900, 3_000])),
    cost_usd=st.sampled_from([0.0, 0.01, None]),
)
GATES = st.one_of(
    st.just(GateSettings()),
    st.builds(
        GateSettings, mode=st.just("shadow"), rules=st.sampled_from([("read",), ("snippet", "low_evidence")])
    ),
    st.builds(
        GateSettings,
        mode=st.just("enforce"),
        max_corrections=st.sampled_from([None, 0, 1, 2]),
        when_exhausted=st.sampled_from(["accept", "abstain"]),
    ),
    st.builds(
        GateSettings,
        mode=st.just("enforce"),
        inject=st.sampled_from(["user", "tool"]),
        max_corrections=st.sampled_from([None, 0, 1, 2]),
    ),
)
LIMITS = st.builds(LimitSettings, turns=st.integers(1, 5), tokens=st.sampled_from([2_000, 8_000, 128_000]))
PROTOCOLS = st.builds(ProtocolSettings, decline=st.sampled_from(["answered", "abstained"]))
# An episode of at most five turns and a forced call never asks for more than six replies.
SCRIPTS = st.lists(REPLIES, min_size=6, max_size=6)


def play(
    replies: list[Reply | EpisodeError],
    gate: GateSettings,
    limits: LimitSettings,
    protocol: ProtocolSettings,
    *,
    reply_tokens: int = 500,
) -> Rehearsal:
    loop = run_agent(
        QUESTION,
        protocol=protocol,
        limits=limits,
        gate=gate,
        seed=1,
        extract=entities,
        reply_tokens=reply_tokens,
    )
    return rehearse(loop, replies, SHELF)


EPISODES = st.builds(play, SCRIPTS, GATES, LIMITS, PROTOCOLS)
GATED_EPISODES = st.tuples(GATES, LIMITS).flatmap(
    lambda drawn: st.tuples(
        st.just(drawn[0]),
        st.just(drawn[1]),
        st.builds(play, SCRIPTS, st.just(drawn[0]), st.just(drawn[1]), PROTOCOLS),
    )
)


def calls_without_answer(messages: tuple[Message, ...]) -> Iterator[str]:
    """What providers demand: right after a reply with calls, one tool message for each, and no other."""
    open_ids: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.call_id not in open_ids:
                yield f"an answer to nothing: {message.call_id}"
            else:
                open_ids.remove(message.call_id)
            continue
        yield from open_ids
        open_ids = [call.id for call in message.tool_calls] if isinstance(message, AssistantMessage) else []
    yield from open_ids


@given(EPISODES)
def test_every_request_is_a_conversation_that_providers_take(run: Rehearsal) -> None:
    for request in run.requests:
        assert list(calls_without_answer(request.messages)) == []
        assert [message.kind for message in request.messages[:2]] == ["system", "user"]
        assert all(message.kind != "system" for message in request.messages[1:])
        assert all(m.text or m.tool_calls for m in request.messages if isinstance(m, AssistantMessage))
        assert all(m.text for m in request.messages if not isinstance(m, AssistantMessage))


@given(EPISODES)
def test_a_conversation_only_ever_grows(run: Rehearsal) -> None:
    pairs = zip(run.requests, run.requests[1:], strict=False)
    assert all(later.messages[: len(earlier.messages)] == earlier.messages for earlier, later in pairs)


@given(EPISODES)
def test_call_ids_are_unique_and_each_step_belongs_to_a_call(run: Rehearsal) -> None:
    ids = [call.id for step in run.episode.steps if isinstance(step, Asked) for call in step.tool_calls]
    assert len(set(ids)) == len(ids)
    done = [step.call_id for step in run.episode.steps if isinstance(step, Searched | WasRead)]
    assert len(set(done)) == len(done)
    assert set(done) <= set(ids)


@given(GATED_EPISODES)
def test_turns_are_model_calls_within_the_limit_and_a_forced_one_is_none(
    drawn: tuple[GateSettings, LimitSettings, Rehearsal],
) -> None:
    _, limits, run = drawn
    episode = run.episode
    forced = isinstance(episode.outcome, Answered) and episode.outcome.forced
    asked = [step.turn for step in episode.steps if isinstance(step, Asked)]
    assert asked == list(range(1, len(asked) + 1))
    assert episode.turns == len(asked) - forced <= limits.turns
    assert len(run.requests) == len(asked)
    assert [request.tool_choice == "none" for request in run.requests] == [False] * episode.turns + [
        True
    ] * forced
    assert all(
        step.turn <= episode.turns for step in episode.steps if isinstance(step, Ruled | Searched | WasRead)
    )


@given(GATED_EPISODES)
def test_an_enforced_gate_accepts_no_final_that_searched_and_did_not_read(
    drawn: tuple[GateSettings, LimitSettings, Rehearsal],
) -> None:
    gate, _, run = drawn
    for step in run.episode.steps:
        if isinstance(step, Ruled) and step.decision == "accepted" and gate.mode == "enforce":
            evidence = evidence_before(run.episode.steps, step.turn)
            unread = evidence.search_count > 0 and evidence.read_count == 0 and evidence.shown_chunks
            assert not unread or (gate.inject != "none" and run.episode.corrections == 1)


@given(GATED_EPISODES)
def test_corrections_are_the_finals_that_did_not_pass_and_stay_within_bounds(
    drawn: tuple[GateSettings, LimitSettings, Rehearsal],
) -> None:
    gate, _, run = drawn
    decisions = [step.decision for step in run.episode.steps if isinstance(step, Ruled)]
    corrected = [decision for decision in decisions if decision in {"rejected", "injected"}]
    assert run.episode.corrections == len(corrected) <= (gate.max_corrections or 5)
    assert set(decisions[:-1]) <= {"rejected", "injected"}  # anything else ends the episode
    assert decisions.count("injected") == sum(isinstance(step, Injected) for step in run.episode.steps) <= 1
    if gate.mode != "enforce":
        assert corrected == []
    if forced_by_gate(run.episode.steps, run.episode.outcome):
        assert corrected


@given(EPISODES)
def test_at_most_one_final_a_reply_is_ruled_on_and_its_evidence_is_older(run: Rehearsal) -> None:
    turns = [step.turn for step in run.episode.steps if isinstance(step, Ruled)]
    assert len(set(turns)) == len(turns)
    for step in run.episode.steps:
        if isinstance(step, Ruled):
            evidence = evidence_before(run.episode.steps, step.turn)
            expected = evidence.search_count > 0 and evidence.read_count == 0 and bool(evidence.shown_chunks)
            assert step.fired.read is expected


@given(EPISODES)
def test_reads_are_counted_once_a_chunk_and_only_where_it_exists(run: Rehearsal) -> None:
    new = [step for step in run.episode.steps if isinstance(step, WasRead) and step.new]
    assert len({step.chunk_id for step in new}) == len(new)
    assert run.episode.read_count <= len(new) <= len(SHELF.chunks)
    assert run.episode.search_count <= sum(isinstance(step, Searched) for step in run.episode.steps)
    for step in run.episode.steps:
        if isinstance(step, WasRead):
            assert step.found == (SHELF.read(step.chunk_id) is not None)
            assert bool(step.text) == step.new


@given(SCRIPTS, LIMITS, PROTOCOLS)
def test_shadow_differs_from_off_in_decisions_alone(
    script: list[Reply | EpisodeError], limits: LimitSettings, protocol: ProtocolSettings
) -> None:
    off = play(script, GateSettings(), limits, protocol)
    shadow = play(script, GateSettings(mode="shadow"), limits, protocol)
    assert shadow.requests == off.requests
    unshadowed = tuple(
        replace(step, decision="accepted") if isinstance(step, Ruled) else step
        for step in shadow.episode.steps
    )
    assert replace(shadow.episode, steps=unshadowed) == off.episode


@given(SCRIPTS, GATES, LIMITS, PROTOCOLS)
def test_a_gate_that_never_fired_changed_nothing(
    script: list[Reply | EpisodeError], gate: GateSettings, limits: LimitSettings, protocol: ProtocolSettings
) -> None:
    gated = play(script, gate, limits, protocol)
    if not any(isinstance(step, Ruled) and step.decision != "accepted" for step in gated.episode.steps):
        assert gated == play(script, GateSettings(), limits, protocol)


@given(SCRIPTS, GATES, LIMITS, PROTOCOLS, st.integers(0, 5))
def test_a_failure_keeps_the_steps_that_were_made(
    script: list[Reply | EpisodeError],
    gate: GateSettings,
    limits: LimitSettings,
    protocol: ProtocolSettings,
    cut: int,
) -> None:
    whole = play(script, gate, limits, protocol)
    broken = play([*script[:cut], ModelError("gone"), *script[cut:]], gate, limits, protocol)
    if len(whole.requests) <= cut:
        assert broken == whole
    else:
        assert broken.episode.outcome == Failed("model", "gone")
        assert broken.episode.steps == whole.episode.steps[: len(broken.episode.steps)]
        assert broken.requests == whole.requests[: cut + 1]


@given(EPISODES)
def test_the_outcome_is_an_answer_or_an_abstention_with_a_reason(run: Rehearsal) -> None:
    outcome = run.episode.outcome
    assert isinstance(outcome, Answered | Abstained)
    if isinstance(outcome, Answered) and not outcome.forced:
        assert outcome.answer.strip() == outcome.answer != ""


@given(SCRIPTS, PROTOCOLS)
def test_after_a_count_above_the_room_no_regular_call_follows(
    script: list[Reply | EpisodeError], protocol: ProtocolSettings
) -> None:
    run = play(
        script,
        GateSettings(mode="enforce"),
        LimitSettings(turns=5, tokens=4_000),
        protocol,
        reply_tokens=2_000,
    )
    counts = [step.usage.input_tokens for step in run.episode.steps if isinstance(step, Asked)]
    for count, following in zip(counts, run.requests[1:], strict=False):
        assert count < 2_000 or following.tool_choice == "none"


@given(EPISODES)
def test_an_episode_survives_json(run: Rehearsal) -> None:
    assert TypeAdapter(Episode).validate_json(orjson.dumps(run.episode)) == run.episode


@given(GATES, PROTOCOLS)
def test_text_that_is_no_unicode_breaks_nothing(gate: GateSettings, protocol: ProtocolSettings) -> None:
    lone = "\ud800 Hamlet"
    replies: list[Reply | EpisodeError] = [
        Reply(lone, (ToolCall(lone, "search", {"query": lone}), ToolCall("2", "read", {"chunk_id": lone}))),
        Reply("", (ToolCall("3", lone, {"x": lone}), ToolCall("4", "final", lone))),
        Reply("", (ToolCall("5", "read", {"chunk_id": "c1"}),)),
        Reply(lone),
    ]
    run = play(replies, gate, LimitSettings(), protocol)
    assert run.episode.outcome == Answered(lone)

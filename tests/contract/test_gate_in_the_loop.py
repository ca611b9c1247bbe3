"""The gate's sentences of the protocol, each seen through a whole episode."""

import json

import pytest

from evaluator.agent.loop import run_agent
from evaluator.agent.prompts import FORCED
from evaluator.agent.rehearsal import Rehearsal, Shelf, calls, rehearse
from evaluator.agent.tools import render_chunk
from evaluator.core.messages import Reply
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Decision, Injected, Ruled
from evaluator.evidence.entities.by_rule import entities
from evaluator.gates.evidence import forced_by_gate
from evaluator.gates.spec import CORRECTIVE, INJECTED_PREFIX, NEUTRAL, PRODUCTION
from index_builder.records import Chunk, Hit, IndexedQuestion

HAMLET = Chunk("c1", "Hamlet", "Hamlet is a tragedy written by William Shakespeare around 1600.")
LYON = Chunk("c2", "Lyon", "Lyon is a city in France, on the rivers Rhône and Saône.")
SHELF = Shelf((HAMLET, LYON))
QUESTION = IndexedQuestion("q1", "Who wrote Hamlet?", ("William Shakespeare",), "bridge", 1, ("c1",))

SEARCH = calls(("search", {"query": "Hamlet"}))
SEARCH_LYON = calls(("search", {"query": "Lyon"}))
SEARCH_NOTHING = calls(("search", {"query": "zzz"}))
READ = calls(("read", {"chunk_id": "c1"}))
FINAL = calls(("final", {"answer": "Shakespeare"}))
TEXT = Reply("Shakespeare")
PASSAGE = f"{INJECTED_PREFIX}\n{render_chunk(HAMLET)}"

ENFORCE = GateSettings(mode="enforce")
INJECT_USER = GateSettings(mode="enforce", inject="user")
INJECT_TOOL = GateSettings(mode="enforce", inject="tool")


def play(*replies: Reply, gate: GateSettings, turns: int = 10, shelf: Shelf = SHELF) -> Rehearsal:
    limits = LimitSettings(turns=turns)
    loop = run_agent(
        QUESTION, protocol=ProtocolSettings(), limits=limits, gate=gate, seed=7, extract=entities
    )
    return rehearse(loop, replies, shelf)


def decisions(run: Rehearsal) -> list[Decision]:
    return [step.decision for step in run.episode.steps if isinstance(step, Ruled)]


def last_messages(run: Rehearsal, count: int) -> list[tuple[str, str]]:
    return [(message.kind, message.text) for message in run.requests[-1].messages[-count:]]


def test_off_accepts_and_records_the_ruling_of_every_rule() -> None:
    run = play(SEARCH, FINAL, gate=GateSettings())
    (ruled,) = [step for step in run.episode.steps if isinstance(step, Ruled)]
    assert ruled.decision == "accepted"
    # The snippet's 40 characters end before Shakespeare; nothing was read, so Hamlet stands nowhere.
    assert (ruled.fired.read, ruled.fired.snippet, ruled.fired.low_evidence) == (True, False, True)


def test_enforce_rejects_with_a_corrective_observation_and_goes_on() -> None:
    run = play(SEARCH, FINAL, READ, FINAL, gate=ENFORCE)
    assert decisions(run) == ["rejected", "accepted"]
    assert run.requests[2].messages[-1].text == CORRECTIVE
    assert run.requests[2].messages[-1].kind == "tool"
    assert run.episode.corrections == 1
    assert run.episode.outcome == Answered("Shakespeare")
    assert (run.episode.search_count, run.episode.read_count) == (1, 1)


def test_a_rejected_text_is_answered_by_a_user_message() -> None:
    run = play(SEARCH, TEXT, READ, FINAL, gate=ENFORCE)
    assert [(m.kind, m.text) for m in run.requests[2].messages[-2:]] == [
        ("assistant", "Shakespeare"),
        ("user", CORRECTIVE),
    ]


def test_the_ruling_records_what_the_model_was_told() -> None:
    run = play(SEARCH, FINAL, READ, FINAL, gate=ENFORCE)
    assert [s.observation for s in run.episode.steps if isinstance(s, Ruled)] == [CORRECTIVE, ""]


def test_read_does_not_fire_before_any_search() -> None:
    assert decisions(play(FINAL, gate=ENFORCE)) == ["accepted"]


def test_read_does_not_fire_when_no_chunk_was_ever_shown() -> None:
    assert decisions(play(SEARCH_NOTHING, FINAL, gate=ENFORCE)) == ["accepted"]


def test_read_does_not_fire_after_a_read() -> None:
    assert decisions(play(SEARCH, READ, FINAL, gate=ENFORCE)) == ["accepted"]


def test_reading_an_unknown_id_does_not_satisfy_the_gate() -> None:
    nothing = calls(("read", {"chunk_id": "c9"}))
    assert decisions(play(SEARCH, nothing, FINAL, READ, FINAL, gate=ENFORCE)) == ["rejected", "accepted"]


def test_a_read_in_the_same_reply_does_not_satisfy_the_gate() -> None:
    blind = calls(("read", {"chunk_id": "c1"}), ("final", {"answer": "Shakespeare"}))
    run = play(SEARCH, blind, FINAL, gate=ENFORCE)
    first, second = [step for step in run.episode.steps if isinstance(step, Ruled)]
    assert (first.decision, first.blind, second.decision, second.blind) == (
        "rejected",
        True,
        "accepted",
        False,
    )
    assert run.episode.read_count == 1


def test_a_search_in_the_same_reply_does_not_set_off_the_gate() -> None:
    both = calls(("search", {"query": "Hamlet"}), ("final", {"answer": "Shakespeare"}))
    assert decisions(play(both, gate=ENFORCE)) == ["accepted"]


def test_calls_after_a_rejected_final_are_run_and_all_are_answered() -> None:
    reply = calls(("final", {"answer": "a"}), ("read", {"chunk_id": "c1"}))
    run = play(SEARCH, reply, FINAL, gate=ENFORCE)
    assert last_messages(run, 2) == [("tool", CORRECTIVE), ("tool", render_chunk(HAMLET))]
    assert decisions(run) == ["rejected", "accepted"]


def test_a_second_final_of_one_reply_is_not_considered() -> None:
    twice = calls(("final", {"answer": "a"}), ("final", {"answer": "b"}))
    run = play(SEARCH, twice, READ, FINAL, gate=ENFORCE)
    assert decisions(run) == ["rejected", "accepted"]
    assert list(json.loads(run.requests[2].messages[-1].text)) == ["error"]
    assert run.episode.corrections == 1


def test_without_a_maximum_only_the_turn_limit_ends_the_rejections() -> None:
    run = play(SEARCH, *[FINAL] * 9, Reply("Shakespeare"), gate=ENFORCE)
    assert decisions(run) == ["rejected"] * 9
    assert run.episode.outcome == Answered("Shakespeare", forced=True)
    assert (run.episode.turns, run.episode.corrections) == (10, 9)


def test_a_final_rejected_on_the_last_turn_is_followed_by_the_forced_call() -> None:
    run = play(SEARCH, FINAL, Reply("Shakespeare"), gate=ENFORCE, turns=2)
    assert last_messages(run, 2) == [("tool", CORRECTIVE), ("user", FORCED)]
    assert run.episode.outcome == Answered("Shakespeare", forced=True)
    assert forced_by_gate(run.episode.steps, run.episode.outcome)


def test_a_forced_answer_that_no_rejection_preceded_is_not_forced_by_the_gate() -> None:
    run = play(SEARCH, FINAL, READ, TEXT, gate=ENFORCE, turns=3)
    assert run.episode.outcome == Answered("Shakespeare", forced=True)
    assert not forced_by_gate(run.episode.steps, run.episode.outcome)


@pytest.mark.parametrize("corrections", [0, 1, 2])
def test_an_exhausted_gate_accepts(corrections: int) -> None:
    gate = GateSettings(mode="enforce", max_corrections=corrections, when_exhausted="accept")
    run = play(SEARCH, *[FINAL] * (corrections + 1), gate=gate)
    assert decisions(run) == ["rejected"] * corrections + ["exhausted"]
    assert run.episode.outcome == Answered("Shakespeare")
    assert run.episode.corrections == corrections
    assert (run.episode.search_count, run.episode.read_count) == (1, 0)


def test_an_exhausted_gate_abstains_when_told_so() -> None:
    run = play(SEARCH, FINAL, FINAL, FINAL, gate=PRODUCTION)
    assert decisions(run) == ["rejected", "rejected", "exhausted"]
    assert run.episode.outcome == Abstained("gate_exhausted")
    assert run.episode.corrections == 2


def test_injecting_as_user_answers_neutrally_and_appends_one_user_message() -> None:
    run = play(SEARCH, FINAL, FINAL, gate=INJECT_USER)
    assert last_messages(run, 2) == [("tool", NEUTRAL), ("user", PASSAGE)]
    assert decisions(run) == ["injected", "exhausted"]
    assert run.episode.steps[4] == Injected(2, "c1", "user", PASSAGE)


def test_injecting_as_tool_puts_the_text_into_the_reply_to_the_final() -> None:
    run = play(SEARCH, FINAL, FINAL, gate=INJECT_TOOL)
    assert last_messages(run, 1) == [("tool", f"{NEUTRAL}\n\n{PASSAGE}")]
    assert decisions(run) == ["injected", "exhausted"]
    assert run.episode.steps[4] == Injected(2, "c1", "tool", PASSAGE)


@pytest.mark.parametrize("gate", [INJECT_USER, INJECT_TOOL])
def test_a_final_in_plain_text_gets_neutral_words_and_passage_in_one_user_message(gate: GateSettings) -> None:
    run = play(SEARCH, TEXT, FINAL, gate=gate)
    assert last_messages(run, 2) == [("assistant", "Shakespeare"), ("user", f"{NEUTRAL}\n\n{PASSAGE}")]
    assert run.episode.steps[4] == Injected(2, "c1", "user", PASSAGE)


def test_the_injected_passage_follows_the_tool_messages_of_all_calls_of_the_reply() -> None:
    reply = calls(("final", {"answer": "a"}), ("fly", {}))
    run = play(SEARCH, reply, FINAL, gate=INJECT_USER)
    assert [kind for kind, _ in last_messages(run, 3)] == ["tool", "tool", "user"]


def test_an_injection_is_a_correction_but_no_read() -> None:
    run = play(SEARCH, FINAL, FINAL, gate=INJECT_USER)
    assert (run.episode.corrections, run.episode.read_count) == (1, 0)
    last = [step for step in run.episode.steps if isinstance(step, Ruled)][-1]
    assert (last.fired.read, last.fired.low_evidence) == (True, True)
    assert run.episode.retrieved_tokens == 10  # the snippet's 40 bytes; nothing was retrieved beyond it


def test_the_passage_is_rank_1_of_the_latest_search_that_had_hits() -> None:
    run = play(SEARCH, SEARCH_LYON, SEARCH_NOTHING, FINAL, FINAL, gate=INJECT_USER)
    assert [s.chunk_id for s in run.episode.steps if isinstance(s, Injected)] == ["c2"]


def test_a_passage_is_injected_at_most_once_and_later_finals_are_accepted() -> None:
    gate = GateSettings(mode="enforce", inject="user", max_corrections=5)
    run = play(SEARCH, FINAL, SEARCH_LYON, FINAL, gate=gate)
    assert decisions(run) == ["injected", "exhausted"]
    assert run.episode.outcome == Answered("Shakespeare")


def test_an_injected_chunk_can_still_be_read() -> None:
    run = play(SEARCH, FINAL, READ, FINAL, gate=INJECT_USER)
    assert last_messages(run, 1) == [("tool", render_chunk(HAMLET))]
    assert run.episode.read_count == 1


def test_a_result_that_cannot_be_read_back_fails_the_episode() -> None:
    class Forgetful(Shelf):
        def search(self, query: str) -> tuple[Hit, ...]:
            return (Hit("gone", 1, 1.0, "", query),)

    run = play(SEARCH, FINAL, gate=INJECT_USER, shelf=Forgetful(()))
    assert isinstance(run.episode.outcome, Failed)
    assert run.episode.outcome.boundary == "retrieval"
    assert "'gone'" in run.episode.outcome.detail


def test_shadow_records_what_would_have_happened_and_changes_nothing() -> None:
    off = play(SEARCH, FINAL, gate=GateSettings())
    shadow = play(SEARCH, FINAL, gate=GateSettings(mode="shadow"))
    assert decisions(shadow) == ["shadowed"]
    assert shadow.requests == off.requests
    assert shadow.episode.outcome == off.episode.outcome
    assert shadow.episode.corrections == 0


def test_shadow_may_watch_every_rule() -> None:
    gate = GateSettings(mode="shadow", rules=("low_evidence",))
    lyon = calls(("read", {"chunk_id": "c2"}))
    assert decisions(play(SEARCH, lyon, FINAL, gate=gate)) == ["shadowed"]
    assert decisions(play(SEARCH, READ, FINAL, gate=gate)) == ["accepted"]


def test_a_malformed_reply_is_no_final_and_gets_no_ruling() -> None:
    run = play(SEARCH, Reply(""), READ, FINAL, gate=ENFORCE)
    assert decisions(run) == ["accepted"]

"""Evidence: what the model had been sent when it wrote a reply."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.messages import Usage
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.trajectory import Asked, Decision, Fired, Injected, Ruled, Searched, Step, WasRead
from evaluator.gates.evidence import (
    Evidence,
    bytes4,
    evidence_before,
    final_evidence,
    forced_by_gate,
    retrieved_tokens,
)
from index_builder.records import Hit

A = Hit("a", 1, 0.5, "Title A", "snippet a")
B = Hit("b", 2, 0.4, "", "snippet b")


def asked(turn: int) -> Asked:
    return Asked(turn, "", (), "stop", Usage(), 0.0, 0.0, "m")


def searched(turn: int, *hits: Hit) -> Searched:
    return Searched(turn, f"s{turn}", "q", hits)


def was_read(turn: int, chunk_id: str, *, found: bool = True, new: bool = True) -> WasRead:
    text = f"text {chunk_id}" if new else ""
    return WasRead(turn, f"r{turn}", chunk_id, found, new, f"T{chunk_id}" if new else "", text, bytes4(text))


def ruled(turn: int, decision: Decision = "accepted") -> Ruled:
    nothing = Fired(read=False, snippet=None, low_evidence=None)
    return Ruled(turn, "x", nothing, decision, blind=False, observation="")


STEPS: tuple[Step, ...] = (
    asked(1),
    searched(1, A, B),
    asked(2),
    was_read(2, "a"),
    was_read(2, "zz", found=False, new=False),
    ruled(2, "rejected"),
    asked(3),
    was_read(3, "a", new=False),
    searched(3, A),
    searched(3),
    asked(4),
    was_read(4, "b"),
    ruled(4),
)


def test_it_holds_the_steps_of_earlier_turns_only() -> None:
    assert evidence_before(STEPS, 1) == Evidence(0, 0, (), (), "", "")
    assert evidence_before(STEPS, 2) == Evidence(
        search_count=1,
        read_count=0,
        shown_chunks=("a", "b"),
        read_chunks=(),
        shown_text="Title A\nsnippet a\n\nsnippet b",
        read_text="",
    )
    assert evidence_before(STEPS, 3).read_text == "Ta\ntext a"


def test_none_takes_every_step() -> None:
    everything = evidence_before(STEPS, None)
    assert (everything.search_count, everything.read_count) == (3, 2)
    assert everything.read_chunks == ("a", "b")
    assert everything.read_text == "Ta\ntext a\nTb\ntext b"


def test_unknown_ids_and_repeated_reads_are_no_reads() -> None:
    assert evidence_before(STEPS, 4).read_count == 1


def test_a_result_shown_twice_is_shown_once_but_another_snippet_of_it_is_kept() -> None:
    other = Hit("a", 1, 0.5, "Title A", "another snippet")
    shown = evidence_before((searched(1, A), searched(1, A), searched(1, other)), None)
    assert shown.shown_chunks == ("a",)
    assert shown.shown_text == "Title A\nsnippet a\nTitle A\nanother snippet"


def test_an_injected_passage_is_neither_read_nor_shown() -> None:
    assert evidence_before((Injected(1, "a", "user", "passage"),), None) == Evidence(0, 0, (), (), "", "")


@pytest.mark.parametrize(
    ("steps", "outcome", "reads"),
    [
        (STEPS, Answered("x"), 1),  # the last final stands in turn 4, before its own read
        (STEPS, Abstained("gate_exhausted"), 1),
        (STEPS, Failed("model", "gone"), 1),
        (STEPS, Answered("x", forced=True), 2),  # a forced answer had everything in view
        (STEPS[:5], Failed("model", "gone"), 1),  # no final: everything
    ],
)
def test_a_finished_trajectory_s_evidence_is_that_of_its_last_final(
    steps: tuple[Step, ...], outcome: Outcome, reads: int
) -> None:
    assert final_evidence(steps, outcome).read_count == reads


@pytest.mark.parametrize(
    ("steps", "outcome", "expected"),
    [
        ((asked(1), ruled(1, "rejected"), asked(2)), Answered("x", forced=True), True),
        ((asked(1), ruled(1, "injected"), asked(2)), Answered("x", forced=True), True),
        ((asked(1), ruled(1, "rejected"), asked(2), asked(3)), Answered("x", forced=True), False),
        ((asked(1), asked(2)), Answered("x", forced=True), False),
        ((asked(1), ruled(1, "rejected"), asked(2), ruled(2)), Answered("x"), False),
        ((asked(1), ruled(1, "rejected")), Failed("model", "gone"), False),
        ((asked(1), ruled(1, "exhausted")), Abstained("gate_exhausted"), False),
    ],
)
def test_forced_by_the_gate_means_a_forced_answer_right_after_a_rejection(
    steps: tuple[Step, ...], outcome: Outcome, *, expected: bool
) -> None:
    assert forced_by_gate(steps, outcome) is expected


def test_retrieved_tokens_count_a_chunk_once_for_its_snippet_and_once_for_its_text() -> None:
    # Snippets of 9 characters are 3 tokens each, texts of 6 characters 2 each.
    assert retrieved_tokens(STEPS) == 3 + 3 + 2 + 2
    other = Hit("a", 1, 0.5, "Title A", "another and longer snippet")
    assert retrieved_tokens((searched(1, A), searched(2, A), searched(3, other))) == 3


def test_an_injected_passage_was_not_retrieved_by_the_agent() -> None:
    assert retrieved_tokens((Injected(1, "a", "tool", "passage"),)) == 0


@given(st.text(st.characters(codec="utf-8")))
def test_bytes4_is_utf8_bytes_over_four_rounded_up(text: str) -> None:
    assert bytes4(text) == math.ceil(len(text.encode()) / 4)


def test_a_lone_surrogate_counts_as_the_three_bytes_of_its_replacement() -> None:
    assert bytes4("\ud800") == bytes4("\ufffd") == 1
    assert bytes4("ab\ud800") == bytes4("ab\ufffd") == 2

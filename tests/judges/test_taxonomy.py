"""The tree of failures: each branch, their order, the indicators beside them, and their sum."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.cell import Cell
from evaluator.core.journal import JudgeIdentity, Verdict, VerdictWord
from evaluator.core.messages import Usage
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.trajectory import Fired, Injected, Ruled, Searched, Step, Trajectory, WasRead
from index_builder.records import Hit
from judges.taxonomy import LABELS, Labels, label

Build = Callable[..., Trajectory]

FIRED = Fired(read=False, snippet=None, low_evidence=None)
ENTITIES = ("Ada Lovelace", "London", "Paris", "Byron")


def extract(text: str) -> list[str]:
    """Four names are all the entities of these tests."""
    return [name for name in ENTITIES if name in text]


def searched(turn: int, **snippets: str) -> Searched:
    hits = [Hit(chunk, rank, 1.0, "", snippet) for rank, (chunk, snippet) in enumerate(snippets.items(), 1)]
    return Searched(turn, f"s{turn}", "query", tuple(hits))


def read(turn: int, chunk: str, text: str) -> WasRead:
    return WasRead(turn, f"r{turn}", chunk, found=True, new=True, title="", text=text, tokens=1)


def final(turn: int, answer: str = "Paris") -> Ruled:
    return Ruled(turn, answer, FIRED, "accepted", blind=False, observation="")


def verdict(trajectory: Trajectory, word: VerdictWord = "incorrect") -> Verdict:
    answer = trajectory.outcome.answer if isinstance(trajectory.outcome, Answered) else ""
    return Verdict(
        trajectory_id=trajectory.trajectory_id,
        answer=answer,
        judge=JudgeIdentity("primary", "m", "p"),
        verdict=word,
        contain_substring=False,
        contain_token=False,
        raw="",
        cost_usd=0.0,
    )


def wrong(trajectory: Trajectory) -> Labels:
    return label(trajectory, verdict(trajectory), extract)


ALL_GOLD_SHOWN = searched(1, g1="Ada Lovelace", g2="Byron", x="Rome")
QUESTION_READ = "Ada Lovelace"
"""Read text that covers the question's one entity."""


def test_an_answer_without_any_read_is_discipline_no_read(trajectory: Build) -> None:
    found = wrong(trajectory(ALL_GOLD_SHOWN, final(2)))
    assert (found.label, found.subtype, found.no_read) == ("discipline", "no_read", True)


def test_no_read_needs_no_search(trajectory: Build) -> None:
    assert wrong(trajectory(final(1))).subtype == "no_read"


def test_an_answer_seen_in_snippets_and_in_no_read_text_is_snippet_only(trajectory: Build) -> None:
    found = wrong(trajectory(searched(1, g1="Paris"), read(2, "x", QUESTION_READ), final(3)))
    assert (found.label, found.subtype) == ("discipline", "snippet_only")
    assert (found.no_read, found.snippet_only, found.low_evidence) == (False, True, False)


def test_reading_too_little_of_the_question_is_low_evidence(trajectory: Build) -> None:
    found = wrong(trajectory(ALL_GOLD_SHOWN, read(2, "g1", "nothing of it"), final(3)))
    assert (found.label, found.subtype) == ("discipline", "low_evidence")


def test_the_first_rule_of_discipline_that_holds_names_the_subtype(trajectory: Build) -> None:
    # Unread, its answer in a snippet alone, none of the question read: all three hold.
    found = wrong(trajectory(searched(1, g1="Paris"), final(2)))
    assert (found.no_read, found.snippet_only, found.low_evidence) == (True, True, True)
    assert found.subtype == "no_read"
    both = wrong(trajectory(searched(1, g1="Paris"), read(2, "x", "nothing"), final(3)))
    assert (both.no_read, both.snippet_only, both.low_evidence) == (False, True, True)
    assert both.subtype == "snippet_only"


def test_a_wrong_answer_after_reading_gold_is_post(trajectory: Build) -> None:
    partial = wrong(trajectory(ALL_GOLD_SHOWN, read(2, "g1", QUESTION_READ), final(3)))
    assert (partial.label, partial.post_partial, partial.post_all) == ("post", True, False)
    both = wrong(trajectory(ALL_GOLD_SHOWN, read(2, "g1", QUESTION_READ), read(3, "g2", "Byron"), final(4)))
    assert (both.label, both.post_partial, both.post_all) == ("post", False, True)


def test_a_wrong_answer_without_gold_in_any_result_is_retrieval(trajectory: Build) -> None:
    found = wrong(trajectory(searched(1, x="Rome"), read(2, "x", QUESTION_READ), final(3)))
    assert (found.label, found.gold_shown_any) == ("retrieval", False)


def test_gold_shown_but_not_read_is_ambiguous(trajectory: Build) -> None:
    found = wrong(trajectory(searched(1, g1="", x=""), read(2, "x", QUESTION_READ), final(3)))
    assert found.label == "ambiguous"
    assert (found.gold_shown_any, found.gold_shown_all) == (True, False)


@pytest.mark.parametrize("gold", [None, ()])
def test_a_wrong_answer_of_unknown_gold_is_unknown_unless_it_is_discipline(
    trajectory: Build, gold: tuple[str, ...] | None
) -> None:
    careful = wrong(trajectory(ALL_GOLD_SHOWN, read(2, "g1", QUESTION_READ), final(3), gold=gold))
    assert careful.label == "unknown"
    assert [careful.gold_shown_any, careful.gold_shown_all] == [None, None]
    assert [careful.gold_read_any, careful.gold_read_all] == [None, None]
    assert [careful.ind_post, careful.ind_retr, careful.ind_amb] == [False, False, False]
    assert wrong(trajectory(ALL_GOLD_SHOWN, final(2), gold=gold)).label == "discipline"


def test_indicators_overlap_where_the_label_chooses(trajectory: Build) -> None:
    low_and_post = wrong(trajectory(ALL_GOLD_SHOWN, read(2, "g1", "nothing of it"), final(3)))
    assert (low_and_post.label, low_and_post.ind_disc, low_and_post.ind_post) == ("discipline", True, True)
    unread_and_unfound = wrong(trajectory(searched(1, x=""), final(2)))
    assert (unread_and_unfound.ind_disc, unread_and_unfound.ind_retr) == (True, True)
    # A chunk can be read that no search has shown.
    guessed = wrong(trajectory(searched(1, x=""), read(2, "g1", QUESTION_READ), final(3)))
    assert (guessed.label, guessed.ind_post, guessed.ind_retr) == ("post", True, True)


def test_reads_of_the_reply_that_answers_are_no_evidence(trajectory: Build) -> None:
    blind = trajectory(ALL_GOLD_SHOWN, read(2, "g1", QUESTION_READ), final(2))
    found = wrong(replace(blind, read_count=0))
    assert (found.label, found.subtype, found.gold_read_any) == ("discipline", "no_read", False)


def test_a_forced_answer_had_everything_in_view(trajectory: Build) -> None:
    steps = (ALL_GOLD_SHOWN, final(2), read(3, "g1", QUESTION_READ))
    assert wrong(trajectory(*steps, outcome=Answered("Paris", forced=True))).label == "post"


def test_the_evidence_is_that_of_the_last_final(trajectory: Build) -> None:
    steps = (ALL_GOLD_SHOWN, final(2), read(3, "g1", QUESTION_READ), final(4))
    assert wrong(trajectory(*steps)).gold_read_any is True


def test_an_injected_passage_is_no_read(trajectory: Build) -> None:
    steps = (ALL_GOLD_SHOWN, Injected(2, "g1", "user", QUESTION_READ), final(3))
    found = wrong(trajectory(*steps))
    assert (found.subtype, found.gold_read_any) == ("no_read", False)


def test_a_correct_row_has_signals_but_no_indicator(trajectory: Build) -> None:
    row = trajectory(searched(1, g1="Paris"), final(2))
    found = label(row, verdict(row, "correct"), extract)
    assert (found.label, found.subtype) == ("correct", None)
    assert (found.no_read, found.snippet_only, found.low_evidence) == (True, True, True)
    assert (found.gold_shown_any, found.gold_read_any) == (True, False)
    assert [found.ind_disc, found.ind_post, found.ind_retr, found.ind_amb] == [False] * 4


def test_an_abstention_keeps_its_own_label(trajectory: Build) -> None:
    row = trajectory(ALL_GOLD_SHOWN, final(2), outcome=Abstained("gate_exhausted"))
    found = label(row, None, extract)
    assert (found.label, found.snippet_only, found.no_read) == ("abstained", None, True)
    assert [found.ind_disc, found.ind_retr, found.ind_amb] == [False] * 3


def test_without_entities_neither_rule_of_coverage_holds(trajectory: Build) -> None:
    row = trajectory(ALL_GOLD_SHOWN, read(2, "x", "text"), final(3), question="who?", outcome=Answered("yes"))
    found = wrong(row)
    assert (found.snippet_only, found.low_evidence) == (None, None)
    assert found.label == "ambiguous"


def test_only_scored_trajectories_have_labels(trajectory: Build) -> None:
    row = trajectory(final(1))
    for unscored in (None, verdict(row, "unjudged")):
        with pytest.raises(ValueError, match="not scored"):
            label(row, unscored, extract)
    with pytest.raises(ValueError, match="not scored"):
        label(replace(row, outcome=Failed("model", "gone")), verdict(row), extract)
    with pytest.raises(ValueError, match="another answer"):
        label(row, replace(verdict(row), answer="Rome"), extract)


TEXTS = st.sampled_from(["", "Ada Lovelace", "Paris", "London Byron", "Ada Lovelace Paris"])
CHUNKS = st.sampled_from(["g1", "g2", "x", "y"])


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    searches: list[Step] = [
        searched(turn, **draw(st.dictionaries(CHUNKS, TEXTS)))
        for turn in range(1, 1 + draw(st.integers(0, 2)))
    ]
    reads: list[Step] = [
        read(turn, chunk, draw(TEXTS)) for turn, chunk in enumerate(draw(st.lists(CHUNKS, unique=True)), 3)
    ]
    gold = draw(st.sampled_from([None, ("g1",), ("g1", "g2")]))
    return Trajectory(
        "t", Cell("d", "c"), "q", draw(TEXTS), ("London",), gold,
        (*searches, *reads, final(9)), Answered("Paris"), len(searches), len(reads),
        9, 0, 0, Usage(), 0.0, "2026-01-01T00:00:00Z", 1.0,
    )  # fmt: skip


@given(trajectories(), st.sampled_from(["correct", "incorrect"]))
def test_every_scored_row_has_one_label_and_indicators_that_agree_with_it(
    row: Trajectory, word: VerdictWord
) -> None:
    found = label(row, verdict(row, word), extract)
    assert found.label in LABELS
    indicated = [found.ind_disc, found.ind_post, found.ind_retr, found.ind_amb]
    names = ["discipline", "post", "retrieval", "ambiguous"]
    first = next((name for name, holds in zip(names, indicated, strict=True) if holds), None)
    assert found.label == ("correct" if word == "correct" else first or "unknown")
    assert (found.label == "unknown") <= (row.gold_chunks is None)
    assert (found.subtype is not None) == found.ind_disc
    assert found.ind_post == (found.post_partial or found.post_all)
    assert not (found.post_partial and found.post_all)

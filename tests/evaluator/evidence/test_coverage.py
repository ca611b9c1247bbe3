"""Where entities stand, with the null semantics of the analysis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.evidence.coverage import answer_entities, low_evidence, snippet_only
from evaluator.evidence.entities.by_rule import entities

QUESTION = "In which country is the town of Lyon?"


def only(answer: str, *, shown: str, read: str, question: str = QUESTION) -> bool | None:
    return snippet_only(answer, question, shown, read, entities)


def words(text: str) -> list[str]:
    """An extractor that takes every comma-separated piece for an entity."""
    return [piece.strip() for piece in text.split(",") if piece.strip()]


def test_an_answer_seen_in_snippets_alone_is_snippet_only() -> None:
    assert only("France", shown="Lyon is in France.", read="Lyon has two rivers.") is True


def test_an_answer_that_was_read_is_not() -> None:
    assert only("France", shown="Lyon is in France.", read="France is large.") is False


def test_an_answer_that_was_shown_nowhere_is_not() -> None:
    assert only("France", shown="Lyon has two rivers.", read="") is False


def test_each_entity_must_stand_in_shown_text_and_none_in_read_text() -> None:
    assert only("Paris, Nice", shown="Paris and Nice", read="") is True
    assert only("Paris, Nice", shown="Paris", read="") is False
    assert only("Paris, Nice", shown="Paris and Nice", read="Nice") is False


def test_matching_folds_case_and_width_and_goes_by_whole_words() -> None:
    assert only("Ed Wood", shown="ＥＤ wood", read="Ned Wood, Ed Woods") is True
    assert only("Ed Wood", shown="Ned Wood, Ed Woods", read="") is False


def test_a_leading_article_of_an_entity_does_not_matter() -> None:
    assert only("the piano", shown="A piano stood there", read="") is True


@pytest.mark.parametrize(
    "answer", ["", "  ", "yes", "No.", "Yes, it is", "it is one of those that nobody knows"]
)
def test_without_entities_there_is_no_ruling(answer: str) -> None:
    assert only(answer, shown=answer, read="") is None


def test_a_short_answer_without_entities_is_itself_one() -> None:
    assert only("one two three four five six", shown="one two three four five six", read="") is True
    assert (
        only("one two three four five six seven", shown="one two three four five six seven", read="") is None
    )


def test_entities_of_the_question_are_dropped_from_the_answer() -> None:
    assert answer_entities("Lyon, France", QUESTION, entities) == ("france",)
    assert only("Lyon is in France", shown="France", read="Lyon") is True


def test_unless_none_remain() -> None:
    assert answer_entities("Lyon", QUESTION, entities) == ("lyon",)
    assert only("Lyon", shown="Lyon", read="") is True


def test_a_repeated_entity_is_told_by_its_folded_form() -> None:
    assert answer_entities("LYON, France", "Is the Lyon of old in the “France”?", entities) == (
        "lyon",
        "france",
    )


def read_share(read: str, count: int = 5) -> bool | None:
    return low_evidence(",".join(f"e{n}" for n in range(count)), read, words)


def test_low_evidence_is_strictly_less_than_80_percent() -> None:
    assert read_share("e0 e1 e2 e3") is False  # 4 / 5 = 80 %
    assert read_share("e0 e1 e2") is True  # 60 %
    assert read_share(" ".join(f"e{n}" for n in range(8)), count=10) is False  # 8 / 10
    assert read_share(" ".join(f"e{n}" for n in range(7)), count=9) is True  # 7 / 9 = 77.8 %


def test_low_evidence_counts_distinct_entities() -> None:
    # Lyon thrice is one of two: 1 / 2 < 80 %.
    assert low_evidence("Lyon, LYON, lyon, Paris", "Lyon", words) is True


def test_a_question_without_entities_gets_no_ruling() -> None:
    assert low_evidence("who is it?", "anything", entities) is None


def test_nothing_read_is_low_evidence() -> None:
    assert low_evidence(QUESTION, "", entities) is True


def test_the_threshold_is_an_argument() -> None:
    assert low_evidence("Paris, Lyon", "Paris", words, threshold=0.5) is False
    assert low_evidence("Paris, Lyon", "Paris", words, threshold=0.51) is True


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=60), st.text(max_size=60))
def test_snippet_only_never_holds_once_the_shown_text_was_read(
    answer: str, question: str, shown: str, read: str
) -> None:
    assert snippet_only(answer, question, shown, f"{shown}\n{read}", entities) is not True


@given(st.text(max_size=40), st.text(max_size=60), st.text(max_size=60))
def test_reading_more_never_makes_evidence_low(question: str, read: str, more: str) -> None:
    before = low_evidence(question, read, entities)
    after = low_evidence(question, f"{read}\n{more}", entities)
    assert (before is None) == (after is None)
    assert not (before is False and after is True)

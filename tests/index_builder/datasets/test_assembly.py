"""From records to a Dataset: one per id, what can be scored, and the counts of repairs."""

from collections import Counter
from pathlib import Path

import pytest

from index_builder.datasets.assembly import Notes, QuestionRecord, Reading, assemble
from index_builder.errors import DatasetError
from index_builder.records import Dataset, Passage

A, B, C = Passage("A", "One."), Passage("B", "Two."), Passage("C", "Three.")


class Row(QuestionRecord):
    """The least that a format can be."""

    id: str
    context: tuple[str, ...] = ("A", "B")
    gold: tuple[str, ...] = ("A",)
    aliases: tuple[str, ...] = ()

    @property
    def official_id(self) -> str:
        return self.id


def passage(name: str) -> Passage:
    return Passage(name[0], {"A": "One.", "B": "Two.", "C": "Three."}[name[0]] + name[1:])


def read(row: Row, _: Notes) -> Reading:
    return Reading(
        kind="bridge",
        context=tuple(map(passage, row.context)),
        gold=tuple(map(passage, row.gold)),
        hops=len(row.gold),
        aliases=row.aliases,
    )


def row(name: str = "q1", **changes: object) -> Row:
    fields: dict[str, object] = {"id": name, "question": "Who?", "answer": "Ada"}
    return Row.model_validate(fields | changes)


def assembled(*rows: Row) -> Dataset:
    return assemble(Path("file"), rows, read, Counter())


def test_questions_keep_file_order_and_passages_that_of_first_sight() -> None:
    dataset = assembled(row("q2", context=("B", "A")), row("q1", context=("C", "B")))
    assert [each.question_id for each in dataset.questions] == ["q2", "q1"]
    assert dataset.passages == (B, A, C)
    assert dataset.notes == {}


def test_of_several_records_of_one_id_the_first_is_kept() -> None:
    dataset = assembled(row(), row(), row(answer="Eve", context=("C",), gold=("C",)), row())
    assert [each.answers for each in dataset.questions] == [("Ada",)]
    assert C not in dataset.passages
    assert dataset.notes == {
        "identical records of one id, merged": 2,
        "records that differ from an earlier one of their id, left out": 1,
    }


def test_what_cannot_be_scored_is_left_out_by_kind() -> None:
    rows = (row("q1"), row("q2", answer=None), row("q3", answer=" \n"), row("q4", question=" "))
    assert assembled(*rows).notes == {
        "questions without an answer, left out": 2,
        "questions without text, left out": 1,
    }


def test_an_unscorable_record_does_not_take_the_id_of_a_scorable_one() -> None:
    dataset = assembled(row(answer=None), row())
    assert [each.answers for each in dataset.questions] == [("Ada",)]


def test_a_file_without_any_question_is_an_error() -> None:
    for rows in ((), (row(answer=None),)):
        with pytest.raises(DatasetError, match="file, file: expected at least one question"):
            assembled(*rows)


def test_surrounding_spaces_go_and_inner_ones_stay() -> None:
    (question,) = assembled(row(question=" Who  is it?\n", answer=" Ada  L. ")).questions
    assert (question.text, question.answers) == ("Who  is it?", ("Ada  L.",))
    assert assembled(row(question=" Who?", answer="Ada ", aliases=(" L",))).notes == {
        "answers with surrounding spaces, removed": 2,
        "questions with surrounding spaces, removed": 1,
    }


def test_aliases_follow_the_answer_once_each() -> None:
    (question,) = assembled(row(aliases=("Lovelace", "Ada", "Lovelace ", ""))).questions
    assert question.answers == ("Ada", "Lovelace")


def test_gold_is_named_once_and_unknown_when_nothing_is_named() -> None:
    (question,) = assembled(row(gold=("A", "A ", "B"))).questions
    assert question.gold == (A, B)
    dataset = assembled(row(gold=()))
    assert [each.gold for each in dataset.questions] == [None]
    assert dataset.notes == {"questions whose gold passages are unknown": 1}


def test_repeats_in_a_context_are_merged_up_to_white_space_and_shared_titles_are_counted() -> None:
    dataset = assembled(row(context=("A", "A ", "B", "B longer", "A")))
    assert dataset.passages == (A, B, passage("B longer"))
    assert dataset.notes == {
        "contexts with one title on different paragraphs": 1,
        "paragraphs that repeat another of their context, merged": 2,
    }


@pytest.mark.parametrize(
    ("title", "count"),
    [
        ("Fast &amp; Furious", 1),
        ("&quot;", 1),
        ("&#39;", 1),
        ("&#x27;", 1),
        ("AT&T; Inc.", 1),
        ("R & B; C", 0),
    ],
)
def test_html_entities_in_titles_stay_and_are_counted(title: str, count: int) -> None:
    def titled(_: Row, __: Notes) -> Reading:
        passage = Passage(title, "Text.")
        return Reading(kind="", context=(passage,), gold=(passage,), hops=1)

    dataset = assemble(Path("file"), [row()], titled, Counter())
    assert [each.title for each in dataset.passages] == [title]
    assert dataset.notes.get("titles with HTML entities, kept as they stand", 0) == count

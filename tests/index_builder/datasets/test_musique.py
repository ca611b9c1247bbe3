"""MuSiQue: the real sample with all its oddities, and the full files' forms."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index_builder.datasets.corpus import passage_key, read_corpus
from index_builder.datasets.musique import load
from index_builder.errors import DatasetError
from index_builder.records import Dataset, Passage, Question

Record = dict[str, Any]

KINDS = [
    "#supporting paragraphs = 2",
    "#supporting paragraphs = 3",
    "#supporting paragraphs = 4",
    "17 paragraphs (not 20)",
    "18 paragraphs (not 20)",
    "19 paragraphs (not 20)",
    "alias non-ASCII",
    "answer non-ASCII",
    "duplicate question text",
    "duplicate title inside one question",
    "gold title also on a NON-supporting paragraph",
    "has aliases",
    "no aliases",
    "numeric answer",
    "paragraph NBSP",
    "paragraph astral char",
    "paragraph double space",
    "paragraph newline/tab",
    "paragraph non-ASCII",
    "paragraph zero-width/bidi/soft-hyphen/LS",
    "question non-ASCII",
    "question without final ?",
    "title non-ASCII",
    "two supporting paragraphs share one title",
]


@pytest.fixture(scope="module")
def dataset(shared_data: Path) -> Dataset:
    return load(shared_data / "musique.jsonl")


@pytest.fixture(scope="module")
def records(shared_data: Path) -> dict[str, Record]:
    lines = (shared_data / "musique.jsonl").read_bytes().splitlines()
    return {each["id"]: each for each in map(json.loads, lines)}


def test_every_listed_oddity_has_a_test(quirks: Callable[[str], dict[str, list[str]]]) -> None:
    assert sorted(quirks("musique")) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_questions_with_a_listed_oddity_survive_whole(
    quirks: Callable[[str], dict[str, list[str]]], dataset: Dataset, records: dict[str, Record], kind: str
) -> None:
    questions = {each.question_id: each for each in dataset.questions}
    passages = {passage_key(each) for each in dataset.passages}
    for example in quirks("musique")[kind]:
        record, question = records[example], questions[example]
        marked = [
            Passage(each["title"], each["paragraph_text"])
            for each in record["paragraphs"]
            if each["is_supporting"]
        ]
        assert question.text == record["question"].strip()
        assert question.answers == (record["answer"], *record["answer_aliases"])
        assert (question.kind, question.hops) == (example.split("__")[0], len(marked))
        assert question.gold == tuple(marked)
        context = (Passage(each["title"], each["paragraph_text"]) for each in record["paragraphs"])
        assert {passage_key(each) for each in context} <= passages


def test_all_questions_of_the_sample_have_complete_gold(dataset: Dataset, shared_data: Path) -> None:
    corpus = {passage_key(each) for each in read_corpus(shared_data / "corpus" / "musique_corpus.json")}
    assert len(dataset.questions) == 1_000
    for question in dataset.questions:
        assert question.gold is not None
        assert len(question.gold) == question.hops
        assert {passage_key(each) for each in question.gold} <= corpus
    assert {passage_key(each) for each in dataset.passages} == corpus
    # Of 11,656 passages two repeat others up to white space.
    assert len(dataset.passages) == 11_654


def test_the_notes_of_the_sample_count_its_repairs(dataset: Dataset) -> None:
    assert dataset.notes == {
        "contexts with one title on different paragraphs": 522,
        "paragraphs that repeat another of their context, merged": 3,
    }


def paragraph(title: str, text: str, **changes: object) -> Record:
    return {"idx": 0, "title": title, "paragraph_text": text, "is_supporting": False} | changes


def record(**changes: object) -> Record:
    return {
        "id": "2hop__1_2",
        "question": "Who?",
        "answer": "Ada",
        "answer_aliases": ["Ada L.", "Ada", " "],
        "answerable": True,
        "paragraphs": [
            paragraph("A", "One."),
            paragraph("A", "Two.", is_supporting=True),
            paragraph("B", "Three.", is_supporting=True),
        ],
    } | changes


def loaded(tmp_path: Path, *records: Record) -> Dataset:
    path = tmp_path / "musique.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return load(path)


def test_gold_is_what_is_marked_whatever_shares_its_title(tmp_path: Path) -> None:
    dataset = loaded(tmp_path, record())
    gold = (Passage("A", "Two."), Passage("B", "Three."))
    assert dataset.questions == (Question("2hop__1_2", "Who?", ("Ada", "Ada L."), "2hop", 2, gold),)
    assert dataset.passages == (Passage("A", "One."), *gold)
    assert dataset.notes == {
        "answers with surrounding spaces, removed": 1,
        "contexts with one title on different paragraphs": 1,
    }


def test_the_unanswerable_twin_of_the_full_file_is_left_out(tmp_path: Path) -> None:
    twin = record(answerable=False, paragraphs=[paragraph("C", "Four.")])
    for order in ([record(), twin], [twin, record()]):
        dataset = loaded(tmp_path, *order)
        assert [each.hops for each in dataset.questions] == [2]
        assert "C" not in {each.title for each in dataset.passages}
        assert dataset.notes["unanswerable questions, left out"] == 1


def test_a_test_record_without_answer_and_marks_is_left_out(tmp_path: Path) -> None:
    asked = {
        "id": "2hop__3_4",
        "question": "When?",
        "paragraphs": [{"title": "C", "paragraph_text": "Four."}],
    }
    assert loaded(tmp_path, record(), asked).notes["questions without an answer, left out"] == 1


def test_without_marks_gold_is_unknown(tmp_path: Path) -> None:
    dataset = loaded(tmp_path, record(id="x", paragraphs=[paragraph("A", "One.")]))
    assert [(each.gold, each.hops, each.kind) for each in dataset.questions] == [(None, 0, "")]
    assert dataset.notes["questions whose gold passages are unknown"] == 1


def test_a_file_of_another_kind_is_an_error_on_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "hotpot.json"
    path.write_text(
        json.dumps([{"_id": "h1", "question": "Who?", "context": []}], indent=1), encoding="utf-8"
    )
    with pytest.raises(DatasetError, match=r"line 1.*expected a MuSiQue record"):
        load(path)

"""2WikiMultiHopQA: the real sample with all its oddities, and both releases' forms."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index_builder.datasets.corpus import passage_key, read_corpus
from index_builder.datasets.two_wiki import load
from index_builder.errors import DatasetError
from index_builder.records import Dataset

Record = dict[str, Any]

KINDS = [
    "#gold titles = 2",
    "#gold titles = 4",
    "answer (normalised) not in gold paragraphs+titles",
    "answer non-ASCII",
    "answer_id null",
    "duplicate title inside one context",
    "evidences_id empty",
    "identical paragraph twice in one context",
    "numeric answer",
    "question leading/trailing space",
    "question non-ASCII",
    "sentence HTML-like tag",
    "sentence double space",
    "sentence newline/tab",
    "sentence non-ASCII",
    "span answer not verbatim in context",
    "span answer not verbatim in context (but case-insens.)",
    "supporting sentence index out of range",
    "title non-ASCII",
    "yes/no answer: 'no'",
    "yes/no answer: 'yes'",
]


@pytest.fixture(scope="module")
def dataset(shared_data: Path) -> Dataset:
    return load(shared_data / "2wikimultihopqa.json")


@pytest.fixture(scope="module")
def records(shared_data: Path) -> dict[str, Record]:
    return {each["_id"]: each for each in json.loads((shared_data / "2wikimultihopqa.json").read_bytes())}


def bare(text: str) -> str:
    return "".join(text.split())


def test_every_listed_oddity_has_a_test(quirks: Callable[[str], dict[str, list[str]]]) -> None:
    assert sorted(quirks("2wiki")) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_questions_with_a_listed_oddity_survive_whole(
    quirks: Callable[[str], dict[str, list[str]]], dataset: Dataset, records: dict[str, Record], kind: str
) -> None:
    questions = {each.question_id: each for each in dataset.questions}
    passages = {(each.title, bare(each.text)) for each in dataset.passages}
    for example in quirks("2wiki")[kind]:
        record, question = records[example], questions[example]
        context = {(title, bare("".join(sentences))) for title, sentences in record["context"]}
        gold_titles = {title for title, _ in record["supporting_facts"]}
        assert question.text == record["question"].strip()
        assert question.answers == (record["answer"].strip(),)
        assert (question.kind, question.hops) == (record["type"], len(gold_titles))
        assert question.gold is not None
        assert {each.title for each in question.gold} == gold_titles
        assert {(each.title, bare(each.text)) for each in question.gold} <= context
        assert context <= passages


def test_all_questions_of_the_sample_have_complete_gold(dataset: Dataset, shared_data: Path) -> None:
    corpus = {
        passage_key(each) for each in read_corpus(shared_data / "corpus" / "2wikimultihopqa_corpus.json")
    }
    assert len(dataset.questions) == 1_000
    for question in dataset.questions:
        assert question.gold is not None
        assert len(question.gold) == question.hops
        assert {passage_key(each) for each in question.gold} <= corpus
    # "Tōku Made" stands in two contexts with two texts; the corpus holds one of them.
    assert [each.title for each in dataset.passages if passage_key(each) not in corpus] == ["Tōku Made"]


def test_the_notes_of_the_sample_count_its_repairs(dataset: Dataset) -> None:
    assert dataset.notes == {
        "null answer ids, passed over": 163,
        "paragraphs that repeat another of their context, merged": 38,
        "questions with surrounding spaces, removed": 12,
        "supporting sentence indices out of range, ignored": 9,
    }


def record(**changes: object) -> Record:
    return {
        "_id": "w1",
        "question": "Who?",
        "answer": "Ada",
        "type": "inference",
        "supporting_facts": [["A", 0], ["B", 1]],
        "evidences": [["A", "child", "B"]],
        "context": [["A", ["One."]], ["B", ["Two.", "Three."]]],
    } | changes


def loaded(tmp_path: Path, *records: Record) -> Dataset:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return load(path)


def test_sentences_without_leading_spaces_are_set_apart(tmp_path: Path) -> None:
    (question,) = loaded(tmp_path, record()).questions
    assert [each.text for each in question.gold or ()] == ["One.", "Two. Three."]


def test_the_first_release_has_no_answer_ids_and_that_is_no_note(tmp_path: Path) -> None:
    assert loaded(tmp_path, record()).notes == {}
    assert loaded(tmp_path, record(answer_id="Q1")).notes == {}
    assert loaded(tmp_path, record(answer_id=None)).notes == {"null answer ids, passed over": 1}


@pytest.mark.parametrize("answer", [None, "", " "])
def test_records_of_the_test_file_are_left_out(tmp_path: Path, answer: str | None) -> None:
    hidden = record(_id="w2", answer=answer, supporting_facts=[], evidences=[])
    dataset = loaded(tmp_path, record(), hidden)
    assert [each.question_id for each in dataset.questions] == ["w1"]
    assert dataset.notes == {"questions without an answer, left out": 1}


def test_a_record_of_hotpotqa_is_named_as_such(tmp_path: Path) -> None:
    other = record()
    del other["evidences"]
    with pytest.raises(DatasetError, match="record 1: expected a field 'evidences' in a JSON array of 2Wiki"):
        loaded(tmp_path, other)

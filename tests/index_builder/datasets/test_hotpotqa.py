"""HotpotQA: the real sample with all its oddities, and the full files' forms."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index_builder.datasets.corpus import passage_key, read_corpus
from index_builder.datasets.hotpotqa import load
from index_builder.errors import DatasetError
from index_builder.records import Dataset, Passage, Question

Record = dict[str, Any]

KINDS = [
    "#gold titles = 2",
    "1-char answer",
    "answer non-ASCII",
    "context has 2 paragraphs (not 10)",
    "context has 3 paragraphs (not 10)",
    "context has 6 paragraphs (not 10)",
    "context has 8 paragraphs (not 10)",
    "duplicate id",
    "duplicate question text",
    "numeric answer",
    "question double space",
    "question leading/trailing space",
    "question non-ASCII",
    "question without final ?",
    "sentence HTML-like tag",
    "sentence NBSP",
    "sentence astral char",
    "sentence double space",
    "sentence empty",
    "sentence non-ASCII",
    "sentence whitespace only",
    "sentence zero-width/bidi/soft-hyphen/LS",
    "span answer not verbatim in context",
    "title HTML entity",
    "title non-ASCII",
    "yes/no answer: 'no'",
    "yes/no answer: 'yes'",
]


@pytest.fixture(scope="module")
def dataset(shared_data: Path) -> Dataset:
    return load(shared_data / "hotpotqa.json")


@pytest.fixture(scope="module")
def records(shared_data: Path) -> dict[str, Record]:
    return {each["_id"]: each for each in json.loads((shared_data / "hotpotqa.json").read_bytes())}


def bare(text: str) -> str:
    return "".join(text.split())


def test_every_listed_oddity_has_a_test(quirks: Callable[[str], dict[str, list[str]]]) -> None:
    assert sorted(quirks("hotpotqa")) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_questions_with_a_listed_oddity_survive_whole(
    quirks: Callable[[str], dict[str, list[str]]], dataset: Dataset, records: dict[str, Record], kind: str
) -> None:
    questions: dict[str, list[Question]] = defaultdict(list)
    for question in dataset.questions:
        questions[question.question_id].append(question)
    passages = {(each.title, bare(each.text)) for each in dataset.passages}
    for example in quirks("hotpotqa")[kind]:
        record = records[example]
        (question,) = questions[example]
        context = {(title, bare("".join(sentences))) for title, sentences in record["context"]}
        gold_titles = {title for title, _ in record["supporting_facts"]}
        assert question.text == record["question"].strip()
        assert question.answers == (record["answer"].strip(),)
        assert (question.kind, question.hops) == (record["type"], 2)
        assert question.gold is not None
        assert {each.title for each in question.gold} == gold_titles
        assert {(each.title, bare(each.text)) for each in question.gold} <= context
        assert context <= passages


def test_all_distinct_ids_of_the_sample_are_questions_with_complete_gold(
    dataset: Dataset, shared_data: Path
) -> None:
    corpus = {passage_key(each) for each in read_corpus(shared_data / "corpus" / "hotpotqa_corpus.json")}
    assert len(dataset.questions) == len({each.question_id for each in dataset.questions}) == 944
    for question in dataset.questions:
        assert question.gold is not None
        assert len(question.gold) == question.hops == 2
        assert {passage_key(each) for each in question.gold} <= corpus
    assert {passage_key(each) for each in dataset.passages} == corpus
    assert len(dataset.passages) == 9_221


def test_the_notes_of_the_sample_count_its_repairs(dataset: Dataset) -> None:
    assert dataset.notes == {
        "blank sentences, left out of their paragraph": 4,
        "identical records of one id, merged": 56,  # 1,000 records, 944 ids
        "questions with surrounding spaces, removed": 46,
        "titles with HTML entities, kept as they stand": 53,
    }


def record(**changes: object) -> Record:
    return {
        "_id": "h1",
        "question": "Who?",
        "answer": "Ada",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [["A", 0], ["B", 1]],
        "context": [["A", ["One."]], ["B", ["Two.", " Three."]], ["C", ["Four."]]],
    } | changes


def loaded(tmp_path: Path, *records: Record) -> Dataset:
    path = tmp_path / "hotpot.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return load(path)


def test_a_record_becomes_a_question_with_its_gold_in_official_order(tmp_path: Path) -> None:
    facts = [["B", 1], ["A", 0], ["B", 0]]
    dataset = loaded(tmp_path, record(supporting_facts=facts))
    gold = (Passage("B", "Two. Three."), Passage("A", "One."))
    assert dataset.questions == (Question("h1", "Who?", ("Ada",), "bridge", 2, gold),)
    assert dataset.passages == (gold[1], gold[0], Passage("C", "Four."))
    assert dataset.notes == {}


def test_a_training_record_without_facts_has_unknown_gold(tmp_path: Path) -> None:
    bare_record = record()
    del bare_record["supporting_facts"], bare_record["type"], bare_record["level"]
    dataset = loaded(tmp_path, bare_record)
    assert [(each.gold, each.kind, each.hops) for each in dataset.questions] == [(None, "", 0)]
    assert dataset.notes == {"questions whose gold passages are unknown": 1}


def test_a_test_record_without_answer_is_left_out_with_its_context(tmp_path: Path) -> None:
    asked = {"_id": "h2", "question": "When?", "context": [["D", ["Five."]]]}
    dataset = loaded(tmp_path, record(), asked)
    assert [each.question_id for each in dataset.questions] == ["h1"]
    assert "D" not in {each.title for each in dataset.passages}
    assert dataset.notes == {"questions without an answer, left out": 1}


def test_a_file_of_nothing_but_test_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="file: expected at least one question with an answer"):
        loaded(tmp_path, {"_id": "h2", "question": "When?", "context": []})


def test_gold_that_a_fullwiki_context_lacks_is_ignored_and_counted(tmp_path: Path) -> None:
    dataset = loaded(tmp_path, record(supporting_facts=[["A", 0], ["Z", 0]]))
    (question,) = dataset.questions
    assert (question.gold, question.hops) == ((Passage("A", "One."),), 2)
    assert dataset.notes == {"gold titles that the context lacks, ignored": 1}


def test_a_record_of_two_wiki_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="record 2, evidences: expected no evidences, which only 2Wiki"):
        loaded(tmp_path, record(), record(_id="h2", evidences=[]))

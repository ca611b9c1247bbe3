"""A-RAG's files: their gold by way of official files, and everything that may be odd in them."""

import json
from pathlib import Path
from typing import Any

import pytest

from index_builder.datasets import arag, musique
from index_builder.datasets.arag import PackedDataset
from index_builder.datasets.corpus import read_corpus
from index_builder.errors import DatasetError
from index_builder.records import Chunk, Passage, Question
from tests.contract.packed_manners import MANNERS

A = Passage("A", "Ada Lovelace wrote the first program for the Analytical Engine of Mr Babbage.")
B = Passage("B", "Charles Babbage designed the Analytical Engine in a house of London, England.")
C = Passage("C", "London is the capital of England and stands on both sides of the river Thames.")
CHUNKS = [f"0:{C.text.lower()} x", f"1: {A.text.lower()}\n\n{B.text.lower()}", "2:nothing: of note"]


def question(**changes: object) -> dict[str, Any]:
    return {
        "id": "musique_2hop__1_2",
        "source": "musique",
        "question": "Who designed it?",
        "answer": "Babbage",
        "question_type": "",
        "evidence": "",
    } | changes


def official(*gold: Passage, **changes: object) -> dict[str, Any]:
    paragraphs = [
        {"title": each.title, "paragraph_text": each.text, "is_supporting": each in gold}
        for each in (A, B, C)
    ]
    return {
        "id": "2hop__1_2",
        "question": "Who designed it?",
        "answer": "Charles Babbage",
        "answer_aliases": ["Mr Babbage"],
        "paragraphs": paragraphs,
    } | changes


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def loaded(
    tmp_path: Path, questions: object, chunks: object = CHUNKS, records: list[dict[str, Any]] | None = None
) -> PackedDataset:
    file = tmp_path / "official.jsonl"
    if records is not None:
        file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return arag.load(
        written(tmp_path / "questions.json", questions),
        written(tmp_path / "chunks.json", chunks),
        None if records is None else file,
    )


def test_a_question_gets_gold_aliases_and_kind_of_its_official_record(tmp_path: Path) -> None:
    packed = loaded(tmp_path, [question()], records=[official(B, C)])
    assert packed.dataset.questions == (
        Question(
            "musique_2hop__1_2",
            "Who designed it?",
            ("Babbage", "Charles Babbage", "Mr Babbage"),
            "2hop",
            2,
            (B, C),
        ),
    )
    assert packed.dataset.passages == ()
    assert packed.chunks == (
        (Chunk("0", "", f"{C.text.lower()} x"), (C,)),
        (Chunk("1", "", f" {A.text.lower()}\n\n{B.text.lower()}"), (B,)),
        (Chunk("2", "", "nothing: of note"), ()),
    )
    assert packed.dataset.notes == {arag.SOUGHT: 2, arag.FOUND: 2, arag.WITH_ALL: 1}


@pytest.mark.parametrize("given", ["2hop__1_2", "musique_2hop__1_2", "other_2hop__1_2"])
def test_an_id_is_the_official_one_with_or_without_a_name_before_it(tmp_path: Path, given: str) -> None:
    packed = loaded(tmp_path, [question(id=given)], records=[official(A)])
    assert [(each.question_id, each.gold) for each in packed.dataset.questions] == [(given, (A,))]


def test_how_much_gold_was_found_is_counted_by_question(tmp_path: Path) -> None:
    lost = Passage("L", "A passage that stands in no chunk, however one reads the chunks that there are.")
    records = [
        official(id="all", paragraphs=paragraphs(A, B)),
        official(id="some", paragraphs=paragraphs(A, lost)),
        official(id="none", paragraphs=paragraphs(lost)),
        official(id="unknown", paragraphs=[]),
    ]
    names = ("all", "some", "none", "unknown", "absent")
    packed = loaded(tmp_path, [question(id=name) for name in names], records=records)
    assert packed.dataset.notes == {
        arag.SOUGHT: 5,
        arag.FOUND: 3,
        arag.WITH_ALL: 1,
        arag.WITH_SOME: 1,
        arag.WITH_NONE: 1,
        "questions whose gold passages are unknown": 2,
        arag.NO_RECORD: 1,
    }
    assert [each.gold for each in packed.dataset.questions][2:] == [(lost,), None, None]


def paragraphs(*gold: Passage) -> list[dict[str, Any]]:
    return [{"title": each.title, "paragraph_text": each.text, "is_supporting": True} for each in gold]


def test_without_an_official_file_gold_is_unknown_and_this_is_said(tmp_path: Path) -> None:
    packed = loaded(tmp_path, [question(question_type="inference")])
    assert [(each.gold, each.hops, each.kind) for each in packed.dataset.questions] == [
        (None, 0, "inference")
    ]
    assert packed.dataset.notes == {"questions whose gold passages are unknown": 1, arag.NO_FILE: 1}
    assert all(held == () for _, held in packed.chunks)


def test_the_format_of_the_official_file_follows_from_its_content(tmp_path: Path) -> None:
    cited = {
        "_id": "h1",
        "question": "Who?",
        "answer": "Ada",
        "type": "bridge",
        "supporting_facts": [["A", 0]],
        "context": [["A", [A.text]], ["B", [B.text]]],
    }
    for extra in ({}, {"evidences": [["A", "designed", "B"]]}):
        file = written(tmp_path / "official.json", [cited | extra])
        packed = arag.load(
            written(tmp_path / "q.json", [question(id="set_h1")]), written(tmp_path / "c.json", CHUNKS), file
        )
        assert [each.gold for each in packed.dataset.questions] == [(A,)]


@pytest.mark.parametrize("evidence", ["a sentence", ["a", "b"], [["A", "father", "B"]], {"chunk": 1}])
def test_evidence_of_any_form_is_counted_and_not_used(tmp_path: Path, evidence: object) -> None:
    packed = loaded(tmp_path, [question(evidence=evidence)])
    assert packed.dataset.notes["questions with evidence of A-RAG's own, not used"] == 1
    assert [each.gold for each in packed.dataset.questions] == [None]


@pytest.mark.parametrize("evidence", ["", [], None])
def test_empty_evidence_is_none(tmp_path: Path, evidence: object) -> None:
    notes = loaded(tmp_path, [question(evidence=evidence)]).dataset.notes
    assert "questions with evidence of A-RAG's own, not used" not in notes


def test_repeated_questions_and_chunks_are_kept_once(tmp_path: Path) -> None:
    packed = loaded(tmp_path, [question(), question()], [CHUNKS[0], CHUNKS[0], "3: \n", "4:"])
    assert len(packed.dataset.questions) == 1
    assert [chunk.chunk_id for chunk, _ in packed.chunks] == ["0"]
    assert packed.dataset.notes["identical records of one id, merged"] == 1
    assert packed.dataset.notes["identical chunks of one id, merged"] == 1
    assert packed.dataset.notes["chunks without text, left out"] == 2


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "file: expected at least one chunk with text"),
        (["0: "], "file: expected at least one chunk with text"),
        (["0:a", 7], 'record 2: expected a valid string in a JSON array of "id:text" strings'),
        (["0:a", {"id": "1", "text": "b"}], "record 2: expected a valid string"),
        (["0:a", "no colon"], "record 2: expected an id before a colon"),
        (["0:a", " :b"], "record 2: expected an id before a colon"),
        (["0:a", "1:b", "0:c"], "record 3: expected an id of its own, but an earlier chunk .* is '0' too"),
        ({"0": "a"}, 'file: expected a JSON array of "id:text" strings'),
    ],
)
def test_what_is_wrong_with_chunks_is_said_with_its_place(
    tmp_path: Path, chunks: object, message: str
) -> None:
    with pytest.raises(DatasetError, match=rf"chunks\.json, {message}"):
        loaded(tmp_path, [question()], chunks)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([], "file: expected at least one question with an answer"),
        ([question(id="")], "record 1, id: expected a string that should have at least 1 character"),
        ([question(), question(answer=3)], "record 2, answer: expected a valid string"),
        (CHUNKS, "record 1: expected an object in a JSON array of A-RAG questions"),
    ],
)
def test_what_is_wrong_with_questions_is_said_with_its_place(
    tmp_path: Path, questions: object, message: str
) -> None:
    with pytest.raises(DatasetError, match=rf"questions\.json, {message}"):
        loaded(tmp_path, questions)


def test_an_official_file_of_another_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"official\.jsonl, file: expected the official records of"):
        loaded(tmp_path, [question()], records=[official(id="3hop__1_2_3")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            [{"title": "A", "text": "a"}],
            "record 1: expected a field 'question' in a JSON array of Hotpot",
        ),
        ({"A": ["a"]}, "line 1: expected a field 'question' in a MuSiQue record"),
    ],
)
def test_a_file_of_no_official_format_is_an_error(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        arag.load(
            written(tmp_path / "q.json", [question()]),
            written(tmp_path / "c.json", CHUNKS),
            written(tmp_path / "official.json", content),
        )


def test_files_made_as_arags_have_their_number_of_chunks_and_all_their_gold(
    shared_data: Path, tmp_path: Path
) -> None:
    passages = list(read_corpus(shared_data / "corpus" / "musique_corpus.json"))
    chunks = MANNERS["as A-RAG's"](passages).chunks
    known = musique.load(shared_data / "musique.jsonl").questions
    asked = [
        question(id=f"musique_{each.question_id}", question=each.text, answer=each.answers[0])
        for each in known
    ]
    found = arag.load(
        written(tmp_path / "questions.json", asked),
        written(tmp_path / "chunks.json", [f"{n}:{text}" for n, text in enumerate(chunks)]),
        shared_data / "musique.jsonl",
    )
    assert len(found.chunks) == 1354
    assert [(each.answers, each.gold) for each in found.dataset.questions] == [
        (each.answers, each.gold) for each in known
    ]
    assert found.dataset.notes[arag.SOUGHT] == found.dataset.notes[arag.FOUND] == 2648
    assert found.dataset.notes[arag.WITH_ALL] == 1000

"""What a bundle is made of, and which settings do not go together."""

import json
from pathlib import Path

import pytest

from index_builder.datasets import KINDS
from index_builder.errors import DatasetError, InputError
from index_builder.material import read_material
from index_builder.records import Chunk, Passage

TEXT = "Ada Lovelace wrote the first program for the Analytical Engine of Mr Babbage."
RECORD = {
    "id": "2hop__1_2",
    "question": "Who wrote the first program?",
    "answer": "Ada Lovelace",
    "paragraphs": [{"title": "Ada", "paragraph_text": TEXT, "is_supporting": True}],
}
ASKED = {"id": "musique_2hop__1_2", "question": RECORD["question"], "answer": "Ada"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "official.jsonl": RECORD,
        "questions.json": [ASKED],
        "chunks.json": [f"5:{TEXT.lower()}", "6:something else"],
        "corpus.json": [{"title": "Ada", "text": TEXT}, {"title": "Ada", "text": TEXT + " "}],
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    return {name: tmp_path / name for name in contents}


def test_official_files_are_chunked_by_passage_unless_told_otherwise(files: dict[str, Path]) -> None:
    source = files["official.jsonl"]
    material = read_material("musique", source, None, None, None, 0)
    assert (material.chunking, material.files) == ("passage", {"source": source})
    ((chunk, held),) = material.chunks
    assert ((chunk.title, chunk.text), held) == (("Ada", TEXT), (Passage("Ada", TEXT),))
    packed = read_material("musique", source, None, None, "packed:100", 0)
    assert [chunk.text for chunk, _ in packed.chunks] == [f"Ada\n{TEXT}"]


def test_repeats_of_a_corpus_are_noted_while_its_chunks_are_read(files: dict[str, Path]) -> None:
    material = read_material("musique", files["official.jsonl"], files["corpus.json"], None, None, 0)
    assert material.files == {"source": files["official.jsonl"], "corpus": files["corpus.json"]}
    assert len(list(material.chunks)) == 1
    assert material.dataset.notes == {"passages of the corpus that repeat another, merged": 1}


def test_a_rags_chunks_are_taken_as_given(files: dict[str, Path]) -> None:
    given = {"source": files["questions.json"], "corpus": files["chunks.json"]}
    material = read_material("arag", given["source"], given["corpus"], files["official.jsonl"], None, 0)
    assert (material.chunking, material.files) == ("given", {**given, "official": files["official.jsonl"]})
    assert list(material.chunks) == [
        (Chunk("5", "", TEXT.lower()), (Passage("Ada", TEXT),)),
        (Chunk("6", "", "something else"), ()),
    ]
    assert read_material("arag", given["source"], given["corpus"], None, None, 0).files == given


def test_settings_that_do_not_go_together_are_refused(files: dict[str, Path]) -> None:
    questions, chunks = files["questions.json"], files["chunks.json"]
    with pytest.raises(InputError, match="A-RAG's chunks come packed: leave it out"):
        read_material("arag", questions, chunks, None, "packed:1000", 0)
    with pytest.raises(InputError, match=r"its chunks\.json must be given as the corpus"):
        read_material("arag", questions, None, None, None, 0)
    with pytest.raises(InputError, match="musique is official itself"):
        read_material("musique", files["official.jsonl"], None, files["official.jsonl"], None, 0)
    with pytest.raises(InputError, match=f"known: {', '.join(KINDS)}"):
        read_material("squad", questions, None, None, None, 0)
    with pytest.raises(InputError, match="packed:1000"):
        read_material("musique", files["official.jsonl"], None, None, "pages", 0)
    with pytest.raises(DatasetError, match="a corpus file that exists"):
        read_material("musique", files["official.jsonl"], files["chunks.json"].parent / "no", None, None, 0)

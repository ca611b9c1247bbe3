"""Corpora in their three forms, and what makes two passages the same."""

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.datasets.corpus import REPEATED, distinct, joined, passage_key, read_corpus
from index_builder.errors import DatasetError
from index_builder.records import Passage

PASSAGES = [Passage("Rome", "A city. In Italy."), Passage("Oslo", "A town.")]


def written(tmp_path: Path, content: str, name: str = "corpus.json") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def as_lines(passages: list[Passage]) -> str:
    return "".join(json.dumps({"title": each.title, "text": each.text}) + "\n" for each in passages)


FORMS: dict[str, Callable[[list[Passage]], str]] = {
    "titles": lambda all_: json.dumps({each.title: [each.text] for each in all_}),
    "indented titles": lambda all_: json.dumps({each.title: [each.text] for each in all_}, indent=1),
    "array": lambda all_: json.dumps([{"title": each.title, "text": each.text} for each in all_]),
    "indented array": lambda all_: json.dumps(
        [{"title": each.title, "text": each.text} for each in all_], indent=1
    ),
    "lines": as_lines,
    "one line": lambda all_: as_lines(all_).rstrip("\n"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n"])
def test_every_form_is_known_by_its_content(tmp_path: Path, form: str, n: int, mark: str) -> None:
    path = written(tmp_path, mark + FORMS[form](PASSAGES[:n]))
    assert list(read_corpus(path)) == PASSAGES[:n]


def test_sentences_are_joined(tmp_path: Path) -> None:
    path = written(tmp_path, '{"Rome": ["A city.", " In Italy."], "Oslo": ["A town."]}')
    assert list(read_corpus(path)) == PASSAGES


def test_a_corpus_about_titles_and_texts_is_no_file_of_lines(tmp_path: Path) -> None:
    path = written(tmp_path, '{"title": ["About titles."], "text": ["About texts."]}')
    assert list(read_corpus(path)) == [Passage("title", "About titles."), Passage("text", "About texts.")]


def test_repeated_passages_are_all_given(tmp_path: Path) -> None:
    path = written(tmp_path, as_lines(PASSAGES * 2))
    assert list(read_corpus(path)) == PASSAGES * 2


def test_titles_that_stand_twice_in_one_object_are_both_read(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_text('{"T": ["a"], "U": ["b \\ud800"], "T": ["c"]}', encoding="utf-8")
    notes = Counter[str]()
    assert list(read_corpus(path, notes)) == [Passage("T", "a"), Passage("U", "b \ufffd"), Passage("T", "c")]
    assert notes == {"texts with lone surrogates, replaced by U+FFFD": 1}


def test_repeated_passages_are_counted_as_they_are_merged(tmp_path: Path) -> None:
    notes: Counter[str] = Counter()
    path = written(tmp_path, as_lines([*PASSAGES, PASSAGES[1], PASSAGES[1]]))
    assert list(distinct(read_corpus(path, notes), notes)) == PASSAGES
    assert notes == {REPEATED: 2}


def test_lines_stream(tmp_path: Path) -> None:
    path = written(tmp_path, as_lines(PASSAGES) + "broken\n", "corpus.jsonl")
    read = read_corpus(path)
    assert list(itertools.islice(read, 2)) == PASSAGES
    with pytest.raises(DatasetError, match="line 3"):
        next(read)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "c.json", "empty"),
        ("", "c.jsonl", "at least one passage"),
        ("{}", "c.json", "at least one passage"),
        ("[]", "c.json", "at least one passage"),
        ("[1]", "c.json", "record 1: expected an object"),
        ('[{"title": "a"}]', "c.json", "record 1: expected a field 'text'"),
        ('{"Rome": "A city."}', "c.json", "entry 'Rome': expected a valid array"),
        ('{"Rome": ["A city.", 3]}', "c.json", "entry 'Rome', 1: expected a valid string"),
        ('{"Rome": ["A ci', "c.json", "line 1, column 15: expected a corpus: JSON"),
        ('{"title": "a"}', "c.jsonl", "line 1: expected a field 'text' in a JSON object"),
        ("3", "c.json", "file: expected a corpus"),
    ],
)
def test_a_broken_corpus_is_an_error_with_its_place(
    tmp_path: Path, content: str, name: str, message: str
) -> None:
    with pytest.raises(DatasetError, match=message.replace("{", r"\{")):
        list(read_corpus(written(tmp_path, content, name)))


def test_passages_are_the_same_up_to_white_space() -> None:
    first = Passage("New York", "A city.\nBig.")
    same = Passage("NewYork", " A\u00a0city. Big. ")
    others = [
        Passage("New York", "A city. big."),
        Passage("New YorkA", "city. Big."),
        Passage("", "New York"),
    ]
    assert passage_key(first) == passage_key(same)
    assert list(distinct([first, same, *others, first])) == [first, *others]


@given(st.text(), st.text(), st.text(), st.text())
def test_a_key_tells_apart_what_differs_in_more_than_white_space(a: str, b: str, c: str, d: str) -> None:
    bare = [tuple("".join(text.split()) for text in pair) for pair in ((a, b), (c, d))]
    if not any("\0" in text for pair in bare for text in pair):
        assert (passage_key(Passage(a, b)) == passage_key(Passage(c, d))) == (bare[0] == bare[1])


@pytest.mark.parametrize(
    ("sentences", "text"),
    [
        ([], ""),
        (["One."], "One."),
        (["One.", " Two."], "One. Two."),
        (["One.", "Two."], "One. Two."),
        (["One. ", "Two."], "One. Two."),
        (["", "One.", "", " ", " Two.", " "], "One. Two."),
        (["One.", "\u00a0Two."], "One.\u00a0Two."),
        ([" One.\n", "Two. "], "One.\nTwo."),
    ],
)
def test_one_space_stands_between_two_sentences_unless_there_is_one(sentences: list[str], text: str) -> None:
    assert joined(sentences) == text


@given(st.lists(st.text()))
def test_joining_adds_and_loses_nothing_but_white_space(sentences: list[str]) -> None:
    assert "".join(joined(sentences).split()) == "".join("".join(sentences).split())


@pytest.mark.parametrize(
    ("name", "count"),
    [("hotpotqa", 9_221), ("2wikimultihopqa", 6_119), ("musique", 11_656)],
)
def test_the_real_corpora_are_read_whole(shared_data: Path, name: str, count: int) -> None:
    passages = list(read_corpus(shared_data / "corpus" / f"{name}_corpus.json"))
    assert len(passages) == count
    assert all(passage.title and passage.text for passage in passages)

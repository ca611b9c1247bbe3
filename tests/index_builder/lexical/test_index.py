"""Searches against BM25 worked out by hand, and queries as data."""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from index_builder.errors import BundleError, InputError, StorageError
from index_builder.lexical import ANALYSERS, LexicalIndex, analysers, write_lexical
from index_builder.lexical.index import MAX_TERMS
from index_builder.records import Chunk, Dataset
from tests.index_builder.lexical.bm25_by_hand import TERMS, expected

TEXTS = st.lists(st.sampled_from(sorted(TERMS)), min_size=1, max_size=12)
LONG_TEXTS = st.lists(st.sampled_from(sorted(TERMS)), min_size=30, max_size=150)

HOSTILE = [
    "",
    " ",
    "x" * 1_000_000,
    "a b " * 250_000,
    "\x00",
    "zorb\x00quim",
    "\x1b[31m\x07",
    "\ud800",
    "zorb \udfff\ud800",
    '"unbalanced (zorb [',
    "NOT zorb",
    "-zorb",
    "*",
    "title:*",
    "ordinal:[0 TO *]",
    "zorb^1e9",
    "zorb~2 AND OR",
    "don't",
    "the of and to",
    "😀👨\u200d👩\u200d👧",
    "שלום עולם \u202e",
    "\\",
    "{}{}{}$(rm -rf /)",
    "'; DROP TABLE chunks; --",
]


def chunks(*texts: str) -> list[Chunk]:
    return [Chunk(f"c{number}", "", text) for number, text in enumerate(texts)]


def index_of(folder: Path, made: list[Chunk], analyser: str = "english") -> LexicalIndex:
    assert write_lexical(folder, made, analyser) == len(made)
    return LexicalIndex(folder, analyser)


@pytest.mark.parametrize("analyser", ANALYSERS)
@settings(max_examples=40)
@given(st.lists(TEXTS | LONG_TEXTS, min_size=1, max_size=12), TEXTS)
@example([["THE", "of"], ["Zorb"]], ["THE", "who"])
def test_scores_are_those_of_the_formula_and_ties_fall_by_id(
    analyser: str, texts: Sequence[Sequence[str]], query: Sequence[str]
) -> None:
    wanted = expected(texts, query, analyser)
    with TemporaryDirectory() as folder:
        index = index_of(Path(folder), chunks(*map(" ".join, texts)), analyser)
        ids, scores = index.search(" ".join(query), 50)
    assert set(ids.tolist()) == set(wanted)
    assert scores.tolist() == pytest.approx([wanted[number] for number in ids.tolist()], rel=1e-5)
    assert list(zip(-scores, ids, strict=True)) == sorted(zip(-scores, ids, strict=True))


def test_equal_texts_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    ids, _ = index_of(tmp_path, chunks(*["same words"] * 300)).search("words", 20)
    assert ids.tolist() == list(range(20))


def test_a_word_repeated_in_the_query_counts_once(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("zorb quim", "quim brax", "brax"))
    once, repeated = index.search("zorb quim", 5), index.search("zorb quim quim QUIM", 5)
    assert once[0].tolist() == repeated[0].tolist()
    assert once[1].tolist() == repeated[1].tolist()


def test_title_and_text_are_both_searched(tmp_path: Path) -> None:
    made = [Chunk("a", "Zorb", "quim"), Chunk("b", "Quim", "zorb"), Chunk("c", "Brax", "brax")]
    assert sorted(index_of(tmp_path, made).search("zorb", 5)[0].tolist()) == [0, 1]


def test_stop_words_beside_a_found_word_change_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("the the the of", "zorb"))
    assert index.search("the zorb of", 5)[0].tolist() == [1]


@pytest.mark.parametrize("analyser", ANALYSERS)
def test_a_query_of_stop_words_alone_is_looked_up_among_all_words(
    tmp_path: Path, dataset: Dataset, analyser: str
) -> None:
    made = [Chunk(f"c{n}", p.title, p.text) for n, p in enumerate(dataset.passages)]
    ids, _ = index_of(tmp_path, made, analyser).search("to be or not to be", 5)
    assert dataset.passages[int(ids[0])].title == "Hamlet"


def test_stop_words_with_an_unknown_word_are_looked_up_too(tmp_path: Path) -> None:
    assert index_of(tmp_path, chunks("it is zorb", "quim")).search("it xyzzy", 5)[0].tolist() == [0]


def test_a_query_without_any_known_word_finds_nothing(tmp_path: Path) -> None:
    ids, scores = index_of(tmp_path, chunks("zorb")).search("xyzzy 😀", 5)
    assert ids.shape == scores.shape == (0,)


def test_the_depth_bounds_the_hits(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks(*["zorb"] * 9))
    assert [len(index.search("zorb", depth)[0]) for depth in (1, 8, 9, 10**12)] == [1, 8, 9, 9]


def test_a_batch_has_a_row_for_each_query_and_is_padded(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("zorb quim", "quim", "brax"))
    queries = ["quim", "", "zorb brax"]
    ids, scores = index.search_batch(queries, 4)
    assert ids.tolist() == [[1, 0, -1, -1], [-1, -1, -1, -1], [2, 0, -1, -1]]
    for row, query in enumerate(queries):
        found, found_scores = index.search(query, 4)
        assert scores[row].tolist() == [*found_scores, *[0.0] * (4 - len(found))]
    assert [part.shape for part in index.search_batch([], 4)] == [(0, 4), (0, 4)]


@pytest.mark.parametrize("analyser", ANALYSERS)
@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:20]))
def test_no_query_raises_or_means_more_than_its_words(tmp_path: Path, query: str, analyser: str) -> None:
    index = index_of(tmp_path, chunks("zorb quim", "brax flod", "gund"), analyser)
    ids, scores = index.search(query, 5)
    assert len(ids) == len(scores)
    # An injected "everything", "not" or field query would bring up chunks without a word of the query.
    assert ids.tolist() == ([0] if "zorb" in query else [])


def test_only_the_first_terms_of_an_endless_query_count(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("zorb", "quim"))
    filler = " ".join(f"w{number}" for number in range(MAX_TERMS - 1))
    assert index.search(f"{filler} zorb quim", 5)[0].tolist() == [0]


@pytest.mark.parametrize(
    ("analyser", "query", "found"),
    [
        ("english", "film zorb", [7, 0, 1, 2, 3]),
        ("english-broad", "film zorb", [7]),
        ("english-broad", "film xyzzy", [0, 1, 2, 3]),
        ("english-broad", "film the", [0, 1, 2, 3]),
    ],
)
def test_only_english_broad_does_without_common_words_while_a_rarer_one_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, analyser: str, query: str, found: list[int]
) -> None:
    monkeypatch.setattr(analysers, "COMMON_AT_LEAST", 2)
    index = index_of(tmp_path, chunks(*["film"] * 4, *["quim"] * 3, "zorb"), analyser)
    assert index.search(query, 8)[0].tolist() == found


def test_an_apostrophe_parts_words_on_both_sides(tmp_path: Path) -> None:
    assert index_of(tmp_path, chunks("they don't", "dont")).search("don't", 5)[0].tolist() == [0]


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BundleError, match="holds no BM25 index"):
            LexicalIndex(folder, "english")


def test_an_index_of_another_analyser_is_refused(tmp_path: Path) -> None:
    write_lexical(tmp_path, chunks("zorb"), "english")
    with pytest.raises(BundleError, match="another analyser than english-broad"):
        LexicalIndex(tmp_path, "english-broad")
    with pytest.raises(InputError, match="klingon"):
        LexicalIndex(tmp_path, "klingon")


def test_opening_and_searching_write_nothing_to_a_folder_that_may_be_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    write_lexical(folder, chunks("zorb"), "english")
    names, modified = sorted(folder.iterdir()), folder.stat().st_mtime_ns
    folder.chmod(0o555)  # holds back everybody but root; for root, the folder's time tells
    try:
        assert LexicalIndex(folder, "english").search("zorb", 5)[0].tolist() == [0]
    finally:
        folder.chmod(0o755)
    assert (sorted(folder.iterdir()), folder.stat().st_mtime_ns) == (names, modified)


def test_a_relative_folder_is_opened_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lexical(tmp_path, chunks("zorb"), "english")
    monkeypatch.chdir(tmp_path)
    assert LexicalIndex(Path(), "english").search("zorb", 5)[0].tolist() == [0]


def test_strangers_beside_the_index_are_not_read(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("a town"))
    (tmp_path / ".managed.json").write_text("junk", encoding="utf-8")
    (tmp_path / ".tantivy-meta.lock").mkdir()
    again = LexicalIndex(tmp_path)
    assert again.search("town", 5)[0].tolist() == index.search("town", 5)[0].tolist()


def test_without_a_temporary_folder_that_is_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_of(tmp_path, chunks("a town"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(StorageError, match=r"no temporary folder can be made: .*; set TMPDIR"):
        LexicalIndex(tmp_path)


def test_threads_and_several_readers_find_the_same(tmp_path: Path) -> None:
    words = ("zorb", "quim", "brax", "flod", "gund")
    made = chunks(*(f"{words[n % 5]} {words[n % 3]} {words[n % 2]}" for n in range(500)))
    readers = [index_of(tmp_path, made), LexicalIndex(tmp_path, "english")]
    queries = [f"{first} {second}" for first in words for second in words] * 8
    alone = [readers[0].search(query, 50) for query in queries]
    for reader in readers:
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda query, reader=reader: reader.search(query, 50), queries))
        for (ids, scores), (other_ids, other_scores) in zip(alone, together, strict=True):
            assert np.array_equal(ids, other_ids)
            assert np.array_equal(scores, other_scores)

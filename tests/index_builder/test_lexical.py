"""BM25 against its formula, and queries as data."""

import math
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from index_builder.errors import BundleError
from index_builder.lexical import MAX_TERMS, LexicalIndex, write_lexical
from index_builder.records import Chunk, Dataset

# Words that no stop list holds and that the stemmer leaves alone.
WORDS = ("zorb", "quim", "brax", "flod", "gund", "plim")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)

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


def index_of(folder: Path, made: list[Chunk]) -> LexicalIndex:
    assert write_lexical(folder, made) == len(made)
    return LexicalIndex(folder)


def bm25(texts: list[str], query: str) -> dict[int, float]:
    """The formula with k1 = 1.2 and b = 0.75, over the distinct terms of the query."""
    documents = [Counter(text.split()) for text in texts]
    lengths = [document.total() for document in documents]
    average = sum(lengths) / len(texts)
    scores: dict[int, float] = defaultdict(float)
    for term in set(query.split()):
        holding = sum(term in document for document in documents)
        weight = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for number, document in enumerate(documents):
            if term in document:
                damping = 1.2 * (1 - 0.75 + 0.75 * lengths[number] / average)
                scores[number] += weight * document[term] * 2.2 / (document[term] + damping)
    return scores


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=12), TEXTS)
def test_scores_are_those_of_the_formula_and_ties_fall_by_id(texts: list[str], query: str) -> None:
    expected = bm25(texts, query)
    with TemporaryDirectory() as folder:
        ids, scores = index_of(Path(folder), chunks(*texts)).search(query, 50)
    assert set(ids.tolist()) == set(expected)
    assert scores.tolist() == pytest.approx([expected[number] for number in ids.tolist()], rel=1e-5)
    assert list(zip(-scores, ids, strict=True)) == sorted(zip(-scores, ids, strict=True))


def test_equal_texts_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    ids, _ = index_of(tmp_path, chunks(*["same words"] * 300)).search("words", 20)
    assert ids.tolist() == list(range(20))


def test_an_index_is_one_segment(tmp_path: Path) -> None:
    index_of(tmp_path, chunks(*(f"text number {n}" for n in range(5000))))
    assert tantivy.Index.open(str(tmp_path)).searcher().num_segments == 1


def test_a_word_repeated_in_the_query_counts_once(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("zorb quim", "quim brax", "brax"))
    once, repeated = index.search("zorb quim", 5), index.search("zorb quim quim QUIM", 5)
    assert once[0].tolist() == repeated[0].tolist()
    assert once[1].tolist() == repeated[1].tolist()


def test_title_and_text_are_both_searched(tmp_path: Path) -> None:
    made = [Chunk("a", "Zorb", "quim"), Chunk("b", "Quim", "zorb"), Chunk("c", "Brax", "brax")]
    assert sorted(index_of(tmp_path, made).search("zorb", 5)[0].tolist()) == [0, 1]


def test_words_are_stemmed_and_lowered_on_both_sides(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("The engines were DESIGNED here", "nothing of it"))
    assert index.search("designing Engine", 5)[0].tolist() == [0]


def test_stop_words_beside_a_found_word_change_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("the the the of", "zorb"))
    assert index.search("the zorb of", 5)[0].tolist() == [1]


def test_a_query_of_stop_words_alone_is_looked_up_among_all_words(tmp_path: Path, dataset: Dataset) -> None:
    made = [Chunk(f"c{n}", p.title, p.text) for n, p in enumerate(dataset.passages)]
    ids, _ = index_of(tmp_path, made).search("to be or not to be", 5)
    assert dataset.passages[int(ids[0])].title == "Hamlet"


def test_stop_words_with_an_unknown_word_are_looked_up_too(tmp_path: Path) -> None:
    assert index_of(tmp_path, chunks("it is zorb", "quim")).search("it xyzzy", 5)[0].tolist() == [0]


def test_a_query_without_any_known_word_finds_nothing(tmp_path: Path) -> None:
    ids, scores = index_of(tmp_path, chunks("zorb")).search("xyzzy 😀", 5)
    assert ids.shape == scores.shape == (0,)


@pytest.mark.parametrize(("length", "found"), [(90, [1]), (1000, [1]), (1001, []), (300_000, [])])
def test_a_word_of_up_to_a_thousand_bytes_is_found(tmp_path: Path, length: int, found: list[int]) -> None:
    index = index_of(tmp_path, chunks("quim", f"the hill {'tauma' * (length // 5)}{'x' * (length % 5)}"))
    assert index.search(f"{'tauma' * (length // 5)}{'x' * (length % 5)}", 5)[0].tolist() == found
    assert index.search("hill", 5)[0].tolist() == [1]


def test_the_depth_bounds_the_hits(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks(*["zorb"] * 9))
    assert [len(index.search("zorb", depth)[0]) for depth in (1, 8, 9, 100)] == [1, 8, 9, 9]


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:20]))
def test_no_query_raises_or_means_more_than_its_words(tmp_path: Path, query: str) -> None:
    index = index_of(tmp_path, chunks("zorb quim", "brax flod", "gund"))
    ids, scores = index.search(query, 5)
    assert len(ids) == len(scores)
    # An injected "everything", "not" or field query would bring up chunks without a word of the query.
    assert ids.tolist() in ([], [0])
    assert ids.tolist() == ([0] if "zorb" in query else [])


def test_only_the_first_terms_of_an_endless_query_count(tmp_path: Path) -> None:
    index = index_of(tmp_path, chunks("zorb", "quim"))
    filler = " ".join(f"w{number}" for number in range(MAX_TERMS - 1))
    assert index.search(f"{filler} zorb quim", 5)[0].tolist() == [0]


def test_an_apostrophe_parts_words_on_both_sides(tmp_path: Path) -> None:
    assert index_of(tmp_path, chunks("they don't", "dont")).search("don't", 5)[0].tolist() == [0]


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BundleError, match="holds no BM25 index"):
            LexicalIndex(folder)


def test_writing_leaves_no_lock_behind(tmp_path: Path) -> None:
    write_lexical(tmp_path, chunks("zorb"))
    assert list(tmp_path.glob("*.lock")) == []

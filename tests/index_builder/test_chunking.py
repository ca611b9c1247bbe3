"""Chunks hold every passage once, within their size, under ids that say nothing of their place."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.chunking import chunk_passages, gold_chunk_ids, indexed_text, missing_gold, pack_in_order
from index_builder.datasets.corpus import passage_key
from index_builder.errors import InputError
from index_builder.records import Chunk, Dataset, Passage

WORDS = st.text(alphabet="ab é東", min_size=1, max_size=30)
CORPORA = st.lists(st.builds(Passage, WORDS, WORDS), max_size=25, unique=True)


def tokens(text: str) -> int:
    return -(-len(text.encode()) // 4)


def test_passage_chunking_keeps_title_text_and_order(dataset: Dataset) -> None:
    made = list(chunk_passages(dataset.passages, "passage", 0))
    assert [(chunk.title, chunk.text) for chunk, _ in made] == [(p.title, p.text) for p in dataset.passages]
    assert [held for _, held in made] == [(passage,) for passage in dataset.passages]


@given(CORPORA, st.integers(1, 40), st.integers(0, 5))
def test_packing_holds_each_passage_once_and_fills_chunks_up_to_the_size(
    passages: list[Passage], size: int, seed: int
) -> None:
    made = list(chunk_passages(passages, f"packed:{size}", seed))
    assert Counter(p for _, held in made for p in held) == Counter(passages)
    for chunk, held in made:
        assert chunk.text == "\n\n".join(f"{p.title}\n{p.text}" for p in held)
        assert chunk.title == ""
        assert tokens(chunk.text) <= size or len(held) == 1
    for (chunk, _), (_, following) in pairwise(made):
        longer = f"{chunk.text}\n\n{following[0].title}\n{following[0].text}"
        assert tokens(longer) > size, "the next passage would have fitted"


def test_packing_is_the_same_for_one_seed_and_another_for_another() -> None:
    passages = [Passage(f"T{n}", f"text {n}") for n in range(60)]
    first, again, other = (list(chunk_passages(passages, "packed:20", seed)) for seed in (1, 1, 2))
    assert first == again
    assert {chunk.text for chunk, _ in first} != {chunk.text for chunk, _ in other}


def test_packing_parts_neighbours_of_the_corpus() -> None:
    passages = [Passage(f"T{n}", "x" * 96) for n in range(1000)]
    place = {
        p.title: number
        for number, (_, held) in enumerate(chunk_passages(passages, "packed:250", 3))
        for p in held
    }
    together = sum(place[f"T{n}"] == place[f"T{n + 1}"] for n in range(999))
    # Ten passages a chunk: by chance 9 of 999 other places share one, so about 9 pairs; in order, 899.
    assert together < 40


@given(CORPORA, st.sampled_from(["passage", "packed:9"]))
def test_ids_are_distinct_short_and_easy_to_copy(passages: list[Passage], chunking: str) -> None:
    ids = [chunk.chunk_id for chunk, _ in chunk_passages(passages, chunking, 0)]
    assert len(set(ids)) == len(ids)
    assert all(name.startswith("c") and len(name) == 9 and name.isalnum() for name in ids)


def test_a_passage_keeps_its_id_in_another_corpus(dataset: Dataset) -> None:
    shuffled = list(dataset.passages)
    random.Random(1).shuffle(shuffled)
    there = {chunk.chunk_id: chunk for chunk, _ in chunk_passages(shuffled[:4], "passage", 0)}
    here = {chunk.chunk_id: chunk for chunk, _ in chunk_passages(dataset.passages, "passage", 0)}
    assert there.items() <= here.items()


def test_ids_that_would_collide_grow_by_a_digit() -> None:
    # The sha256 of both contents begins with cd053a21.
    pair = [Passage("T", "passage 24831"), Passage("T", "passage 64670")]
    ids = [chunk.chunk_id for chunk, _ in chunk_passages(pair, "passage", 0)]
    assert len(ids[0]) == 9
    assert len(ids[1]) == 10
    assert ids[1][:9] == ids[0]


@pytest.mark.parametrize("chunking", ["passage", "packed:9"])
def test_passages_of_one_character_and_of_100_000_words_are_whole_in_one_chunk(chunking: str) -> None:
    passages = [Passage("T", "x"), Passage("", "y"), Passage("Long", "word " * 100_000), Passage("U", "東")]
    made = list(chunk_passages(passages, chunking, 0))
    assert Counter(p for _, held in made for p in held) == Counter(passages)
    (longest,) = (chunk for chunk, held in made if passages[2] in held)
    assert longest.text.count("word ") == 100_000
    assert [held for _, held in made if passages[2] in held] == [(passages[2],)]


@pytest.mark.parametrize("chunking", ["passage", "packed:9"])
def test_an_empty_corpus_has_no_chunks(chunking: str) -> None:
    assert list(chunk_passages([], chunking, 0)) == []


def test_packing_in_the_order_given_keeps_neighbours_together() -> None:
    passages = [Passage(f"T{n}", "x" * 13) for n in range(6)]
    # "T0\n" and 13 letters are 16 bytes, and 2 stand between: 3 passages have 52 bytes, of at most 52.
    made = [held for _, held in pack_in_order(passages, 13)]
    assert made == [tuple(passages[:3]), tuple(passages[3:])]


def test_a_passage_that_stands_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="more than 57 times"):
        list(chunk_passages([Passage("T", "t")] * 58, "passage", 0))


@pytest.mark.parametrize(
    "chunking", ["", "passages", "packed", "packed:0", "packed:-5", "packed:1.5", "packed: 5"]
)
def test_another_chunking_is_refused_at_the_call(chunking: str) -> None:
    with pytest.raises(InputError, match="packed:1000"):
        chunk_passages([], chunking, 0)


def test_gold_is_matched_by_title_and_text_without_white_space(dataset: Dataset) -> None:
    index = {passage_key(p): [f"id{n}"] for n, p in enumerate(dataset.passages)}
    first, second, third = dataset.questions
    assert gold_chunk_ids(first, index) == ("id0", "id1")
    assert gold_chunk_ids(second, index) == ("id3",)
    assert gold_chunk_ids(third, index) is None
    assert [p.title for p in missing_gold(second, index)] == ["Venus"]
    assert missing_gold(third, index) == ()


def test_gold_passages_of_one_chunk_count_once(dataset: Dataset) -> None:
    index = {passage_key(p): ["same"] for p in dataset.passages}
    assert gold_chunk_ids(dataset.questions[0], index) == ("same",)


def test_every_chunk_of_a_gold_passage_is_gold(dataset: Dataset) -> None:
    first, second = (passage_key(p) for p in dataset.passages[:2])
    index = {first: ["7", "8"], second: ["8", "2"]}
    assert gold_chunk_ids(dataset.questions[0], index) == ("7", "8", "2")


def test_an_equal_title_with_another_text_is_no_gold(dataset: Dataset) -> None:
    index = {passage_key(Passage("Ada Lovelace", "Another Ada.")): ["wrong"]}
    assert gold_chunk_ids(dataset.questions[0], index) == ()
    assert missing_gold(dataset.questions[0], index) == dataset.questions[0].gold


def test_what_is_searched_of_a_chunk_begins_with_its_title() -> None:
    assert indexed_text(Chunk("c", "Title", "text")) == "Title\ntext"
    assert indexed_text(Chunk("c", "", "text")) == "text"

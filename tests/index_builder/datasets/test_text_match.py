"""The join of passages to packed chunks: every manner of packing, look-alikes, borders, odd texts."""

import random
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import distinct, read_corpus
from index_builder.datasets.text_match import GRAM, holders, letters_and_digits
from index_builder.datasets.world import write_world
from index_builder.records import Passage
from tests.contract.packed_manners import MANNERS, Packed

FILES = {
    "hotpotqa": ("hotpotqa.json", "hotpotqa_corpus.json"),
    "two_wiki": ("2wikimultihopqa.json", "2wikimultihopqa_corpus.json"),
    "musique": ("musique.jsonl", "musique_corpus.json"),
}
VILLAGE = (
    "{} is a village in Kabutarsorkh Rural District, in the Central District of Chadegan County, Isfahan "
    "Province, Iran. At the 2006 census, its population was {}, in {} families."
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def prose(seed: int, letters: int = 400) -> str:
    """So many letters, in words; texts of different seeds share no gram."""
    luck = random.Random(seed)
    return "".join(luck.choice(LETTERS) + " " * (place % 6 == 5) for place in range(letters))


def faults(packed: Packed, passages: Sequence[Passage], gold: Sequence[int]) -> tuple[list[str], list[str]]:
    """Chunks wrongly said to hold a gold passage, and gold passages whose chunks were not all found.

    A chunk may be named when any of the passage stands in it, or a passage whose text holds all of this
    one's. Every chunk with all of the passage must be named; when there is none, those named must together
    have nine tenths of it but for a gram, since a chunk with less than a tenth of its grams is no part.
    """
    letters = [letters_and_digits(passage.text) for passage in passages]
    found = holders(packed.chunks, (passages[number].text for number in gold))
    wrong, missed = [], []
    for number in gold:
        named = set(found.get(passages[number].text, ()))
        for chunk in named:
            inside = [other for other in range(len(passages)) if packed.touches(other, chunk)]
            if not any(letters[number] in letters[other] or other == number for other in inside):
                wrong.append(f"{passages[number]} in chunk {chunk}")
        whole = packed.whole(number)
        enough = 0.9 - GRAM / len(letters[number])
        if not (whole <= named if whole else packed.covered(number, named) >= enough):
            missed.append(f"{passages[number]} in {sorted(named)}")
    return wrong, missed


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("world")
    write_world(out, questions=40, passages=300, seed=3)
    return out


@cache
def sample(folder: Path, name: str, size: int) -> tuple[list[Passage], list[int]]:
    """The first passages of a set's corpus, and which of them are gold for any of its questions."""
    questions, corpus = FILES[name]
    passages = list(read_corpus(folder / "corpus" / corpus))[:size]
    places = {passage: number for number, passage in enumerate(passages)}
    dataset = LOADERS[name](folder / questions)
    gold = distinct(each for question in dataset.questions for each in question.gold or ())
    return passages, [places[each] for each in gold if each in places]


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("name", FILES)
def test_all_gold_of_a_generated_world_is_found_and_nothing_else(world: Path, name: str, manner: str) -> None:
    passages, gold = sample(world, name, 300)
    assert len(gold) > 40
    assert faults(MANNERS[manner](passages), passages, gold) == ([], [])


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("name", FILES)
def test_real_gold_is_found_whatever_the_manner_of_packing(shared_data: Path, name: str, manner: str) -> None:
    passages, gold = sample(shared_data, name, 500)
    assert len(gold) > 60
    assert faults(MANNERS[manner](passages), passages, gold) == ([], [])


def test_letters_and_digits_are_what_respelling_leaves() -> None:
    text = "Dvořák's “Š”, km², cost ½ € (1,000) in Große Æ; 劉肇"
    pieces = "dvorak ' s “ s ” , km ##² , cost ½ € ( 1 , 000 ) in gr ##oß ##e ( [UNK] [UNK] ) ; [UNK]"
    ascii_only = "Dvorak's S, km2, cost 12  (1,000) in Groe ; "
    for spelt in (text, pieces, ascii_only):
        assert letters_and_digits(spelt) == "dvoraksskm2cost121000ingroe"


def test_look_alikes_of_one_template_are_told_apart() -> None:
    villages = [VILLAGE.format(f"Mar{name}abad", 545 + n, 134 + n) for n, name in enumerate(LETTERS[:9])]
    chunks = [f"{prose(1)} {village.lower()} {prose(2)}" for village in villages]
    assert holders(chunks, villages) == {village: (n,) for n, village in enumerate(villages)}
    absent = VILLAGE.format("Other", 77, 12)
    assert holders(chunks, [absent]) == {}


def test_an_equal_title_or_one_sentence_of_it_makes_no_holder() -> None:
    sentence, passage = prose(1, 90), prose(1, 90) + prose(2, 90)
    assert holders([f"Great power {prose(3)}", f"{sentence} {prose(4)}"], [f"Great power {passage}"]) == {}


def test_a_passage_of_several_chunks_is_held_by_each() -> None:
    passage = prose(1)
    chunks = [prose(2), f"{passage} {prose(3)}", prose(4), f"{prose(5)} {passage}"]
    assert holders(chunks, [passage, passage]) == {passage: (1, 3)}


@pytest.mark.parametrize(("kept", "held"), [(362, False), (363, True)])
def test_a_passage_is_held_from_nine_tenths_of_its_grams_on(kept: int, held: bool) -> None:  # noqa: FBT001
    passage = letters_and_digits(prose(1, 400))
    # 400 letters have 377 grams of 24, and nine tenths of them are 339.3; n letters have n - 23.
    assert (kept - 23 >= 339.3) is held
    assert bool(holders([passage[:kept]], [passage])) is held


@pytest.mark.parametrize("cut", [70, 200, 330])
@pytest.mark.parametrize("overlap", [0, 30])
def test_a_passage_cut_by_a_border_is_held_by_both_chunks(cut: int, overlap: int) -> None:
    passage = letters_and_digits(prose(1, 400))
    chunks = [prose(2), prose(3) + passage[:cut], f"##{passage[cut - overlap :]} {prose(4)}", prose(5)]
    assert holders(chunks, [passage]) == {passage: (1, 2)}


def test_a_tenth_beyond_the_border_is_no_part() -> None:
    passage = letters_and_digits(prose(1, 400))
    chunks = [prose(2) + passage[:380], passage[380:] + prose(3)]
    assert holders(chunks, [passage]) == {passage: (0,)}


def test_an_overlap_that_has_all_of_a_passage_needs_no_other_chunk() -> None:
    passage = letters_and_digits(prose(1, 400))
    chunks = [prose(2) + passage[:300], passage + prose(3), passage[100:] + prose(4)]
    assert holders(chunks, [passage]) == {passage: (1,)}


def test_a_passage_longer_than_a_chunk_is_held_by_all_its_chunks() -> None:
    passage = letters_and_digits(prose(1, 1000))
    chunks = [prose(2) + passage[:300], passage[300:700], passage[700:] + prose(3)]
    assert holders(chunks, [passage]) == {passage: (0, 1, 2)}


def test_a_look_alike_does_not_stand_in_for_a_part_of_a_passage() -> None:
    passage = letters_and_digits(prose(1, 400))
    look_alike = passage[:370] + prose(6, 100)  # it has 347 of 377 grams, the head of the passage among them
    chunks = [prose(2) + passage[:130], passage[130:] + prose(3), look_alike]
    assert holders(chunks, [passage]) == {passage: (0, 1)}


@pytest.mark.parametrize("text", ["", "x", "An island.", "劉肇" * 40])
def test_a_text_of_too_few_letters_is_found_nowhere(text: str) -> None:
    assert holders([text, f"{text} {prose(1)}"], [text]) == {}


def test_without_chunks_nothing_is_found() -> None:
    assert holders([], [prose(1)]) == {}
    assert holders([prose(1)], []) == {}


def test_a_passage_of_a_hundred_thousand_words_is_found() -> None:
    passage = prose(1, 600_000)
    assert len(passage.split()) == 100_000
    assert holders([prose(2), passage.upper(), prose(3)], [passage]) == {passage: (1,)}


@given(
    st.lists(st.text(alphabet="abcdefgh éñÀ1,.-东", min_size=60, max_size=90), min_size=1, max_size=12),
    st.integers(1, 4),
    st.sampled_from([str.upper, str.lower, lambda text: unicodedata.normalize("NFD", text)]),
)
def test_whole_passages_are_found_in_their_chunks(
    texts: list[str], size: int, respell: Callable[[str], str]
) -> None:
    chunks = [respell(" ".join(texts[first : first + size])) for first in range(0, len(texts), size)]
    found = holders(chunks, texts)
    for number, text in enumerate(texts):
        if len(letters_and_digits(text)) >= GRAM:
            assert number // size in found[text]

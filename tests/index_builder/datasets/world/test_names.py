"""Names: invented, pronounceable, distinct, and unlike the words of questions."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.datasets.world import facts, names, pages, questions
from index_builder.datasets.world.facts import World
from index_builder.datasets.world.names import COUNTRIES, Names, Scatter


@given(st.integers(1, 3000), st.integers())
def test_a_scatter_meets_every_number_once(size: int, salt: int) -> None:
    scatter = Scatter(size, salt)
    assert sorted(map(scatter, range(size))) == list(range(size))


@given(st.integers(1, 10**6), st.integers(), st.data())
def test_a_scatter_leads_back(size: int, salt: int, data: st.DataObject) -> None:
    scatter = Scatter(size, salt)
    rank = data.draw(st.integers(0, size - 1))
    assert scatter.rank(scatter(rank)) == rank


def test_other_salts_scatter_otherwise() -> None:
    orders = {tuple(map(Scatter(1000, salt), range(20))) for salt in range(50)}
    assert len(orders) == 50


def test_no_name_is_borne_twice_in_the_largest_world() -> None:
    counts = World(0, 1_000_000).counts
    given_names = Names(11)
    towns = {given_names.town(rank) for rank in range(counts["town"])}
    assert len(towns) == counts["town"] == 120_000
    last_names = {given_names.person(rank, "f").split()[1] for rank in range(counts["person"])}
    assert len(last_names) == counts["person"] == 440_000


@pytest.mark.parametrize("kind", ["film", "company", "team", "award"])
def test_no_pair_of_words_is_given_twice(kind: str) -> None:
    pairs = Names(3)
    assert len({pairs.pair(kind, rank) for rank in range(50_000)}) == 50_000


def test_names_are_pronounceable() -> None:
    world = World(4, 2000)
    for node in range(2000):
        for word in world.entity(node).name.split():
            assert re.fullmatch("[A-Z][a-z]+", word), word
            assert not re.search(r"[^aeiouy]{6}", word.lower()), word
            assert len(re.findall("[aeiouy]+", word.lower())) >= 1, word


def _fixed_words(tables: object) -> set[str]:
    """The words of all templates in a nest of tables, slots left out."""
    if isinstance(tables, str):
        return set(re.findall("[a-z]+", re.sub(r"\{\w+\}", " ", tables).lower()))
    if isinstance(tables, questions.Comparison):
        return _fixed_words(tables.templates)
    children = tables.values() if isinstance(tables, dict) else tables
    assert isinstance(children, type({}.values()) | tuple)
    return set().union(*map(_fixed_words, children))


def _possible_words() -> set[str]:
    """All words that a name of any world may have."""
    invented = names._STEMS, [*names._LAST_ENDINGS, *names._TOWN_ENDINGS]
    possible = {stem + ending for stem in invented[0] for ending in invented[1]}
    for endings, nouns in names._SECOND_WORDS.values():
        possible |= {stem + ending for stem in names._STEMS for ending in endings} | set(nouns)
    possible.update(*names._FIRSTS.values(), names.COUNTRIES)
    return {word.lower() for word in possible}


def test_names_never_collide_with_the_words_of_questions_and_sentences() -> None:
    words = _fixed_words(
        (
            *(questions.NAMED, questions.ASKS, questions.PHRASES, questions.INFERENCES),
            *(questions.COMPARISONS, questions.BRIDGE_COMPARISONS),
            *(pages.RELATIONS, pages.DECOYS, pages.INTROS, pages.FILLERS, pages.PRONOUNS),
        )
    )
    assert {"born", "award", "grandfather", "clock"} <= words
    assert _possible_words() & words == set()
    assert _possible_words() & {month.lower() for month in facts.MONTHS} == set()


def test_names_are_told_apart_whatever_their_case() -> None:
    world = World(6, 20_000)
    titles = Counter(world.entity(node).title.lower() for node in range(20_000))
    titles.update(country.lower() for country in COUNTRIES)
    assert max(titles.values()) == 1


def test_no_name_is_a_title_of_the_real_sets(shared_data: Path) -> None:
    real = set(json.loads((shared_data / "corpus" / "hotpotqa_corpus.json").read_text("utf-8")))
    for name in ("2wikimultihopqa", "musique"):
        corpus = json.loads((shared_data / "corpus" / f"{name}_corpus.json").read_text("utf-8"))
        real |= {passage["title"] for passage in corpus}
    world = World(7, 50_000)
    invented = {world.entity(node).name for node in range(50_000)} | set(COUNTRIES)
    assert invented & real == set()

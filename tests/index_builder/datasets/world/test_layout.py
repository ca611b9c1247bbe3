"""Pages: of the promised length, with their facts where the world's setting puts them."""

import difflib
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_builder.datasets.world.facts import World, near_duplicate_of
from index_builder.datasets.world.layout import LATE_SHARE, SNIPPET, Layout, Page
from tests.index_builder.datasets.world.solver import facts_in

A_FEW = settings(deadline=None, max_examples=15)
LAYOUTS = st.builds(lambda seed, size: Layout(World(seed, size)), st.integers(0, 10**9), st.integers(50, 300))


def _share_beyond(layout: Layout) -> float:
    pages = [layout.page(node) for node in range(layout.world.passages)]
    return fmean(page.is_beyond_snippet(relation) for page in pages for relation in page.stated)


def test_a_fact_is_beyond_the_snippet_when_its_sentence_ends_there() -> None:
    # 120 characters, a space, 79 characters make 200; the third sentence ends at 205.
    page = Page("Title", ("a" * 120, "b" * 79, "c" * 4), {"x": 0, "y": 1, "z": 2}, ())
    assert len(page.text) == 205
    assert [page.is_beyond_snippet(relation) for relation in "xyz"] == [False, False, True]


@A_FEW
@given(LAYOUTS)
def test_a_page_states_its_facts_and_no_others(layout: Layout) -> None:
    for node in range(layout.world.passages):
        page, facts = layout.page(node), layout.world.facts(node)
        assert page.title == layout.world.entity(node).title
        assert len(facts_in(page.title, page.text)) == len(facts)
        assert set(page.stated) == set(facts)
        for relation, value in facts.items():
            written = value if isinstance(value, str) else layout.world.entity(value).title
            (read,) = facts_in(page.title, page.sentences[page.stated[relation]])
            assert read[1] == written


@A_FEW
@given(LAYOUTS)
def test_pages_are_longer_than_a_snippet_and_short_enough_to_embed(layout: Layout) -> None:
    lengths = [len(layout.page(node).text) for node in range(layout.world.passages)]
    assert min(lengths) >= SNIPPET
    assert max(lengths) <= 600
    assert 300 <= fmean(lengths) <= 400


@A_FEW
@given(LAYOUTS)
def test_no_page_repeats_a_sentence(layout: Layout) -> None:
    for node in range(layout.world.passages):
        sentences = layout.page(node).sentences
        assert len(set(sentences)) == len(sentences)


@A_FEW
@given(LAYOUTS)
def test_decoys_name_entities_that_no_fact_of_the_page_names(layout: Layout) -> None:
    for node in range(layout.world.passages):
        page = layout.page(node)
        assert not {node, *layout.world.facts(node).values()} & set(page.mentioned)
        assert all(layout.world.entity(other).title in page.text for other in page.mentioned)


@pytest.mark.parametrize("late_share", [0.3, LATE_SHARE, 0.8, 1.0])
def test_the_share_of_facts_beyond_the_snippet_follows_the_setting(late_share: float) -> None:
    # Facts meant for the front may overflow it, so the measured share is the setting or a little more.
    measured = _share_beyond(Layout(World(3, 3000), late_share))
    assert late_share - 0.02 <= measured <= late_share + 0.12


def test_the_default_setting_keeps_more_than_half_of_the_facts_from_a_snippet() -> None:
    assert 0.5 <= _share_beyond(Layout(World(8, 3000))) <= 0.6


def test_some_snippets_mislead_and_some_pages_end_in_a_decoy() -> None:
    layout = Layout(World(9, 600))
    pages = [layout.page(node) for node in range(600)]
    before = [p for p in pages if p.mentioned and _first_mention(layout, p) < SNIPPET]
    after = [p for p in pages if p.mentioned and _first_mention(layout, p) > SNIPPET]
    assert len(before) > 100
    assert len(after) > 30


def _first_mention(layout: Layout, page: Page) -> int:
    return min(page.text.index(layout.world.entity(other).title) for other in page.mentioned)


def test_near_duplicates_are_nearly_equal_and_other_pages_are_not() -> None:
    layout = Layout(World(2, 3000))

    def likeness(kind: str, rank: int, other: int) -> float:
        texts = [layout.page(layout.world.index(kind, each)).text.split() for each in (rank, other)]
        return difflib.SequenceMatcher(a=texts[0], b=texts[1]).ratio()

    ranks = [rank for rank in range(layout.world.counts["film"]) if near_duplicate_of(rank) is not None]
    assert len(ranks) == 25
    assert fmean(likeness("film", rank, rank - 2) for rank in ranks) > 0.75
    assert fmean(likeness("film", rank, rank - 1) for rank in ranks) < 0.5


def test_the_same_seed_makes_the_same_pages_in_any_order() -> None:
    one, other = (Layout(World(4, 300)) for _ in range(2))
    backwards = {node: other.page(node) for node in reversed(range(300))}
    assert backwards == {node: one.page(node) for node in range(300)}

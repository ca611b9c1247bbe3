"""Which questions a world supports: all kinds, in the official shares, none twice, each to the point."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_builder.datasets.world.drafting import ROUNDS, SHARES, draft
from index_builder.datasets.world.facts import World
from index_builder.datasets.world.questions import INFERENCES, Asked

HOPS = {
    "bridge": 2,
    "compositional": 2,
    "inference": 2,
    "comparison": 2,
    "bridge_comparison": 4,
    "2hop": 2,
    "3hop1": 3,
    "4hop1": 4,
}


def _all(seed: int, passages: int, dataset: str) -> list[Asked]:
    return list(draft(World(seed, passages), dataset))


@pytest.mark.parametrize("dataset", SHARES)
def test_kinds_come_in_the_official_shares(dataset: str) -> None:
    asked = list(itertools.islice(draft(World(1, 1200), dataset), 100))
    kinds = Counter(each.kind for each in asked)
    assert kinds == {kind: round(100 * share) for kind, share in SHARES[dataset].items()}


@pytest.mark.parametrize("dataset", SHARES)
def test_a_small_world_gives_all_it_has_and_then_ends(dataset: str) -> None:
    asked = _all(2, 50, dataset)
    assert len(asked) > 200
    assert {each.kind for each in asked} == set(SHARES[dataset])
    assert len({each.text for each in asked}) == len(asked)


@pytest.mark.parametrize("dataset", SHARES)
@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 10**6), passages=st.integers(50, 200))
def test_each_question_rests_on_as_many_pages_as_its_kind_says(
    dataset: str, seed: int, passages: int
) -> None:
    world = World(seed, passages)
    for asked in itertools.islice(draft(world, dataset), 300):
        assert len(asked.gold) == HOPS[asked.kind]
        for step in asked.steps:
            assert world.facts(step.subject)[step.relation] == step.value


@pytest.mark.parametrize("dataset", ["hotpotqa", "two_wiki", "musique"])
def test_the_answer_of_a_chain_is_not_on_the_way_to_it(dataset: str) -> None:
    for asked in _all(3, 150, dataset):
        if asked.kind not in {"comparison", "bridge_comparison"}:
            assert asked.target not in asked.gold
            assert asked.answer not in asked.text


def test_some_bridges_lead_from_a_founder_to_the_company() -> None:
    asked = _all(4, 200, "hotpotqa")
    backwards = [each for each in asked if "founder was" in each.text or "was founded by" in each.text]
    assert len(backwards) > 5
    assert all(each.steps[0].relation == "founder" for each in backwards)


def test_what_has_a_name_of_its_own_is_an_inference_and_nothing_else_is() -> None:
    for asked in _all(5, 200, "two_wiki"):
        relations = tuple(step.relation for step in asked.steps)
        if asked.kind in {"compositional", "inference"}:
            assert (relations in INFERENCES) == (asked.kind == "inference")


def test_no_start_gives_more_questions_of_a_kind_than_there_are_rounds() -> None:
    for kind in ("2hop", "3hop1", "4hop1"):
        starts = Counter(each.gold[0] for each in _all(6, 100, "musique") if each.kind == kind)
        assert 1 < max(starts.values()) <= ROUNDS


def test_every_start_comes_before_any_comes_again() -> None:
    two_hops = [each.gold[0] for each in _all(7, 100, "musique") if each.kind == "2hop"]
    # Every one of the 100 pages starts some chain of two.
    assert len(set(two_hops[:100])) == 100


def test_yes_and_no_are_both_common() -> None:
    answers = Counter(each.answer for each in itertools.islice(draft(World(8, 1000), "two_wiki"), 1000))
    assert answers["yes"] > 30
    assert answers["no"] > 30


def test_the_smaller_side_of_a_comparison_stands_on_either_side() -> None:
    asked = [
        each for each in _all(9, 100, "two_wiki") if each.kind == "comparison" and each.target is not None
    ]
    first = sum(each.target == each.gold[0] for each in asked)
    assert 0.4 < first / len(asked) < 0.6


def test_the_largest_world_is_asked_without_being_walked_through() -> None:
    world = World(10, 1_000_000)
    assert sum(1 for _ in itertools.islice(draft(world, "musique"), 50)) == 50
    assert world.facts.cache_info().misses < 5000

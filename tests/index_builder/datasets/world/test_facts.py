"""The graph: typed, consistent, the same for the same seed, and drawn from nothing but it."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from index_builder.datasets.world.facts import (
    DETAILS,
    KINDS,
    SIGNATURES,
    Draw,
    World,
    near_duplicate_of,
    twin_rank,
)

LITERALS = ("date", "year", "number", "country")
A_FEW = settings(deadline=None, max_examples=40)
WORLDS = st.builds(World, st.integers(0, 10**9), st.integers(50, 700))


def test_every_signature_is_of_known_kinds() -> None:
    for subjects, value in SIGNATURES.values():
        assert set(subjects) <= set(KINDS)
        assert value in {*KINDS, *LITERALS}


@A_FEW
@given(WORLDS)
def test_every_kind_exists_and_the_counts_add_up(world: World) -> None:
    kinds = Counter(world.entity(node).kind for node in range(world.passages))
    assert kinds == dict(world.counts)
    assert set(kinds) == set(KINDS)


@A_FEW
@given(WORLDS)
def test_an_entity_is_found_by_kind_and_rank(world: World) -> None:
    for node in range(world.passages):
        entity = world.entity(node)
        assert entity.node == node
        assert world.index(entity.kind, entity.rank) == node


@A_FEW
@given(WORLDS)
def test_every_fact_fits_the_signature_of_its_relation(world: World) -> None:
    for node in range(world.passages):
        for relation, value in world.facts(node).items():
            subjects, kind = SIGNATURES[relation]
            assert world.entity(node).kind in subjects
            if isinstance(value, int):
                assert 0 <= value < world.passages
                assert value != node
                assert world.entity(value).kind == kind
            else:
                assert kind in LITERALS


@A_FEW
@given(WORLDS)
def test_titles_are_distinct_and_namesakes_told_apart_by_a_parenthesis(world: World) -> None:
    entities = [world.entity(node) for node in range(world.passages)]
    assert len({entity.title for entity in entities}) == world.passages
    bearers = Counter(entity.name for entity in entities)
    for entity in entities:
        assert entity.detail in DETAILS[entity.kind]
        shared = f"{entity.name} ({entity.detail})"
        assert entity.title == (shared if bearers[entity.name] == 2 else entity.name)
        other = world.namesake(entity.node)
        assert (other is not None) == (bearers[entity.name] == 2)
        if other is not None:
            assert world.entity(other).name == entity.name
            assert world.entity(other).kind == entity.kind
            assert world.namesake(other) == entity.node


@A_FEW
@given(WORLDS)
def test_families_hang_together(world: World) -> None:
    for rank in range(world.counts["person"]):
        node = world.index("person", rank)
        facts = world.facts(node)
        spouse = facts.get("spouse")
        if isinstance(spouse, int):
            assert world.entity(spouse).rank % 2 != rank % 2
            partner = world.facts(spouse)
            assert partner.get("spouse", node) == node
            for parent in ("father", "mother"):
                assert facts.get(parent, -1) != partner.get(parent, -2)
        for parent, gender in (("father", 0), ("mother", 1)):
            elder = facts.get(parent)
            if isinstance(elder, int):
                assert world.entity(elder).rank % 2 == gender
                # Generations are 34 years apart and each is born within 15: at least 20 between two.
                assert 20 <= world.birth_year(node) - world.birth_year(elder) <= 48
        assert str(facts["date_of_birth"]).endswith(f" {world.birth_year(node)}")


@A_FEW
@given(WORLDS)
def test_works_come_after_the_birth_of_those_who_made_them(world: World) -> None:
    for node in range(world.passages):
        facts = world.facts(node)
        if "director" in facts:
            assert int(str(facts["publication_year"])) >= world.birth_year(int(facts["director"])) + 24
        if "founder" in facts:
            assert int(str(facts["inception"])) >= world.birth_year(int(facts["founder"])) + 21


@A_FEW
@given(WORLDS)
def test_no_person_founded_two_companies_and_each_founder_leads_back(world: World) -> None:
    companies = [world.index("company", rank) for rank in range(world.counts["company"])]
    founders = {int(world.facts(company)["founder"]): company for company in companies}
    assert len(founders) == len(companies)
    for rank in range(world.counts["person"]):
        person = world.index("person", rank)
        assert world.founded_by(person) == founders.get(person)


def test_a_near_duplicate_shares_some_facts_with_its_namesake_and_differs_in_others() -> None:
    world = World(1, 3000)
    shared = {"company": "headquarters", "film": "production_company", "town": "country"}
    for kind, relation in shared.items():
        for rank in range(11, world.counts[kind], 24):
            original = near_duplicate_of(rank)
            assert original == twin_rank(rank) == rank - 2
            one, other = (world.facts(world.index(kind, each)) for each in (rank, rank - 2))
            assert one[relation] == other[relation]
            assert one != other


def test_most_ranks_are_neither_namesake_nor_near_duplicate() -> None:
    # One rank in 12 takes the name of another, one in 24 its page as well.
    assert [rank for rank in range(48) if twin_rank(rank) is not None] == [11, 23, 35, 47]
    assert [rank for rank in range(48) if near_duplicate_of(rank) is not None] == [11, 35]


@A_FEW
@given(st.integers(0, 10**9), st.integers(50, 300))
def test_the_same_seed_makes_the_same_world(seed: int, passages: int) -> None:
    one, other = World(seed, passages), World(seed, passages)
    # Asked in another order, so that nothing can hang on what was asked before.
    backwards = {node: (other.entity(node), other.facts(node)) for node in reversed(range(passages))}
    assert backwards == {node: (one.entity(node), one.facts(node)) for node in range(passages)}


def test_another_seed_makes_another_world() -> None:
    names = [{World(seed, 300).entity(node).title for node in range(300)} for seed in (1, 2)]
    assert names[0] & names[1] == set()


def test_draws_are_spread_evenly() -> None:
    counts = Counter(Draw(f"salt {number}").below(10) for number in range(10_000))
    # 1,000 of each are expected, with a standard deviation of 30.
    assert all(850 < counts[number] < 1150 for number in range(10))

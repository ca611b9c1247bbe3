"""The public tables of questions, and the wording and answers of single questions."""

import re

import pytest

from index_builder.datasets.world.facts import KINDS, SIGNATURES, World
from index_builder.datasets.world.questions import (
    ASKS,
    BRIDGE_COMPARISONS,
    COMPARISONS,
    INFERENCES,
    NAMED,
    PHRASES,
    Comparison,
    Step,
    aliases,
    ask_chain,
    ask_comparison,
    ask_one_step,
    magnitude,
    surface,
)

WORLD = World(7, 600)


def _node(kind: str, rank: int) -> int:
    return WORLD.index(kind, rank)


def _step(node: int, relation: str) -> Step:
    return Step(node, relation, WORLD.facts(node)[relation])


def _object(node: int, relation: str) -> int:
    value = WORLD.facts(node)[relation]
    assert isinstance(value, int)
    return value


def test_every_relation_can_be_asked_and_every_link_followed() -> None:
    assert set(ASKS) == set(SIGNATURES)
    links = {relation for relation, (_, value) in SIGNATURES.items() if value in KINDS}
    assert set(PHRASES) == links | {"~founder"}
    assert set(NAMED) == set(KINDS)


def test_every_template_has_its_slots_once() -> None:
    for table, slots in ((ASKS, ["x"]), (PHRASES, ["x"]), (INFERENCES, ["x"])):
        for templates in table.values():
            for template in templates:
                assert re.findall(r"\{(\w+)\}", template) == slots
    for comparison in (*COMPARISONS, *BRIDGE_COMPARISONS):
        for template in comparison.templates:
            assert re.findall(r"\{(\w+)\}", template) == ["x", "y"]


@pytest.mark.parametrize("comparison", [*COMPARISONS, *BRIDGE_COMPARISONS], ids=lambda c: "-".join(c.path))
def test_a_comparison_follows_relations_of_its_kind_to_something_that_can_be_compared(
    comparison: Comparison,
) -> None:
    kind = comparison.kind
    for relation in comparison.path:
        assert kind in SIGNATURES[relation][0]
        kind = SIGNATURES[relation][1]
    assert comparison.choose == "same" or kind in {"date", "year", "number"}


def test_a_chain_is_asked_from_its_last_relation_inwards() -> None:
    film = _node("film", 0)
    director = _object(film, "director")
    asked = ask_chain(WORLD, "bridge", film, (_step(film, "director"), _step(director, "place_of_birth")))
    title = WORLD.entity(film).title
    asks = (
        r"In which town was (?P<x>.+) born\?",
        r"What is the birthplace of (?P<x>.+)\?",
    )
    found = re.fullmatch(asks[0], asked.text) or re.fullmatch(asks[1], asked.text)
    assert found is not None
    assert found["x"] in {f"the director of the film {title}", f"the person who directed the film {title}"}
    assert asked.answer == WORLD.entity(_object(director, "place_of_birth")).title
    assert asked.target == _object(director, "place_of_birth")
    assert asked.gold == (film, director)


def test_a_first_step_whose_object_is_the_start_is_followed_backwards() -> None:
    company = _node("company", 3)
    founder, town = _object(company, "founder"), _object(company, "headquarters")
    steps = (Step(company, "founder", founder), _step(company, "headquarters"), _step(town, "country"))
    asked = ask_chain(WORLD, "bridge", founder, steps)
    name = re.escape(WORLD.entity(founder).title)
    assert re.search(rf"the company (?:that was founded by|whose founder was) {name}", asked.text)
    assert asked.answer == WORLD.facts(town)["country"]
    # The company's page states both of the first two facts.
    assert asked.gold == (company, town)


def test_an_inference_names_two_relations_as_one() -> None:
    person = next(
        node
        for node in range(WORLD.passages)
        if "father" in WORLD.facts(node) and "mother" in WORLD.facts(_object(node, "father"))
    )
    father = _object(person, "father")
    asked = ask_chain(WORLD, "inference", person, (_step(person, "father"), _step(father, "mother")))
    assert "paternal grandmother" in asked.text
    assert WORLD.entity(person).title in asked.text
    assert asked.target == _object(father, "mother")


def test_a_step_is_asked_by_name_first_and_by_number_then() -> None:
    film = _node("film", 0)
    director = _object(film, "director")
    title = WORLD.entity(film).title
    assert ask_one_step(WORLD, 0, _step(film, "director")) == f"Who directed the film {title}?"
    assert ask_one_step(WORLD, 1, _step(director, "date_of_birth")) == "When was #1 born?"


def test_a_comparison_is_answered_by_the_smaller_or_the_greater_or_by_yes_or_no() -> None:
    towns = [_node("town", rank) for rank in range(2)]
    sizes = [int(str(WORLD.facts(town)["population"]).replace(",", "")) for town in towns]
    larger = towns[sizes.index(max(sizes))]
    chains = [((_step(town, "population")),) for town in towns]
    for choose, winner in (("greatest", larger), ("least", sum(towns) - larger)):
        comparison = next(c for c in COMPARISONS if c.path == ("population",) and c.choose == choose)
        asked = ask_comparison(WORLD, comparison, chains[0], chains[1])
        assert asked is not None
        assert asked.target == winner
        assert asked.answer == WORLD.entity(winner).title
    same = next(c for c in COMPARISONS if c.path == ("country",))
    chain = ((_step(towns[0], "country")),)
    other = (Step(towns[1], "country", "Atlantis"),)
    for second, answer in ((chain, "yes"), (other, "no")):
        asked = ask_comparison(WORLD, same, chain, second)
        assert asked is not None
        assert (asked.answer, asked.target, asked.aliases) == (answer, None, ())


def test_a_tie_is_not_asked() -> None:
    earliest = next(c for c in COMPARISONS if c.path == ("date_of_birth",))
    chains = [(Step(_node("person", rank), "date_of_birth", "1 May 1900"),) for rank in range(2)]
    assert ask_comparison(WORLD, earliest, chains[0], chains[1]) is None


def test_the_facts_of_a_bridge_comparison_alternate_between_its_sides() -> None:
    comparison = next(c for c in BRIDGE_COMPARISONS if c.path == ("home_town", "country"))
    teams = [_node("team", rank) for rank in range(2)]
    towns = [_object(team, "home_town") for team in teams]
    chains = [(_step(teams[n], "home_town"), _step(towns[n], "country")) for n in range(2)]
    asked = ask_comparison(WORLD, comparison, chains[0], chains[1])
    assert asked is not None
    assert [step.subject for step in asked.steps] == [*teams, *towns]


def test_dates_years_and_numbers_have_their_natural_order() -> None:
    dates = ["1 January 1932", "28 January 1931", "2 February 1931", "1 February 1931"]
    in_order = ["28 January 1931", "1 February 1931", "2 February 1931", "1 January 1932"]
    assert sorted(dates, key=magnitude) == in_order
    assert magnitude("9,480") < magnitude("12,480")
    assert magnitude("987") < magnitude("1931")


def test_aliases_write_the_same_thing_otherwise() -> None:
    assert aliases(WORLD, "4 March 1931") == ("March 4, 1931", "1931-03-04")
    assert aliases(WORLD, "12,480") == ("12480",)
    assert aliases(WORLD, "1931") == aliases(WORLD, "Ostrevia") == ()


def test_aliases_of_entities_keep_the_parenthesis_that_tells_namesakes_apart() -> None:
    for node in range(WORLD.passages):
        entity = WORLD.entity(node)
        first, last = entity.name.split() if entity.kind == "person" else ("", "")
        country = WORLD.facts(node).get("country")
        short = {
            "person": f"{first[:1]}. {last}",
            "company": f"{entity.name} Ltd",
            "town": f"{entity.name}, {country}",
        }.get(entity.kind)
        told_apart = entity.title != entity.name
        expected = f"{short} ({entity.detail})" if told_apart else short
        if short is None or (entity.kind == "town" and told_apart):
            assert aliases(WORLD, node) == ()
        else:
            assert aliases(WORLD, node) == (expected,)


def test_no_alias_is_shared_or_is_a_title() -> None:
    written = [alias for node in range(WORLD.passages) for alias in aliases(WORLD, node)]
    assert len(set(written)) == len(written)
    assert not set(written) & {surface(WORLD, node) for node in range(WORLD.passages)}

"""Finds the questions that a world supports: every kind of the three official sets, in seeded order.

Starting points come in scattered order and in rounds: each gives one question of a kind before any
gives its second, and at most ``ROUNDS``. Nothing is enumerated beyond what is asked for.
"""

from collections.abc import Callable, Iterator, Mapping

from index_builder.datasets.world.facts import World
from index_builder.datasets.world.names import Scatter
from index_builder.datasets.world.questions import (
    BRIDGE_COMPARISONS,
    COMPARISONS,
    INFERENCES,
    PHRASES,
    Asked,
    Comparison,
    Step,
    ask_chain,
    ask_comparison,
)

ROUNDS = 8
_TRIES = 24

SHARES: Mapping[str, Mapping[str, float]] = {
    "hotpotqa": {"bridge": 0.8, "comparison": 0.2},
    "two_wiki": {"compositional": 0.41, "inference": 0.11, "comparison": 0.24, "bridge_comparison": 0.24},
    "musique": {"2hop": 0.52, "3hop1": 0.32, "4hop1": 0.16},
}
"""Dataset to its kinds of question, each with its share of them in the official development set."""

_Chain = tuple[Step, ...]


def draft(world: World, dataset: str) -> Iterator[Asked]:
    """All questions of a set that the world supports, the kinds mixed as in the official set.

    A kind that runs out leaves its share to the others.
    """
    shares = dict(SHARES[dataset])
    sources = {kind: _source(world, kind) for kind in shares}
    taken = dict.fromkeys(shares, 0)
    while shares:
        kind = min(shares, key=lambda kind: (taken[kind] + 1) / shares[kind])
        asked = next(sources[kind], None)
        if asked is None:
            del shares[kind]
        else:
            taken[kind] += 1
            yield asked


def _source(world: World, kind: str) -> Iterator[Asked]:
    if kind == "comparison":
        return _comparisons(world, COMPARISONS)
    if kind == "bridge_comparison":
        return _comparisons(world, BRIDGE_COMPARISONS)
    return _chains(world, kind, _WALKS[kind])


def _chains(world: World, kind: str, walks_from: Callable[[World, int], Iterator[_Chain]]) -> Iterator[Asked]:
    order = Scatter(world.passages, world.seed, kind)
    for lap in range(ROUNDS):
        found = False
        for node in map(order, range(world.passages)):
            walks = list(walks_from(world, node))
            if lap < len(walks):
                found = True
                first = world.draw(kind, node).below(len(walks))
                yield ask_chain(world, kind, node, walks[(first + lap) % len(walks)])
        if not found:
            return


def _walks(world: World, node: int, hops: int, been: tuple[int, ...] = ()) -> Iterator[_Chain]:
    """Chains of facts, each on a page of its own, that come back to no entity."""
    for relation, value in world.facts(node).items():
        if value in been:
            continue
        step = Step(node, relation, value)
        if hops == 1:
            yield (step,)
        elif isinstance(value, int) and relation in PHRASES:
            for rest in _walks(world, value, hops - 1, (*been, node)):
                yield step, *rest


def _bridges(world: World, node: int) -> Iterator[_Chain]:
    """Two pages: a chain of two facts, or one that leads from a founder to the company first."""
    yield from _walks(world, node, 2)
    company = world.founded_by(node) if world.entity(node).kind == "person" else None
    if company is not None:
        for rest in _walks(world, company, 2, (node,)):
            yield Step(company, "founder", node), *rest


def _of_two(world: World, node: int, *, inferred: bool) -> Iterator[_Chain]:
    for walk in _walks(world, node, 2):
        if ((walk[0].relation, walk[1].relation) in INFERENCES) == inferred:
            yield walk


_WALKS: Mapping[str, Callable[[World, int], Iterator[_Chain]]] = {
    "bridge": _bridges,
    "compositional": lambda world, node: _of_two(world, node, inferred=False),
    "inference": lambda world, node: _of_two(world, node, inferred=True),
    "2hop": lambda world, node: _walks(world, node, 2),
    "3hop1": lambda world, node: _walks(world, node, 3),
    "4hop1": lambda world, node: _walks(world, node, 4),
}


def _comparisons(world: World, table: tuple[Comparison, ...]) -> Iterator[Asked]:
    orders = [Scatter(world.counts[each.kind], world.seed, each.templates) for each in table]
    asked_before: set[tuple[int, int, int]] = set()
    for lap in range(ROUNDS):
        for place in range(max(order.size for order in orders)):
            for number, (comparison, order) in enumerate(zip(table, orders, strict=True)):
                if place >= order.size:
                    continue
                pair = _pair(world, comparison, order(place), lap)
                if pair is None:
                    continue
                nodes = sorted(chain[0].subject for chain in pair)
                key = (number, nodes[0], nodes[1])
                asked = None if key in asked_before else ask_comparison(world, comparison, *pair)
                if asked is not None:
                    asked_before.add(key)
                    yield asked


def _pair(world: World, comparison: Comparison, rank: int, lap: int) -> tuple[_Chain, _Chain] | None:
    """Two chains of a comparison on different pages; for yes and no, about as many with either answer."""
    first = _follow(world, world.index(comparison.kind, rank), comparison.path)
    draw = world.draw(f"{comparison.templates[0]}/{lap}", first[0].subject)
    others = world.counts[comparison.kind] - 1
    step, same = draw.below(others), draw.below(2) == 0
    for attempt in range(min(_TRIES, others)):
        other = (rank + 1 + (step + attempt) % others) % (others + 1)
        second = _follow(world, world.index(comparison.kind, other), comparison.path)
        apart = len({link.subject for link in (*first, *second)}) == 2 * len(comparison.path)
        fits = comparison.choose != "same" or (first[-1].value == second[-1].value) == same
        if apart and fits:
            return (first, second) if draw.below(2) else (second, first)
    return None


def _follow(world: World, node: int, path: tuple[str, ...]) -> _Chain:
    steps: list[Step] = []
    for relation in path:
        value = world.facts(node)[relation]
        steps.append(Step(node, relation, value))
        if isinstance(value, int):
            node = value
    return tuple(steps)

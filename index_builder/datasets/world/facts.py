"""The typed graph: which entities there are and which facts hold of them, from a seed.

Nothing is stored: entity and facts are worked out from (seed, count of passages, index), so a world
of a million pages takes no more memory than one of fifty. Every entity has one page.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from index_builder.datasets.world.names import COUNTRIES, Names, Scatter

KINDS: tuple[str, ...] = ("person", "film", "town", "company", "team", "award")
"""The kinds of entity; each entity has a page, titled with its full name."""

SIGNATURES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "date_of_birth": (("person",), "date"),
    "place_of_birth": (("person",), "town"),
    "father": (("person",), "person"),
    "mother": (("person",), "person"),
    "spouse": (("person",), "person"),
    "employer": (("person",), "company"),
    "team": (("person",), "team"),
    "director": (("film",), "person"),
    "publication_year": (("film",), "year"),
    "production_company": (("film",), "company"),
    "award_received": (("film",), "award"),
    "country": (("town",), "country"),
    "mayor": (("town",), "person"),
    "population": (("town",), "number"),
    "inception": (("town", "company", "team", "award"), "year"),
    "founder": (("company",), "person"),
    "headquarters": (("company",), "town"),
    "chief_executive": (("company",), "person"),
    "home_town": (("team",), "town"),
    "coach": (("team",), "person"),
    "sponsor": (("team",), "company"),
    "named_after": (("award",), "person"),
    "presented_in": (("award",), "town"),
    "funder": (("award",), "company"),
}
"""Relation to the kinds of its subject and the kind of its object; a subject has at most one object."""

DETAILS: Mapping[str, tuple[str, ...]] = {
    "person": (
        *("architect", "rower", "chemist", "painter", "botanist", "sprinter"),
        *("surgeon", "cellist", "engraver", "fencer", "printer", "lawyer"),
    ),
    "film": ("drama", "comedy", "thriller", "musical", "romance", "satire"),
    "town": ("hills", "valley", "delta", "moors", "forest", "marshes"),
    "company": ("shipping", "textile", "glass", "paper", "clock", "leather"),
    "team": ("handball", "hockey", "polo", "cricket", "curling", "fistball"),
    "award": ("poetry", "music", "medicine", "design", "science", "sculpture"),
}
"""Kind to what an entity of it is or does; stands in the parenthesis of a namesake's title."""

MONTHS: tuple[str, ...] = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_ATHLETES = {"rower", "sprinter", "fencer"}
_LAYOUT = "pfptpcpfpmpatpfpcpfmptpfa"
"""The kinds of each run of 25 entities, by letter; every run of 50 has all of them."""

_LETTERS = {"person": "p", "film": "f", "town": "t", "company": "c", "team": "m", "award": "a"}
_SLOTS = {
    kind: tuple(slot for slot, mark in enumerate(_LAYOUT) if mark == letter)
    for kind, letter in _LETTERS.items()
}
_KIND_AT = tuple(
    (kind, slots.index(slot))
    for slot in range(len(_LAYOUT))
    for kind, slots in _SLOTS.items()
    if slot in slots
)
_GENERATIONS = 3
_CACHED = 4096

Value: TypeAlias = int | str
"""The object of a fact: the index of an entity, or a literal."""


class Entity(NamedTuple):
    """One node, numbered from 0 as its page is, and by ``rank`` within its kind.

    ``title`` is ``name``, or ``name (detail)`` where a namesake exists.
    """

    node: int
    kind: str
    rank: int
    name: str
    detail: str
    title: str


class Draw:
    """A short supply of seeded random numbers, the same for the same salt."""

    __slots__ = ("_pool",)

    def __init__(self, salt: str) -> None:
        self._pool = int.from_bytes(blake2b(salt.encode(), digest_size=64).digest())

    def below(self, bound: int) -> int:
        """A number from 0 up to, not including, the bound; some 25 draws of a million are good."""
        self._pool, number = divmod(self._pool, bound)
        return number


def twin_rank(rank: int) -> int | None:
    """The lower rank of whose name this rank is a namesake, if it is one."""
    return rank - 2 if rank % 12 == 11 else None


def near_duplicate_of(rank: int) -> int | None:
    """The lower rank whose page this rank's repeats, word for word but for some facts, if it does."""
    return rank - 2 if rank % 24 == 11 else None


class World:
    """The entities and facts of one seed and size.

    Persons come in couples: ranks 2c and 2c+1 are man and woman, and couple c is of generation
    c modulo 3; the parents of generation g are couples of generation g-1.
    """

    def __init__(self, seed: int, passages: int) -> None:
        self.seed = seed
        self.passages = passages
        self.counts: Mapping[str, int] = {kind: _count(kind, passages) for kind in KINDS}
        self._salt = f"{seed}/{passages}"
        self._names = Names(seed)
        self._founders = Scatter(self.counts["person"], seed, "founders")
        self._couples = self.counts["person"] // 2
        self.entity = lru_cache(_CACHED)(self._entity)
        self.facts = lru_cache(_CACHED)(self._facts)
        self._makers: Mapping[str, Callable[[Entity, Draw, Draw], Mapping[str, Value]]] = {
            "person": self._person,
            "film": self._film,
            "town": self._town,
            "company": self._company,
            "team": self._team,
            "award": self._award,
        }

    def index(self, kind: str, rank: int) -> int:
        """The entity of a kind by its rank."""
        slots = _SLOTS[kind]
        run, slot = divmod(rank, len(slots))
        return run * len(_LAYOUT) + slots[slot]

    def founded_by(self, index: int) -> int | None:
        """The company that a person founded, if there is one."""
        rank = self._founders.rank(self.entity(index).rank)
        return self.index("company", rank) if rank < self.counts["company"] else None

    def namesake(self, index: int) -> int | None:
        """The other entity of the same name, if there is one."""
        entity = self.entity(index)
        other = twin_rank(entity.rank)
        if other is None and twin_rank(entity.rank + 2) is not None:
            other = entity.rank + 2
        return None if other is None or other >= self.counts[entity.kind] else self.index(entity.kind, other)

    def _entity(self, index: int) -> Entity:
        run, slot = divmod(index, len(_LAYOUT))
        kind, place = _KIND_AT[slot]
        rank = run * len(_SLOTS[kind]) + place
        lower = twin_rank(rank)
        bearer = rank if lower is None else lower
        if kind == "person":
            name = self._names.person(bearer, "fm"[rank % 2 == 0])
        elif kind == "town":
            name = self._names.town(bearer)
        else:
            name = self._names.pair(kind, bearer)
        details = DETAILS[kind]
        # A step of 1 between namesakes keeps their parentheses apart.
        detail = details[(bearer * 7 // 12 + bearer + (lower is not None)) % len(details)]
        shared = lower is not None or (rank % 12 == 9 and rank + 2 < self.counts[kind])
        return Entity(index, kind, rank, name, detail, f"{name} ({detail})" if shared else name)

    def _facts(self, index: int) -> Mapping[str, Value]:
        """Relation to object, for every fact that the entity's page states."""
        entity = self.entity(index)
        own = self.draw("facts", index)
        # Near-duplicates take some of their facts from one supply, so that these agree.
        shared = own
        if entity.rank % 24 in {9, 11}:
            original = near_duplicate_of(entity.rank)
            shared = self.draw("shared", index if original is None else self.index(entity.kind, original))
        return self._makers[entity.kind](entity, own, shared)

    def draw(self, purpose: str, index: int) -> Draw:
        """The random numbers of an entity for one purpose."""
        return Draw(f"{self._salt}/{purpose}/{index}")

    def pick(self, kind: str, draw: Draw) -> int:
        """Any entity of a kind."""
        return self.index(kind, draw.below(self.counts[kind]))

    def _person(self, entity: Entity, own: Draw, shared: Draw) -> dict[str, Value]:
        year = _birth_year(entity.rank, own)
        facts: dict[str, Value] = {
            "date_of_birth": f"{1 + own.below(28)} {MONTHS[own.below(12)]} {year}",
            "place_of_birth": self.pick("town", shared),
        }
        work = "team" if entity.detail in _ATHLETES else "employer"
        employment = self.pick("team" if work == "team" else "company", shared)
        couple, gender = divmod(entity.rank, 2)
        married = couple < self._couples
        shape = own.below(4)
        parents = self._parents(couple, gender)
        if parents is None:
            facts[work] = employment
            if married:
                facts["spouse"] = self.index("person", entity.rank ^ 1)
            return facts
        parent = ("father", "mother")[shape % 2]
        facts[parent] = self.index("person", 2 * parents + shape % 2)
        if shape < 2 and married:
            facts["spouse"] = self.index("person", entity.rank ^ 1)
        else:
            facts[work] = employment
        return facts

    def _parents(self, couple: int, gender: int) -> int | None:
        """The couple that a person descends from; man and wife never from the same one."""
        generation = couple % _GENERATIONS
        if generation == 0:
            return None
        elders = len(range(generation - 1, self._couples, _GENERATIONS))
        draw = self.draw("parents", couple)
        first, step = draw.below(elders), 1 + draw.below(elders - 1)
        return (generation - 1) + _GENERATIONS * ((first + gender * step) % elders)

    def _film(self, _: Entity, own: Draw, shared: Draw) -> dict[str, Value]:
        director = self.pick("person", own)
        return {
            "director": director,
            "publication_year": str(self.birth_year(director) + 24 + own.below(28)),
            "production_company": self.pick("company", shared),
            "award_received": self.pick("award", shared),
        }

    def _town(self, _: Entity, own: Draw, shared: Draw) -> dict[str, Value]:
        return {
            "country": COUNTRIES[shared.below(len(COUNTRIES))],
            "mayor": self._official(own),
            "population": f"{1200 + own.below(94000):,}",
            "inception": str(1180 + own.below(620)),
        }

    def _company(self, entity: Entity, own: Draw, shared: Draw) -> dict[str, Value]:
        founder = self.index("person", self._founders(entity.rank))
        return {
            "founder": founder,
            "headquarters": self.pick("town", shared),
            "inception": str(self.birth_year(founder) + 21 + own.below(30)),
            "chief_executive": self._official(own),
        }

    def _team(self, _: Entity, own: Draw, shared: Draw) -> dict[str, Value]:
        return {
            "home_town": self.pick("town", shared),
            "coach": self._official(own),
            "inception": str(1868 + own.below(90)),
            "sponsor": self.pick("company", own),
        }

    def _award(self, _: Entity, own: Draw, shared: Draw) -> dict[str, Value]:
        return {
            "named_after": self.pick("person", own),
            "presented_in": self.pick("town", shared),
            "inception": str(1890 + own.below(90)),
            "funder": self.pick("company", own),
        }

    def _official(self, draw: Draw) -> int:
        """Somebody of the youngest generation."""
        youngest = _GENERATIONS - 1
        couple = youngest + _GENERATIONS * draw.below(len(range(youngest, self._couples, _GENERATIONS)))
        return self.index("person", 2 * couple + draw.below(2))

    def birth_year(self, index: int) -> int:
        """The year of birth of a person."""
        return _birth_year(self.entity(index).rank, self.draw("facts", index))


def _birth_year(rank: int, own: Draw) -> int:
    return 1884 + 34 * (rank // 2 % _GENERATIONS) + own.below(15)


def _count(kind: str, passages: int) -> int:
    runs, rest = divmod(passages, len(_LAYOUT))
    return runs * len(_SLOTS[kind]) + sum(slot < rest for slot in _SLOTS[kind])

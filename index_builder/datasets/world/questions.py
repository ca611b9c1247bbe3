"""Words the questions about a world, and says on which facts each of them rests.

The tables here are public data. A chain question is one of ``ASKS`` whose ``{x}`` is filled by
``PHRASES`` set into one another, the innermost by ``NAMED``: "When was the director of the film
Morvane Lantern born?" is the ask ``date_of_birth`` over the phrase ``director`` over a named film.
Matched whole against the templates, from the outside in, every question has one reading.
Names are full titles, parenthesis included, so a namesake is never meant by mistake.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from index_builder.datasets.world.facts import MONTHS, Draw, Value, World

NAMED: Mapping[str, str] = {
    "person": "{name}",
    "film": "the film {name}",
    "town": "the town {name}",
    "company": "the company {name}",
    "team": "the team {name}",
    "award": "the award {name}",
}
"""Kind to how a chain question names the entity that it starts from."""

ASKS: Mapping[str, tuple[str, ...]] = {
    "date_of_birth": ("When was {x} born?", "What is the date of birth of {x}?"),
    "place_of_birth": ("In which town was {x} born?", "What is the birthplace of {x}?"),
    "father": ("Who is the father of {x}?", "Who was the father of {x}?"),
    "mother": ("Who is the mother of {x}?", "Who was the mother of {x}?"),
    "spouse": ("Who is the spouse of {x}?", "To whom was {x} married?"),
    "employer": ("Which company employed {x}?", "For which company did {x} work?"),
    "team": ("For which team did {x} compete?", "Which team had {x} on its roster?"),
    "director": ("Who directed {x}?", "Who is the director of {x}?"),
    "publication_year": ("In what year was {x} released?", "When was {x} released?"),
    "production_company": ("Which company produced {x}?", "By which company was {x} produced?"),
    "award_received": ("Which award did {x} win?", "Which award was given to {x}?"),
    "country": ("In which country does {x} lie?", "To which country does {x} belong?"),
    "mayor": ("Who is the mayor of {x}?", "Who serves as mayor of {x}?"),
    "population": ("How many inhabitants does {x} have?", "What is the population of {x}?"),
    "inception": ("In what year was {x} established?", "When was {x} established?"),
    "founder": ("Who founded {x}?", "Who is the founder of {x}?"),
    "headquarters": ("In which town is {x} based?", "In which town are the headquarters of {x}?"),
    "chief_executive": ("Who is the chief executive of {x}?", "Who runs {x}?"),
    "home_town": ("In which town does {x} play its home matches?", "Which town does {x} represent?"),
    "coach": ("Who coaches {x}?", "Who is the coach of {x}?"),
    "sponsor": ("Which company sponsors {x}?", "Which company is the sponsor of {x}?"),
    "named_after": ("After whom is {x} named?", "From whom does {x} take its name?"),
    "presented_in": ("In which town is {x} presented?", "In which town is the ceremony of {x} held?"),
    "funder": ("Which company funds {x}?", "From which company do the funds of {x} come?"),
}
"""The relation asked for to the questions that ask for it; the answer is its object."""

PHRASES: Mapping[str, tuple[str, ...]] = {
    "place_of_birth": ("the town where {x} was born", "the birthplace of {x}"),
    "father": ("the father of {x}",),
    "mother": ("the mother of {x}",),
    "spouse": ("the spouse of {x}",),
    "employer": ("the company that employed {x}", "the employer of {x}"),
    "team": ("the team for which {x} competed",),
    "director": ("the director of {x}", "the person who directed {x}"),
    "production_company": ("the company that produced {x}", "the producer of {x}"),
    "award_received": ("the award that was given to {x}", "the award won by {x}"),
    "mayor": ("the mayor of {x}",),
    "founder": ("the founder of {x}", "the person who founded {x}"),
    "~founder": ("the company that was founded by {x}", "the company whose founder was {x}"),
    "headquarters": ("the town where {x} is based", "the town with the head office of {x}"),
    "chief_executive": ("the chief executive of {x}", "the person who runs {x}"),
    "home_town": ("the town where {x} plays its home matches", "the town represented by {x}"),
    "coach": ("the coach of {x}",),
    "sponsor": ("the sponsor of {x}", "the company that sponsors {x}"),
    "named_after": ("the person after whom {x} is named",),
    "presented_in": ("the town where {x} is presented",),
    "funder": ("the company that funds {x}",),
}
"""A relation followed on the way to noun phrases for its object.

``~founder`` is followed backwards: from the person, who is the sentence's object, to the company,
which is its subject. No person founded two companies.
"""

INFERENCES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("father", "father"): ("Who is the paternal grandfather of {x}?", "Who was {x}'s paternal grandfather?"),
    ("father", "mother"): ("Who is the paternal grandmother of {x}?", "Who was {x}'s paternal grandmother?"),
    ("mother", "father"): ("Who is the maternal grandfather of {x}?", "Who was {x}'s maternal grandfather?"),
    ("mother", "mother"): ("Who is the maternal grandmother of {x}?", "Who was {x}'s maternal grandmother?"),
    ("spouse", "father"): ("Who is the father-in-law of {x}?", "Who was {x}'s father-in-law?"),
    ("spouse", "mother"): ("Who is the mother-in-law of {x}?", "Who was {x}'s mother-in-law?"),
}
"""Two relations followed in turn to the questions that name them as one; ``{x}`` is a person's title."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A way to compare two entities of one kind; ``{x}`` and ``{y}`` are their titles.

    Attributes:
        kind: The kind of both entities.
        path: The relations followed from each of them; the objects of the last are compared.
        choose: ``least`` or ``greatest``: the answer is the title whose object is (dates, years and
            numbers in their natural order); ``same``: the answer is yes or no.
        templates: The questions that ask it.
    """

    kind: str
    path: tuple[str, ...]
    choose: Literal["least", "greatest", "same"]
    templates: tuple[str, ...]


COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "person",
        ("date_of_birth",),
        "least",
        ("Who was born first, {x} or {y}?", "Who was born earlier, {x} or {y}?"),
    ),
    Comparison("person", ("date_of_birth",), "greatest", ("Who was born later, {x} or {y}?",)),
    Comparison("person", ("place_of_birth",), "same", ("Were {x} and {y} born in the same town?",)),
    Comparison("film", ("publication_year",), "least", ("Which film was released first, {x} or {y}?",)),
    Comparison("film", ("publication_year",), "greatest", ("Which film was released later, {x} or {y}?",)),
    Comparison("film", ("director",), "same", ("Were {x} and {y} directed by the same person?",)),
    Comparison("town", ("population",), "greatest", ("Which town has more inhabitants, {x} or {y}?",)),
    Comparison("town", ("population",), "least", ("Which town has fewer inhabitants, {x} or {y}?",)),
    Comparison("town", ("country",), "same", ("Do {x} and {y} lie in the same country?",)),
    Comparison("company", ("inception",), "least", ("Which company was established first, {x} or {y}?",)),
    Comparison("team", ("inception",), "least", ("Which team was established first, {x} or {y}?",)),
    Comparison("award", ("inception",), "greatest", ("Which award was established later, {x} or {y}?",)),
)
"""Comparisons that rest on one page an entity."""

BRIDGE_COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "film",
        ("director", "date_of_birth"),
        "least",
        (
            "Which film has the director who was born first, {x} or {y}?",
            "Which film has the director who was born earlier, {x} or {y}?",
        ),
    ),
    Comparison(
        "film",
        ("director", "date_of_birth"),
        "greatest",
        ("Which film has the director who was born later, {x} or {y}?",),
    ),
    Comparison(
        "film",
        ("director", "place_of_birth"),
        "same",
        ("Were the directors of {x} and {y} born in the same town?",),
    ),
    Comparison(
        "film",
        ("production_company", "inception"),
        "least",
        ("Which film was produced by the company that was established first, {x} or {y}?",),
    ),
    Comparison(
        "team",
        ("coach", "date_of_birth"),
        "least",
        ("Which team has the coach who was born first, {x} or {y}?",),
    ),
    Comparison(
        "team",
        ("home_town", "country"),
        "same",
        ("Do {x} and {y} play their home matches in the same country?",),
    ),
    Comparison(
        "company",
        ("headquarters", "country"),
        "same",
        ("Are {x} and {y} based in the same country?",),
    ),
    Comparison(
        "company",
        ("headquarters", "population"),
        "greatest",
        ("Which company is based in the town with more inhabitants, {x} or {y}?",),
    ),
)
"""Comparisons that lead over a second page an entity."""

BACKWARDS = "~"


class Step(NamedTuple):
    """One fact that a question rests on: the page of ``subject`` states it."""

    subject: int
    relation: str
    value: Value


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its one answer.

    Attributes:
        kind: The official set's name for its kind.
        text: The question.
        answer: A full title, a literal, yes or no.
        aliases: Other ways to write the answer that mean nothing else in the world.
        steps: The facts it rests on, in the order in which they are needed.
        target: The entity or literal that is the answer, None for yes and no.
    """

    kind: str
    text: str
    answer: str
    aliases: tuple[str, ...]
    steps: tuple[Step, ...]
    target: Value | None

    @property
    def gold(self) -> tuple[int, ...]:
        """The entities whose pages state the facts."""
        return tuple(dict.fromkeys(step.subject for step in self.steps))


def ask_chain(world: World, kind: str, start: int, steps: tuple[Step, ...]) -> Asked:
    """Ask for the object of the last of some steps, each of which starts where the one before it ends.

    A first step whose object is the start is followed backwards.
    """
    draw = world.draw(f"words/{kind}", start)
    path = [BACKWARDS * (step.value == start) + step.relation for step in steps]
    value = steps[-1].value
    if kind == "inference":
        text = _pick(INFERENCES[path[0], path[1]], draw).format(x=world.entity(start).title)
    else:
        phrase = NAMED[world.entity(start).kind].format(name=world.entity(start).title)
        for relation in path[:-1]:
            phrase = _pick(PHRASES[relation], draw).format(x=phrase)
        text = _pick(ASKS[path[-1]], draw).format(x=phrase)
    return Asked(kind, text, surface(world, value), aliases(world, value), steps, value)


def ask_one_step(world: World, number: int, step: Step) -> str:
    """The question of one step of a chain; later ones call the object before them #1, #2, as MuSiQue does."""
    entity = world.entity(step.subject)
    name = f"#{number}" if number else NAMED[entity.kind].format(name=entity.title)
    return ASKS[step.relation][0].format(x=name)


def ask_comparison(
    world: World, comparison: Comparison, first: tuple[Step, ...], second: tuple[Step, ...]
) -> Asked | None:
    """Compare the ends of two chains; None where neither end is first."""
    kind = "comparison" if len(comparison.path) == 1 else "bridge_comparison"
    nodes = first[0].subject, second[0].subject
    names = [world.entity(node).title for node in nodes]
    draw = world.draw(f"words/{comparison.templates[0]}", nodes[0])
    text = _pick(comparison.templates, draw).format(x=names[0], y=names[1])
    ends = first[-1].value, second[-1].value
    # Both first pages, then both second ones, as 2WikiMultiHopQA lists them.
    steps = tuple(step for pair in zip(first, second, strict=True) for step in pair)
    if comparison.choose == "same":
        return Asked(kind, text, "yes" if ends[0] == ends[1] else "no", (), steps, None)
    sizes = [magnitude(str(end)) for end in ends]
    if sizes[0] == sizes[1]:
        return None
    wins = min(sizes) if comparison.choose == "least" else max(sizes)
    node = nodes[sizes.index(wins)]
    return Asked(kind, text, surface(world, node), aliases(world, node), steps, node)


def surface(world: World, value: Value) -> str:
    """How pages and answers write an object."""
    return value if isinstance(value, str) else world.entity(value).title


def magnitude(literal: str) -> tuple[int, ...]:
    """What orders dates, years and numbers."""
    words = literal.replace(",", "").split()
    if len(words) == 1:
        return (int(words[0]),)
    return int(words[2]), MONTHS.index(words[1]), int(words[0])


def aliases(world: World, value: Value) -> tuple[str, ...]:
    """Other ways to write an object; none that a namesake could claim."""
    if isinstance(value, str):
        words = value.split()
        if len(words) == 3:
            month = MONTHS.index(words[1]) + 1
            return f"{words[1]} {words[0]}, {words[2]}", f"{words[2]}-{month:02}-{int(words[0]):02}"
        return (value.replace(",", ""),) if "," in value else ()
    entity = world.entity(value)
    parenthesis = entity.title.removeprefix(entity.name)
    if entity.kind == "person":
        first, last = entity.name.split()
        return (f"{first[0]}. {last}{parenthesis}",)
    if entity.kind == "town":
        return (f"{entity.name}, {world.facts(value)['country']}",) if not parenthesis else ()
    return (f"{entity.name} Ltd{parenthesis}",) if entity.kind == "company" else ()


def _pick(templates: tuple[str, ...], draw: Draw) -> str:
    return templates[draw.below(len(templates))]

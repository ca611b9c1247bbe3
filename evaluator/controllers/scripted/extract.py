"""Works out an answer from shown text, and only from it; says which fact is missing when one is.

A question in the language of the generated world is resolved hop by hop over what the texts state.
Of several statements about one thing, text that was read or told counts more than a snippet, and
among equals the page whose whole title is meant more than a namesake's. A fact that no text states
may be guessed, if the caller says so: the best value of the right type that was seen. Any other
question goes to the generic extractor, which misses nothing and is often wrong.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluator.controllers.scripted.conversation import Source
from evaluator.controllers.scripted.spans import best_span
from evaluator.controllers.scripted.world_language import (
    BACKWARDS,
    Chain,
    Inquiry,
    Statement,
    bare,
    inquiry,
    magnitude,
    statements,
    subject_kinds,
    value_kinds,
)


@dataclass(frozen=True, slots=True)
class Need:
    """A fact without which a chain goes no further: what a relation leads to from an entity."""

    entity: str
    relation: str

    @property
    def is_backwards(self) -> bool:
        """Whether the entity is the relation's object, and its subject is looked for."""
        return self.relation.startswith(BACKWARDS)


@dataclass(frozen=True, slots=True)
class Finding:
    """How far the texts lead.

    Attributes:
        answer: The answer, "" while there is none.
        needs: The first missing fact of each chain; empty when the answer rests on known facts.
    """

    answer: str
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class _Seen:
    """A statement and where it stood."""

    statement: Statement
    source: Source

    @property
    def page(self) -> str:
        """The full title of what is spoken of, where the text has one, else its name."""
        return self.source.title or self.statement.subject

    def rank(self, title: str) -> tuple[bool, bool]:
        """What counts more about the entity of that title sorts higher."""
        return self.source.kind != "snippet", self.source.title == title


def find(
    question: str, sources: Sequence[Source], guessed: Collection[Need] = (), hints: Sequence[Source] = ()
) -> Finding:
    """Answer a question from texts.

    Args:
        question: As it was asked.
        sources: The texts that are believed, in the order in which they were shown.
        guessed: Facts for which, where those do not state them, the hints will do, or else a guess.
        hints: All texts from which such facts may be taken; the sources when empty.
    """
    asked = inquiry(question)
    if asked is None:
        return Finding(best_span(question, sources))
    believed, hinted = _seen(sources), _seen(hints or sources)
    reached = [_follow(chain, believed, hinted, guessed) for chain in asked.chains]
    needs = tuple(end for end in reached if isinstance(end, Need))
    ends = [end for end in reached if isinstance(end, str)]
    return Finding("" if needs else _conclude(asked, ends), needs)


def is_about(source: Source, entity: str) -> bool:
    """Whether a text's title bears the entity's name, its own or a namesake's."""
    return bool(source.title) and bare(source.title) == bare(entity)


def _seen(sources: Iterable[Source]) -> list[_Seen]:
    return [_Seen(s, source) for source in sources for s in statements(source.title, source.text)]


def _follow(
    chain: Chain, believed: Sequence[_Seen], hinted: Sequence[_Seen], guessed: Collection[Need]
) -> str | Need:
    """The end of a chain, or the first fact it lacks."""
    at = chain.entity
    for relation in chain.path:
        need = Need(at, relation)
        value = _known(need, believed)
        if not value and need in guessed:
            value = _known(need, hinted) or _guess(need, hinted)
        if not value:
            return need
        at = value
    return at


def _known(need: Need, seen: Iterable[_Seen]) -> str:
    """The value that the weightiest statement gives, the first of several; "" when none states it."""
    relation = need.relation.removeprefix(BACKWARDS)
    stating = [s for s in seen if s.statement.stated and s.statement.relation == relation]
    if need.is_backwards:
        told = [s for s in stating if s.statement.value == need.entity]
        best = max(told, key=lambda s: s.rank(s.source.title), default=None)
        return best.page if best else ""
    told = [s for s in stating if s.statement.subject == bare(need.entity)]
    best = max(told, key=lambda s: s.rank(need.entity), default=None)
    return best.statement.value if best else ""


def _guess(need: Need, seen: Sequence[_Seen]) -> str:
    """The most plausible value of the right type among all that was seen; "" when there is none.

    What sounds like the fact on the entity's own page comes first, then anything of the type there,
    then anything of the type elsewhere; each time the one seen first, which further text leaves as it is.
    """
    kinds, name = set(value_kinds(need.relation)), bare(need.entity)
    own = [s for s in seen if s.statement.subject == name]
    alike = [s for s in own if s.statement.relation == need.relation]
    for some in (alike, own, seen):
        for s in some:
            for value, of_kinds in _mentions(s):
                if value != need.entity and of_kinds & kinds:
                    return value
    return ""


def _mentions(seen: _Seen) -> Iterator[tuple[str, set[str]]]:
    """What a statement names, with the kinds it may be of."""
    relation = seen.statement.relation
    yield seen.statement.value, set(value_kinds(relation))
    yield seen.page, set(subject_kinds(relation))


def _conclude(asked: Inquiry, ends: Sequence[str]) -> str:
    if asked.choose == "object":
        return ends[0]
    if asked.choose == "same":
        return "yes" if ends[0] == ends[1] else "no"
    pick = min if asked.choose == "least" else max
    return pick(zip(ends, asked.chains, strict=True), key=lambda pair: magnitude(pair[0]))[1].entity

"""Lays out the page of an entity: which sentences it has, in which order, and where its facts stand.

Each fact is late with the world's ``late_share``: it then begins beyond the first ``SNIPPET``
characters, where a leading snippet does not reach, and a decoy may stand in front in its place.
The other facts stand in front, and a decoy may follow them near the end of the page.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from index_builder.datasets.world.facts import (
    MONTHS,
    SIGNATURES,
    Draw,
    Entity,
    Value,
    World,
    near_duplicate_of,
)
from index_builder.datasets.world.names import COUNTRIES
from index_builder.datasets.world.pages import DECOYS, FILLERS, INTROS, PRONOUNS, RELATIONS

SNIPPET = 200
LATE_SHARE = 0.55
_DECOY_IN_FRONT = 0.7
_DECOY_AT_END = 0.2
_FINE = 1000
_CACHED = 1024

_T = TypeVar("_T")


class _Line(NamedTuple):
    """A sentence, the relation that it states, and the entity that it names as a decoy, where it does."""

    sentence: str
    relation: str = ""
    lie: int | None = None


class Page(NamedTuple):
    """A passage with what a question needs to know of it.

    Attributes:
        title: The entity's title.
        sentences: The passage, in order.
        stated: Relation to the number of the sentence that states it.
        mentioned: Entities that decoys name.
    """

    title: str
    sentences: tuple[str, ...]
    stated: Mapping[str, int]
    mentioned: tuple[int, ...]

    @property
    def text(self) -> str:
        """The passage as one string."""
        return " ".join(self.sentences)

    def is_beyond_snippet(self, relation: str) -> bool:
        """Whether the sentence that states a fact ends beyond a leading snippet."""
        return len(" ".join(self.sentences[: self.stated[relation] + 1])) > SNIPPET


class Layout:
    """Renders the pages of one world; ``late_share`` is a fraction."""

    def __init__(self, world: World, late_share: float = LATE_SHARE) -> None:
        self.world = world
        self._late = round(late_share * _FINE)
        self.page = lru_cache(_CACHED)(self._page)

    def _page(self, node: int) -> Page:
        """The page of an entity."""
        draft = _Draft(self.world, self.world.entity(node))
        front: list[_Line] = []
        end: list[_Line] = []
        misleading: list[_Line] = []
        for relation, value in self.world.facts(node).items():
            late = draft.wording.below(_FINE) < self._late
            (end if late else front).append(draft.fact(relation, value))
            if draft.wording.below(_FINE) < (_DECOY_IN_FRONT if late else _DECOY_AT_END) * _FINE:
                (misleading if late else end).append(draft.decoy(relation, value))
        intro = draft.intro()
        length = sum(len(line.sentence) + 1 for line in (intro, *front))
        for line in misleading:
            # A decoy never pushes a fact out of the snippet.
            if length + len(line.sentence) <= SNIPPET:
                front.append(line)
                length += len(line.sentence) + 1
        _shuffle(front, draft.wording)
        _shuffle(end, draft.wording)
        lines = [intro, *front, *draft.fillers(length), *end]
        return Page(
            title=draft.entity.title,
            sentences=tuple([line.sentence for line in lines]),
            stated={line.relation: number for number, line in enumerate(lines) if line.relation},
            mentioned=tuple([line.lie for line in lines if line.lie is not None]),
        )


class _Draft:
    """Words the sentences of one page; near-duplicates draw the same words as their namesake."""

    __slots__ = ("entity", "lies", "wording", "world")

    def __init__(self, world: World, entity: Entity) -> None:
        self.world = world
        self.entity = entity
        original = near_duplicate_of(entity.rank)
        node = entity.node if original is None else world.index(entity.kind, original)
        self.wording = world.draw("wording", node)
        self.lies = world.draw("decoys", entity.node)

    def intro(self) -> _Line:
        kind, detail = self.entity.kind, self.entity.detail
        if kind in {"person", "film"}:
            detail = f"{'an' if detail[0] in 'aeiou' else 'a'} {detail}"
        return _Line(_choose(INTROS[kind], self.wording).format(subject=self.entity.name, detail=detail))

    def fact(self, relation: str, value: Value) -> _Line:
        return _Line(self._sentence(_choose(RELATIONS[relation], self.wording), value), relation)

    def decoy(self, relation: str, value: Value) -> _Line:
        templates = DECOYS[relation]
        number = self.wording.below(len(templates))
        false = self._false(relation, value, number)
        return _Line(self._sentence(templates[number], false), lie=false if isinstance(false, int) else None)

    def fillers(self, length: int) -> list[_Line]:
        """As many as bring a front to the end of the snippet; each sentence counts with a space."""
        sentences = FILLERS[self.entity.kind]
        number = self.wording.below(len(sentences))
        lines: list[_Line] = []
        while length <= SNIPPET:
            lines.append(_Line(self._sentence(sentences[(number + len(lines)) % len(sentences)], "")))
            length += len(lines[-1].sentence) + 1
        return lines

    def _sentence(self, template: str, value: Value) -> str:
        subject = self.entity.name
        if template.startswith("{subject} ") and self.wording.below(3):
            pronouns = PRONOUNS[self.entity.kind]
            choice = self.entity.rank if self.entity.kind == "person" else self.wording.below(len(pronouns))
            subject = pronouns[choice % 2]
        return template.format(subject=subject, object=self._surface(value))

    def _surface(self, value: Value) -> str:
        return value if isinstance(value, str) else self.world.entity(value).title

    def _false(self, relation: str, value: Value, number: int) -> Value:
        """Something of the fact's type that is not its object; ``number`` is that of the decoy."""
        lies = self.lies
        if isinstance(value, int):
            return self._other(self.world.entity(value))
        kind = SIGNATURES[relation][1]
        if kind == "country":
            away = 1 + lies.below(len(COUNTRIES) - 1)
            return COUNTRIES[(COUNTRIES.index(value) + away) % len(COUNTRIES)]
        if kind == "number":
            return f"{int(value.replace(',', '')) * (2 + lies.below(7)) // 9 + 7:,}"
        if kind == "date":
            return f"{1 + lies.below(28)} {MONTHS[lies.below(12)]} {int(value[-4:]) + 1 + lies.below(3)}"
        # The first decoy of each relation to a year tells of something before it, the second after it.
        return str(int(value) + (2 * number - 1) * (1 + lies.below(9)))

    def _other(self, true: Entity) -> int:
        """Another entity of the kind, and of the gender, that no fact of the page names."""
        taken = {self.entity.node, *self.world.facts(self.entity.node).values()}
        count = self.world.counts[true.kind]
        rank, step = true.rank, 1
        if true.kind == "person":
            count, step = count // 2 * 2, 2
        rank = (rank + step * self.lies.below(count)) % count
        while self.world.index(true.kind, rank) in taken:
            rank = (rank + step) % count
        return self.world.index(true.kind, rank)


def _choose(options: Sequence[_T], draw: Draw) -> _T:
    return options[draw.below(len(options))]


def _shuffle(lines: list[_Line], draw: Draw) -> None:
    for last in range(len(lines) - 1, 0, -1):
        other = draw.below(last + 1)
        lines[last], lines[other] = lines[other], lines[last]

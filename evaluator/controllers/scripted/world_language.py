"""Reads the language of the generated world: its tables of sentences and questions, turned around.

The tables are public data of ``index_builder.datasets.world``; nothing of any particular world is
known here. A sentence becomes a statement, a question becomes an inquiry: chains of relations to
follow from entities that it names, and what to do with their ends.
"""

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from index_builder.datasets.world.facts import SIGNATURES
from index_builder.datasets.world.pages import DECOYS, PRONOUNS, RELATIONS
from index_builder.datasets.world.questions import (
    ASKS,
    BRIDGE_COMPARISONS,
    COMPARISONS,
    INFERENCES,
    NAMED,
    PHRASES,
)

Choice: TypeAlias = Literal["object", "least", "greatest", "same"]

BACKWARDS = "~"
SLOT = re.compile(r"\{(\w+)\}")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
PARENTHESIS = re.compile(r"\s*\([^()]*\)$")
STANDS_FOR_THE_PAGE = frozenset(word for words in PRONOUNS.values() for word in words)
MONTHS = tuple(calendar.month_name)[1:]
FORMS: Mapping[str, re.Pattern[str]] = {
    "date": re.compile(rf"(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{3,4}})"),
    "year": re.compile(r"\d{3,4}"),
    "number": re.compile(r"\d{1,3}(?:,\d{3})*"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What one sentence says.

    Attributes:
        subject: The subject's name, without a parenthesis; "" when nothing tells it.
        relation: The relation it states, or the one of a decoy that only sounds like it.
        value: The object: a full title or a literal.
        stated: False for a decoy.
    """

    subject: str
    relation: str
    value: str
    stated: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """An entity, by its full title, and the relations to follow from it, ``~`` before those backwards."""

    entity: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question understood: the chains to follow, and what makes an answer of where they end."""

    chains: tuple[Chain, ...]
    choose: Choice


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A template as a regular expression; ``fixed`` is its longest fixed part, looked for first."""

    fixed: str
    regex: re.Pattern[str]
    relation: str
    stated: bool


def _regex(template: str) -> re.Pattern[str]:
    parts = SLOT.split(template)
    return re.compile(
        "".join(f"(?P<{part}>.+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    )


def _patterns(table: Mapping[str, Iterable[str]], *, stated: bool) -> Iterator[_Pattern]:
    for relation, templates in table.items():
        for template in templates:
            yield _Pattern(max(SLOT.split(template)[::2], key=len), _regex(template), relation, stated)


PATTERNS = (*_patterns(RELATIONS, stated=True), *_patterns(DECOYS, stated=False))
ASK_PATTERNS = tuple((relation, _regex(t)) for relation, templates in ASKS.items() for t in templates)
PHRASE_PATTERNS = tuple((relation, _regex(t)) for relation, templates in PHRASES.items() for t in templates)
INFERENCE_PATTERNS = tuple((path, _regex(t)) for path, templates in INFERENCES.items() for t in templates)
NAMED_PATTERNS = {kind: _regex(template) for kind, template in NAMED.items()}
COMPARISON_PATTERNS = tuple(
    (comparison, _regex(template))
    for comparison in (*BRIDGE_COMPARISONS, *COMPARISONS)
    for template in comparison.templates
)


def bare(title: str) -> str:
    """A title without the parenthesis that tells namesakes apart: the name as sentences write it."""
    return PARENTHESIS.sub("", title)


def subject_kinds(relation: str) -> tuple[str, ...]:
    """What a relation can be followed from; for one followed backwards, the kind of its object."""
    kinds, value_kind = SIGNATURES[relation.removeprefix(BACKWARDS)]
    return (value_kind,) if relation.startswith(BACKWARDS) else kinds


def value_kinds(relation: str) -> tuple[str, ...]:
    """What a relation leads to; for one followed backwards, the kinds of its subject."""
    kinds, value_kind = SIGNATURES[relation.removeprefix(BACKWARDS)]
    return kinds if relation.startswith(BACKWARDS) else (value_kind,)


def magnitude(value: str) -> tuple[int, ...]:
    """What orders dates, and what orders years and numbers."""
    date = FORMS["date"].fullmatch(value)
    if date:
        return int(date[3]), MONTHS.index(date[2]), int(date[1])
    return (int(value.replace(",", "")),)


def wordings(relation: str, entity: str) -> tuple[str, ...]:
    """The ways to state that a relation holds of an entity, what it leads to left out."""
    slot = "{object}" if relation.startswith(BACKWARDS) else "{subject}"
    templates = RELATIONS[relation.removeprefix(BACKWARDS)]
    return tuple(" ".join(SLOT.sub("", t.replace(slot, entity)).strip(" .").split()) for t in templates)


@lru_cache(maxsize=50_000)
def statements(title: str, text: str) -> tuple[Statement, ...]:
    """What a text says, sentence by sentence; a text with a title speaks of what the title names.

    In a text without one a pronoun stands for the subject named last.
    """
    page, found = bare(title), []
    last_named = page
    for sentence in SENTENCE_END.split(text):
        statement = _statement(sentence, page)
        if statement:
            last_named = statement.subject or last_named
            found.append(replace(statement, subject=last_named))
    return tuple(found)


def _statement(sentence: str, page: str) -> Statement | None:
    for pattern in PATTERNS:
        matched = pattern.regex.fullmatch(sentence) if pattern.fixed in sentence else None
        if matched is None:
            continue
        slots = matched.groupdict()
        subject, value = slots.get("subject", ""), slots["object"]
        subject = "" if subject in STANDS_FOR_THE_PAGE else subject
        form = FORMS.get(value_kinds(pattern.relation)[0])
        if (not subject or not page or subject == page) and (form is None or form.fullmatch(value)):
            return Statement(subject, pattern.relation, value, pattern.stated)
    return None


@lru_cache(maxsize=20_000)
def inquiry(question: str) -> Inquiry | None:
    """What a question asks, or None when it is not in the world's language."""
    for comparison, regex in COMPARISON_PATTERNS:
        matched = regex.fullmatch(question)
        if matched:
            chains = tuple(Chain(matched[slot], comparison.path) for slot in ("x", "y"))
            return Inquiry(chains, comparison.choose)
    for path, regex in INFERENCE_PATTERNS:
        matched = regex.fullmatch(question)
        if matched:
            return Inquiry((Chain(matched["x"], path),), "object")
    chain = _first(ASK_PATTERNS, question, lambda _: True)
    return None if chain is None else Inquiry((chain,), "object")


def _first(
    patterns: Iterable[tuple[str, re.Pattern[str]]], text: str, leads_right: Callable[[str], bool]
) -> Chain | None:
    """The first reading of a text as one relation of something that can itself be read."""
    for relation, regex in patterns:
        matched = regex.fullmatch(text) if leads_right(relation) else None
        start = _start(matched["x"], subject_kinds(relation)) if matched else None
        if start:
            return Chain(start.entity, (*start.path, relation))
    return None


def _start(phrase: str, kinds: tuple[str, ...]) -> Chain | None:
    """A noun phrase for something of one of these kinds: a relation of something else, or a name."""
    chain = _first(PHRASE_PATTERNS, phrase, lambda relation: bool(set(value_kinds(relation)) & set(kinds)))
    if chain:
        return chain
    for kind in kinds:
        named = NAMED_PATTERNS[kind].fullmatch(phrase)
        if named and not named["name"].startswith("the "):
            return Chain(named["name"], ())
    return None

"""Puts questions and passages of a world into the official formats of the three sets."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from index_builder.datasets.world.facts import SIGNATURES, World
from index_builder.datasets.world.layout import Layout, Page
from index_builder.datasets.world.names import Scatter
from index_builder.datasets.world.questions import Asked, Step, ask_one_step, surface

_RELATIONS = tuple(SIGNATURES)

Record = dict[str, object]


class Format(NamedTuple):
    """How a set writes a question record, and how many paragraphs its contexts have."""

    record: Callable[[Layout, Asked], Record]
    paragraphs: int


def hotpotqa_record(layout: Layout, asked: Asked) -> Record:
    """A record of the distractor files; sentences after the first begin with their space."""
    return {
        "_id": _digest(layout.world, asked, 24),
        "answer": asked.answer,
        "question": asked.text,
        "supporting_facts": _supporting_facts(layout, asked),
        "context": [
            [page.title, spaced(page.sentences)]
            for page in map(layout.page, context(layout, asked, FORMATS["hotpotqa"].paragraphs))
        ],
        "type": asked.kind,
        "level": "hard",
    }


def two_wiki_record(layout: Layout, asked: Asked) -> Record:
    """A record with its evidence as triples of title, relation and object."""
    world = layout.world
    return {
        "_id": _digest(world, asked, 32),
        "type": asked.kind,
        "question": asked.text,
        "context": [
            [page.title, list(page.sentences)]
            for page in map(layout.page, context(layout, asked, FORMATS["two_wiki"].paragraphs))
        ],
        "supporting_facts": _supporting_facts(layout, asked),
        "evidences": [
            [world.entity(step.subject).title, step.relation.replace("_", " "), surface(world, step.value)]
            for step in asked.steps
        ],
        "answer": asked.answer,
        "evidences_id": [],
        "entity_ids": "_".join(f"Q{node}" for node in asked.gold),
        "answer_id": f"Q{asked.target}" if isinstance(asked.target, int) else None,
    }


def musique_record(layout: Layout, asked: Asked) -> Record:
    """A record with its decomposition; each step names the paragraph that supports it."""
    world = layout.world
    nodes = context(layout, asked, FORMATS["musique"].paragraphs)
    steps = [
        {
            "id": _step_id(step),
            "question": ask_one_step(world, number, step),
            "answer": surface(world, step.value),
            "paragraph_support_idx": nodes.index(step.subject),
        }
        for number, step in enumerate(asked.steps)
    ]
    return {
        "id": f"{asked.kind}__{'_'.join(str(_step_id(step)) for step in asked.steps)}",
        "paragraphs": [
            {
                "idx": number,
                "title": layout.page(node).title,
                "paragraph_text": layout.page(node).text,
                "is_supporting": node in asked.gold,
            }
            for number, node in enumerate(nodes)
        ],
        "question": asked.text,
        "question_decomposition": steps,
        "answer": asked.answer,
        "answer_aliases": list(asked.aliases),
        "answerable": True,
    }


FORMATS: Mapping[str, Format] = {
    "hotpotqa": Format(hotpotqa_record, 10),
    "two_wiki": Format(two_wiki_record, 10),
    "musique": Format(musique_record, 20),
}
"""Dataset to its format."""


def context(layout: Layout, asked: Asked, size: int) -> list[int]:
    """The gold pages among distractors, in seeded order.

    Distractors are namesakes of the gold entities first, then what their decoys name, then any
    persons, films and entities of the gold entities' kinds.
    """
    world = layout.world
    chosen = dict.fromkeys(asked.gold)
    kinds = {"person", "film", *(world.entity(node).kind for node in asked.gold)}
    order = Scatter(world.passages, asked.text)
    others = (node for node in map(order, range(world.passages)) if world.entity(node).kind in kinds)
    candidates = itertools.chain(_near(layout, asked), others)
    while len(chosen) < size:
        chosen[next(candidates)] = None
    return sorted(chosen, key=lambda node: sha256(f"{asked.text}/{node}".encode()).digest())


def spaced(sentences: tuple[str, ...]) -> list[str]:
    """Sentences as HotpotQA has them: each after the first begins with its space."""
    return [sentences[0], *(f" {sentence}" for sentence in sentences[1:])]


def _near(layout: Layout, asked: Asked) -> Iterator[int]:
    for node in asked.gold:
        namesake = layout.world.namesake(node)
        if namesake is not None:
            yield namesake
    for node in asked.gold:
        yield from layout.page(node).mentioned


def _supporting_facts(layout: Layout, asked: Asked) -> list[list[object]]:
    pages: dict[int, Page] = {node: layout.page(node) for node in asked.gold}
    facts = ((pages[step.subject], step.relation) for step in asked.steps)
    return [[page.title, page.stated[relation]] for page, relation in facts]


def _step_id(step: Step) -> int:
    return step.subject * len(_RELATIONS) + _RELATIONS.index(step.relation)


def _digest(world: World, asked: Asked, digits: int) -> str:
    return sha256(f"{world.seed}/{world.passages}/{asked.text}".encode()).hexdigest()[:digits]

"""Passage, Chunk, Question, Hit: the words that every stage of the project speaks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int, str], None]
"""Told the stage, how much of it is done, of how much, and a figure such as "7,512 tokens/s" or ""."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A titled paragraph as the official files give it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is searched and read; ``title`` is empty when several passages are packed in it."""

    chunk_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question as a loader gives it.

    Attributes:
        question_id: The official id, distinct within a dataset.
        text: The question, surrounding spaces removed.
        answers: The gold answer first, then its aliases; never empty.
        kind: The dataset's own name for the kind of question, such as ``bridge``.
        hops: How many gold passages the official annotation names.
        gold: The gold passages, in official order, or None when the file does not say.
    """

    question_id: str
    text: str
    answers: tuple[str, ...]
    kind: str
    hops: int
    gold: tuple[Passage, ...] | None


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a loader returns.

    Attributes:
        questions: In file order, one per distinct id.
        passages: The distinct passages of all question contexts, in first-seen order.
        notes: What was repaired or left out, name to count; names are short English phrases.
    """

    questions: tuple[Question, ...]
    passages: tuple[Passage, ...]
    notes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class IndexedQuestion:
    """A line of a bundle's ``questions.jsonl``: a question with its gold chunk ids (None = unknown)."""

    question_id: str
    question: str
    answers: tuple[str, ...]
    kind: str
    hops: int
    gold_chunks: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result as the agent is shown it; ``rank`` counts from 1."""

    chunk_id: str
    rank: int
    score: float
    title: str
    snippet: str

"""Records of any official format, made into one Dataset: each id once, each repair counted."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from index_builder.datasets.corpus import distinct
from index_builder.datasets.records_file import FileRecord
from index_builder.errors import DatasetError
from index_builder.records import Dataset, Passage, Question

Notes: TypeAlias = Counter[str]

HTML_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")


class QuestionRecord(FileRecord, ABC):
    """What the records of every format have in common."""

    question: str
    answer: str | None = None

    @property
    @abstractmethod
    def official_id(self) -> str:
        """The id, under whatever name the format has it."""

    def why_unscorable(self) -> str | None:
        """Which kind of questions it is one of when no answer to it could be scored, else None."""
        if not self.question.strip():
            return "questions without text"
        return None if self.answer and self.answer.strip() else "questions without an answer"


R = TypeVar("R", bound=QuestionRecord)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a format says of one record beyond its id, question and answer.

    Attributes:
        kind: The dataset's own name for the kind of question.
        context: Its paragraphs, in order.
        gold: Those that the annotation names and the context holds.
        hops: How many gold passages the annotation names.
        aliases: Other answers that are right.
    """

    kind: str
    context: tuple[Passage, ...]
    gold: tuple[Passage, ...]
    hops: int
    aliases: tuple[str, ...] = ()


def assemble(path: Path, records: Iterable[R], read: Callable[[R, Notes], Reading], notes: Notes) -> Dataset:
    """Turn the records of one file into a Dataset.

    Questions whose answers could not be scored are left out together with their contexts.

    Raises:
        DatasetError: When no question is left.
    """
    questions: list[Question] = []
    contexts: list[Passage] = []
    for record in _one_per_id(_scorable(records, notes), notes):
        reading = read(record, notes)
        _count_repeats(reading.context, notes)
        questions.append(_question(record, reading, notes))
        contexts += reading.context
    if not questions:
        raise DatasetError(path, "file", "at least one question with an answer")
    passages = tuple(distinct(contexts))
    notes["titles with HTML entities, kept as they stand"] = sum(
        HTML_ENTITY.search(passage.title) is not None for passage in passages
    )
    return Dataset(tuple(questions), passages, {name: notes[name] for name in sorted(notes) if notes[name]})


def _scorable(records: Iterable[R], notes: Notes) -> Iterator[R]:
    for record in records:
        reason = record.why_unscorable()
        if reason is None:
            yield record
        else:
            notes[f"{reason}, left out"] += 1


def _one_per_id(records: Iterable[R], notes: Notes) -> Iterator[R]:
    seen: dict[str, R] = {}
    for record in records:
        first = seen.setdefault(record.official_id, record)
        if first is record:
            yield record
        elif first == record:
            notes["identical records of one id, merged"] += 1
        else:
            notes["records that differ from an earlier one of their id, left out"] += 1


def _question(record: QuestionRecord, reading: Reading, notes: Notes) -> Question:
    given = (record.answer or "", *reading.aliases)
    answers = tuple(dict.fromkeys(answer.strip() for answer in given if answer.strip()))
    notes["questions with surrounding spaces, removed"] += record.question != record.question.strip()
    notes["answers with surrounding spaces, removed"] += sum(answer != answer.strip() for answer in given)
    gold = tuple(distinct(reading.gold))
    notes["questions whose gold passages are unknown"] += not gold
    return Question(
        question_id=record.official_id,
        text=record.question.strip(),
        answers=answers,
        kind=reading.kind,
        hops=reading.hops,
        gold=gold or None,
    )


def _count_repeats(context: tuple[Passage, ...], notes: Notes) -> None:
    different = list(distinct(context))
    notes["paragraphs that repeat another of their context, merged"] += len(context) - len(different)
    notes["contexts with one title on different paragraphs"] += len(
        {passage.title for passage in different}
    ) < len(different)

"""MuSiQue: one record a line, with twenty paragraphs of which the supporting ones are marked.

Reads ``musique_{ans,full}_v1.0_{train,dev}.jsonl``. The full files pair each answerable record with
one of the same id whose context lacks a supporting paragraph: those have no right answer to score.
"""

import itertools
from collections import Counter
from pathlib import Path

from pydantic import Field, TypeAdapter

from index_builder.datasets.assembly import Notes, QuestionRecord, Reading, assemble
from index_builder.datasets.records_file import FileRecord, read_lines
from index_builder.records import Dataset, Passage


class MusiqueParagraph(FileRecord):
    """A paragraph of a context; test files do not say whether it supports."""

    title: str
    paragraph_text: str
    is_supporting: bool = False


class MusiqueRecord(QuestionRecord):
    """A record of MuSiQue; test files lack the answer."""

    id: str = Field(min_length=1)
    paragraphs: list[MusiqueParagraph]
    answer_aliases: tuple[str, ...] = ()
    answerable: bool = True

    @property
    def official_id(self) -> str:
        """The field ``id``."""
        return self.id

    def why_unscorable(self) -> str | None:
        """As for every record; besides, the context may lack what an answer needs."""
        return super().why_unscorable() if self.answerable else "unanswerable questions"


RECORD = TypeAdapter(MusiqueRecord)


def load(path: Path) -> Dataset:
    """Read a file of MuSiQue.

    Raises:
        DatasetError: With the line and what was expected there.
    """
    notes: Notes = Counter()
    return assemble(path, read_lines(path, RECORD, "a MuSiQue record, a JSON object", notes), _read, notes)


def _read(record: MusiqueRecord, _: Notes) -> Reading:
    passages = tuple(Passage(each.title, each.paragraph_text) for each in record.paragraphs)
    supporting = [each.is_supporting for each in record.paragraphs]
    kind, mark, _hops = record.id.partition("__")
    return Reading(
        kind=kind if mark else "",
        context=passages,
        gold=tuple(itertools.compress(passages, supporting)),
        hops=sum(supporting),
        aliases=record.answer_aliases,
    )

"""The format that HotpotQA and 2WikiMultiHopQA share: titled lists of sentences, gold cited by title.

A supporting fact is a title and the index of a sentence. Titles name the gold passages; the index
only decides between paragraphs of one title, and one that is out of range is ignored.
"""

from typing import TypeAlias

from pydantic import Field

from index_builder.datasets.assembly import Notes, QuestionRecord, Reading
from index_builder.datasets.corpus import joined
from index_builder.records import Passage

Paragraph: TypeAlias = tuple[str, list[str]]


class CitedRecord(QuestionRecord):
    """A record of either set; test files lack the answer and the facts."""

    id: str = Field(alias="_id", min_length=1)
    type: str = ""
    supporting_facts: list[tuple[str, int]] | None = None
    context: list[Paragraph]

    @property
    def official_id(self) -> str:
        """The field ``_id``."""
        return self.id


def read_cited(record: CitedRecord, notes: Notes) -> Reading:
    """Join the sentences of its context and find the passages its supporting facts name."""
    cited: dict[str, list[int]] = {}
    for title, index in record.supporting_facts or ():
        cited.setdefault(title, []).append(index)
    notes["blank sentences, left out of their paragraph"] += sum(
        not sentence.strip() for _, sentences in record.context for sentence in sentences
    )
    found = [_cited_paragraph(record.context, title, indices, notes) for title, indices in cited.items()]
    return Reading(
        kind=record.type,
        context=tuple(map(_passage, record.context)),
        gold=tuple(_passage(paragraph) for paragraph in found if paragraph is not None),
        hops=len(cited),
    )


def _cited_paragraph(
    context: list[Paragraph], title: str, indices: list[int], notes: Notes
) -> Paragraph | None:
    """The paragraph of that title; of several, the first that holds the most of the cited sentences."""

    def held(paragraph: Paragraph) -> int:
        return sum(0 <= index < len(paragraph[1]) for index in indices)

    paragraph = max((each for each in context if each[0] == title), key=held, default=None)
    if paragraph is None:
        notes["gold titles that the context lacks, ignored"] += 1
    else:
        notes["supporting sentence indices out of range, ignored"] += len(indices) - held(paragraph)
    return paragraph


def _passage(paragraph: Paragraph) -> Passage:
    title, sentences = paragraph
    return Passage(title, joined(sentences))

"""2WikiMultiHopQA: HotpotQA's format, with chains of evidence beside it.

Reads ``train.json`` and ``dev.json`` of both releases, with ids of entities and without.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from index_builder.datasets.assembly import Notes, Reading, assemble
from index_builder.datasets.cited_sentences import CitedRecord, read_cited
from index_builder.datasets.records_file import read_whole
from index_builder.records import Dataset


class TwoWikiRecord(CitedRecord):
    """A record of 2WikiMultiHopQA."""

    evidences: list[list[str]]
    answer_id: str | None = None


RECORDS: TypeAdapter[list[TwoWikiRecord]] = TypeAdapter(Annotated[list[TwoWikiRecord], Field(fail_fast=True)])


def load(path: Path) -> Dataset:
    """Read a file of 2WikiMultiHopQA.

    Raises:
        DatasetError: With the record and what was expected there.
    """
    notes: Notes = Counter()
    records = read_whole(path, RECORDS, "a JSON array of 2WikiMultiHopQA records", notes)
    return assemble(path, records, _read, notes)


def _read(record: TwoWikiRecord, notes: Notes) -> Reading:
    notes["null answer ids, passed over"] += (
        record.answer_id is None and "answer_id" in record.model_fields_set
    )
    return read_cited(record, notes)

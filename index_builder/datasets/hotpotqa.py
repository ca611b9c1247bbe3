"""HotpotQA: an array of records with ten paragraphs, of which two are gold.

Reads ``hotpot_{train,dev_distractor,dev_fullwiki}_v1.json``; in the last, gold titles may be absent
from a question's own context.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, field_validator

from index_builder.datasets.assembly import Notes, assemble
from index_builder.datasets.cited_sentences import CitedRecord, read_cited
from index_builder.datasets.records_file import read_whole
from index_builder.records import Dataset


class HotpotRecord(CitedRecord):
    """A record of HotpotQA."""

    evidences: object = None

    @field_validator("evidences")
    @classmethod
    def _is_of_another_set(cls, _: object) -> object:
        msg = "no evidences, which only 2WikiMultiHopQA has,"
        raise ValueError(msg)


RECORDS: TypeAdapter[list[HotpotRecord]] = TypeAdapter(Annotated[list[HotpotRecord], Field(fail_fast=True)])


def load(path: Path) -> Dataset:
    """Read a file of HotpotQA.

    Raises:
        DatasetError: With the record and what was expected there.
    """
    notes: Notes = Counter()
    records = read_whole(path, RECORDS, "a JSON array of HotpotQA records", notes)
    return assemble(path, records, read_cited, notes)

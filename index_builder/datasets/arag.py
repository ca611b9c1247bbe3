"""A-RAG (arXiv 2602.03442): questions over chunks that come packed, and their gold by way of official files.

``chunks.json`` is an array of ``"id:text"`` strings; ``questions.json`` one of ``{id, source, question,
answer, question_type, evidence}``, which does not say which chunks are gold. Official records do: a question
finds its own by its id, before which A-RAG writes the name of the set (``musique_2hop__13548_13529``); the
record names gold passages, and ``text_match`` finds the chunks that hold them. The record's answers follow
A-RAG's one answer as aliases. Evidence of A-RAG's own has no settled form: it is counted and not used.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from index_builder.datasets import hotpotqa, musique, two_wiki
from index_builder.datasets.assembly import Notes, QuestionRecord, Reading, assemble
from index_builder.datasets.corpus import distinct, passage_key
from index_builder.datasets.records_file import first_line, read_whole
from index_builder.datasets.text_match import holders
from index_builder.errors import DatasetError
from index_builder.records import Chunk, Dataset, Passage, Question

SOUGHT = "gold passages of questions, sought in the chunks"
FOUND = "gold passages of questions, found in the chunks"
WITH_ALL, WITH_SOME, WITH_NONE = (
    f"questions with {amount} of their gold passages found" for amount in ("all", "some", "none")
)
NO_FILE = "questions without gold, for want of an official file"
NO_RECORD = "questions without gold, for want of an official record"
CHUNKS_FORM = 'a JSON array of "id:text" strings'


class ARagQuestion(QuestionRecord):
    """A record of ``questions.json``."""

    id: str = Field(min_length=1)
    source: str = ""
    question_type: str = ""
    evidence: object = None

    @property
    def official_id(self) -> str:
        """The field ``id`` as it stands, by which the bundle knows the question."""
        return self.id


QUESTIONS: TypeAdapter[list[ARagQuestion]] = TypeAdapter(Annotated[list[ARagQuestion], Field(fail_fast=True)])
CHUNKS: TypeAdapter[list[str]] = TypeAdapter(Annotated[list[str], Field(strict=True, fail_fast=True)])


@dataclass(frozen=True, slots=True)
class PackedDataset:
    """What A-RAG's files of one set hold.

    Attributes:
        dataset: The questions; no passages, as they stand in the chunks.
        chunks: In file order, each with the gold passages it holds, whole or in part.
    """

    dataset: Dataset
    chunks: tuple[tuple[Chunk, tuple[Passage, ...]], ...]


def load(source: Path, corpus: Path, official: Path | None) -> PackedDataset:
    """Read A-RAG's files of one set, and find its gold.

    Args:
        source: ``questions.json``.
        corpus: ``chunks.json``.
        official: The official file of the same set, in any of the three formats; without it no gold is known.

    Raises:
        DatasetError: With the file, the record and what was expected there.
    """
    notes: Notes = Counter()
    records = read_whole(source, QUESTIONS, "a JSON array of A-RAG questions", notes)
    chunks = tuple(_chunks(corpus, notes))
    known = {} if official is None else _official_questions(official, source, records)
    unknown = NO_FILE if official is None else NO_RECORD

    def read(record: ARagQuestion, notes: Notes) -> Reading:
        official_question = _of_record(record, known)
        notes[unknown] += official_question is None
        notes["questions with evidence of A-RAG's own, not used"] += bool(record.evidence)
        return _reading(record, official_question)

    dataset = assemble(source, records, read, notes)
    held = _held(chunks, dataset.questions)
    counts = Counter(dataset.notes) + _recovered(dataset.questions, held)
    ordered = {name: counts[name] for name in sorted(counts)}
    return PackedDataset(replace(dataset, notes=ordered), tuple(zip(chunks, held, strict=True)))


def _chunks(path: Path, notes: Notes) -> Iterator[Chunk]:
    """The chunks, each under what stands before its first colon."""
    texts: dict[str, str] = {}
    entries = read_whole(path, CHUNKS, CHUNKS_FORM, notes)
    for number, entry in enumerate(entries, start=1):
        name, colon, text = entry.partition(":")
        chunk_id = name.strip()
        if not colon or not chunk_id:
            raise DatasetError(path, f"record {number}", f"an id before a colon, in {CHUNKS_FORM}")
        if not text.strip():
            notes["chunks without text, left out"] += 1
        elif chunk_id not in texts:
            texts[chunk_id] = text
            yield Chunk(chunk_id, "", text)
        elif texts[chunk_id] == text:
            notes["identical chunks of one id, merged"] += 1
        else:
            expected = f"an id of its own, but an earlier chunk with another text is {chunk_id!r} too"
            raise DatasetError(path, f"record {number}", expected)
    if not texts:
        raise DatasetError(path, "file", "at least one chunk with text")


def _official_questions(path: Path, source: Path, records: Iterable[ARagQuestion]) -> dict[str, Question]:
    """The questions of an official file by id; the format follows from its content."""
    if not first_line(path).startswith(b"["):
        official = musique.load(path)
    elif b'"evidences"' in path.read_bytes():
        official = two_wiki.load(path)
    else:
        official = hotpotqa.load(path)
    known = {question.question_id: question for question in official.questions}
    if not any(_of_record(record, known) for record in records):
        raise DatasetError(
            path, "file", f"the official records of the questions in {source}, of which it has none"
        )
    return known


def _of_record(record: ARagQuestion, known: Mapping[str, Question]) -> Question | None:
    """The official question of a record, whose id may begin with the name of the set."""
    return known.get(record.id) or known.get(record.id.partition("_")[2])


def _reading(record: ARagQuestion, official: Question | None) -> Reading:
    if official is None:
        return Reading(kind=record.question_type, context=(), gold=(), hops=0)
    return Reading(
        kind=official.kind or record.question_type,
        context=(),
        gold=official.gold or (),
        hops=official.hops,
        aliases=official.answers,
    )


def _held(chunks: Sequence[Chunk], questions: Iterable[Question]) -> list[tuple[Passage, ...]]:
    """For each chunk, the gold passages of any question that it holds."""
    gold = tuple(distinct(passage for question in questions for passage in question.gold or ()))
    ordinals = holders([chunk.text for chunk in chunks], (passage.text for passage in gold))
    held: list[list[Passage]] = [[] for _ in chunks]
    for passage in gold:
        for ordinal in ordinals.get(passage.text, ()):
            held[ordinal].append(passage)
    return [tuple(passages) for passages in held]


def _recovered(questions: Iterable[Question], held: Iterable[tuple[Passage, ...]]) -> Counter[str]:
    """How much of the gold was found, over the questions whose gold is known."""
    keys = {passage_key(passage) for passages in held for passage in passages}
    counts: Counter[str] = Counter()
    for question in questions:
        if question.gold is not None:
            found = sum(passage_key(passage) in keys for passage in question.gold)
            counts[SOUGHT] += len(question.gold)
            counts[FOUND] += found
            counts[WITH_ALL if found == len(question.gold) else WITH_SOME if found else WITH_NONE] += 1
    return counts

"""Corpora: files of passages to be searched, and what makes two passages the same.

Three forms are told apart by their content: ``{title: [sentences]}`` (HotpotQA), an array of
``{title, text}`` (2WikiMultiHopQA, MuSiQue), and JSON lines of ``{title, text}``, which alone stream.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from index_builder.datasets.records_file import FileRecord, first_line, read_lines, read_pairs, read_whole
from index_builder.errors import DatasetError
from index_builder.records import Passage


class TitledText(FileRecord):
    """A passage of a corpus file."""

    title: str
    text: str


LINE = TypeAdapter(TitledText)
ARRAY: TypeAdapter[list[TitledText]] = TypeAdapter(Annotated[list[TitledText], Field(fail_fast=True)])
REPEATED = "passages of the corpus that repeat another, merged"
BY_TITLE: TypeAdapter[dict[str, list[str]]] = TypeAdapter(Annotated[dict[str, list[str]], Field(strict=True)])
PAIRS = TypeAdapter(list[tuple[str, list[str]]])


def read_corpus(path: Path, notes: Counter[str] | None = None) -> Iterator[Passage]:
    """The passages of a corpus file in file order, repeated ones included.

    Args:
        path: The file.
        notes: Learns, while iterating, what was repaired.

    Raises:
        DatasetError: While iterating, with the place and what was expected there.
    """
    empty = True
    for passage in _passages(path, Counter() if notes is None else notes):
        empty = False
        yield passage
    if empty:
        raise DatasetError(path, "file", "at least one passage")


def distinct(passages: Iterable[Passage], notes: Counter[str] | None = None) -> Iterator[Passage]:
    """The passages without those whose key came before; ``notes`` learns how many those were."""
    seen: set[bytes] = set()
    for passage in passages:
        key = passage_key(passage)
        if key not in seen:
            seen.add(key)
            yield passage
        elif notes is not None:
            notes[REPEATED] += 1


def passage_key(passage: Passage) -> bytes:
    """What makes two passages the same: a digest of title and text with all white space removed."""
    words = "\0".join("".join(part.split()) for part in (passage.title, passage.text))
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def joined(sentences: Sequence[str]) -> str:
    """The text of a paragraph given as sentences: one space between two unless there is one already.

    HotpotQA's sentences begin with their space, 2WikiMultiHopQA's do not. Blank ones are left out.
    """
    text = ""
    for sentence in filter(str.strip, sentences):
        if text and not text[-1].isspace() and not sentence[0].isspace():
            text += " "
        text += sentence
    return text.strip()


def _passages(path: Path, notes: Counter[str]) -> Iterator[Passage]:
    start = first_line(path)
    if path.suffix == ".jsonl" or _is_titled_text(start):
        for record in read_lines(path, LINE, "a JSON object {title, text}", notes):
            yield Passage(record.title, record.text)
    elif start.startswith(b"["):
        for record in read_whole(path, ARRAY, "a JSON array of {title, text}", notes):
            yield Passage(record.title, record.text)
    else:
        form = "a corpus: JSON {title: [sentences]}, an array of {title, text}, or lines of {title, text}"
        for title, sentences in read_pairs(path, BY_TITLE, PAIRS, form, notes):
            yield Passage(title, joined(sentences))


def _is_titled_text(line: bytes) -> bool:
    try:
        LINE.validate_json(line)
    except ValueError:
        return False
    return True

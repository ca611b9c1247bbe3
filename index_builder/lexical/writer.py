"""Writing a BM25 index: one pass over the chunks, in bounded memory, the same bytes for the same input.

Title and text go into one field: a title is the passage's most telling line, and as a field of its own it
would weigh so much that fusing with dense search gains nothing (measured on 2WikiMultiHopQA). Frequencies
are indexed, positions are not. The text itself is not kept here, only the chunk's ordinal.

tantivy breaks ties by place: by segment, then by place within it. Ordinals rise along both, because one
writer thread fills one segment after the other. tantivy names segments by chance; here they are numbered.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson
import tantivy

from index_builder.chunking import indexed_text
from index_builder.errors import InputError
from index_builder.lexical.analysers import DEFAULT_ANALYSER, analysers_of
from index_builder.records import Chunk

ORDINAL: Final = "ordinal"
FREQUENCIES: Final = "freq"
META: Final = "meta.json"
SYSTEM_ERROR: Final = re.compile(r"(?:\(os error |Os \{ code: )(\d+)")
SEGMENT_CHARACTERS: Final = 2**29
"""A segment is closed when it holds so much text: a million passages, in about 400 MB of memory."""
WRITER_BYTES: Final = 4_000_000_000
"""A limit, not an allocation, and close to tantivy's own; a segment would be cut in two above it."""


def write_lexical(folder: Path, chunks: Iterable[Chunk], analyser: str = DEFAULT_ANALYSER) -> int:
    """Index chunks under their ordinals, counted from 0.

    Args:
        folder: An existing empty folder.
        chunks: Taken one by one.
        analyser: One of ``ANALYSERS``.

    Returns:
        How many chunks were indexed.

    Raises:
        InputError: When the analyser is unknown, or the chunks hold too many different words.
        OSError: When the folder cannot be written.
    """
    texts = enumerate(map(indexed_text, chunks))
    segments: list[dict[str, Any]] = []
    goes_on = True
    while goes_on:
        unfinished = folder / "unfinished"
        unfinished.mkdir()
        with _faults_of_the_disk():
            goes_on = _write_segment(unfinished, texts, analyser)
        meta = orjson.loads((unfinished / META).read_bytes())
        if len(meta["segments"]) > 1:
            raise InputError("the passages hold too many different words for a BM25 index")
        for segment in meta["segments"]:
            segments.append(_numbered(segment, len(segments), unfinished, folder))
        shutil.rmtree(unfinished)
    (folder / META).write_bytes(orjson.dumps(meta | {"segments": segments}, option=orjson.OPT_INDENT_2))
    return sum(segment["max_doc"] for segment in segments)


def _write_segment(folder: Path, texts: Iterator[tuple[int, str]], analyser: str) -> bool:
    """Write an index of as many texts as make a segment; returns whether there may be more of them."""
    fields = analysers_of(analyser)
    index = tantivy.Index(_schema(fields), path=str(folder))
    for name, analysis in fields.items():
        index.register_tokenizer(name, analysis)
    writer = index.writer(WRITER_BYTES, num_threads=1)
    room = SEGMENT_CHARACTERS
    try:
        for ordinal, text in texts:
            document = tantivy.Document()
            document.add_unsigned(ORDINAL, ordinal)
            for name in fields:
                document.add_text(name, text)
            writer.add_document(document)
            room -= len(text)
            if room <= 0:
                break
    finally:
        writer.commit()  # where a writer that failed says why
    writer.wait_merging_threads()
    return room <= 0


def _schema(fields: Iterable[str]) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in fields:
        builder.add_text_field(name, tokenizer_name=name, index_option=FREQUENCIES)
    builder.add_unsigned_field(ORDINAL, fast=True)
    return builder.build()


def _numbered(segment: dict[str, Any], number: int, source: Path, target: Path) -> dict[str, Any]:
    """Move the files of a segment, naming it by its number; returns its entry for the meta file."""
    name = f"{number:032x}"
    for path in source.glob(f"{segment['segment_id'].replace('-', '')}.*"):
        path.rename(target / f"{name}{path.suffix}")
    return segment | {"segment_id": name}


@contextmanager
def _faults_of_the_disk() -> Iterator[None]:
    """Raise as ``OSError`` what tantivy was told by the system and raises as ``ValueError``."""
    try:
        yield
    except ValueError as error:
        said = SYSTEM_ERROR.search(str(error))
        if said is None:
            raise
        number = int(said[1])
        raise OSError(number, os.strerror(number)) from error

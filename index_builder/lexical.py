"""BM25 over chunks, with tantivy: write an index, search it.

The analyser is a declared part of an index and the same on both sides. ``english`` splits at whatever is
neither letter nor digit, lowers case, drops the 33 commonest English words and stems. Title and text go
into one field: a title is the passage's most telling line, and as a field of its own it would weigh so
much that fusing with dense search gains nothing (measured on 2WikiMultiHopQA). Words of up to
1,000 bytes are kept: tantivy's usual limit of 40 would make a long name unfindable, and without any the
stemmer takes minutes over a megabyte without a space. Frequencies are indexed, positions are
not; k1 = 1.2 and b = 0.75 are tantivy's own, and it rounds document lengths to one byte.

A query is never parsed. Its distinct terms are looked up, and documents that hold any are scored.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tantivy

from index_builder.chunking import indexed_text
from index_builder.errors import BundleError
from index_builder.query_text import query_text
from index_builder.records import Chunk

ANALYSER = "english"
"""What a manifest calls the analysis of text and queries; another one must have another name."""

ENGLISH = "english"
EVERY_WORD = "every_word"
ORDINAL = "ordinal"
FREQUENCIES = "freq"
MAX_TERMS = 1024
LONGEST_WORD_BYTES = 1000
WRITER_BYTES = 1_000_000_000  # a limit, not an allocation; room for one segment of a million passages

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


def write_lexical(folder: Path, chunks: Iterable[Chunk]) -> int:
    """Index chunks under their ordinals, counted from 0, in an existing empty folder.

    One writer thread makes one segment, in which equal scores fall by ordinal.

    Returns:
        How many chunks were indexed.
    """
    index = tantivy.Index(_schema(), path=str(folder))
    _register_analysers(index)
    writer = index.writer(WRITER_BYTES, num_threads=1)
    count = 0
    for ordinal, chunk in enumerate(chunks):
        document = tantivy.Document()
        document.add_unsigned(ORDINAL, ordinal)
        text = indexed_text(chunk)
        document.add_text(ENGLISH, text)
        document.add_text(EVERY_WORD, text)
        writer.add_document(document)
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    for lock in folder.glob("*.lock"):
        lock.unlink()
    return count


class LexicalIndex:
    """An open BM25 index; ids are chunk ordinals. Safe to search from several threads."""

    def __init__(self, folder: Path) -> None:
        """Open what ``write_lexical`` wrote, or raise ``BundleError``."""
        try:
            index = tantivy.Index.open(str(folder))
        except ValueError as error:
            raise BundleError(f"{folder} holds no BM25 index: {error}") from error
        self._analysers = _register_analysers(index)
        self._schema = index.schema
        self._searcher = index.searcher()

    def search(self, query: str, depth: int) -> tuple[Ids, Scores]:
        """The best chunks that share a term with the query, by falling score, then rising id.

        A query of which no word is found (stop words alone, as in "To be or not to be") is looked up
        once more among unstemmed words with none dropped. A query without a single word of the
        collection finds nothing.

        Args:
            query: Any text; only its first 1,024 distinct terms count.
            depth: How many at most, at least 1.
        """
        text = query_text(query)
        for field in (ENGLISH, EVERY_WORD):
            terms = list(dict.fromkeys(self._analysers[field].analyze(text)))[:MAX_TERMS]
            hits = self._search_terms(field, terms, depth)
            if hits:
                break
        addresses = [address for _, address in hits]
        ids = self._searcher.fast_field_values(ORDINAL, addresses)
        return np.array(ids, dtype=np.int64), np.array([score for score, _ in hits], dtype=np.float64)

    def _search_terms(
        self, field: str, terms: list[str], depth: int
    ) -> list[tuple[float, tantivy.DocAddress]]:
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term, FREQUENCIES))
            for term in terms
        ]
        return self._searcher.search(tantivy.Query.boolean_query(clauses), depth, count=False).hits


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for field in (ENGLISH, EVERY_WORD):
        builder.add_text_field(field, tokenizer_name=field, index_option=FREQUENCIES)
    builder.add_unsigned_field(ORDINAL, fast=True)
    return builder.build()


def _register_analysers(index: tantivy.Index) -> dict[str, tantivy.TextAnalyzer]:
    """Make the analysers known to an index; needed after each opening, since tantivy saves names only."""
    analysers = {EVERY_WORD: _words().build()}
    stopped = _words().filter(tantivy.Filter.stopword("english"))
    analysers[ENGLISH] = stopped.filter(tantivy.Filter.stemmer("english")).build()
    for name, analyser in analysers.items():
        index.register_tokenizer(name, analyser)
    return analysers


def _words() -> tantivy.TextAnalyzerBuilder:
    """The part that both analysers share; a builder can be used only once."""
    simple = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    kept = simple.filter(tantivy.Filter.remove_long(LONGEST_WORD_BYTES + 1))
    return kept.filter(tantivy.Filter.lowercase())

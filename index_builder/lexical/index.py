"""Searching a BM25 index. A query is never parsed: its distinct terms are looked up.

k1 = 1.2 and b = 0.75 are tantivy's own, and it rounds document lengths to one byte.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import numpy as np
import numpy.typing as npt
import tantivy

from index_builder.errors import BundleError, StorageError
from index_builder.fusion import NO_DOCUMENT
from index_builder.lexical.analysers import DEFAULT_ANALYSER, analysers_of, common_above
from index_builder.lexical.writer import FREQUENCIES, ORDINAL
from index_builder.query_text import query_text

MAX_TERMS: Final = 1024
CLEARING_TRIES: Final = 3

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


class LexicalIndex:
    """An open BM25 index; ids are chunk ordinals. Safe to search from several threads."""

    def __init__(self, folder: Path, analyser: str = DEFAULT_ANALYSER) -> None:
        """Open what ``write_lexical`` wrote with the same analyser; nothing is written to the folder.

        Raises:
            BundleError: When the folder holds no index, or one of another analyser.
            InputError: When the analyser is unknown.
            StorageError: When no temporary folder can be made.
        """
        self._analysers = analysers_of(analyser)
        try:
            index = _opened(folder)
        except (OSError, ValueError) as error:
            raise BundleError(f"{folder} holds no BM25 index: {error}") from error
        self._schema = index.schema
        self._searcher = index.searcher()
        self._common_above = common_above(analyser, self._searcher.num_docs)
        try:
            self._searcher.doc_freq(analyser, "")
        except ValueError as error:
            raise BundleError(f"{folder} was indexed with another analyser than {analyser}") from error

    def search(self, query: str, depth: int) -> tuple[Ids, Scores]:
        """The best chunks that share a term with the query, by falling score, then rising id.

        A query of which no term is found (stop words alone, as in "To be or not to be") is looked up
        once more among all words, unstemmed. A query without a single word of the collection finds
        nothing.

        Args:
            query: Any text; only its first 1,024 distinct terms count.
            depth: How many at most, at least 1.
        """
        hits = self._hits(query_text(query), min(depth, self._searcher.num_docs))
        ids = self._searcher.fast_field_values(ORDINAL, [address for _, address in hits])
        return np.array(ids, dtype=np.int64), np.array([score for score, _ in hits], dtype=np.float64)

    def search_batch(self, queries: Sequence[str], depth: int) -> tuple[Ids, Scores]:
        """``search`` for each query: ids [queries, depth], padded with -1, and scores, padded with 0."""
        ids = np.full((len(queries), depth), NO_DOCUMENT, dtype=np.int64)
        scores = np.zeros((len(queries), depth))
        for row, query in enumerate(queries):
            found, found_scores = self.search(query, depth)
            ids[row, : len(found)] = found
            scores[row, : len(found)] = found_scores
        return ids, scores

    def _hits(self, text: str, depth: int) -> list[tuple[float, tantivy.DocAddress]]:
        if not depth:  # tantivy panics
            return []
        for field, analyser in self._analysers.items():
            terms = self._without_common(field, list(dict.fromkeys(analyser.analyze(text)))[:MAX_TERMS])
            clauses = [
                (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term, FREQUENCIES))
                for term in terms
            ]
            hits = self._searcher.search(tantivy.Query.boolean_query(clauses), depth, count=False).hits
            if hits:
                return hits
        return []

    def _without_common(self, field: str, terms: list[str]) -> list[str]:
        """The terms, or only those that are not too common for the analyser, where any is found."""
        if self._common_above >= self._searcher.num_docs:
            return terms
        rare = [term for term in terms if 0 < self._searcher.doc_freq(field, term) <= self._common_above]
        return rare or terms


def _opened(folder: Path) -> tantivy.Index:
    """Open an index through a folder of links to its files.

    tantivy makes a lock file beside the files it opens, which a read-only bundle would refuse and any
    other would keep. It maps the files, so that the links are not needed afterwards.
    """
    links = _temporary_folder()
    try:
        for path in folder.absolute().iterdir():
            if not path.name.startswith("."):  # what tantivy keeps beside an index, and we do not
                (links / path.name).symlink_to(path)
        return tantivy.Index.open(str(links))
    finally:
        for _ in range(CLEARING_TRIES):  # a thread of tantivy's may be making its lock file meanwhile
            shutil.rmtree(links, ignore_errors=True)


def _temporary_folder() -> Path:
    try:
        return Path(mkdtemp(prefix="readgate-"))
    except OSError as error:
        raise StorageError(
            f"no temporary folder can be made: {error}; set TMPDIR to a place that can be written"
        ) from error

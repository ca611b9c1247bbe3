"""BM25 over chunks, with tantivy: write an index, open it, search it."""

from index_builder.lexical.analysers import ANALYSERS, DEFAULT_ANALYSER, check_analyser
from index_builder.lexical.index import LexicalIndex
from index_builder.lexical.writer import write_lexical

__all__ = ["ANALYSERS", "DEFAULT_ANALYSER", "LexicalIndex", "check_analyser", "write_lexical"]

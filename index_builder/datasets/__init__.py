"""Loaders of dataset files, under the names that commands know them by."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from index_builder.datasets import hotpotqa, musique, two_wiki
from index_builder.records import Dataset

LOADERS: Mapping[str, Callable[[Path], Dataset]] = MappingProxyType(
    {"hotpotqa": hotpotqa.load, "two_wiki": two_wiki.load, "musique": musique.load}
)

ARAG = "arag"
KINDS = (*LOADERS, ARAG)
"""Every kind of dataset; A-RAG's loader takes other files than those of the official formats."""
